// The renderer: pure functions from a trace, a moment and options to a picture as SVG text. No DOM, no randomness.
// Options: width (in pixels), font (its size), still (a picture on its own, with its colours and its background).

import {escapeText, label, legend, line, path, picture, rectangle, round, settled, stateCell, textWidth, wrapText} from "./svg.js";
import {bankCount, countLanes, lanesIn, modelOf, sectorsOf, servedParts, sharedAt, statesAt, warpSize} from "./trace.js";
import {eventText, nodeText, placeOf, plural, ranges, statesText, stateText, threadText, valueText} from "./words.js";


const letters = "ABCDEFGH";

/** Which threads of this block a finding names, each with its witness's letter. */
function witnessLetters(trace, finding) {
  const named = new Map();
  (finding?.witnesses ?? []).forEach((witness, k) => {
    if (witness.block !== undefined && witness.block !== trace.block) return;
    for (const thread of witness.threads) {
      if (!named.has(thread)) named.set(thread, letters[k % letters.length]);
    }
  });
  return named;
}

/** The same for pictures of one access, where the letters of very many threads would say nothing. */
function fewLetters(trace, moment, options) {
  const named = witnessLetters(trace, findingAt(trace, moment, options));
  return named.size <= 8 ? named : new Map();
}

/** The finding that a moment is about: the one that was asked for, or the first whose witness took part. */
function findingAt(trace, moment, options) {
  if (options.finding !== undefined) return trace.findings[options.finding];
  return trace.findings.find((finding) => finding.witnesses.some((witness) => witness.event === moment)) ??
      trace.findings[0];
}

const flag = (x, y, size, letter) =>
    `<g><circle cx="${round(x)}" cy="${round(y)}" r="${round(size * 0.62)}" class="flag"/>` +
    `${label(x, y + size * 0.34, size * 0.92, letter, "onflag", "middle")}</g>`;

/** A short message where a picture has nothing to draw. */
function message(text, options) {
  const {width, font, still} = options;
  const lines = wrapText(text, Math.floor(width / (font * 0.56)));
  const body = lines.map((each, k) => label(0, font * (1.3 + 1.4 * k), font, each, "muted")).join("");
  return picture({width, height: font * (1 + 1.4 * lines.length), title: text, description: "", body, still});
}

// ---- warps x lanes ----

