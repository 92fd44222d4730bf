// The pictures of the pages: the explorer's, a finding's, a block's tiles of the input, and what has no trace.

import {picture, settled} from "../../common/explorer/svg.js";
import {modelOf} from "../../common/explorer/trace.js";
import {view, views} from "../../common/explorer/views.js";
import {plural} from "../../common/explorer/words.js";

import {drawFinding} from "./finding.js";
import {drawRows} from "./rows.js";
import {schedules} from "./schedules.js";

/** Blocks over the input: each turn of a grid-stride loop is a row, with the elements of one thread. */
function drawInput(trace, moment, options) {
  const {thread = 5, turns: most = 5} = options;
  const model = modelOf(trace);
  const buffer = model.leaves[0]?.buffer;
  const byOrder = new Map();
  for (const leaf of model.leaves) {
    if (leaf.buffer !== buffer) continue;
    if (!byOrder.has(leaf.order)) byOrder.set(leaf.order, []);
    byOrder.get(leaf.order).push(leaf);
  }
  if (byOrder.size === 0) return "No element of global memory is loaded in this trace.";
  const name = model.names[buffer] ?? "in";
  const grid = trace.launch.grid.reduce((product, size) => product * size, 1);
  const loads =
      [...byOrder].sort((a, b) => a[0] - b[0]).map(([, leaves]) => ({
                                                     first: Math.min(...leaves.map((leaf) => leaf.first)),
                                                     last: Math.max(...leaves.map(
                                                         (leaf) => leaf.first + leaf.count - 1)),
                                                     mine: leaves.find((leaf) => leaf.thread === thread),
                                                   }));
  // Loads side by side are parts of one tile.
  const turns = [];
  for (const load of loads) {
    const before = turns.at(-1);
    if (before && load.first === before.at(-1).last + 1 && grid > 1)
      before.push(load);
    else
      turns.push([load]);
  }
  const span = (first, last) => `${name}[${first === last ? first : `${first}..${last}`}]`;
  const others = (blocks, wide) =>
      blocks.filter((block) => block >= 0 && block < grid).map((block) => [`block ${block}`, wide, "track"]);
  const left = others([trace.block - 1], 1);
  const right = [
    ...others([trace.block + 1], 1),
    ...(trace.block + 2 < grid ? [["…", 0.6, ""], ...others([grid - 1], 1)] : [])
  ];
  const shown = turns.slice(0, most);
  const rows = shown.map((parts) => ({
                           gap: 2,
                           cells: [
                             ...left, ...parts.map(({first, last, mine}) => {
                               const own = mine ?
                                   `thread ${thread}:\n${span(mine.first, mine.first + mine.count - 1)}` :
                                   "";
                               return [
                                 `${parts.length > 1 ? `${name}[${first}..]` : span(first, last)}\n${own}`,
                                 5 / parts.length, "active"
                               ];
                             }),
                             ...right
                           ]
                         }));
  const step = turns.length > 1 ? turns[1][0].first - turns[0][0].first : 0;
  const notes = [
    turns.length > shown.length ? `And ${plural(turns.length - shown.length, "more turn")}.` : "",
    step > 0 ? `From one turn to the next the block moves on by ${step.toLocaleString("en")} elements.` : ""
  ].filter(Boolean).join(" ");
  const title = `The tiles of block ${trace.block} of ${grid}, and the elements of thread ${thread}`;
  return drawRows(
      {
        title,
        description: shown.map((parts) => span(parts[0].first, parts.at(-1).last)).join(", "),
        rows: [{name: title, cells: []}, ...rows, {name: notes, cells: []}],
        arrows: shown.slice(1).map((parts, k) => [k + 1, left.length, k + 2, left.length]),
      },
      options);
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

/** The pictures of a trace: the explorer's, and those of pages only. */
export const pictures = {
  ...views,
  finding: view(drawFinding),
  input: view(drawInput)
};

/** Draws one picture of a trace as a file of its own. Options: view, moment, and those of the view. */
export const drawStill = (trace, {view: name, moment = "end", ...options}) =>
    `${pictures[name](trace, findMoment(trace, moment), {...options, still: true})}\n`;

/** Draws what has no trace as a file of its own. */
export function drawSchedule(name) {
  const options = settled({still: true});
  return `${picture({...options, ...drawRows(schedules[name], options)})}\n`;
}
