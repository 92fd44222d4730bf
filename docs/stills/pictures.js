// Pictures that only pages have: what has no trace, the sums of step 00 and the schedule of step 11, and a block's tiles of
// the input.

import {circle, label, legend, line, path, picture, rectangle, round, settled, textWidth, wrapText} from "../../common/explorer/svg.js";
import {modelOf} from "../../common/explorer/trace.js";
import {view, views} from "../../common/explorer/views.js";
import {plural} from "../../common/explorer/words.js";

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
    marks += circle(x, y, r, "node");
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

/** Blocks over the input: each turn of a grid-stride loop is a row, and one thread's elements are marked in it. */
function drawInput(trace, moment, options) {
  const {width, font, still} = options;
  const model = modelOf(trace);
  const thread = options.thread ?? 5;
  const buffer = options.buffer ?? model.leaves[0]?.buffer;
  const byOrder = new Map();
  for (const leaf of model.leaves) {
    if (leaf.buffer !== buffer) continue;
    if (!byOrder.has(leaf.order)) byOrder.set(leaf.order, []);
    byOrder.get(leaf.order).push(leaf);
  }
  if (byOrder.size === 0) return "No element of global memory is loaded in this trace.";
  const name = model.names[buffer] ?? "in";
  const grid = trace.launch.grid.reduce((product, size) => product * size, 1);
  const rows =
      [...byOrder].sort((a, b) => a[0] - b[0]).map(([, leaves]) => ({
                                                     first: Math.min(...leaves.map((leaf) => leaf.first)),
                                                     last: Math.max(...leaves.map(
                                                         (leaf) => leaf.first + leaf.count - 1)),
                                                     mine: leaves.find((leaf) => leaf.thread === thread),
                                                   }));
  // Loads side by side are parts of one tile.
  const turns = [];
  for (const row of rows) {
    const before = turns[turns.length - 1];
    if (before && row.first === before.last + 1 && grid > 1) {
      before.parts.push(row);
      before.last = row.last;
    } else
      turns.push({first: row.first, last: row.last, parts: [row]});
  }
  const most = options.turns ?? 5;
  const shown = turns.slice(0, most);
  const strips = grid === 1 ? 1 : Math.min(grid, width < 560 ? 4 : 5);
  const side = strips === 1 ? 0 : Math.min(84, width * 0.1);
  const mineAt = Math.min(trace.block, Math.max(0, Math.floor((strips - 1) / 2)));
  const wide = width - side * (strips - 1);
  const labels = [];
  for (let k = 0; k < strips; ++k) {
    const block = trace.block - mineAt + k;
    labels.push(
        k === strips - 1 && grid > strips                   ? grid - 1 :
            k === strips - 2 && grid > strips && strips > 3 ? null :
                                                              block);
  }
  const high = font * 4.4;
  const gap = font * 2.2;
  const heading = wrapText(
      `The input, turn by turn: the tiles of block ${trace.block} of ${grid}, and the path of thread ${
          thread}`,
      Math.floor(width / (font * 0.52)));
  const top = font * (0.5 + 1.3 * heading.length);
  let body = "";
  const points = [];
  shown.forEach((turn, t) => {
    const y = top + t * (high + gap);
    let x = 0;
    labels.forEach((block, k) => {
      const span = k === mineAt ? wide : side;
      if (k !== mineAt) {
        if (block === null)
          body += label(x + span / 2, y + high * 0.58, font, "…", "muted", "middle");
        else {
          body += rectangle(x + 2, y, span - 4, high, "track");
          body += label(x + span / 2, y + high * 0.5, font * 0.9, "block", "muted", "middle") +
              label(x + span / 2, y + high * 0.5 + font * 1.1, font * 0.9, block, "muted", "middle");
        }
        x += span;
        return;
      }
      const part = (span - 4) / turn.parts.length;
      turn.parts.forEach((row, p) => {
        const px = x + 2 + p * part;
        const full = `${name}[${row.first}..${row.last}]`;
        body += rectangle(px, y, part - 2, high, "active");
        body += label(
            px + part / 2, y + font * 1.25, font * 0.95,
            textWidth(full, font * 1.05) < part ? full : `${name}[${row.first}..]`, "on bold", "middle");
        if (row.mine) {
          const share = (row.mine.first - row.first + row.mine.count / 2) / (row.last - row.first + 1);
          points.push([px + share * (part - 2), y + high * 0.55, row.mine, y + high]);
        }
      });
      x += span;
    });
  });
  // Within a turn the path goes straight on; from one turn to the next it goes through the gap between the rows.
  const trail = points
                    .map(([x, y], k) => {
                      const before = points[k - 1];
                      if (!before) return `M${round(x)} ${round(y)}`;
                      if (before[1] === y) return `H${round(x)}`;
                      return `V${round(before[3] + gap / 2)}H${round(x)}V${round(y)}`;
                    })
                    .join("");
  body += path(trail, "trail") + path(trail, "now guess");
  for (const [x, y, leaf] of points) {
    body += circle(x, y, font * 0.38, "leaf");
    const text = `${name}[${leaf.first}${leaf.count > 1 ? `..${leaf.first + leaf.count - 1}` : ""}]`;
    body += label(x + font * 0.6, y + font * 1.25, font * 0.9, text, "on");
  }
  body += heading.map((each, k) => label(0, font * (1 + 1.3 * k), font * 0.95, each, "muted")).join("");
  let y = top + shown.length * (high + gap) - gap + font * 1.5;
  const left_ = turns.length - shown.length;
  const notes = [];
  if (left_ > 0) notes.push(`and ${plural(left_, "more turn")}`);
  if (turns.length > 1)
    notes.push(`from one turn to the next the block moves on by ${
        (turns[1].first - turns[0].first).toLocaleString("en")} elements`);
  if (notes.length > 0) {
    const lines = wrapText(
        `${notes.join("; ")}.`.replace(/^./, (c) => c.toUpperCase()), Math.floor(width / (font * 0.53)));
    body += lines.map((each, k) => label(0, y + k * font * 1.3, font * 0.95, each, "muted")).join("");
    y += lines.length * font * 1.3;
  }
  return {
    height: y,
    body,
    title: `The tiles of block ${trace.block} and the path of thread ${thread}`,
    description: turns.map((turn) => `${name}[${turn.first}..${turn.last}]`).slice(0, most).join(", ")
  };
}

