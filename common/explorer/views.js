// The renderer: pure functions from a trace, a moment and options to a picture as SVG text. No DOM, no randomness.
// Options: width (in pixels), font (its size), still (a picture on its own, with its colours and its background).

import {circle, escapeText, label, legend, line, path, picture, rectangle, round, segment, settled, stateCell, textWidth, wrapText} from "./svg.js";
import {bankCount, bufferOf, countLanes, lanesIn, modelOf, sectorsOf, servedParts, sharedAt, statesAt, warpSize, wordsOfAccess} from "./trace.js";
import {eventText, letterOf, nodeText, plural, ranges, sharedName, spotOf, statesText, stateTexts, threadText, valueText} from "./words.js";

/** Which threads of this block a finding names, each with its witness's letter. */
function witnessLetters(trace, finding) {
  const named = new Map();
  (finding?.witnesses ?? []).forEach((witness, k) => {
    if (witness.block !== undefined && witness.block !== trace.block) return;
    for (const thread of witness.threads) {
      if (!named.has(thread)) named.set(thread, letterOf(k));
    }
  });
  return named;
}

/**
 * The threads of a finding that in this event ask for the finding's word, each with its witness's letter: what else they
 * ask for is none of its business. The letters of very many threads would say nothing.
 */
function accessLetters(trace, moment, options) {
  const event = trace.events[moment];
  const named = new Map();
  const wordOf = (each, thread) => {
    const k =
        each.warp === Math.floor(thread / warpSize) ? lanesIn(each.lanes).indexOf(thread % warpSize) : -1;
    return k < 0 || !each.words ? undefined : `${bufferOf(each, k)}:${each.words[k]}`;
  };
  (findingAt(trace, moment, options)?.witnesses ?? []).forEach((witness, k) => {
    const seen = witness.block === trace.block ? trace.events[witness.event] : undefined;
    if (!seen) return;
    const sameMemory = seen.kind.split("_")[0] === event.kind.split("_")[0];
    for (const thread of witness.threads) {
      const word = wordOf(event, thread);
      if (witness.event === moment || (sameMemory && word !== undefined && word === wordOf(seen, thread)))
        named.set(thread, letterOf(k));
    }
  });
  return named.size <= 8 ? named : new Map();
}

/** The finding that a moment is about: the one that was asked for, or the first whose witness took part. */
function findingAt(trace, moment, options) {
  if (options.finding !== undefined) return trace.findings[options.finding];
  return trace.findings.find((finding) => finding.witnesses.some((witness) => witness.event === moment)) ??
      trace.findings[0];
}

const flag = (x, y, size, letter) => `<g>${circle(x, y, size * 0.62, "flag")}` +
    `${label(x, y + size * 0.34, size * 0.92, letter, "onflag", "middle")}</g>`;

// Marks of a legend.
const square = (classes) => (x, y, size) => rectangle(x, y, size, size, classes);
const across = (classes) => (x, y, size) => line(x, y + size / 2, x + size, y + size / 2, classes);
const upright = (classes) => (x, y, size) => line(x + size / 2, y, x + size / 2, y + size, classes);
const dot = (classes) => (x, y, size) => circle(x + size / 2, y + size / 2, size * 0.36, classes);

/** A short message where a picture has nothing to draw. */
function message(text, options) {
  const {width, font} = options;
  const {svg, height} = textLines(text, 0, font * 1.3, width, font, {size: 1, letter: 0.56, step: 1.4});
  return picture({...options, height: font + height, title: text, description: "", body: svg});
}

/**
 * A view: a function of a trace, a moment and options that returns SVG text. `draw` returns its body, height, title and
 * description, or a sentence where there is nothing to draw.
 */
export const view = (draw) => (trace, moment, given) => {
  const options = settled(given);
  const drawn = draw(trace, moment, options);
  return typeof drawn === "string" ? message(drawn, options) : picture({...options, ...drawn});
};

/** Lines of text from a first baseline on, in a width for which a letter takes `letter` of the font. Returns {svg, height}. */
export function textLines(
    text, x, y, width, font, {size = 0.95, letter = 0.52, step = 1.3, classes = "muted"} = {}) {
  const lines = wrapText(text, Math.floor(width / (font * letter)));
  const svg = lines.map((each, k) => label(x, y + k * step * font, font * size, each, classes)).join("");
  return {svg, height: lines.length * step * font};
}

/** The lanes of a warp in a row: the state of each, what pointing at it says, and a finding's letter. */
function laneRow(left, y, cell, high, {state, title, letter = () => undefined, numbers, count = warpSize}) {
  let svg = "";
  for (let lane = 0; lane < count; ++lane) {
    const x = left + lane * cell;
    if (numbers && lane % 4 === 0)
      svg += label(x + cell / 2, y - numbers * 0.5, numbers * 0.87, lane, "muted", "middle");
    svg += stateCell(x, y, cell, high, state(lane), title(lane));
    if (letter(lane)) svg += flag(x + cell / 2, y + high / 2, Math.min(cell, high) * 0.85, letter(lane));
  }
  return svg;
}

/** What shares a scale: the trace, and the one beside it. */
const inView = (trace, {beside = []}) => [trace, ...beside];
const mostOf = (trace, options, count) => Math.max(...inView(trace, options).map(count));

/** Where words below a picture begin: below what they are about, or at the edge where there is little room. */
const textLeft = (width, left) => (width < 560 ? 0 : left);

/** The eight words of a sector, and a link to each lane that asks for one. Returns {boxes, links}. */
function sectorWords(sector, x, y, word, high, {title, link}) {
  let [boxes, links] = ["", ""];
  for (let w = 0; w < 8; ++w) {
    const lanes = sector.words.get(sector.first + w) ?? [];
    boxes += rectangle(
        x + w * word, y, word, high, lanes.length > 0 ? "active" : "cell", title?.(sector.first + w, lanes));
    links += lanes.map((lane) => link(x + (w + 0.5) * word, lane)).join("");
  }
  return {boxes, links};
}

// ---- warps x lanes ----

function drawLanes(trace, moment, options) {
  const {width, font, still} = options;
  const {warps, threads} = modelOf(trace);
  const {states = statesAt(trace, moment)} = options;
  const named = witnessLetters(trace, findingAt(trace, moment, options));
  const left = textWidth("warp 31", font) + font * 0.6;
  const cell = (width - left) / warpSize;
  const most = mostOf(trace, options, (each) => modelOf(each).warps);
  const high = still ? font * 1.2 : Math.min(cell, most > 16 ? 11 : most > 8 ? 15 : 22);
  const top = font * 1.5;
  let body = "";
  for (let lane = 0; lane < warpSize; lane += 4)
    body += label(left + (lane + 0.5) * cell, font, font * 0.87, lane, "muted", "middle");
  body += label(0, font, font * 0.87, "lane", "muted");
  const rowFont = Math.min(font, high * 0.95);
  for (let warp = 0; warp < warps; ++warp) {
    const y = top + warp * high;
    const now = !still && trace.events[moment].warp === warp;
    if (high >= 9 || warp % 4 === 0)
      body += label(0, y + high * 0.78, rowFont, `warp ${warp}`, now ? "bold" : "muted");
    const first = warp * warpSize;
    body += laneRow(left, y, cell, high, {
      count: Math.min(warpSize, threads - first),
      state: (lane) => states[first + lane],
      title: (lane) => (still ? "" : `${threadText(first + lane)}: ${stateTexts[states[first + lane]][0]}`)
    });
  }
  // Each run of a witness's threads has a frame and its letter.
  const flagged = [...named].filter(([thread]) => thread < threads).sort((a, b) => a[0] - b[0]);
  flagged.forEach(([thread, letter], k) => {
    const follows = (each, before) =>
        each && before && each[1] === before[1] && each[0] === before[0] + 1 && each[0] % warpSize !== 0;
    if (follows(flagged[k], flagged[k - 1])) return;
    let run = 1;
    while (follows(flagged[k + run], flagged[k + run - 1]))
      ++run;
    const [x, y] = [left + (thread % warpSize) * cell, top + Math.floor(thread / warpSize) * high];
    body += rectangle(x, y, run * cell, high, "witness") +
        flag(x + cell / 2, y + high / 2, Math.min(cell, high) * 0.8, letter);
  });
  const marks = legend(
      Object.entries(stateTexts)
          .filter(([state]) => !still || states.includes(state))
          .map(([state, [, , text]]) => [(x, y, size) => stateCell(x, y, size, size, state, ""), text]),
      still ? 0 : left, top + warps * high + font * 0.7, width - (still ? 0 : left), font);
  return {
    height: top + warps * high + font * 0.7 + marks.height,
    body: body + marks.svg,
    title: "What each lane does at this moment",
    description: `${statesText(states)}. ${eventText(trace, trace.events[moment])}`
  };
}