function drawLanes(trace, moment, given) {
  const options = settled(given);
  const {width, font, still} = options;
  const {warps, threads} = modelOf(trace);
  const states = statesAt(trace, moment);
  const named = witnessLetters(trace, findingAt(trace, moment, options));
  const left = textWidth("warp 31", font) + font * 0.6;
  const cell = (width - left) / warpSize;
  const high = warps > 16 ? Math.min(cell, 11) : warps > 8 ? Math.min(cell, 15) : Math.min(cell, 22);
  const top = font * 1.5;
  let body = "";
  for (let lane = 0; lane < warpSize; lane += 4)
    body += label(left + (lane + 0.5) * cell, font, font * 0.85, lane, "muted", "middle");
  body += label(0, font, font * 0.85, "lane", "muted");
  const rowFont = Math.min(font, high * 0.95);
  for (let warp = 0; warp < warps; ++warp) {
    const y = top + warp * high;
    const now = trace.events[moment].warp === warp;
    if (high >= 9 || warp % 4 === 0)
      body += label(0, y + high * 0.78, rowFont, `warp ${warp}`, now ? "bold" : "muted");
    for (let lane = 0; lane < warpSize && warp * warpSize + lane < threads; ++lane) {
      const thread = warp * warpSize + lane;
      body += stateCell(
          left + lane * cell, y, cell, high, states[thread],
          still ? "" : `${threadText(thread)}: ${stateText[states[thread]]}`);
    }
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
  const shown = ["active", "idle", "ready", "waiting", "left"];
  const marks = legend(
      shown.map((state) => [(x, y, size) => stateCell(x, y, size, size, state, ""), {
                  active: "active",
                  idle: "idle in its warp",
                  ready: "not its turn",
                  waiting: "waits at barrier",
                  left: "has left"
                }[state]]),
      left, top + warps * high + font * 0.7, width - left, font);
  return picture({
    width,
    height: top + warps * high + font * 0.7 + marks.height,
    still,
    body: body + marks.svg,
    title: "What each lane does at this moment",
    description: `${statesText(states)}. ${eventText(trace, trace.events[moment])}`
  });
}

// ---- threads x levels ----

/**
 * The levels that are drawn: all of them, or of very many those around this moment. Returns {shown, now, hidden}, where
 * `now` is the level that this moment belongs to, and `hidden` the number of those that are left out.
 */
function levelsAround(model, moment, most = 24) {
  const {levels} = model;
  let at = levels.findLastIndex((level) => level.first <= moment);
  const now = at >= 0 && levels[at].interval === model.intervalOf[moment] ? levels[at] : null;
  at = Math.max(0, at);
  const begin = Math.max(0, Math.min(at - most / 2, levels.length - most));
  const shown = levels.slice(begin, begin + most);
  return {shown, now, hidden: levels.length - shown.length};
}

const levelName = (level) =>
    (level.step === 0 ? `interval ${level.interval}` : `${level.interval}, part ${level.step + 1}`);

const hiddenText = (hidden) => `${plural(hidden, "more level")} before and after these.`;

function levelNodes(model) {
  const byLevel = model.levels.map(() => []);
  for (const node of model.nodes)
    byLevel[node.level.number].push(node);
  return byLevel;
}

function drawActivity(trace, moment, given) {
  const options = settled(given);
  const {width, font, still} = options;
  const model = modelOf(trace);
  const {warps, threads} = model;
  if (model.levels.length === 0) return message("No thread has written a value in this trace.", options);
  const {shown: levels, now, hidden} = levelsAround(model, moment);
  const left = textWidth("interval 10", font) + font * 0.8;
  const right = textWidth("1024 of 1024", font) + font * 0.6;
  const cell = (width - left - right) / threads;
  const high = Math.max(font * 1.7, Math.min(26, cell * 2));
  const top = font * 2.7;
  const inner = width - left - right;
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
        let next = thread;
        while (next < last && active[next] === active[thread])
          ++next;
        const x = left + thread * cell;
        const span = (next - thread) * cell;
        if (active[thread]) {
          // Neighbours stay apart where there is room for it, else they become one bar.
          const gap = cell > 5 ? 0.8 : cell > 2.5 ? 0.4 : 0;
          if (gap > 0)
            for (let k = thread; k < next; ++k)
              filled += `M${round(left + k * cell + gap)} ${round(begin)}h${round(cell - 2 * gap)}V${
                  round(end)}h${round(2 * gap - cell)}z`;
          else
            filled += `M${round(x)} ${round(begin)}h${round(span)}V${round(end)}h${round(-span)}z`;
        } else if (cell > 4) {
          for (let k = thread; k < next; ++k)
            idle += `M${round(left + k * cell + 1)} ${round(end - 1)}L${round(left + (k + 1) * cell - 1)} ${
                round(begin + 1)}`;
        }
        thread = next;
      }
    }
    body += path(idle, "slash") + path(filled, "active");
    const count = nodes[number].length === 0 ? 0 : active.reduce((a, b) => a + b, 0);
    const name = levelName(level);
    if (level === now) body += rectangle(0, begin, 2.5, end - begin, "active");
    body += label(font * 0.5, y + high * 0.66, font * 0.95, name, level === now ? "bold" : "muted");
    body += label(
        width, y + high * 0.66, font * 0.95, `${count} of ${threads}`, level === now ? "bold" : "", "end");
    if (!still)
      body += rectangle(
          left, y, inner, high, "hit",
          `${name}: ${plural(count, "thread")} in ${plural(working, "warp")} write a value`);
    if (row > 0 && levels[row - 1].interval !== level.interval)
      body += line(left, y, width - right, y, "barrier");
  });
  const end = top + levels.length * high + (hidden > 0 ? font * 1.4 : 0);
  if (hidden > 0) body += label(left, end, font * 0.9, hiddenText(hidden), "muted");
  const marks = legend(
      [
        [(x, y, s) => rectangle(x, y, s, s, "active"), "writes a value"],
        [
          (x, y, s) => rectangle(x, y, s, s, "track") + line(x, y + s, x + s, y, "slash"),
          "idle in a warp that works"
        ],
        [(x, y, s) => line(x, y + s / 2, x + s, y + s / 2, "rule"), "whole warp idle"],
        ...(model.intervals.length > 1 ?
                [[(x, y, s) => line(x, y + s / 2, x + s, y + s / 2, "barrier"), "__syncthreads()"]] :
                []),
      ],
      left, end + font * 0.8, width - left, font);
  return picture({
    width,
    height: end + font * 0.8 + marks.height,
    still,
    body: body + marks.svg,
    title: "Which threads take part in each level",
    description:
        levels.map((level) => `${levelName(level)}: ${nodes[level.number].length} of ${threads}`).join(", ")
  });
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
  const small = Math.min(font * 0.85, height * 0.36);
  const long = `${lanes.length === 1 ? "lane" : "lanes"} ${short}`;
  const who = textWidth(long, small) < width - 4 ? long : short;
  const below = letter ?
      flag(x + width / 2, y + height * 0.74, Math.min(font * 0.85, width * 0.6, height * 0.38), letter) :
      label(
          x + width / 2, y + height * 0.87, Math.min(small, (width - 2) / (who.length * 0.58)), who, ink,
          "middle");
  const size = Math.min(font * 1.15, height * 0.46, (width - 2) / (word.length * 0.66));
  return rectangle(x + 0.5, y + 0.5, width - 1, height - 1, classes, title) +
      `<g pointer-events="none">${
             label(x + width / 2, y + height * 0.45, size, word, `${ink} bold`, "middle")}${below}</g>`;
}

