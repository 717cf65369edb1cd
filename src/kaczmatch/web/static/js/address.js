// The address says what is shown, so that a link shows it again.

const now = () => new URLSearchParams(location.search);

/** What the address says of a field, or nothing. */
export const told = (name) => now().get(name);

/** Put values into the address; empty ones leave it. */
export function tell(values) {
  const said = now();
  for (const [name, value] of Object.entries(values)) {
    if (value === "" || value === null || value === undefined) said.delete(name);
    else said.set(name, String(value));
  }
  const query = said.toString().replaceAll("%2C", ",");
  history.replaceState(null, "", query ? `?${query}` : location.pathname);
}

/** Set the fields of a form as the address says, where that is one of their values. */
export function fill(form) {
  for (const [name, value] of now()) {
    const fields = [...form.querySelectorAll(`[name="${CSS.escape(name)}"]`)];
    const wanted = value.split(",");
    const boxes = fields.filter((field) => field.type === "radio" || field.type === "checkbox");
    if (boxes.some((box) => wanted.includes(box.value))) for (const box of boxes) box.checked = wanted.includes(box.value);
    for (const field of fields.filter((one) => !boxes.includes(one))) {
      const before = field.value;
      field.value = value;
      if (!field.value || !field.checkValidity()) field.value = before;
    }
  }
}

/** The values of a form by the names of its fields; several checked boxes are one value. */
export function values(form) {
  const said = {};
  for (const field of form.querySelectorAll("[name]")) {
    if (field.type === "checkbox" || field.type === "radio") {
      said[field.name] ??= "";
      if (field.checked) said[field.name] += `${said[field.name] ? "," : ""}${field.value}`;
    } else said[field.name] = field.value;
  }
  return said;
}
