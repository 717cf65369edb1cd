"""The picture of a market: names beside their marks, none over another or over a mark."""

from __future__ import annotations

from kaczmatch.charts import market
from kaczmatch.charts.market import market_chart


def test_names_of_policies_that_lie_close_are_not_printed_over_each_other() -> None:
    names = ["default", "paper", "popularity", "greedy", "information", "thompson"]
    rows = [{"policy": name, "gini": 0.4 + 0.001 * place, "matches": 3.0 + 0.01 * place} for place, name in enumerate(names)]
    drawn = market_chart(rows, title="Close").to_dict()
    labels = [label for layer in drawn["layer"][1:] for label in _values(drawn, layer)]
    assert {label["policy"] for label in labels} <= set(names)
    assert len(labels) >= 2
    marks = [(row["gini"] / (0.405 * 1.05) * market._WIDE, (1 - row["matches"] / (3.05 * 1.05)) * market._HIGH) for row in rows]
    boxes = [(x - 4, y - 4, x + 4, y + 4) for x, y in marks]
    for label in labels:
        x, wide = label["gini"] / (0.405 * 1.05) * market._WIDE, market._LETTER * len(label["policy"])
        y, left = (1 - label["matches"] / (3.05 * 1.05)) * market._HIGH, x if label["side"] == "left" else x - wide
        boxes.append((left, y - 6, left + wide, y + 6))
    for one in boxes[len(marks) :]:
        for other in (box for box in boxes if box is not one):
            across = one[0] < other[2] and other[0] < one[2]
            assert not (across and one[1] < other[3] and other[1] < one[3])


def _values(drawn: dict, layer: dict) -> list[dict]:  # type: ignore[type-arg]
    data = layer["data"]
    return list(drawn["datasets"][data["name"]] if "name" in data else data["values"])
