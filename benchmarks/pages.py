"""From a tap on Like or Pass to the next card, in a real browser with a warm service on the same machine.

A tap begins with the event that the browser makes of it, and ends with the first frame in which another card is on top and can be
decided on. Every eighth card is the last of its deck, so that the next one has to be asked for; a match is closed first.

    python benchmarks/pages.py [--taps 300] [--people 1000] [--out FOLDER]
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
from playwright.sync_api import Page, sync_playwright

from kaczmatch.report.results import Table
from tables import add_out, tell

sys.path.append(str(Path(__file__).parents[1] / "docs"))
from screenshots import PHONE, chromium, demo

WARM = 20  # taps before the first that counts
# Resolves with milliseconds: from the event's own time to the frame after the next card is there.
TAP = """(button) => new Promise((done) => {
  document.querySelector("#match[open]")?.close(); // which may have opened at any time
  const top = () => document.querySelector(".card[data-depth='0']:not(.leaving):not(.empty)")?.dataset.id;
  const before = top();
  let began = 0;
  const shown = () => requestAnimationFrame(() => done(performance.now() - began));
  const look = () => (top() && top() !== before ? shown() : setTimeout(look, 1));
  const element = document.getElementById(button);
  element.addEventListener("click", (event) => { began = event.timeStamp; look(); }, { once: true, capture: true });
  element.click();
})"""


def taps(page: Page, count: int) -> list[float]:
    """Like every third, pass on the others."""
    found = []
    for number in range(count):
        page.locator("#like:enabled").wait_for()
        found.append(float(page.evaluate(TAP, "like" if number % 3 == 0 else "pass")))
        page.wait_for_timeout(150)  # nobody taps faster
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--taps", type=int, default=300)
    parser.add_argument("--people", type=int, default=1_000)
    add_out(parser)
    options = parser.parse_args()
    with demo(options.people) as running, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        page = browser.new_context(**PHONE).new_page()
        page.set_default_timeout(60_000)
        page.goto(running.address)
        page.get_by_role("button", name="Start swiping").click()
        times = np.array(taps(page, WARM + options.taps)[WARM:])
        browser.close()
    row = (
        {"taps": len(times)}
        | {f"p{q} ms": float(np.percentile(times, q)) for q in (50, 95, 99)}
        | {"worst ms": float(times.max())}
    )
    tell(options.out, Table("pages", "From a tap to the next card", [row], timed=True))


if __name__ == "__main__":
    main()