// ---- threads x levels ----

/**
 * The levels that are drawn: all of them, or of very many those around this moment. Returns {shown, now, hidden}, where
 * `now` is the level that this moment belongs to, and `hidden` the number of those that are left out.
 */
function levelsAround(model, moment, most = 24) {
  const {levels} = model;
  const interval = model.intervalOf[moment];
  let at = levels.findLastIndex((level) => level.first <= moment);
  // What a warp loads belongs to the level that it writes next, or, where it writes no more, to the last one.
  const next = model.trace.events[moment].kind === "block_barrier" ?
      undefined :
      levels.find((level) => level.interval === interval && level.step === model.stepOf[moment]);
  const now = next ?? (at >= 0 && levels[at].interval === interval ? levels[at] : null);
  return {now, ...around(levels, Math.max(0, at), most)};
}

/** Of very many items those around one: {shown, hidden}, where `hidden` is the number of those that are left out. */
function around(items, at, most) {
  const begin = Math.max(0, Math.min(at - most / 2, items.length - most));
  const shown = items.slice(begin, begin + most);
  return {shown, hidden: items.length - shown.length};
}

const levelName = (level) =>
    (level.step === 0 ? `interval ${level.interval}` : `${level.interval}, part ${level.step + 1}`);

const hiddenText = (hidden, what = "level") => `${plural(hidden, `more ${what}`)} before and after these.`;

function levelNodes(model) {
  const byLevel = model.levels.map(() => []);
  for (const node of model.nodes)
    byLevel[node.level.number].push(node);
  return byLevel;
}

function drawActivity(trace, moment, options) {
  const {width, font, still} = options;
  const model = modelOf(trace);
  const {warps, threads} = model;
  if (model.levels.length === 0) return "No thread has written a value in this trace.";
  const {shown: levels, now, hidden} = levelsAround(model, moment);
  const left = still ?
      Math.max(...levels.map((level) => textWidth(levelName(level), font * 0.87))) + font * 0.6 :
      textWidth("interval 10", font) + font * 0.8;
  const right = textWidth(still ? `${threads} of ${threads}` : "1024 of 1024", font) + font * 0.6;
  const cell = (width - left - right) / mostOf(trace, options, (each) => modelOf(each).threads);
  const high = Math.max(font * 1.7, Math.min(26, cell * 2));
  const top = font * 2.7;
  const inner = width - left - right;
  // Neighbours stay apart where there is room for it, else they become one bar.
  const gap = cell > 5 ? 0.8 : cell > 2.5 ? 0.4 : 0;
  let body = label(left, font, font * 0.9, `${threads} threads in ${plural(warps, "warp")}`, "muted") +
      label(width, font, font * 0.9, "threads that", "muted", "end") +
      label(width, font * 2.1, font * 0.9, "write", "muted", "end");
  for (let warp = 0; warp <= warps; ++warp)
    body += line(
        left + warp * warpSize * cell, top - font * 0.4, left + warp * warpSize * cell,
        top + levels.length * high + 2, "rule");
  const nodes = levelNodes(model);
  levels.forEach((level, row) => {
    const {number} = level;
    const y = top + row * high;
    const active = new Uint8Array(threads);
    for (const node of nodes[number])
      active[node.thread] = 1;
    let idle = "";
    let filled = "";
    let working = 0;
    const [begin, end] = [y + high * 0.14, y + high * 0.86];
    for (let warp = 0; warp < warps; ++warp) {
      const first = warp * warpSize;
      const last = Math.min(first + warpSize, threads);
      if (!active.subarray(first, last).includes(1)) {
        body += line(left + first * cell + 2, y + high / 2, left + last * cell - 2, y + high / 2, "rule");
        continue;
      }
      ++working;
      body += rectangle(left + first * cell, begin, (last - first) * cell, end - begin, "track");
      for (let thread = first; thread < last;) {
        let next = thread + 1;
        while (gap === 0 && next < last && active[next] === active[thread])
          ++next;
        const [x, span] = [left + thread * cell, (next - thread) * cell];
        if (active[thread])
          filled += `M${round(x + gap)} ${round(begin)}h${round(span - 2 * gap)}V${round(end)}h${
              round(2 * gap - span)}z`;
        else if (cell > 3)
          idle += segment(x + 1, end - 1, x + span - 1, begin + 1);
        thread = next;
      }
    }
    body += path(idle, "slash") + path(filled, "active");
    const count = nodes[number].length === 0 ? 0 : active.reduce((a, b) => a + b, 0);
    const name = levelName(level);
    // A still has no moment at which it is.
    const current = level === now && !still;
    if (current) body += rectangle(0, begin, 2.5, end - begin, "active");
    body += label(
        still ? 0 : font * 0.5, y + high * 0.66, font * (still ? 0.87 : 0.95), name,
        current ? "bold" : "muted");
    body += label(
        width, y + high * 0.66, font * (still ? 0.87 : 0.95), `${count} of ${threads}`, current ? "bold" : "",
        "end");
    if (!still)
      body += rectangle(
          left, y, inner, high, "hit",
          `${name}: ${plural(count, "thread")} in ${plural(working, "warp")} write a value`);
    if (row > 0 && levels[row - 1].interval !== level.interval)
      body += line(left, y, width - right, y, "barrier");
  });
  const end = top + levels.length * high + (hidden > 0 ? font * 1.4 : 0);
  if (hidden > 0) body += label(left, end, font * 0.9, hiddenText(hidden), "muted");
  const slashed = (x, y, s) => rectangle(x, y, s, s, "track") + line(x, y + s, x + s, y, "slash");
  const entries = [
    [square("active"), "writes a value"], [slashed, "idle in a warp that works"],
    [across("rule"), "whole warp idle"]
  ];
  if (model.intervals.length > 1) entries.push([across("barrier"), "__syncthreads()"]);
  const marks = legend(entries, textLeft(width, left), end + font * 0.8, width - textLeft(width, left), font);
  return {
    height: end + font * 0.8 + marks.height,
    body: body + marks.svg,
    title: "Which threads take part in each level",
    description:
        levels.map((level) => `${levelName(level)}: ${nodes[level.number].length} of ${threads}`).join(", ")
  };
}

// ---- banks, sectors, shuffles, atomics: the access of this moment ----

