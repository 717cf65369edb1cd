// A face for everybody: drawn from the id alone, the same one every time, and no picture of anyone.

import { draw } from "./dom.js";

const SCENES = [
  ["#ffd9c7", "#ffb59a", "#f28b6e"],
  ["#d7e8ff", "#a9cbfa", "#7aa7ea"],
  ["#d9f2e3", "#a7dcc0", "#6fbf9b"],
  ["#efe0ff", "#d0b3f5", "#a783db"],
  ["#fff0c2", "#ffd978", "#efb43f"],
  ["#ffe0ea", "#ffb3cb", "#ec7fa3"],
  ["#dff3f5", "#a9dde3", "#69b9c4"],
  ["#eee8d8", "#d8caa4", "#b7a06d"],
];
const SKINS = ["#f9d7bd", "#f0bd98", "#d99a6c", "#b87346", "#8a5233", "#f4c9b2", "#c98a5e"];
const HAIRS = ["#2b2230", "#51332a", "#8c4f2b", "#c98b3c", "#e8cf8f", "#7a3b5d", "#3d4f7c", "#b9b4b0"];
const CLOTHES = ["#c2255c", "#0b7a75", "#3b5bdb", "#e8590c", "#5f3dc4", "#2b8a3e", "#343a40", "#f59f00"];
const INK = "#2a1f26";

/** An SVG of the person with this id, whole in a box of any shape; round ones are for small sizes. */
export function avatar(id, { round = false } = {}) {
  const chance = chances(id);
  const any = (list) => list[Math.floor(chance() * list.length)];
  const scene = any(SCENES);
  const look = { skin: any(SKINS), hair: any(HAIRS), cloth: any(CLOTHES) };
  const parts = [draw("rect", { x: -900, y: -900, width: 2000, height: 2000, fill: scene[0] }), ...backdrop(scene, chance), ...person(look, any, chance)];
  return draw(
    "svg",
    { viewBox: round ? "38 34 124 124" : "0 -8 200 200", class: round ? "avatar round" : "avatar", preserveAspectRatio: "xMidYMax meet", "aria-hidden": "true", focusable: "false" },
    ...parts,
  );
}

function backdrop(scene, chance) {
  const x = 20 + chance() * 160;
  const y = 25 + chance() * 45;
  const kind = Math.floor(chance() * 3);
  const sun = draw("circle", { cx: x, cy: y, r: 18 + chance() * 16, fill: scene[1] });
  if (kind === 0) {
    return [sun, draw("path", { d: "M-450 150Q-300 60 -150 150Q-60 60 30 130T200 100T350 150Q500 60 650 150V220H-450Z", fill: scene[1] }), draw("path", { d: "M-450 175Q-300 105 -150 175Q-20 105 80 160T350 140Q500 190 650 140V220H-450Z", fill: scene[2], opacity: 0.55 })];
  }
  if (kind === 1) {
    return Array.from({ length: 9 }, (_, place) => draw("circle", { cx: -70 + place * 42.5, cy: 30 + chance() * 140, r: 8 + chance() * 17, fill: scene[place % 2 ? 1 : 2], opacity: 0.55 }));
  }
  const turn = Math.floor(chance() * 60) - 30;
  return [draw("g", { transform: `rotate(${turn} 100 100)` }, ...Array.from({ length: 7 }, (_, place) => draw("rect", { x: -500, y: -40 + place * 44, width: 1200, height: 18, rx: 9, fill: scene[1], opacity: 0.75 }))), sun];
}

function person({ skin, hair, cloth }, any, chance) {
  const wide = 36 + chance() * 6;
  const tall = 41 + chance() * 6;
  const style = any(["cap", "long", "bun", "curls", "spikes", "beret", "sprout"]);
  const shade = { fill: INK, opacity: 0.1 };
  return [
    ...behind(style, hair, wide),
    draw("path", { d: "M38 205Q40 158 100 156Q160 158 162 205Z", fill: cloth }),
    ...(chance() < 0.4 ? [draw("path", { d: "M48 184Q100 170 152 184M42 198Q100 184 158 198", stroke: "#fff", "stroke-opacity": 0.5, "stroke-width": 5, fill: "none" })] : []),
    draw("path", { d: "M86 138h28v20q-14 14-28 0Z", fill: skin }),
    draw("path", { d: "M86 146q14 12 28 0v6q-14 12-28 0Z", ...shade }),
    draw("ellipse", { cx: 100 - wide, cy: 108, rx: 6, ry: 8, fill: skin }),
    draw("ellipse", { cx: 100 + wide, cy: 108, rx: 6, ry: 8, fill: skin }),
    draw("ellipse", { cx: 100, cy: 105, rx: wide, ry: tall, fill: skin }),
    ...face(any, chance),
    ...above(style, hair, wide, tall, cloth),
  ];
}

