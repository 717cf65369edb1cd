// Tabs: one panel at a time.

/** `chosen` is called with the name of a tab that somebody chose. Returns how to choose one from the program. */
export function tabs(list, chosen = () => {}) {
  const all = [...list.querySelectorAll("[role=tab]")];
  const show = (name) => {
    const found = all.find((tab) => tab.dataset.tab === name) ?? all[0];
    for (const tab of all) {
      tab.setAttribute("aria-selected", String(tab === found));
      tab.tabIndex = tab === found ? 0 : -1;
      document.getElementById(tab.getAttribute("aria-controls")).hidden = tab !== found;
    }
    return found;
  };
  const choose = (tab) => {
    show(tab.dataset.tab).focus();
    chosen(tab.dataset.tab);
  };
  for (const tab of all) tab.addEventListener("click", () => choose(tab));
  list.addEventListener("keydown", (event) => {
    const place = all.indexOf(event.target);
    const to = { ArrowLeft: place - 1, ArrowRight: place + 1, Home: 0, End: all.length - 1 }[event.key];
    if (to === undefined || place < 0) return;
    event.preventDefault();
    choose(all.at(to % all.length));
  });
  return show;
}