/** How wide each bank's column is. In a still, banks that are asked for take the room of those that are not. */
function bankWidths(parts, first, columns, width, still) {
  const even = width / columns;
  const banks = Array.from({length: columns}, (_, k) => first + k);
  const used = banks.filter((bank) => parts.some((part) => part.wavefronts.some((row) => row.has(bank))));
  if (!still || used.length === 0 || used.length > 12) return banks.map(() => even);
  const wide = Math.min(58, even + ((columns - used.length) * even * 0.32) / used.length);
  const narrow = (width - used.length * wide) / (columns - used.length);
  return banks.map((bank) => (used.includes(bank) ? wide : narrow));
}

/** A word that is asked of a bank in a wavefront, and the lanes that ask. */
function bankCell(x, y, width, height, font, {asked, classes, ink, letter, title}) {
  const lanes = asked.lanes;
  const word = String(asked.word);
  const short = lanes.length === 1 ? `${lanes[0]}` :
      lanes.length === warpSize ? "all" :
      lanes.length > 2          ? `${lanes.length}×` :
                                  lanes.join("+");
  const small = Math.min(font * 0.87, height * 0.36);
  const long = `${lanes.length === 1 ? "lane" : "lanes"} ${short}`;
  const who = textWidth(long, small) < width - 4 ? long : short;
  const below = letter ?
      flag(x + width / 2, y + height * 0.74, Math.min(font * 0.87, width * 0.6, height * 0.38), letter) :
      label(
          x + width / 2, y + height * 0.87, Math.min(small, (width - 2) / (who.length * 0.58)), who, ink,
          "middle");
  const size = Math.min(font * 1.1, height * 0.46, (width - 1.5) / (word.length * 0.74));
  return rectangle(x + 0.5, y + 0.5, width - 1, height - 1, classes, title) +
      `<g pointer-events="none">${
             label(x + width / 2, y + height * 0.45, size, word, `${ink} bold`, "middle")}${below}</g>`;
}

/** By which parts of the warp an access goes, if that needs saying. */
function servedNote(event, parts) {
  const together = parts[0].last - parts[0].first + 1;
  if (event.words.length > 1 && together * event.bytes > bankCount * 4) {
    return "Both lanes of a pair ask for one word, or one of them is idle: such a load goes by " +
        `${together === warpSize ? "whole" : "half"} warps.`;
  }
  return parts.length > 1 ? "Accesses of 8 bytes go by half warps, of 16 by quarter warps." : "";
}

function drawBanks(trace, moment, options) {
  const {width, font, still, zero = 0, rows: most = 12} = options;
  const event = trace.events[moment];
  const parts = servedParts(event);
  const named = accessLetters(trace, moment, options);
  const columns = options.columns ?? (width < 560 ? 16 : bankCount);
  const total = parts.reduce((sum, part) => sum + part.wavefronts.length, 0);
  const left = textWidth(`wavefront ${still ? total : 32}`, font) + font * 0.6;
  let y = 0;
  let body = "";
  for (let first = 0; first < bankCount; first += columns) {
    const isAsked = (bank) => bank >= first && bank < first + columns;
    if (!parts.some((part) => part.wavefronts.some((row) => [...row.keys()].some(isAsked)))) {
      body += label(
          0, y + font, font * 0.87,
          `banks ${first}–${first + columns - 1}: no lane asks for a word of theirs`, "muted");
      y += font * 1.9;
      continue;
    }
    const widths = bankWidths(parts, first, columns, width - left, still);
    const xs = widths.map((_, k) => left + widths.slice(0, k).reduce((a, b) => a + b, 0));
    const high = still ? font * 2.5 : Math.max(Math.min(Math.max(...widths), 32), font * 1.75);
    body += label(0, y + font, font * 0.87, "bank", "muted");
    widths.forEach((cell, k) => {
      // Of numbers that would touch, every other.
      if (still && k % 2 === 1 && cell < font * 1.6) return;
      body +=
          label(xs[k] + cell / 2, y + font, Math.min(font * 0.87, cell * 0.72), first + k, "muted", "middle");
    });
    y += font * 1.5;
    let row = 0;
    for (const part of parts) {
      if (parts.length > 1) {
        body += label(left, y + font * 0.95, font * 0.87, `lanes ${part.first}–${part.last}`, "muted");
        y += font * 1.3;
      }
      part.wavefronts.forEach((wavefront, turn) => {
        ++row;
        // Of very many, a still has the first and the last.
        const rows = part.wavefronts.length;
        if (still && rows > most && turn >= most / 2 && turn < rows - 1) {
          if (turn > most / 2) return;
          body += label(left - font * 0.5, y + font, font, "…", "bold warntext", "end");
          y += font * 1.5;
          return;
        }
        body += label(
            left - font * 0.5, y + high * 0.62, font * (still ? 0.87 : 0.9), `wavefront ${row}`,
            turn > 0 ? "bold warntext" : "muted", "end");
        body += `<g class="wavefront">`;
        widths.forEach((cell, k) => {
          const asked = wavefront.get(first + k);
          if (!asked) {
            body += rectangle(xs[k] + 0.5, y + 0.5, cell - 1, high - 1, "cell");
            return;
          }
          const who = asked.lanes.length === 1 ? `lane ${asked.lanes[0]}` : `lanes ${ranges(asked.lanes)}`;
          body += bankCell(xs[k], y, cell, high, font, {
            asked: {...asked, word: asked.word - zero},
            classes: turn > 0 ? "conflict" : "active",
            ink: turn > 0 ? "onwarn" : "on",
            letter: asked.lanes.map((lane) => named.get(event.warp * warpSize + lane)).find(Boolean),
            title: still ? "" :
                           `${sharedName(trace, asked.word, 4)}, word ${asked.word} of bank ${
                               first + k}, asked by ${who}, in wavefront ${row} of ${total}`,
          });
        });
        body += "</g>";
        y += high + 1.5;
      });
    }
    y += font * 0.5;
  }
  const conflicts = total - parts.length;
  const note = [
    "In a cell: the word, and below it the lane that asks for it.", servedNote(event, parts),
    named.size > 0 ? `${[...new Set(named.values())].join(" and ")}: the finding's word.` : ""
  ].filter(Boolean).join(" ");
  const entries = [[square("active"), "first wavefront"]];
  if (conflicts > 0) entries.push([square("conflict"), `bank conflict: another wavefront (${conflicts})`]);
  const below = textLeft(width, left);
  const marks = legend(entries, below, y, width - below, font);
  y += marks.height;
  const notes = textLines(note, below, y + font * 0.9, width - below, font, {size: 0.92});
  return {
    height: y + font * 0.6 + notes.height,
    body: body + marks.svg + notes.svg,
    title: "The 32 banks of shared memory, and the words asked of each",
    description: eventText(trace, event)
  };
}

