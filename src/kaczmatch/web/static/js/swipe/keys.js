// The keyboard alone: left is a pass, right a like, down or space a skip, Z or backspace takes back.

const KEYS = { ArrowLeft: "pass", ArrowRight: "like", ArrowDown: "skip", " ": "skip", z: "undo", Z: "undo", Backspace: "undo" };

/** `act` is called with what a key means, while `playing()`. */
export function listen(playing, act) {
  document.addEventListener("keydown", (event) => {
    const meaning = KEYS[event.key];
    if (!meaning || event.ctrlKey || event.metaKey || event.altKey || event.repeat || !playing()) return;
    if (event.target.closest("input, select, textarea, dialog, .matched, .tags, .why-more")) return; // it types, or scrolls
    if (event.key === " " && event.target.closest("button, a, summary")) return; // it presses that
    event.preventDefault();
    act(meaning);
  });
}
