// The swipes as a strip.

import { byId } from "../dom.js";

export function strip(run, swipes, total) {
  const canvas = byId("swipes");
  const pen = canvas.getContext("2d");
  const wide = canvas.width / total;
  const colour = (kind) => getComputedStyle(document.querySelector(`.mark.${kind}`)).backgroundColor;
  const [liked, passed, turned] = ["liked", "passed", "turned"].map(colour);
  pen.clearRect(0, 0, canvas.width, canvas.height);
  for (let at = 0; at < swipes; at += 1) {
    pen.fillStyle = run.liked[at] ? liked : passed;
    pen.fillRect(at * wide, 0, wide * 0.8, canvas.height);
    if (!run.flipped[at]) continue;
    pen.fillStyle = turned;
    pen.fillRect(at * wide, canvas.height - 12, wide * 0.8, 12);
  }
}