function drawSectors(trace, moment, options) {
  const {width, font, still} = options;
  const event = trace.events[moment];
  const model = modelOf(trace);
  const sectors = sectorsOf(event);
  const named = accessLetters(trace, moment, options);
  const active = new Set(lanesIn(event.lanes));
  const left = textWidth("sectors", font) + font * 0.4;
  const cell = (width - left) / warpSize;
  const high = Math.min(20, Math.max(cell, 10));
  const top = font * 1.5;
  const most = still ?
      sectors.length :
      mostOf(trace, options, ({events}) => events.reduce((a, each) => Math.max(a, each.sectors ?? 0), 0));
  const perRow = Math.min(Math.max(4, most), 16);
  const span = Math.min((width - left) / perRow, 110);
  const gap = Math.max(3, span * 0.07);
  const boxTop = top + high + 56;
  const rowHeight = high + font * 2;
  let body = label(0, top + high * 0.75, font * 0.95, "lanes", "muted") +
      label(0, boxTop + high * 0.75, font * 0.95, "sectors", "muted");
  body += laneRow(left, top, cell, high, {
    numbers: font,
    state: (lane) => (active.has(lane) ? "active" : "idle"),
    title: (lane) => (still ? "" : `lane ${lane}${active.has(lane) ? "" : " does not take part"}`),
    letter: (lane) => named.get(event.warp * warpSize + lane)
  });
  let links = "";
  const perElement = Math.max(1, model.elementBytes / 4);
  const offsetX = left + Math.max(0, (width - left - Math.min(perRow, sectors.length) * span) / 2);
  const nameOf = ({buffer}) => model.names[buffer] ?? "global memory";
  const elements = (sector) => {
    const {first} = sector;
    const [begin, end] = [Math.max(0, Math.floor(first / perElement)), Math.floor((first + 7) / perElement)];
    return `${nameOf(sector)}[${begin === end ? begin : `${begin}..${end}`}]`;
  };
  // Where there is no room for the elements of each sector, those of every other, or of one in four.
  const fits = (sector, room) => textWidth(elements(sector), font * 0.87) + 4 < room;
  const every =
      [1, 2, 4, 8].find((count) => sectors.every((each, k) => k % count || fits(each, count * span))) ??
      perRow;
  sectors.forEach((sector, k) => {
    const x = offsetX + (k % perRow) * span;
    const y = boxTop + Math.floor(k / perRow) * rowHeight;
    const says = (word, lanes) => `word ${word} of ${nameOf(sector)}${
        lanes.length > 0 ? `: lane ${ranges(lanes)}` : ", fetched and not used"}`;
    const words = sectorWords(sector, x, y, (span - gap) / 8, high, {
      title: still ? undefined : says,
      link: (at, lane) => segment(left + (lane + 0.5) * cell, top + high + 1, at, y - 1)
    });
    body += words.boxes;
    if (y === boxTop) links += words.links;
    body += rectangle(x - 1, y - 1, span - gap + 2, high + 2, "ready");
    if (k % perRow % every === 0)
      body += label(
          every === 1 ? x + (span - gap) / 2 : x, y + high + font * 1.1, font * 0.87, elements(sector),
          "muted", every === 1 ? "middle" : "start");
  });
  body += path(links, "link");
  const rows = Math.ceil(sectors.length / perRow);
  const used = sectors.reduce((sum, sector) => sum + sector.words.size, 0);
  const y = boxTop + rows * rowHeight + font * 0.6;
  body += label(
      textLeft(width, left), y + font * 0.4, font * 0.95,
      `${plural(sectors.length, "sector")} of 32 bytes, ${
          Math.round(used * 100 / (sectors.length * 8))} % of their bytes asked for`,
      "muted");
  return {
    height: y + font,
    body,
    title: "Lanes and the sectors of global memory that they ask for",
    description: eventText(trace, event)
  };
}

/** A shuffle, or a vote: all lanes' values go into what each of them gets. */
function drawShuffle(trace, moment, options) {
  const {width, font, still} = options;
  const event = trace.events[moment];
  const isVote = event.kind === "vote";
  const left = textWidth("after", font) + font * 0.8;
  const cell = (width - left) / warpSize;
  const high = Math.min(22, Math.max(cell, 10));
  const top = font * 1.5;
  const drop = width < 560 ? 70 : 96;
  const named = accessLetters(trace, moment, options);
  const active = lanesIn(event.lanes);
  const lower = top + high + drop;
  let body = label(0, top + high * 0.75, font * 0.95, "gives", "muted") +
      label(0, lower + high * 0.75, font * 0.95, "takes", "muted");
  const index = (lane) => active.indexOf(lane);
  const state = (lane) => (index(lane) >= 0 ? "active" : "idle");
  const title = (text) => (lane) => still ? "" : text(lane, index(lane));
  body += laneRow(left, top, cell, high, {
    numbers: font,
    state,
    title: title(
        (lane, k) =>
            `lane ${lane} ${k < 0 ? "does not take part" : `brings ${valueText(event.brought[k])}`}`),
    letter: (lane) => named.get(event.warp * warpSize + lane)
  });
  body += laneRow(left, lower, cell, high, {
    state,
    title: title(
        (lane, k) => k < 0 ? "" :
                             `lane ${lane} takes ${valueText(event.values[k])}` +
                (isVote ? "" : ` from lane ${event.from[k]}`))
  });
  const center = (lane) => left + (lane + 0.5) * cell;
  const [above, middle, below] = [top + high + 1, top + high + drop / 2, lower - 1];
  const linkOf = (lane, k) => isVote ? `${segment(center(lane), above, left + warpSize / 2 * cell, middle)}L${
                                           round(center(lane))} ${round(below)}` :
                                       segment(center(event.from[k]), above, center(lane), below);
  const links = active.map(linkOf).join("");
  body += path(links, "link");
  const own = isVote ? 0 : active.filter((lane, k) => event.from[k] === lane).length;
  const y = lower + high + font * 1.4;
  const what = isVote ? "Each lane learns of the registers of all" : "A register of one lane goes to another";
  const note = `${what}: no memory, no barrier.${
      own > 0 ? ` ${plural(own, "lane")} keep${own === 1 ? "s" : ""} the own value.` : ""}`;
  const inset = textLeft(width, left);
  const notes = textLines(note, inset, y, width - inset, font, {letter: 0.53});
  return {
    height: y + notes.height - font * 0.7,
    body: body + notes.svg,
    title: isVote ? "A vote: which lanes take part" : "A shuffle: which lane takes its value from which",
    description: eventText(trace, event)
  };
}

function drawAtomic(trace, moment, options) {
  const {width, font, still} = options;
  const event = trace.events[moment];
  const model = modelOf(trace);
  const active = lanesIn(event.lanes);
  const left = textWidth("lanes", font) + font * 0.6;
  const cell = (width - left) / warpSize;
  const high = Math.min(20, Math.max(cell, 10));
  // With what the lanes have loaded before: its sectors above the lanes, each lane below the words that it asked for.
  const load = options.loads ? trace.events.slice(0, moment).findLast(
                                   (each) => each.kind === "global_load" && each.warp === event.warp) :
                               undefined;
  const loaded = load ? sectorsOf(load) : [];
  const top = font * (load ? 6.6 : 1.5);
  const words = [...new Set(event.words)].sort((a, b) => a - b);
  const boxTop = top + high + 60;
  const shown = words.slice(0, 32);
  const span = Math.min((width - left) / shown.length, 240);
  const offset = left + (width - left - span * shown.length) / 2;
  let body = label(0, top + high * 0.75, font * 0.95, "lanes", "muted");
  let links = "";
  if (load) {
    const wide = (width - left) / loaded.length;
    const [above, bottom] = [font * 1.7, font * 1.7 + high];
    body += label(
                0, font, font * 0.87,
                `${plural(loaded.length, "sector")}, ${loaded.length * 32} bytes, in one request`, "muted") +
        label(0, above + high * 0.75, font * 0.95, "input", "muted");
    loaded.forEach((sector, k) => {
      const words = sectorWords(
          sector, left + k * wide + 1.5, above, (wide - 3) / 8, high,
          {link: (at, lane) => segment(at, bottom + 1, left + (lane + 0.5) * cell, top - font * 1.35)});
      body += words.boxes;
      links += words.links;
    });
  }
  const index = (lane) => active.indexOf(lane);
  const becomes = (lane, k) =>
      `lane ${lane}: ${valueText(event.before[k])} becomes ${valueText(event.values[k])}`;
  body += laneRow(left, top, cell, high, {
    numbers: font,
    state: (lane) => (index(lane) < 0 ? "idle" : "active"),
    title: (lane) => (still || index(lane) < 0 ? "" : becomes(lane, index(lane)))
  });
  active.forEach((lane, k) => {
    const at = shown.indexOf(event.words[k]);
    if (at >= 0)
      links += segment(left + (lane + 0.5) * cell, top + high + 1, offset + (at + 0.5) * span, boxTop - 1);
  });
  body += path(links, "link");
  const high2 = font * 2;
  const nameOf = (word) => event.kind === "shared_atomic" ?
      sharedName(trace, word, event.bytes) :
      `${model.names[event.buffer] ?? "global memory"}, word ${word}`;
  shown.forEach((word, k) => {
    const lanes = active.filter((_, i) => event.words[i] === word);
    const x = offset + k * span;
    body += rectangle(
        x + 1, boxTop, span - 2, high2, "leaf",
        still ? "" : `${nameOf(word)}: lanes ${ranges(lanes)}, one after the other`);
    if (textWidth(nameOf(word), font) < span - 6)
      body += label(x + span / 2, boxTop + font * 1.35, font, nameOf(word), "", "middle");
  });
  const y = boxTop + high2 + font * 1.4;
  const below = textLeft(width, left);
  const notes = textLines(
      `${plural(active.length, "atomic operation")} on ${
          plural(
              words.length,
              "word")}. Operations on one word happen one after the other, in an order that the hardware chooses.`,
      below, y, width - below, font);
  return {
    height: y + notes.height - font * 0.5,
    body: body + notes.svg,
    title: "Atomic operations: which lane updates which word",
    description: eventText(trace, event)
  };
}