/**
 * Finds a moment. `wanted` is a number, "end", or conditions such as "line=17,interval=4,kind=shared_load,warp=0,nth=2": the
 * nth event that fulfils them, the first unless it says so.
 */
export function findMoment(trace, wanted) {
  if (wanted === "end") return trace.events.length - 1;
  if (Number.isInteger(wanted)) return wanted;
  const conditions = new Map(wanted.split(",").map((part) => part.split("=")));
  let left = Number(conditions.get("nth") ?? 1);
  conditions.delete("nth");
  const {intervalOf} = modelOf(trace);
  const fits = (event, index) => [...conditions].every(
      ([key, value]) => String(key === "interval" ? intervalOf[index] : event[key]) === value);
  const found = trace.events.findIndex((event, index) => fits(event, index) && --left === 0);
  if (found < 0) throw new Error(`moment ${wanted}: the trace has no such event`);
  return found;
}

/** What has no trace, by name: each a function of options that returns SVG text. */
export const schedules = {
  sums: drawSums,
  ring: drawRing
};

/** The pictures of a trace: the explorer's, and the input's. */
export const pictures = {
  ...views,
  input: view(drawInput)
};

/** Draws one picture of a trace as a file of its own. Options: view, moment, and those of the view. */
export const drawStill = (trace, {view: name, moment = "end", ...options}) =>
    `${pictures[name](trace, findMoment(trace, moment), {...options, still: true})}\n`;

/** Draws what has no trace as a file of its own. */
export const drawSchedule = (name, options = {}) => `${schedules[name]({...options, still: true})}\n`;
