// A card that follows the finger or mouse sideways: right is a like, left a pass, and let go too early it springs back.

const FAR = 0.28; // of the card's width
const FAST = 0.6; // pixels a millisecond
const SLACK = 6; // pixels before a press becomes a drag; up and down is left to scrolling

export function draggable(card, decide) {
  let start = null;

  card.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || event.target.closest("button, summary, a")) return;
    start = { x: event.clientX, at: event.timeStamp, id: event.pointerId, moved: false };
  });

  card.addEventListener("pointermove", (event) => {
    if (!start || event.pointerId !== start.id) return;
    const across = event.clientX - start.x;
    if (!start.moved) {
      if (Math.abs(across) < SLACK) return;
      start.moved = true;
      card.setPointerCapture(event.pointerId);
      card.classList.add("dragged");
    }
    lean(card, across);
  });

  const release = (event) => {
    if (!start || event.pointerId !== start.id) return;
    const { x, at, moved } = start;
    const across = event.clientX - x;
    start = null;
    card.classList.remove("dragged");
    if (!moved) return;
    const speed = Math.abs(across) / Math.max(event.timeStamp - at, 1);
    const enough = Math.abs(across) > FAR * card.offsetWidth || (speed > FAST && Math.abs(across) > 40);
    if (enough && event.type === "pointerup") decide(across > 0 ? "like" : "pass");
    else lean(card, 0);
  };
  card.addEventListener("pointerup", release);
  card.addEventListener("pointercancel", release);
}

function lean(card, across) {
  card.style.setProperty("--across", `${across}px`);
  card.style.setProperty("--turn", `${(across / 24).toFixed(2)}deg`);
  card.style.setProperty("--liking", String(Math.min(1, Math.max(0, across / 90))));
  card.style.setProperty("--passing", String(Math.min(1, Math.max(0, -across / 90))));
}