/** The picture of what this event accesses: banks, sectors, lanes that pass values, or a sentence. */
function drawAccess(trace, moment, options) {
  const {kind} = trace.events[moment];
  if (kind.endsWith("_atomic")) return drawAtomic(trace, moment, options);
  if (kind.startsWith("shared")) return drawBanks(trace, moment, options);
  if (kind.startsWith("global")) return drawSectors(trace, moment, options);
  if (kind === "shuffle" || kind === "vote") return drawShuffle(trace, moment, options);
  if (kind === "bulk_copy") return eventText(trace, trace.events[moment]);
  return `${eventText(trace, trace.events[moment])} No memory is accessed.`;
}

// ---- the tree of additions ----

const slotsOf = (model, by) => by === "thread" ? model.threads :
                                                 1 +
        Math.max(
            model.threads - 1,
            ...[...model.sharedHistory.keys()].map((word) => Math.floor(word * 4 / model.elementBytes)));

/** The value in shared memory that the first lane reads at a moment. */
function readAt(trace, moment) {
  const event = trace.events[moment];
  return event.kind === "shared_load" ?
      sharedAt(trace, moment).find(({word}) => word === event.words[0])?.node :
      undefined;
}

/** Where everything of a tree stands. */
function treeLayout(trace, moment, options) {
  const {width, font, still} = options;
  const model = modelOf(trace);
  const {shown, now, hidden} = levelsAround(model, moment);
  const current = still ? null : now;  // a still has no moment at which it is
  const by = trace.events.some((event) => event.kind === "shuffle") ? "thread" : "word";
  const slots = slotsOf(model, by);
  const left = textWidth(still ? "interval 1" : "interval 10", font * 0.9) + font * (still ? 0.4 : 0.8);
  const cell = (width - left - 4) / mostOf(trace, options, (each) => slotsOf(modelOf(each), by));
  const size = Math.max(1.3, Math.min(6.5, cell * 0.4));
  const loads = 1 + model.leaves.reduce((most, leaf) => Math.max(most, leaf.order), 0);
  // In the middle of very many levels the elements are out of sight.
  const rows = shown[0].number === 0 ? Math.min(4, loads) : 0;
  const rowHeight = Math.max(size * 2 + 5, font * 1.2);
  const levelHeight = Math.max(font * 2.6, Math.min(44, 14 + cell * 1.2));
  const top = font * 1.4;
  const levelTop = top + rows * rowHeight + font * 0.6;
  const isDrawn = (number) => number >= shown[0].number && number <= shown.at(-1).number;
  const nodes = model.nodes.filter((node) => isDrawn(node.level.number));
  const atX = (slot) => left + 4 + slot * cell;
  const slotOf = (node) => by === "word" && node.kind.startsWith("shared") ?
      Math.floor(node.word * 4 / model.elementBytes) :
      node.thread;
  // A leaf stands above the value that it became a part of.
  const above = new Map();
  for (const node of nodes)
    for (const source of node.sources)
      if (source.kind === "element" && !above.has(source)) above.set(source, node);
  const place = (node) => node.kind === "element" ?
      [atX(slotOf(above.get(node) ?? node) + 0.5), top + (Math.min(node.order, rows - 1) + 0.5) * rowHeight] :
      [atX(slotOf(node) + 0.5), levelTop + (node.level.number - shown[0].number + 0.5) * levelHeight];
  const isShown = (node) =>
      node.kind === "element" ? rows > 0 : node.level !== undefined && isDrawn(node.level.number);
  const scale = {left, cell, size, top, levelTop, rowHeight, levelHeight, slots};
  return {...scale, model, nodes, shown, hidden, now: current, by, loads, rows, atX, place, isShown};
}

/** A value and all that it was made of. */
function ancestorsOf(node) {
  const found = new Set();
  const stack = node ? [node] : [];
  while (stack.length > 0) {
    const next = stack.pop();
    if (found.has(next) || ["copied", "unknown"].includes(next.kind)) continue;
    found.add(next);
    for (const source of next.sources ?? [])
      stack.push(source);
  }
  return found;
}

/** Lines from values to those that they were made of. */
function treeEdges(layout, moment, ancestors) {
  const groups = {later: "", edge: "", guess: "", origin: ""};
  for (const node of layout.nodes) {
    const [x, y] = layout.place(node);
    const group = node.event > moment ? "later" :
        !node.exact                   ? "guess" :
        ancestors.has(node)           ? "origin" :
                                        "edge";
    for (const source of node.sources) {
      if (!layout.isShown(source)) continue;
      const [sx, sy] = layout.place(source);
      groups[group] += segment(sx, sy, x, y);
    }
  }
  // Lines that would touch are thinner.
  const [fine, thin] = layout.cell < 6 ? [" fine", " fine"] : ["", layout.cell < 12 ? " thin" : ""];
  return path(groups.later, `later${fine}`) + path(groups.edge, `edge${fine}`) +
      path(groups.guess, "edge guess") + path(groups.origin, `origin${thin}`);
}

/** The levels' names, and what separates one from the next: a barrier of the block, or of warps only. */
function treeLevels(trace, layout, width, font) {
  const {model, shown, now, left, slots, atX, levelHeight, levelTop} = layout;
  const passed = new Map();
  trace.events.forEach((event, index) => {
    if (event.kind !== "warp_barrier") return;
    const key = `${model.intervalOf[index]}:${model.stepOf[index]}`;
    if (!passed.has(key)) passed.set(key, new Map());
    passed.get(key).set(event.warp, (passed.get(key).get(event.warp) ?? 0) + 1);
  });
  let svg = "";
  shown.forEach((level, row) => {
    const y = levelTop + row * levelHeight;
    const before = shown[row - 1];
    const isFirst = !before || before.interval !== level.interval;
    svg += label(
        0, y + levelHeight * 0.5 + font * 0.35, font * 0.9,
        level.step === 0 ? `interval ${level.interval}` : `part ${level.step + 1}`,
        level === now ? "bold" : "muted");
    if (before && isFirst) svg += line(left, y, width, y, "barrier");
    // As many lines as the warp meets barriers between the two levels.
    for (const [warp, met] of passed.get(`${level.interval}:${level.step}`) ?? []) {
      const count = Math.min(met, 3);
      for (let k = 0; k < count; ++k) {
        const at = y + 5 * (isFirst ? k + 1 : k - (count - 1) / 2);
        svg += line(atX(warp * warpSize), at, atX(Math.min((warp + 1) * warpSize, slots)), at, "warpbarrier");
      }
    }
  });
  return svg;
}