function drawBanks(trace, moment, given) {
  const options = settled(given);
  const {width, font, still} = options;
  const event = trace.events[moment];
  if (!event.kind.startsWith("shared")) return message("This event does not access shared memory.", options);
  const parts = servedParts(event);
  const named = fewLetters(trace, moment, options);
  const columns = width < 560 ? 16 : bankCount;
  const brief = still && columns === bankCount;
  const left = brief ? font * 1.6 : textWidth("wavefront 32", font) + font * 0.6;
  const total = parts.reduce((sum, part) => sum + part.wavefronts.length, 0);
  let y = 0;
  let body = "";
  for (let first = 0; first < bankCount; first += columns) {
    const widths = bankWidths(parts, first, columns, width - left, still);
    const xs = widths.map((_, k) => left + widths.slice(0, k).reduce((a, b) => a + b, 0));
    const high = Math.max(Math.min(Math.max(...widths), 32), font * 1.75);
    if (!brief) body += label(0, y + font, font * 0.85, "bank", "muted");
    widths.forEach((cell, k) => {
      body +=
          label(xs[k] + cell / 2, y + font, Math.min(font * 0.85, cell * 0.6), first + k, "muted", "middle");
    });
    y += font * 1.5;
    let row = 0;
    for (const part of parts) {
      if (parts.length > 1) {
        body += label(left, y + font * 0.95, font * 0.85, `lanes ${part.first}–${part.last}`, "muted");
        y += font * 1.3;
      }
      part.wavefronts.forEach((wavefront, turn) => {
        ++row;
        body += label(
            left - font * 0.5, y + high * 0.62, font * 0.9, brief ? row : `wavefront ${row}`,
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
            asked,
            classes: turn > 0 ? "conflict" : "active",
            ink: turn > 0 ? "onwarn" : "on",
            letter: asked.lanes.map((lane) => named.get(event.warp * warpSize + lane)).find(Boolean),
            title: still ?
                "" :
                `word ${asked.word} of bank ${first + k}, asked by ${who}, in wavefront ${row} of ${total}`,
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
    brief ? "Columns are banks, rows are wavefronts." : "",
    "In a cell: the word, and below it the lane that asks for it.",
    parts.length > 1 ? "Accesses of 8 bytes go by half warps, of 16 by quarter warps." : "",
    named.size > 0 ? "A and B are the finding's threads." : ""
  ].filter(Boolean).join(" ");
  const entries = [[(x, top, s) => rectangle(x, top, s, s, "active"), "first wavefront"]];
  if (conflicts > 0)
    entries.push([
      (x, top, s) => rectangle(x, top, s, s, "conflict"), `bank conflict: another wavefront (${conflicts})`
    ]);
  const marks = legend(entries, left, y, width - left, font);
  y += marks.height;
  const notes = wrapText(note, Math.floor((width - left) / (font * 0.52)));
  const text =
      notes.map((each, k) => label(left, y + font * (0.9 + 1.3 * k), font * 0.92, each, "muted")).join("");
  return picture({
    width,
    height: y + font * (0.6 + 1.3 * notes.length),
    still,
    body: body + marks.svg + text,
    title: "The 32 banks of shared memory, and the words asked of each",
    description: eventText(trace, event)
  });
}

function drawSectors(trace, moment, given) {
  const options = settled(given);
  const {width, font, still} = options;
  const event = trace.events[moment];
  if (event.kind !== "global_load" && event.kind !== "global_store")
    return message("This event does not access global memory.", options);
  const model = modelOf(trace);
  const sectors = sectorsOf(event);
  const named = fewLetters(trace, moment, options);
  const active = new Set(lanesIn(event.lanes));
  const left = textWidth("sectors", font) + font * 0.4;
  const cell = (width - left) / warpSize;
  const high = Math.min(20, Math.max(cell, 10));
  const top = font * 1.5;
  const perRow = Math.min(Math.max(4, sectors.length), width < 560 ? 8 : 16);
  const span = Math.min((width - left) / perRow, 110);
  const gap = Math.max(3, span * 0.07);
  const boxTop = top + high + 56;
  const rowHeight = high + font * 2;
  let body = label(0, top + high * 0.75, font * 0.95, "lanes", "muted") +
      label(0, boxTop + high * 0.75, font * 0.95, "sectors", "muted");
  for (let lane = 0; lane < warpSize; ++lane) {
    const x = left + lane * cell;
    if (lane % 4 === 0) body += label(x + cell / 2, font, font * 0.85, lane, "muted", "middle");
    body += stateCell(
        x, top, cell, high, active.has(lane) ? "active" : "idle",
        still ? "" : `lane ${lane}${active.has(lane) ? "" : " does not take part"}`);
    const letter = named.get(event.warp * warpSize + lane);
    if (letter) body += flag(x + cell / 2, top + high / 2, Math.min(cell, high) * 0.85, letter);
  }
  let links = "";
  const perElement = Math.max(1, model.elementBytes / 4);
  const offsetX = left + Math.max(0, (width - left - Math.min(perRow, sectors.length) * span) / 2);
  sectors.forEach((sector, k) => {
    const name = model.names[sector.buffer] ?? "global memory";
    const x = offsetX + (k % perRow) * span;
    const y = boxTop + Math.floor(k / perRow) * rowHeight;
    const word = (span - gap) / 8;
    for (let w = 0; w < 8; ++w) {
      const lanes = sector.words.get(sector.first + w);
      body += rectangle(
          x + w * word, y, word, high, lanes ? "active" : "cell",
          still ? "" :
                  `word ${sector.first + w} of ${name}${
                      lanes ? `: lane ${ranges(lanes)}` : ", fetched and not used"}`);
      if (lanes && y === boxTop)
        for (const lane of lanes)
          links += `M${round(left + (lane + 0.5) * cell)} ${round(top + high + 1)}L${
              round(x + (w + 0.5) * word)} ${round(y - 1)}`;
    }
    body += rectangle(x - 1, y - 1, span - gap + 2, high + 2, "ready");
    const begin = Math.floor(sector.first / perElement);
    const end = Math.floor((sector.first + 7) / perElement);
    const full = `${name}[${Math.max(0, begin)}..${end}]`;
    const text = textWidth(full, font * 0.85) < span - gap ? full : `${Math.max(0, begin)}`;
    if (textWidth(text, font * 0.85) < span)
      body += label(x + (span - gap) / 2, y + high + font * 1.05, font * 0.85, text, "muted", "middle");
  });
  body += path(links, "link");
  const rows = Math.ceil(sectors.length / perRow);
  const used = sectors.reduce((sum, sector) => sum + sector.words.size, 0);
  const y = boxTop + rows * rowHeight + font * 0.6;
  body += label(
      left, y + font * 0.4, font * 0.95,
      `${plural(sectors.length, "sector")} of 32 bytes, ${
          Math.round(used * 100 / (sectors.length * 8))} % of their bytes asked for`,
      "muted");
  return picture({
    width,
    height: y + font,
    still,
    body,
    title: "Lanes and the sectors of global memory that they ask for",
    description: eventText(trace, event)
  });
}

function drawShuffle(trace, moment, given) {
  const options = settled(given);
  const {width, font, still} = options;
  const event = trace.events[moment];
  if (event.kind !== "shuffle") return message("This event is no shuffle.", options);
  const left = textWidth("after", font) + font * 0.8;
  const cell = (width - left) / warpSize;
  const high = Math.min(22, Math.max(cell, 10));
  const top = font * 1.5;
  const drop = width < 560 ? 70 : 96;
  const named = fewLetters(trace, moment, options);
  const active = lanesIn(event.lanes);
  const lower = top + high + drop;
  let body = label(0, top + high * 0.75, font * 0.95, "gives", "muted") +
      label(0, lower + high * 0.75, font * 0.95, "takes", "muted");
  let links = "";
  for (let lane = 0; lane < warpSize; ++lane) {
    const k = active.indexOf(lane);
    const x = left + lane * cell;
    if (lane % 4 === 0) body += label(x + cell / 2, font, font * 0.85, lane, "muted", "middle");
    const state = k >= 0 ? "active" : "idle";
    body += stateCell(
        x, top, cell, high, state,
        still     ? "" :
            k < 0 ? `lane ${lane} does not take part` :
                    `lane ${lane} brings ${valueText(event.brought[k])}`);
    body += stateCell(
        x, lower, cell, high, state,
        still || k < 0 ? "" : `lane ${lane} takes ${valueText(event.values[k])} from lane ${event.from[k]}`);
    const letter = named.get(event.warp * warpSize + lane);
    if (letter) body += flag(x + cell / 2, top + high / 2, Math.min(cell, high) * 0.85, letter);
    if (k >= 0)
      links += `M${round(left + (event.from[k] + 0.5) * cell)} ${round(top + high + 1)}L${
          round(x + cell / 2)} ${round(lower - 1)}`;
  }
  body += path(links, "link");
  const own = active.filter((lane, k) => event.from[k] === lane).length;
  const y = lower + high + font * 1.4;
  const note = `A register of one lane goes to another: no memory, no barrier.${
      own > 0 ? ` ${plural(own, "lane")} keep${own === 1 ? "s" : ""} the own value.` : ""}`;
  const notes = wrapText(note, Math.floor((width - left) / (font * 0.53)));
  body += notes.map((each, k) => label(left, y + k * font * 1.3, font * 0.95, each, "muted")).join("");
  return picture({
    width,
    height: y + font * (1.3 * notes.length - 0.7),
    still,
    body,
    title: "A shuffle: which lane takes its value from which",
    description: eventText(trace, event)
  });
}

function drawAtomic(trace, moment, given) {
  const options = settled(given);
  const {width, font, still} = options;
  const event = trace.events[moment];
  if (!event.kind.endsWith("_atomic")) return message("This event is no atomic operation.", options);
  const model = modelOf(trace);
  const active = lanesIn(event.lanes);
  const left = textWidth("lanes", font) + font * 0.6;
  const cell = (width - left) / warpSize;
  const high = Math.min(20, Math.max(cell, 10));
  const top = font * 1.5;
  const words = [...new Set(event.words)].sort((a, b) => a - b);
  const boxTop = top + high + 60;
  const shown = words.slice(0, 32);
  const span = Math.min((width - left) / shown.length, 240);
  const offset = left + (width - left - span * shown.length) / 2;
  let body = label(0, top + high * 0.75, font * 0.95, "lanes", "muted");
  let links = "";
  for (let lane = 0; lane < warpSize; ++lane) {
    const k = active.indexOf(lane);
    const x = left + lane * cell;
    if (lane % 4 === 0) body += label(x + cell / 2, font, font * 0.85, lane, "muted", "middle");
    body += stateCell(
        x, top, cell, high, k < 0 ? "idle" : "active",
        still || k < 0 ? "" :
                         `lane ${lane}: ${valueText(event.before[k])} becomes ${valueText(event.values[k])}`);
    const at = k < 0 ? -1 : shown.indexOf(event.words[k]);
    if (at >= 0)
      links += `M${round(x + cell / 2)} ${round(top + high + 1)}L${round(offset + (at + 0.5) * span)} ${
          round(boxTop - 1)}`;
  }
  body += path(links, "link");
  const high2 = font * 2;
  const name =
      event.kind === "shared_atomic" ? "shared memory" : model.names[event.buffer] ?? "global memory";
  shown.forEach((word, k) => {
    const lanes = active.filter((_, i) => event.words[i] === word);
    const x = offset + k * span;
    body += rectangle(
        x + 1, boxTop, span - 2, high2, "leaf",
        still ? "" : `word ${word} of ${name}: lanes ${ranges(lanes)}, one after the other`);
    const text = `${name}, word ${word}`;
    if (textWidth(text, font) < span - 6)
      body += label(x + span / 2, boxTop + font * 1.35, font, text, "", "middle");
  });
  const notes = wrapText(
      `${plural(active.length, "atomic operation")} on ${
          plural(
              words.length,
              "word")}. Operations on one word happen one after the other, in an order that the hardware chooses.`,
      Math.floor((width - left) / (font * 0.52)));
  const y = boxTop + high2 + font * 1.4;
  body += notes.map((each, k) => label(left, y + k * font * 1.3, font * 0.95, each, "muted")).join("");
  return picture({
    width,
    height: y + font * (1.3 * notes.length - 0.5),
    still,
    body,
    title: "Atomic operations: which lane updates which word",
    description: eventText(trace, event)
  });
}

/** The picture of what this event accesses: banks, sectors, lanes that pass values, or a sentence. */
function drawAccess(trace, moment, options) {
  const {kind} = trace.events[moment];
  if (kind.endsWith("_atomic")) return drawAtomic(trace, moment, options);
  if (kind.startsWith("shared")) return drawBanks(trace, moment, options);
  if (kind.startsWith("global")) return drawSectors(trace, moment, options);
  if (kind === "shuffle") return drawShuffle(trace, moment, options);
  return message(`${eventText(trace, trace.events[moment])} No memory is accessed.`, settled(options));
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
  const {width, font} = options;
  const model = modelOf(trace);
  const {shown, now, hidden} = levelsAround(model, moment);
  const by = options.by ?? (trace.events.some((event) => event.kind === "shuffle") ? "thread" : "word");
  const slots = slotsOf(model, by);
  const left = textWidth("interval 10", font * 0.9) + font * 0.8;
  const cell = (width - left - 4) / slots;
  const size = Math.max(1.3, Math.min(6.5, cell * 0.4));
  const loads = 1 + model.leaves.reduce((most, leaf) => Math.max(most, leaf.order), 0);
  // In the middle of very many levels the elements are out of sight.
  const rows = shown[0].number === 0 ? Math.min(4, loads) : 0;
  const rowHeight = Math.max(size * 2 + 5, font * 1.2);
  const levelHeight = options.levelHeight ?? Math.max(font * 2.6, Math.min(44, 14 + cell * 1.2));
  const top = font * 1.4;
  const levelTop = top + rows * rowHeight + font * 0.6;
  const nodes = model.nodes.filter(
      (node) => node.level.number >= shown[0].number && node.level.number <= shown.at(-1).number);
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
  const isShown = (node) => node.kind === "element" ? rows > 0 :
                                                      node.kind !== "unknown" &&
          node.level.number >= shown[0].number && node.level.number <= shown.at(-1).number;
  return {
    model,
    shown,
    now,
    hidden,
    by,
    slots,
    left,
    cell,
    size,
    loads,
    rows,
    rowHeight,
    levelHeight,
    top,
    levelTop,
    nodes,
    atX,
    place,
    isShown
  };
}

/** A value and all that it was made of. */
function ancestorsOf(node) {
  const found = new Set();
  const stack = node ? [node] : [];
  while (stack.length > 0) {
    const next = stack.pop();
    if (found.has(next) || next.kind === "unknown") continue;
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
      groups[group] += `M${round(sx)} ${round(sy)}L${round(x)} ${round(y)}`;
    }
  }
  const fine = layout.slots > 128 ? " fine" : "";
  return path(groups.later, `later${fine}`) + path(groups.edge, `edge${fine}`) +
      path(groups.guess, "edge guess") + path(groups.origin, layout.slots > 40 ? "origin thin" : "origin");
}

/** The levels' names, and what separates one from the next: a barrier of the block, or of warps only. */
function treeLevels(trace, layout, width, font) {
  const {shown, now, left, slots, atX, levelHeight, levelTop} = layout;
  return shown
      .map((level, row) => {
        const y = levelTop + row * levelHeight;
        const name = label(
            0, y + levelHeight * 0.5 + font * 0.35, font * 0.9,
            level.step === 0 ? `interval ${level.interval}` : `part ${level.step + 1}`,
            level === now ? "bold" : "muted");
        const before = shown[row - 1];
        if (!before) return name;
        if (before.interval !== level.interval) return name + line(left, y, width, y, "barrier");
        const warps = new Set();
        for (let k = before.first; k < level.first; ++k)
          if (trace.events[k].kind === "warp_barrier") warps.add(trace.events[k].warp);
        return name +
            [...warps]
                .map(
                    (warp) => line(
                        atX(warp * warpSize), y, atX(Math.min((warp + 1) * warpSize, slots)), y,
                        "warpbarrier"))
                .join("");
      })
      .join("");
}

const diamond = (x, y, r) => `M${round(x)} ${round(y - r)}l${round(r)} ${round(r)}l${round(-r)} ${round(r)}l${
    round(-r)} ${round(-r)}z`;

/** A value's mark has a shape for where it is: shared memory, a register, global memory, an element of the input. */
function valueMark(shape, x, y, r, classes, title) {
  const inside = title ? `<title>${escapeText(title)}</title>` : "";
  switch (shape) {
    case "circle":
      return `<circle cx="${round(x)}" cy="${round(y)}" r="${round(r)}" class="${classes}">${
          inside}</circle>`;
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
    if (node === chosen)
      body += `<circle cx="${round(x)}" cy="${round(y)}" r="${round(radius + 3.5)}" class="ring"/>`;
    const value = valueText(node.value, 6);
    if (!later && cell > font * 2 && textWidth(value, font * 0.85) < cell * 1.3)
      body += label(x, y + radius + font * 0.95, font * 0.85, value, "", "middle");
  }
  return body;
}

function treeLegend(trace, {model, nodes}, chosen) {
  const shapes = new Set(nodes.map(shapeOf));
  const mark = (shape, part, classes) => (x, y, s) =>
      valueMark(shape, x + s / 2, y + s / 2, s * part, classes, "");
  const stroke = (classes) => (x, y, s) => line(x, y + s / 2, x + s, y + s / 2, classes);
  return [
    [mark("square", 0.3, "leaf"), "element of global memory", true],
    [mark("circle", 0.36, "node"), "value in shared memory", shapes.has("circle")],
    [mark("diamond", 0.4, "node"), "register in a shuffle", shapes.has("diamond")],
    [mark("square", 0.36, "node"), "value in global memory", shapes.has("square")],
    [stroke("barrier"), "__syncthreads()", model.intervals.length > 1],
    [stroke("warpbarrier"), "__syncwarp()", trace.events.some((event) => event.kind === "warp_barrier")],
    [stroke("edge guess"), "computed from", nodes.some((node) => !node.exact && node.sources.length > 0)],
    [stroke("origin"), "origin of the value below", Boolean(chosen)],
  ].filter(([, , needed]) => needed);
}

function drawTree(trace, moment, given) {
  const options = settled(given);
  const {width, font, still} = options;
  const {nodes} = modelOf(trace);
  if (nodes.length === 0) return message("No value has been written in this trace.", options);
  const layout = treeLayout(trace, moment, options);
  const {left, top, rows, rowHeight, by, slots, size, place} = layout;
  const chosen = options.word !== undefined ?
      sharedAt(trace, moment).find(({word}) => word === options.word)?.node :
      nodes.find((node) => node.event === moment) ?? readAt(trace, moment) ??
          nodes.findLast((node) => node.event <= moment);

  let body = treeLevels(trace, layout, width, font);
  if (rows > 0) body += label(0, top + rowHeight * rows / 2 + font * 0.3, font * 0.9, "elements", "muted");
  body += treeEdges(layout, moment, ancestorsOf(chosen)) + treeMarks(trace, moment, layout, options, chosen);
  (findingAt(trace, moment, options)?.witnesses ?? []).forEach((witness, k) => {
    if (!Number.isInteger(witness.event) || witness.event > moment) return;
    const node =
        layout.nodes.find((each) => each.event === witness.event && witness.threads.includes(each.thread));
    if (!node) return;
    const [x, y] = place(node);
    body += flag(x + size + font * 0.5, y - size - font * 0.2, font * 0.9, letters[k % letters.length]);
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
  for (const text of notes.flatMap((note) => wrapText(note, Math.floor((width - left) / (font * 0.52))))) {
    body += label(left, y + font * 0.5, font * 0.9, text, "muted");
    y += font * 1.5;
  }
  const marks = legend(treeLegend(trace, layout, chosen), left, y, width - left, font);
  body += marks.svg;
  y += marks.height + font * 0.3;
  const said = chosen ? nodeText(trace, chosen) : "Nothing has been written yet.";
  const lines = wrapText(said, Math.floor((width - left) / (font * 0.55)));
  lines.forEach((each, k) => {
    body += label(left, y + font * (0.9 + 1.3 * k), font * 0.98, each);
  });
  y += font * (0.6 + 1.3 * lines.length);
  return picture({width, height: y, still, body, title: "The tree of additions", description: said});
}

// ---- shared memory ----

function drawMemory(trace, moment, given) {
  const options = settled(given);
  const {width, font, still} = options;
  const model = modelOf(trace);
  const perElement = model.elementBytes / 4;
  const words = sharedAt(trace, moment).filter(({word, node}) => word === node.word);
  if (words.length === 0) return message("Nothing has been written to shared memory yet.", options);
  const columns = Math.max(2, Math.floor(width / (font * (perElement > 1 ? 9 : 7.2))));
  const cell = width / columns;
  const high = font * 2.1;
  const rowOf = new Map();
  let body = "";
  for (const {word, node, now} of words) {
    const slot = Math.floor(word / perElement);
    const row = Math.floor(slot / columns);
    if (!rowOf.has(row)) rowOf.set(row, rowOf.size);
    const x = (slot % columns) * cell;
    const y = rowOf.get(row) * (high + 3);
    body +=
        rectangle(x + 1, y + 1, cell - 2, high, now ? "active" : "cell", still ? "" : nodeText(trace, node));
    const value = valueText(node.value, Math.floor((cell - font * 2.4) / (font * 0.6)));
    body +=
        `<g pointer-events="none">${label(x + 5, y + high * 0.66, font * 0.78, word, now ? "on" : "muted")}` +
        `${label(x + cell - 5, y + high * 0.68, font * 0.95, value, now ? "on bold" : "", "end")}</g>`;
  }
  return picture({
    width,
    height: rowOf.size * (high + 3) + 2,
    still,
    body,
    title: "Words of shared memory and their values",
    description: plural(words.length, "value")
  });
}

// ---- the whole trace at a glance ----

/** One bar per event: its wavefronts or sectors; a line over the whole height is a barrier of the block. */
function drawTimeline(trace, moment, given) {
  const options = settled(given);
  const {width, font, still} = options;
  const height = options.height ?? 46;
  const count = trace.events.length;
  const pad = options.pad ?? 8;
  // Beside another trace, an event stands where the two are in step.
  const steps = options.steps ?? trace.events.map((_, k) => k);
  const step = (width - 2 * pad) / Math.max(1, steps.length - 1);
  const placed = new Map();
  steps.forEach((event, k) => {
    if (!placed.has(event)) placed.set(event, pad + k * step);
  });
  const bar = Math.max(0.6, Math.min(step * 0.75, 7));
  const heightOf = (event) => event.wavefronts ?? event.sectors ?? 0;
  const most = trace.events.reduce((a, event) => Math.max(a, heightOf(event)), 4);
  const base = height - 3;
  const scale = (base - font * 0.9) / most;
  const groups = {active: "", conflict: "", waiting: "", rule: "", barrier: ""};
  const column = (x, y, h) => `M${round(x - bar / 2)} ${round(y)}h${round(bar)}v${round(-h)}h${round(-bar)}z`;
  // Of more events than pixels, the tallest at each pixel; of very many barriers, none.
  const tallest = new Map();
  trace.events.forEach((event, k) => {
    if (event.kind === "block_barrier") return;
    const pixel = step < 1 ? Math.round(placed.get(k)) : k;
    if (!tallest.has(pixel) || heightOf(event) > heightOf(trace.events[tallest.get(pixel)]))
      tallest.set(pixel, k);
  });
  for (const k of tallest.values()) {
    const event = trace.events[k];
    const x = placed.get(k);
    if (event.wavefronts !== undefined) {
      const least = event.wavefronts - (event.conflicts ?? 0);
      groups.active += column(x, base, least * scale);
      if (event.conflicts > 0)
        groups.conflict += column(x, base - least * scale - 1, event.conflicts * scale - 1);
    } else if (event.sectors !== undefined)
      groups.waiting += column(x, base, event.sectors * scale);
    else
      groups.rule += `M${round(x)} ${round(base)}v-5`;
  }
  const {intervals} = modelOf(trace);
  if (intervals.length < width / 4)
    for (const {barrier} of intervals)
      if (barrier !== null)
        groups.barrier += `M${round(placed.get(barrier))} ${round(font * 0.5)}V${round(base)}`;
  const now = placed.get(moment);
  let body = Object.entries(groups).map(([name, d]) => path(d, name)).join("") +
      line(0, base + 0.5, width, base + 0.5, "rule");
  body += `<path d="M${round(now)} ${base + 3}V${round(font * 0.8)}" class="now"/><path d="M${
      round(now - 5)} 0h10l-5 ${round(font * 0.8)}z" class="active"/>`;
  trace.findings.forEach((finding) => finding.witnesses.forEach((witness, k) => {
    if (typeof witness.event === "number" && witness.event < count)
      body += flag(
          placed.get(witness.event), font * 0.75 + (k % 2) * font * 1.3, font * 0.9,
          letters[k % letters.length]);
  }));
  return picture({
    width,
    height,
    still,
    body,
    title: "All events of the trace",
    description:
        `${plural(count, "event")}; bars are wavefronts or sectors, long lines are barriers of the block`
  });
}

const triangle = (x, y, r) =>
    `M${round(x - r)} ${round(y + r * 0.85)}h${round(2 * r)}L${round(x)} ${round(y - r)}z`;

/** The lines of the source that one warp executes, event by event: a loop is a zigzag. */
function drawPath(trace, moment, given) {
  const options = settled(given);
  const {width, font, still} = options;
  const model = modelOf(trace);
  const warp = options.warp ?? trace.events[moment].warp ?? 0;
  let events = [];
  trace.events.forEach((event, index) => {
    if ((event.warp === warp || event.kind === "block_barrier") && event.line > 0 &&
        event.source === model.kernelSource)
      events.push([event, index]);
  });
  if (events.length === 0) return message(`Warp ${warp} does nothing in this trace.`, options);
  // Of very many events, those around this moment.
  const all = events.length;
  const around = events.findIndex(([, index]) => index >= moment);
  const begin = Math.max(0, Math.min((around < 0 ? all : around) - 100, all - 200));
  events = events.slice(begin, begin + 200);
  const numbers = [...new Set(events.map(([event]) => event.line))].sort((a, b) => a - b);
  const columns = Math.floor(width * (width < 560 ? 0.5 : 0.46) / (font * 0.55));
  const texts = numbers.map(
      (number) =>
          (trace.sources[model.kernelSource].lines[number - 1] ?? "").trim().replace(/\s*\/\/.*$/, ""));
  const longest = Math.min(columns, Math.max(...texts.map((text) => text.length)));
  const size = font * 0.86;
  const left = textWidth("000", size, true) + textWidth("m".repeat(longest), size, true) + font * 1.2;
  const high = font * 2;
  const step = (width - left - 8) / events.length;
  const top = font * 1.6;
  let body = label(
      left, font, font * 0.88,
      `${all > events.length ? `${events.length} of ${all} ` : ""}events of warp ${warp}, from left to right`,
      "muted");
  numbers.forEach((number, k) => {
    const y = top + k * high;
    body += line(left, y + high / 2, width, y + high / 2, "rule");
    body +=
        label(textWidth("000", size, true), y + high / 2 + size * 0.35, size, number, "muted mono", "end");
    const text = texts[k].length > columns ? `${texts[k].slice(0, columns - 1)}…` : texts[k];
    body += label(textWidth("000", size, true) + font * 0.7, y + high / 2 + size * 0.35, size, text, "mono");
  });
  const at = events.map(
      ([event, index],
       k) => [left + 4 + (k + 0.5) * step, top + (numbers.indexOf(event.line) + 0.5) * high, event, index]);
  body += path(at.map(([x, y], k) => `${k === 0 ? "M" : "L"}${round(x)} ${round(y)}`).join(""), "edge");
  const radius = Math.max(1.8, Math.min(5.5, step * 0.42));
  const counted = new Set();
  for (const [x, y, event, index] of at) {
    const title = still ? "" : `<title>${escapeText(eventText(trace, event))}</title>`;
    const now = index === moment && !still;
    if (event.kind === "block_barrier") {
      body += `<path d="M${round(x)} ${round(y - radius * 2)}V${round(y + radius * 2)}" class="barrier">${
          title}</path>`;
      counted.add("barrier");
    } else if (event.kind === "warp_barrier") {
      body += `<path d="M${round(x)} ${round(y - radius * 1.8)}V${
          round(y + radius * 1.8)}" class="warpbarrier" style="stroke-dasharray:2 2">${title}</path>`;
      counted.add("warp_barrier");
    } else {
      const full = countLanes(event.lanes) === warpSize;
      const classes = now ? "nodenow" : event.conflicts > 0 ? "conflict" : full ? "node" : "leaf";
      counted.add(event.conflicts > 0 ? "conflict" : full ? "full" : "some");
      body += event.conflicts > 0 ?
          `<path d="${triangle(x, y, radius * 1.15)}" class="${classes}">${title}</path>` :
          `<circle cx="${round(x)}" cy="${round(y)}" r="${round(radius)}" class="${classes}">${
              title}</circle>`;
    }
  }
  const dot = (classes) => (x, y, s) =>
      `<circle cx="${round(x + s / 2)}" cy="${round(y + s / 2)}" r="${round(s * 0.36)}" class="${classes}"/>`;
  const entries =
      [
        ["full", dot("node"), "all 32 lanes"], ["some", dot("leaf"), "some lanes"],
        [
          "conflict", (x, y, s) => path(triangle(x + s / 2, y + s / 2, s * 0.42), "conflict"),
          "with bank conflicts"
        ],
        ["barrier", (x, y, s) => line(x + s / 2, y, x + s / 2, y + s, "barrier"), "__syncthreads()"],
        ["warp_barrier", (x, y, s) => line(x + s / 2, y, x + s / 2, y + s, "warpbarrier"), "__syncwarp()"]
      ].filter(([key]) => counted.has(key))
          .map(([, mark, text]) => [mark, text]);
  const marks = legend(entries, 0, top + numbers.length * high + font * 0.4, width, font);
  return picture({
    width,
    height: top + numbers.length * high + font * 0.4 + marks.height,
    still,
    body: body + marks.svg,
    title: `The lines that warp ${warp} executes`,
    description: plural(events.length, "event")
  });
}

// ---- a block's tiles of the input ----

/** Blocks over the input: each turn of a grid-stride loop is a row, and one thread's elements are marked in it. */
function drawInput(trace, moment, given) {
  const options = settled(given);
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
  if (byOrder.size === 0) return message("No element of global memory is loaded in this trace.", options);
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
  const top = font * 1.8;
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
        body += rectangle(px, y, part - 2, high, "active");
        body += label(
            px + part / 2, y + font * 1.25, font * 0.95,
            part > font * 11 ? `${name}[${row.first}..${row.last}]` : `${row.first}…`, "on bold", "middle");
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
    body += `<circle cx="${round(x)}" cy="${round(y)}" r="${round(font * 0.38)}" class="leaf"/>`;
    const text = `${name}[${leaf.first}${leaf.count > 1 ? `..${leaf.first + leaf.count - 1}` : ""}]`;
    body += label(x + font * 0.6, y + font * 1.25, font * 0.9, text, "on");
  }
  body = label(
             0, font, font * 0.95,
             `The input, turn by turn: the tiles of block ${trace.block} of ${grid}, and the path of thread ${
                 thread}`,
             "muted") +
      body;
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
  return picture({
    width,
    height: y,
    still,
    body,
    title: `The tiles of block ${trace.block} and the path of thread ${thread}`,
    description: turns.map((turn) => `${name}[${turn.first}..${turn.last}]`).slice(0, most).join(", ")
  });
}

// ---- a finding ----

/** Help as a picture has it: its first letter large, and code without backticks. */
const withoutMarks = (text) => (text ?? "").replaceAll("`", "").replace(/^./, (first) => first.toUpperCase());

/** Both threads of a finding, what they do, where, and what is missing between them. */
function drawFinding(trace, moment, given) {
  const options = settled(given);
  const {width, font, still} = options;
  const finding = findingAt(trace, moment, options);
  if (!finding) return message("The emulated device has found nothing in this run.", options);
  const columns = Math.floor((width - font * 4) / (font * 0.56));
  let y = 0;
  let body = "";
  wrapText(finding.text, Math.floor(width / (font * 0.645))).forEach((each) => {
    y += font * 1.4;
    body += label(0, y, font * 1.05, each, "bold");
  });
  y += font * 0.9;
  finding.witnesses.forEach((witness, k) => {
    if (k > 0) {
      const missing = wrapText(withoutMarks(finding.help) || "Nothing orders these two.", columns);
      const high = font * (1.35 * missing.length + 1);
      body += `<path d="M${round(font * 1.2)} ${round(y)}v${round(high)}" class="witness guess"/>`;
      missing.forEach((each, i) => {
        body += label(font * 2.6, y + font * (1.35 + 1.35 * i), font, each, "warntext bold");
      });
      y += high;
    }
    const event = typeof witness.event === "number" ? trace.events[witness.event] : null;
    const who = `block ${witness.block}, ${
        witness.threads.length === 1 ? `thread ${witness.threads[0]}` :
                                       `threads ${ranges([...witness.threads].sort((a, b) => a - b))}`}`;
    const place = placeOf(trace, {source: witness.source, line: witness.line, column: witness.column}).outer;
    const lines = wrapText(`${who} ${witness.action}`, columns);
    const code = place ? place.text.trim().replace(/\s*\/\/.*$/, "") : "";
    const mono = font * 0.92;
    const fits = Math.floor((width - font * 4.4) / (mono * 0.61));
    const shift = place ? place.text.length - place.text.trimStart().length : 0;
    const caret = place ? Math.max(0, place.column - 1 - shift) : 0;
    const from = caret > fits - 4 ? Math.max(0, Math.min(caret - 10, code.length - fits)) : 0;
    const high = font * (1.35 * lines.length + (place ? 3.9 : 0) + 1);
    body += rectangle(0.8, y, width - 1.6, high, "ready") +
        flag(font * 1.3, y + font * 1.3, font * 1.15, letters[k % letters.length]);
    lines.forEach((each, i) => {
      body += label(font * 2.6, y + font * (1.6 + 1.35 * i), font, each);
    });
    if (place) {
      const base = y + font * (1.6 + 1.35 * lines.length);
      const asked = event?.words && witness.threads.length === 1 ?
          event.words[lanesIn(event.lanes).indexOf(witness.threads[0] % warpSize)] :
          undefined;
      const word = asked !== undefined && event.kind.startsWith("shared") ?
          `, word ${asked}, bank ${asked % bankCount}` :
          "";
      body += label(font * 2.6, base, font * 0.9, `${place.file}:${place.line}${word}`, "muted");
      body += label(
          font * 2.6, base + font * 1.5, mono,
          (from > 0 ? "…" : "") + code.slice(from > 0 ? from + 1 : 0, from + fits), "mono");
      if (witness.column > 0) {
        const x = font * 2.6 + (caret - from) * mono * 0.602;
        body += `<path d="M${round(x - 1)} ${round(base + font * 2.5)}l${round(mono * 0.3)} ${
            round(-mono * 0.5)}l${round(mono * 0.3)} ${round(mono * 0.5)}" class="witness"/>`;
      }
    }
    y += high;
  });
  if (finding.witnesses.length < 2 && finding.help) {
    wrapText(withoutMarks(finding.help), columns).forEach((each) => {
      y += font * 1.4;
      body += label(font * 0.2, y, font, each, "warntext bold");
    });
  }
  return picture({
    width,
    height: y + font * 0.6,
    still,
    body,
    title: `Finding: ${finding.kind}`,
    description: finding.help ? `${finding.text}. ${finding.help}` : finding.text
  });
}

/** The pictures by name: each a function of a trace, a moment and options that returns SVG text. */
export const views = {
  lanes: drawLanes,
  activity: drawActivity,
  access: drawAccess,
  banks: drawBanks,
  sectors: drawSectors,
  shuffle: drawShuffle,
  atomic: drawAtomic,
  tree: drawTree,
  memory: drawMemory,
  timeline: drawTimeline,
  path: drawPath,
  input: drawInput,
  finding: drawFinding,
};
