// Reports that nobody has closed, the oldest first.

import { byId, make } from "../dom.js";
import { close, erase, hold, once, release, reopen, settled } from "./acts.js";
import { operator } from "./session.js";

export class Reports {
  constructor(show, act, report) {
    this.show = show;
    this.act = act;
    this.next = null;
    byId("more-reports").addEventListener("click", () => this.#page().catch(report));
  }

  open() {
    this.next = null;
    return this.#page(true);
  }

  async #page(fresh = false) {
    const cursor = this.next ? `&cursor=${encodeURIComponent(this.next)}` : "";
    const page = await operator.get(`/operator/reports?limit=20${cursor}`);
    const rows = page.items.map((report) => this.#row(report));
    if (fresh) byId("reports").replaceChildren(...rows);
    else byId("reports").append(...rows);
    this.next = page.next;
    byId("more-reports").hidden = !page.next;
    byId("no-reports").hidden = byId("reports").childElementCount > 0;
  }

  #row(report) {
    const at = new Date(report.at).toLocaleString();
    const button = (label, click, kind = "") => make("button", { type: "button", class: kind, click }, label, make("span", { class: "unseen" }, ` ${report.other}`));
    const row = make(
      "li",
      { class: "report", "data-report": report.id },
      make(
        "div",
        {},
        make("p", {}, make("strong", {}, report.reason), " · ", make("bdi", {}, report.other), make("span", { class: "muted small" }, ` reported by ${report.user}${report.met ? "" : ", who was never shown them"}, ${at}`)),
        report.text ? make("p", { class: "words small" }, report.text) : null,
      ),
      make(
        "div",
        { class: "row" },
        button("Timeline", () => this.show(report.other)),
        button("Hold", () => this.#decide(row, report, true)),
        button("Close", () => this.#decide(row, report, false)),
        button("Erase…", async () => (await erase(report.other, this.act)) && settled(row, `${report.other} is erased.`, null), "danger"),
      ),
    );
    return row;
  }

  async #decide(row, report, held) {
    const work = async () => {
      if (held) await hold(report.other);
      await close(report.id, held ? "held" : "no action");
    };
    const done = await once(row, () => this.act(work, "The report is still open"));
    if (!done) return;
    settled(row, held ? `${report.other} is held. Report closed.` : `Report about ${report.other} closed: no action.`, () =>
      this.act(async () => {
        if (held) await release(report.other);
        await reopen(report.id);
      }, "Could not undo it"),
    );
  }
}