const diamond = (x, y, r) => `M${round(x)} ${round(y - r)}l${round(r)} ${round(r)}l${round(-r)} ${round(r)}l${
    round(-r)} ${round(-r)}z`;

/** A value's mark has a shape for where it is: shared memory, a register, global memory, an element of the input. */
function valueMark(shape, x, y, r, classes, title) {
  const inside = title ? `<title>${escapeText(title)}</title>` : "";
  switch (shape) {
    case "circle": return circle(x, y, r, classes, inside);
    case "diamond": return `<path d="${diamond(x, y, r * 1.25)}" class="${classes}">${inside}</path>`;
    default:
      return `<rect x="${round(x - r)}" y="${round(y - r)}" width="${round(2 * r)}" height="${
          round(2 * r)}" class="${classes}">${inside}</rect>`;
  }
}

const shapeOf = (node) => node.kind.startsWith("global") ? "square" :
    node.kind === "shuffle"                              ? "diamond" :
                                                           "circle";

/** The marks of elements and values; pointed at, each says what it is and what it was made of. */
function treeMarks(trace, moment, layout, {font, still}, chosen) {
  const {model, rows, size, cell, nodes, place} = layout;
  const says = (node) => (still || nodes.length > 3000 ? "" : nodeText(trace, node));
  const when = (node, past) => node.event > moment ? "nodelater" : node.event === moment ? "nodenow" : past;
  let body = "";
  for (const leaf of rows > 0 ? model.leaves : []) {
    if (leaf.order >= rows && leaf.order % 4 !== 0) continue;
    body += valueMark("square", ...place(leaf), Math.min(size, 4.5) * 0.85, when(leaf, "leaf"), says(leaf));
  }
  for (const node of nodes) {
    const [x, y] = place(node);
    const later = node.event > moment;
    const radius = node.event === moment ? size * 1.3 : size;
    body += valueMark(
        shapeOf(node), x, y, radius, `${when(node, "node")}${radius < 2.5 ? " dense" : ""}`,
        later ? "" : says(node));
    if (node === chosen) body += circle(x, y, radius + 3.5, "ring");
    const value = valueText(node.value, 6);
    if (!later && cell > font * 2 && textWidth(value, font * 0.87) < cell * 1.3)
      body += label(x, y + radius + font * 0.95, font * 0.87, value, "", "middle");
  }
  return body;
}

function treeLegend(trace, {model, nodes}, chosen) {
  const shapes = new Set(nodes.map(shapeOf));
  const mark = (shape, part, classes) => (x, y, s) =>
      valueMark(shape, x + s / 2, y + s / 2, s * part, classes, "");
  return [
    [mark("square", 0.3, "leaf"), "element of the input", true],
    [mark("circle", 0.36, "node"), "value in shared memory", shapes.has("circle")],
    [mark("diamond", 0.4, "node"), "register in a shuffle", shapes.has("diamond")],
    [mark("square", 0.36, "node"), "value in global memory", shapes.has("square")],
    [across("barrier"), "__syncthreads()", model.intervals.length > 1],
    [across("warpbarrier"), "__syncwarp()", trace.events.some((event) => event.kind === "warp_barrier")],
    [across("edge guess"), "computed from", nodes.some((node) => !node.exact && node.sources.length > 0)],
    [across("origin"), "origin of the value below", Boolean(chosen)],
  ].filter(([, , needed]) => needed);
}

function drawTree(trace, moment, options) {
  const {width, font, still} = options;
  const {nodes} = modelOf(trace);
  if (nodes.length === 0) return "No value has been written in this trace.";
  const layout = treeLayout(trace, moment, options);
  const {left, top, rows, rowHeight, by, slots, size, place} = layout;
  const chosen = nodes.find((node) => node.event === moment) ?? readAt(trace, moment) ??
      nodes.findLast((node) => node.event <= moment);

  let body =
      rows > 0 ? label(0, top + rowHeight * rows / 2 + font * 0.3, font * 0.9, "elements", "muted") : "";
  body += treeEdges(layout, moment, ancestorsOf(chosen)) + treeLevels(trace, layout, width, font) +
      treeMarks(trace, moment, layout, options, chosen);
  (findingAt(trace, moment, options)?.witnesses ?? []).forEach((witness, k) => {
    if (!Number.isInteger(witness.event) || witness.event > moment) return;
    const node =
        layout.nodes.find((each) => each.event === witness.event && witness.threads.includes(each.thread));
    if (!node) return;
    // Above its mark, with a ring around that, so that it does not read as the next word.
    const [x, y] = place(node);
    body +=
        circle(x, y, size + 2.5, "witness") + flag(x, y - size - 3 - font * 0.56, font * 0.9, letterOf(k));
  });
  body += label(
      left + 4, font * 0.95, font * 0.88,
      `${by === "word" ? "word of shared memory" : "thread"}, 0 to ${slots - 1}`, "muted");

  let y = layout.levelTop + layout.shown.length * layout.levelHeight + font * 0.6;
  const notes = [];
  if (rows > 0 && layout.loads > rows)
    notes.push(`A thread loads up to ${layout.loads} times: what comes after the first ${
        rows - 1} is drawn in one row.`);
  if (layout.hidden > 0) notes.push(hiddenText(layout.hidden));
  const below = textLeft(width, left);
  for (const text of notes.flatMap((note) => wrapText(note, Math.floor((width - below) / (font * 0.52))))) {
    body += label(below, y + font * 0.5, font * 0.9, text, "muted");
    y += font * 1.5;
  }
  const marks = legend(treeLegend(trace, layout, chosen), below, y, width - below, font);
  body += marks.svg;
  y += marks.height + font * 0.3;
  const said = chosen ? nodeText(trace, chosen) : "Nothing has been written yet.";
  const lines =
      textLines(said, below, y + font * 0.9, width - below, font, {size: 0.98, letter: 0.55, classes: ""});
  body += lines.svg;
  // On the page there is room for the longest that is said of a value.
  y += font * 0.6 + (still ? lines.height : Math.max(lines.height, font * (width < 560 ? 5.2 : 2.6)));
  return {height: y, body, title: "The tree of additions", description: said};
}

// ---- shared memory ----

/** A value in at most so many characters, with fewer digits if need be. */
function shortValue(value, most) {
  let text = valueText(value);
  for (let digits = 5; text.length > most && digits > 0 && Number.isFinite(Number(value)); --digits)
    text = Number(value).toPrecision(digits).replace("e+", "e");
  return text.length > most ? `${text.slice(0, Math.max(1, most - 1))}…` : text;
}

