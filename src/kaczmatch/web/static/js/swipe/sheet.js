// On narrow windows, what stands beside the cards is a sheet that comes up from below. Elsewhere it is simply there.

import { byId } from "../dom.js";

/** Let a button open a sheet. `opened` and `closed` are told, so that the back button can close it. */
export class Sheet {
  constructor(id, button, { opened, closed }) {
    this.sheet = byId(id);
    this.button = byId(button);
    Object.assign(this, { opened, closed });
    this.button.addEventListener("click", () => (this.open ? this.close() : this.show()));
    this.sheet.querySelector(".sheet-close").addEventListener("click", () => this.close());
    document.addEventListener("keydown", (event) => event.key === "Escape" && !document.querySelector("dialog[open]") && this.close());
    document.addEventListener("pointerdown", (event) => !event.target.closest(".sheet, .strip, .people-open, dialog, .toast") && this.close());
  }

  get open() {
    return this.sheet.classList.contains("open");
  }

  close() {
    if (!this.open) return;
    this.#set(false);
    this.button.focus({ preventScroll: true });
    this.closed();
  }

  show() {
    this.#set(true);
    this.sheet.querySelector(".sheet-close").focus({ preventScroll: true });
    this.opened();
  }

  #set(open) {
    this.sheet.classList.toggle("open", open);
    this.button.setAttribute("aria-expanded", String(open));
  }
}
