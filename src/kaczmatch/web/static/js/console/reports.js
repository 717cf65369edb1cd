// Reports that nobody has closed, the oldest first.

import { byId, make, announce } from "../dom.js";
import { erase } from "./erase_dialog.js";
import { operator } from "./session.js";

/** The button that was pressed is gone with its report: the keyboard goes on from the title. */
const here = () => byId("reports-title").focus();

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
    return make(
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
        button("Block", () => this.#block(report)),
        button("Erase…", () => erase(report.other, this.act, here), "danger"),
        button("Close", () => this.#close(report, "no action")),
      ),
    );
  }

  #block(report) {
    return this.#close(report, "blocked", () => operator.put(`/operator/people/${encodeURIComponent(report.other)}/hold`));
  }

  async #close(report, resolution, first = async () => {}) {
    const done = await this.act(async () => {
      await first();
      await operator.post(`/operator/reports/${encodeURIComponent(report.id)}/close`, { resolution });
      announce(`Report closed: ${resolution}`);
    }, "The report is still open");
    if (done) here();
  }
}