/** Words side by side as the banks are, in rows of as many as their values leave room for. */
function memoryLayout(traces, width, font) {
  const models = traces.map(modelOf);
  const elementBytes = Math.max(...models.map((model) => model.elementBytes));
  const longest = Math.min(7, Math.max(...models.map((model) => model.longestValue)));
  const needed = (textWidth("0", font) * longest + 5) * 4 / elementBytes;
  const nameOf = (trace, word) => sharedName(trace, word, elementBytes);
  const names = traces.flatMap(
      (trace, k) => [...models[k].sharedHistory.keys()].map((word) => nameOf(trace, word - word % 8)));
  const left = textWidth(names.reduce((a, b) => (b.length > a.length ? b : a), ""), font * 0.9) + font * 0.5;
  const columns = [32, 16].find((count) => (width - left) / count >= needed) ?? 8;
  return {columns, left, cell: (width - left) / columns, nameOf};
}

function drawMemory(trace, moment, options) {
  const {width, font, still} = options;
  const {elementBytes, sharedHistory} = modelOf(trace);
  if (sharedHistory.size === 0) return "Nothing is written to shared memory in this trace.";
  const {columns, left, cell, nameOf} = memoryLayout(inView(trace, options), width, font);
  const words = [...sharedHistory.keys()].sort((a, b) => a - b);
  const rows = [...new Set(words.map((word) => Math.floor(word / columns)))];
  // Of very many rows those around the last access.
  const [last] =
      trace.events.slice(0, moment + 1).findLast(({kind}) => /^shared|^bulk/.test(kind))?.words ?? words;
  const {shown, hidden} = around(rows, rows.indexOf(Math.floor(last / columns)), 40);
  const high = font * 1.9;
  const top = font * 1.4;
  const event = trace.events[moment];
  const isLoad = event.kind === "shared_load";
  const read = new Set(isLoad ? event.words.flatMap((word) => wordsOfAccess(word, event.bytes)) : []);
  const held = new Map(sharedAt(trace, moment).map((each) => [each.word, each]));
  let [body, rings] = [label(0, font, font * 0.9, columns === bankCount ? "bank" : "", "muted"), ""];
  for (let column = 0; column < columns; column += cell < font * 2 && columns < bankCount ? 2 : 1)
    body += label(
        left + (column + 0.5) * cell, font, Math.min(font * 0.87, cell * 0.55),
        columns === bankCount ? column : `+${column}`, "muted", "middle");
  shown.forEach((row, k) => {
    const y = top + k * (high + 2);
    body += label(0, y + high * 0.66, font * 0.9, nameOf(trace, row * columns), "muted");
    for (let word = row * columns; word < (row + 1) * columns; ++word) {
      if (!sharedHistory.has(word)) continue;
      const {node, now} = held.get(word) ?? {};
      const part = node ? (word - node.word) * 4 / elementBytes : 0;
      if (!Number.isInteger(part) && node.bytes >= elementBytes) continue;
      const x = left + word % columns * cell;
      const wide = cell * (node ? Math.ceil(Math.min(node.bytes, elementBytes) / 4) : 1);
      body += rectangle(
          x + 0.5, y + 0.5, wide - 1, high - 1, now ? "active" : "cell",
          still || !node ? "" : nodeText(trace, node));
      if (read.has(word)) rings += rectangle(x + 1.5, y + 1.5, wide - 3, high - 3, "ring");
      if (!node) continue;
      const value = node.bytes > elementBytes && Array.isArray(node.value) ? node.value[part] : node.value;
      const text = shortValue(value, Math.floor((wide - 3) / textWidth("0", font)));
      body += `<g pointer-events="none">${
          label(x + wide / 2, y + high * 0.68, font, text, now ? "on bold" : "", "middle")}</g>`;
    }
  });
  const below = top + shown.length * (high + 2);
  if (hidden > 0) body += label(0, below + font, font * 0.9, hiddenText(hidden, "row"), "muted");
  const end = below + font * (hidden > 0 ? 1.7 : 0.4);
  const marks = legend(
      [[square("active"), "just written"], [square("ring"), "read by this event"]], 0, end, width, font);
  return {
    height: end + marks.height,
    body: body + rings + marks.svg,
    title: "Words of shared memory and their values",
    description: plural(held.size, "word")
  };
}

// ---- the whole trace at a glance ----

/** What a bar of the timeline counts: wavefronts, or sectors. */
const barOf = (event) => event.kind === "bulk_copy" ? event.words.length * event.bytes / 32 :
                                                      event.wavefronts ?? event.sectors ?? 0;

/** The axes: upwards wavefronts or sectors, across the number of the event. */
function timelineAxes({count, most, scale, base, left, width, font, placed}) {
  const size = font * 0.87;
  const stepOf = (span, ticks) => 2 ** Math.ceil(Math.log2(Math.max(1, span / ticks)));
  const [step, events] = [stepOf(most, 2), stepOf(count, width < 560 ? 4 : 8)];
  let svg = line(left - 6, base + 0.5, width, base + 0.5, "rule") +
      label(0, size, size, "wavefronts or sectors", "muted");
  for (let tick = step; tick <= most; tick += step)
    svg += line(left - 6, base - tick * scale, width, base - tick * scale, "rule") +
        label(left - 9, base - tick * scale + size * 0.35, size, tick, "muted", "end");
  svg += label(left, base + size * 1.15, size, "event 1", "muted");
  for (let tick = events; tick <= count; tick += events)
    if (placed.get(tick - 1) > left + font * 5)
      svg += label(placed.get(tick - 1), base + size * 1.15, size, tick, "muted", "middle");
  return svg;
}

/** One bar per event: its wavefronts or sectors; a line over the whole height is a barrier of the block. */
function drawTimeline(trace, moment, options) {
  const {width, font} = options;
  const count = trace.events.length;
  // The slider below begins and ends where the events do: explorer.css has these, too.
  const [left, right] = [36, 8];
  // Beside another trace, an event stands where the two are in step.
  const steps = options.steps ?? trace.events.map((_, k) => k);
  const step = (width - left - right) / Math.max(1, steps.length - 1);
  const placed = new Map();
  steps.forEach((event, k) => {
    if (!placed.has(event)) placed.set(event, left + k * step);
  });
  const bar = Math.max(0.6, Math.min(step * 0.75, 7));
  const most =
      mostOf(trace, options, ({events}) => events.reduce((most, event) => Math.max(most, barOf(event)), 4));
  const base = font * 1.3 + (options.height ?? 40);
  const scale = (base - font * 1.3) / most;
  const groups = {active: "", conflict: "", waiting: "", rule: "", barrier: ""};
  const column = (x, y, h) => `M${round(x - bar / 2)} ${round(y)}h${round(bar)}v${round(-h)}h${round(-bar)}z`;
  // Of more events than pixels, the tallest at each pixel; of very many barriers, none.
  const tallest = new Map();
  trace.events.forEach((event, k) => {
    if (event.kind === "block_barrier") return;
    const pixel = step < 1 ? Math.round(placed.get(k)) : k;
    if (!tallest.has(pixel) || barOf(event) > barOf(trace.events[tallest.get(pixel)])) tallest.set(pixel, k);
  });
  for (const k of tallest.values()) {
    const event = trace.events[k];
    const x = placed.get(k);
    if (event.wavefronts !== undefined && event.kind !== "bulk_copy") {
      const least = event.wavefronts - (event.conflicts ?? 0);
      groups.active += column(x, base, least * scale);
      if (event.conflicts > 0)
        groups.conflict += column(x, base - least * scale - 1, event.conflicts * scale - 1);
    } else if (barOf(event) > 0)
      groups.waiting += column(x, base, barOf(event) * scale);
    else
      groups.rule += `M${round(x)} ${round(base)}v-5`;
  }
  const {intervals} = modelOf(trace);
  if (intervals.length < width / 4)
    for (const {barrier} of intervals)
      if (barrier !== null)
        groups.barrier += `M${round(placed.get(barrier))} ${round(font * 1.2)}V${round(base)}`;
  const now = placed.get(moment);
  let body = timelineAxes({count, most, scale, base, left, width, font, placed}) +
      Object.entries(groups).map(([name, d]) => path(d, name)).join("");
  body += `<path d="M${round(now)} ${base + 3}V${round(font * 0.8)}" class="now"/><path d="M${
      round(now - 5)} 0h10l-5 ${round(font * 0.8)}z" class="active"/>`;
  trace.findings.forEach((finding) => finding.witnesses.forEach((witness, k) => {
    // What never happened stands at the end of what did.
    const at = witness.block !== trace.block ? null : witness.event ?? count - 1;
    if (at !== null && at < count)
      body += flag(
          Math.min(width - font * 0.6, placed.get(at)), font * 0.75 + (k % 2) * font * 1.3, font * 0.9,
          letterOf(k));
  }));
  return {
    height: base + font * 1.2,
    body,
    title: "All events of the trace",
    description:
        `${plural(count, "event")}; bars are wavefronts or sectors, long lines are barriers of the block`
  };
}

