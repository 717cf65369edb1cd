"""Charts for the console: the program that draws them, made without holding anybody up."""

from __future__ import annotations

import threading
import time

from kaczmatch.web.charts import Charts


def test_others_go_on_while_the_program_is_made() -> None:
    """Bundling it within the service took the interpreter for seconds: every swipe would have waited."""
    charts, turns = Charts(), 0
    making = threading.Thread(target=charts.bundle)
    making.start()
    while making.is_alive():
        time.sleep(0.001)
        turns += 1
    assert turns > 100
    assert b"expressionInterpreter" in charts.bundle()
    assert charts.bundle() is charts.bundle()  # kept
