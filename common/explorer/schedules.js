// Pictures of what has no trace: the sums of step 00, from their loops, and the schedule of step 11.

import {label, legend, line, path, picture, rectangle, round, settled, textWidth} from "./svg.js";


const dot = (x, y, r) => `<circle cx="${round(x)}" cy="${round(y)}" r="${round(r)}" class="node"/>`;
const box = (x, y, r) => rectangle(x - r, y - r, 2 * r, 2 * r, "leaf");

/** The running sum and the tree of step 00, side by side: the same additions, and how many wait for each other. */
function drawSums(given) {
  const {width, font, still, n} = settled({n: 8, ...given});
  const gap = font * 1.6;
  const side = textWidth("stride 4", font * 0.87) + 2;  // the levels' names, beside the tree
  const half = (width - gap - side) / 2;
  const cell = half / n;
  const r = Math.min(7, cell * 0.24);
  const drop = font * 2.1;
  const top = font * 5.6;
  let edges = "";
  let marks = "";
  const element = (left, i) => {
    const x = left + (i + 0.5) * cell;
    marks += box(x, top, r * 0.85) + label(x, top - r - font * 0.4, font * 0.87, `x${i}`, "muted", "middle");
    return {x, y: top};
  };
  const add = (a, b, x, y) => {
    edges += `M${round(a.x)} ${round(a.y)}L${round(x)} ${round(y)}M${round(b.x)} ${round(b.y)}L${round(x)} ${
        round(y)}`;
    marks += dot(x, y, r);
    return {x, y};
  };
  // running_sum: each addition waits for the one before.
  const chain = Array.from({length: n}, (_, i) => element(0, i));
  let sum = chain[0];
  for (let i = 1; i < n; ++i)
    sum = add(sum, chain[i], chain[i].x, top + i * drop);
  // tree_sum: the strides double, and the additions of a level do not wait for each other.
  const offset = half + gap;
  const data = Array.from({length: n}, (_, i) => element(offset, i));
  let level = 0;
  let rules = "";
  for (let stride = 1; stride < n; stride *= 2) {
    ++level;
    for (let i = 0; i + stride < n; i += 2 * stride)
      data[i] = add(data[i], data[i + stride], data[i].x, top + level * drop);
    rules += label(width, top + level * drop + font * 0.3, font * 0.87, `stride ${stride}`, "muted", "end");
  }
  const height = top + (n - 1) * drop + font * 2;
  const heading = (x, name, inRow) => label(x, font * 1.2, font * 0.95, name, "bold") +
      label(x, font * 2.5, font * 0.95, `${n - 1} additions,`, "muted") +
      label(x, font * 3.7, font * 0.95, `${inRow} of them in a row`, "muted");
  const body = heading(0, "running_sum: a chain", n - 1) + heading(offset, "tree_sum: a tree", level) +
      line(half + gap / 2, font * 0.4, half + gap / 2, height - font, "rule") + path(edges, "edge") + marks +
      rules;
  return picture({
    width,
    height,
    still,
    body,
    title: `Two sums of ${n} elements: a chain and a tree`,
    description: `Both do ${n - 1} additions. In the chain each waits for the one before; the tree has ${
        level} levels.`
  });
}

/** The ring of step 11: the TMA fills stages while the threads add those that are full. */
function drawRing(given) {
  const {width, font, still} = settled(given);
  const stages = 3;
  const tiles = 6;
  const copying = 2;  // a copy takes as long as two turns, so two stages are under way while a third is added
  const left = font * 4.4;
  const turns = tiles + copying + 0.3;
  const cell = (width - left) / turns;
  const high = font * 1.9;
  const top = font * 3.2;
  let body = label(0, font * 1.1, font * 0.95, "One block over time: three stages in shared memory", "") +
      label(0, font * 2.5, font * 0.95, "time", "muted") + label(left, font * 2.5, font * 0.95, "→", "muted");
  let arrows = "";
  const rowHeight = high * 2 + font * 1.1;
  const copyRow = (stage) => top + stage * rowHeight;
  for (let stage = 0; stage < stages; ++stage) {
    body += label(0, copyRow(stage) + high * 1.1, font * 0.95, `stage ${stage}`, "bold");
    body += line(
        left, copyRow(stage) + rowHeight - font * 0.5, width, copyRow(stage) + rowHeight - font * 0.5,
        "rule");
  }
  for (let tile = 0; tile < tiles; ++tile) {
    const stage = tile % stages;
    const sumsAt = copying + tile;
    const begins = tile < stages ? 0 : copying + tile - stages + 1;
    const x = left + begins * cell;
    const end = left + sumsAt * cell;
    const y = copyRow(stage);
    body += rectangle(x + 2, y, end - x - 4, high, "track");
    body += label((x + end) / 2, y + high * 0.68, font * 0.87, `copy ${tile}`, "", "middle");
    body += rectangle(end + 1, y + high, cell - 2, high, "active");
    body += label(end + cell / 2, y + high * 1.68, font * 0.87, `add ${tile}`, "on", "middle");
    arrows += `M${round(end)} ${round(y + high * 0.2)}V${round(y + high * 1.8)}`;
    body += line(end + cell, y, end + cell, y + 2 * high, "barrier");
  }
  const y = top + stages * rowHeight + font * 0.2;
  const marks = legend(
      [
        [(a, b, s) => rectangle(a, b, s, s, "track"), "the TMA brings a tile"],
        [(a, b, s) => line(a + s / 2, b, a + s / 2, b + s, "now"), "the threads wait until it is there"],
        [(a, b, s) => rectangle(a, b, s, s, "active"), "all threads add the tile"],
        [(a, b, s) => line(a + s / 2, b, a + s / 2, b + s, "barrier"), "__syncthreads(): the stage is free"],
      ],
      0, y, width, font);
  return picture({
    width,
    height: y + marks.height,
    still,
    body: body + path(arrows, "now") + marks.svg,
    title: "A ring of three stages: copies overlap with additions",
    description:
        "Three tiles are asked for at once. Whenever the threads have added a stage and passed a barrier, it is filled again while they add the next."
  });
}

/** The pictures by name: each a function of options that returns SVG text. */
export const schedules = {
  sums: drawSums,
  ring: drawRing
};