const triangle = (x, y, r) =>
    `M${round(x - r)} ${round(y + r * 0.85)}h${round(2 * r)}L${round(x)} ${round(y - r)}z`;

/** A source line without its comment, in at most `columns`: where it is longer, from what is accessed in it. */
function lineFromSpot(trace, model, events, number, columns) {
  const whole = trace.sources[model.kernelSource].lines[number - 1] ?? "";
  const indent = whole.length - whole.trimStart().length;
  const text = whole.trim().replace(/\s*\/\/.*$/, "");
  if (text.length <= columns) return text;
  // The first place in the line at which something happens, but not so far left that its end is lost for nothing.
  const begins = events.filter(([event]) => event.line === number)
                     .map(([event]) => (spotOf(whole, event.column)?.[0] ?? indent) - indent);
  const from = Math.max(0, Math.min(...begins));
  const shown = from > 0 ? `…${text.slice(from)}` : text;
  return shown.length > columns ? `${shown.slice(0, columns - 1).replace(/(?<=[,(])[^,()]*$/, "")}…` : shown;
}

/** The lines of the source that one warp executes, event by event: a loop is a zigzag. */
function drawPath(trace, moment, options) {
  const {width, font, still} = options;
  const model = modelOf(trace);
  const warp = options.warp ?? trace.events[moment].warp ?? 0;
  let events = [];
  trace.events.forEach((event, index) => {
    if ((event.warp === warp || event.kind === "block_barrier") && event.line > 0 &&
        event.source === model.kernelSource)
      events.push([event, index]);
  });
  if (events.length === 0) return `Warp ${warp} does nothing in this trace.`;
  // Of very many events, those around this moment.
  const all = events.length;
  const next = events.findIndex(([, index]) => index >= moment);
  events = around(events, next < 0 ? all : next, 200).shown;
  const numbers = [...new Set(events.map(([event]) => event.line))].sort((a, b) => a - b);
  const size = font * 0.87;
  const gutter = textWidth("0".repeat(String(numbers.at(-1)).length), size, true);
  const columns = Math.floor((width * (width < 560 ? 0.6 : 0.46) - gutter) / textWidth("m", size, true));
  const texts = numbers.map((number) => lineFromSpot(trace, model, events, number, columns));
  const longest = Math.max(...texts.map((text) => text.length));
  const left = gutter + textWidth("m".repeat(longest), size, true) + font * 1.1;
  const high = font * 2;
  const step = (width - left - 8) / events.length;
  const top = font * 1.6;
  let body = label(
      width < 560 ? 0 : left, font, font * 0.88,
      `${all > events.length ? `${events.length} of ${all} ` : ""}events of warp ${warp}, from left to right`,
      "muted");
  numbers.forEach((number, k) => {
    const y = top + k * high;
    body += line(left, y + high / 2, width, y + high / 2, "rule");
    body += label(gutter, y + high / 2 + size * 0.35, size, number, "muted mono", "end");
    body += label(gutter + font * 0.6, y + high / 2 + size * 0.35, size, texts[k], "mono");
  });
  const at = events.map(([event, index], k) => {
    const [x, y] = [left + 4 + (k + 0.5) * step, top + (numbers.indexOf(event.line) + 0.5) * high];
    return {x, y, event, index};
  });
  body += path(at.map(({x, y}, k) => `${k === 0 ? "M" : "L"}${round(x)} ${round(y)}`).join(""), "edge");
  const radius = Math.max(still ? 2.4 : 1.8, Math.min(5.5, step * 0.42));
  const counted = new Set();
  for (const {x, y, event, index} of at) {
    const title = still ? "" : `<title>${escapeText(eventText(trace, event))}</title>`;
    const bar = (reach, more) => `<path d="M${round(x)} ${round(y - radius * reach)}V${
        round(y + radius * reach)}" class="${more}>${title}</path>`;
    const full = event.lanes !== undefined && countLanes(event.lanes) === warpSize;
    const kind = event.kind.endsWith("barrier") ? event.kind :
        event.conflicts > 0                     ? "conflict" :
        full                                    ? "node" :
                                                  "leaf";
    const classes = index === moment && !still ? "nodenow" : kind;
    counted.add(kind);
    if (kind === "block_barrier")
      body += bar(2, `barrier"`);
    else if (kind === "warp_barrier")
      body += bar(1.8, `warpbarrier" style="stroke-dasharray:2 2"`);
    else if (kind === "conflict")
      body += `<path d="${triangle(x, y, radius * 1.15)}" class="${classes}">${title}</path>`;
    else
      body += circle(x, y, radius, classes, title);
  }
  const conflict = (x, y, s) => path(triangle(x + s / 2, y + s / 2, s * 0.42), "conflict");
  const entries =
      [
        ["node", dot("node"), "all 32 lanes"], ["leaf", dot("leaf"), "some lanes"],
        ["conflict", conflict, "with bank conflicts"],
        ["block_barrier", upright("barrier"), "__syncthreads()"],
        ["warp_barrier", upright("warpbarrier"), "__syncwarp()"]
      ].filter(([kind]) => counted.has(kind))
          .map(([, mark, text]) => [mark, text]);
  const marks = legend(entries, 0, top + numbers.length * high + font * 0.4, width, font);
  return {
    height: top + numbers.length * high + font * 0.4 + marks.height,
    body: body + marks.svg,
    title: `The lines that warp ${warp} executes`,
    description: plural(events.length, "event")
  };
}

/**
 * How high a view gets in a trace, so that a page can keep the room: of moments that look alike, one is drawn. What lanes,
 * levels and memory take is the same at all of them, and the tree names a value as soon as there is one.
 */
export function tallest(name, trace, options) {
  const look = {
    access: ({kind, bytes, lanes, banks, sectors}) => [kind, bytes, lanes, banks, sectors].join(),
    tree: (_, moment) => modelOf(trace).nodes[0]?.event <= moment,
    path: ({warp = 0}, moment) => `${warp}:${Math.floor(moment / 100)}`
  }[name];
  const alike = new Map(trace.events.map((event, moment) => [look?.(event, moment), moment]).reverse());
  const heights = [...alike.values()].map(
      (moment) => Number(/ height="(\d+)"/.exec(views[name](trace, moment, options))[1]));
  return Math.max(...heights);
}

/** The pictures by name: each a function of a trace, a moment and options that returns SVG text. */
export const views = {
  lanes: view(drawLanes),
  activity: view(drawActivity),
  access: view(drawAccess),
  tree: view(drawTree),
  memory: view(drawMemory),
  timeline: view(drawTimeline),
  path: view(drawPath),
};