function face(any, chance) {
  const line = { stroke: INK, "stroke-width": 3.4, "stroke-linecap": "round", fill: "none" };
  const eyes = {
    dots: [draw("circle", { cx: 85, cy: 106, r: 3.8, fill: INK }), draw("circle", { cx: 115, cy: 106, r: 3.8, fill: INK })],
    happy: [draw("path", { d: "M79 108q6-8 12 0M109 108q6-8 12 0", ...line })],
    wide: [85, 115].flatMap((x) => [draw("circle", { cx: x, cy: 106, r: 6.4, fill: "#fff" }), draw("circle", { cx: x + 1, cy: 107, r: 3.6, fill: INK })]),
    wink: [draw("circle", { cx: 85, cy: 106, r: 3.8, fill: INK }), draw("path", { d: "M109 107q6-6 12 0", ...line })],
  };
  const mouths = {
    smile: [draw("path", { d: "M89 124q11 11 22 0", ...line })],
    laugh: [draw("path", { d: "M87 122h26q-2 14-13 14t-13-14Z", fill: "#8c2f39" }), draw("path", { d: "M90 122h20v4h-20Z", fill: "#fff" })],
    soft: [draw("path", { d: "M93 126q7 5 14 0", ...line })],
    aside: [draw("path", { d: "M92 127q10 4 18-5", ...line })],
  };
  const glasses = [draw("g", { ...line, "stroke-width": 2.6 }, draw("circle", { cx: 85, cy: 106, r: 11 }), draw("circle", { cx: 115, cy: 106, r: 11 }), draw("path", { d: "M96 105q4-3 8 0" }))];
  return [
    draw("circle", { cx: 76, cy: 119, r: 6.5, fill: "#f0566f", opacity: 0.28 }),
    draw("circle", { cx: 124, cy: 119, r: 6.5, fill: "#f0566f", opacity: 0.28 }),
    draw("path", { d: "M79 95q6-4 12-1M109 94q6-3 12 1", ...line, "stroke-width": 2.6, opacity: 0.75 }),
    draw("path", { d: "M100 109q4 6-1 8", ...line, "stroke-width": 2.4, opacity: 0.35 }),
    ...eyes[any(Object.keys(eyes))],
    ...mouths[any(Object.keys(mouths))],
    ...(chance() < 0.24 ? glasses : []),
  ];
}

function behind(style, hair, wide) {
  if (style === "long") return [draw("path", { d: `M${96 - wide - 8} 96Q${94 - wide} 50 100 50T${106 + wide} 96L${110 + wide} 166H${90 - wide}Z`, fill: hair })];
  if (style === "bun") return [draw("circle", { cx: 100, cy: 52, r: 17, fill: hair })];
  if (style === "curls") return [60, 72, 128, 140].map((x, place) => draw("circle", { cx: x, cy: place % 3 ? 78 : 98, r: 17, fill: hair }));
  return [];
}

function above(style, hair, wide, tall, cloth) {
  const left = 100 - wide - 1.5;
  const right = 100 + wide + 1.5;
  const top = 105 - tall - 5;
  const fringe = draw("path", { d: `M${left} 104Q${left - 2} ${top} 100 ${top}T${right} 104Q${right - 6} 86 ${right - 20} 82Q92 90 ${left + 14} 84Q${left + 5} 92 ${left} 104Z`, fill: hair });
  if (style === "curls") return [66, 83, 100, 117, 134].map((x, place) => draw("circle", { cx: x, cy: [78, 67, 63, 67, 78][place], r: 14, fill: hair }));
  if (style === "spikes") return [draw("path", { d: `M${left} 100L${left - 5} 70 73 62 74 42 91 53 103 34 113 53 129 42 128 62 ${right + 6} 71 ${right} 100Q${right - 8} 84 100 83T${left} 100Z`, fill: hair })];
  if (style === "beret") return [fringe, draw("path", { d: "M54 76Q58 44 106 46T148 74Q100 60 54 76Z", fill: cloth }), draw("path", { d: "M104 47l4-8", stroke: cloth, "stroke-width": 4, "stroke-linecap": "round" })];
  if (style === "sprout") return [draw("path", { d: `M100 ${top + 5}q-2-14-16-16q2 14 16 16q0-18 16-22q0 18-16 22Z`, fill: hair })];
  return [fringe];
}

/** Numbers in [0, 1) that follow from a text: FNV-1a into mulberry32. */
function chances(text) {
  let seed = 0x811c9dc5;
  for (const sign of text) seed = Math.imul(seed ^ sign.codePointAt(0), 0x01000193);
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
