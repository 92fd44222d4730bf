// A trace in sentences: what happens at a moment, what a thread does, what the terms mean. No DOM.

import {countersAt, lanesIn, modelOf, originText, warpSize} from "./trace.js";

/** The name of a finding's witness: A, B, ... */
export const letterOf = (k) => "ABCDEFGH"[k % 8];

/** What the terms of the page mean, one sentence each. */
export const glossary = {
  warp: "32 threads of a block that execute an instruction together; each of them is a lane.",
  request: "One instruction of one warp that accesses memory, for all its active lanes at once.",
  bank:
      "One of 32 columns of shared memory: word w is in bank w mod 32, and a bank gives one word at a time.",
  wavefront:
      "One pass over the 32 banks: it serves all lanes that do not ask for two different words of one bank.",
  "bank conflict": "Lanes ask for different words of one bank, so the request takes a further wavefront.",
  sector:
      "32 neighbouring bytes of global memory, the least that is fetched: the fewer sectors a request takes, the better.",
  interval:
      "What happens between two barriers of the block, where nothing orders the warps among each other.",
  origin: "The elements of global memory that were added up in a value.",
};

export const plural = (count, one, many = `${one}s`) =>
    `${count.toLocaleString("en")} ${count === 1 ? one : many}`;

/** A list of numbers with its runs shortened: "0–15, 20". */
export function ranges(numbers) {
  const parts = [];
  for (let k = 0; k < numbers.length;) {
    let end = k;
    while (end + 1 < numbers.length && numbers[end + 1] === numbers[end] + 1)
      ++end;
    parts.push(
        end === k ? `${numbers[k]}` :
            end === k + 1 ? `${numbers[k]}, ${numbers[end]}` :
                            `${numbers[k]}–${numbers[end]}`);
    k = end + 1;
  }
  return parts.join(", ");
}

/** Lanes in words: "all 32 lanes", "lanes 0–15", "every 4th lane from 0 (8 lanes)". */
function lanesText(mask) {
  const lanes = lanesIn(mask);
  if (lanes.length === warpSize) return "all 32 lanes";
  if (lanes.length === 1) return `lane ${lanes[0]}`;
  const stride = lanes[1] - lanes[0];
  if (lanes.length > 2 && stride > 1 && lanes.every((lane, k) => lane === lanes[0] + k * stride))
    return `every ${stride}${{2: "nd", 3: "rd"}[stride] ?? "th"} lane from ${lanes[0]} (${
        lanes.length} lanes)`;
  return `lanes ${ranges(lanes)}`;
}

/** A value, shortened to about `most` characters. */
export function valueText(value, most = 12) {
  if (value === null || value === undefined) return "?";
  if (Array.isArray(value)) {
    const text = `(${value.map((v) => valueText(v, most)).join(", ")})`;
    return text.length > most * 3 ? `${text.slice(0, most * 3)}…` : text;
  }
  if (typeof value === "number" && !Number.isInteger(value)) return String(Number(value.toPrecision(6)));
  return String(value);
}

/** Of all lanes, in their order: "1" where they have one, "0, 2, 4 … 62" for a progression, else the first ones. */
function seriesText(values) {
  const texts = values.map((value) => valueText(value));
  if (texts.every((text) => text === texts[0])) return texts[0];
  if (texts.length < 5) return texts.join(", ");
  const isProgression = values.every((value, k) => value - values[0] === k * (values[1] - values[0]));
  return `${texts.slice(0, 3).join(", ")} …${isProgression ? ` ${texts.at(-1)}` : ""}`;
}

/** The variables of an event's line: "stride 1 · index 0, 2, 4 … 62". */
export const variablesText = ({variables = []}) =>
    variables.map(({name, values}) => `${name} ${seriesText(values)}`).join(" · ");

/** Where an event is in the source: {file, line, column, text}, and the innermost place in a function that is called. */
export function placeOf(trace, event) {
  const at = ({source, line, column}) => line > 0 && trace.sources[source] ?
      {file: trace.sources[source].file, line, column, text: trace.sources[source].lines[line - 1] ?? ""} :
      null;
  const inner = event.calls?.length ? at(event.calls[event.calls.length - 1]) : null;
  return {outer: at(event), inner};
}

const kindNames = {
  shared_load: "reads shared memory",
  shared_store: "writes shared memory",
  global_load: "reads global memory",
  global_store: "writes global memory",
  shared_copy: "receives in shared memory what it has copied",
  shared_atomic: "updates shared memory atomically",
  global_atomic: "updates global memory atomically",
  shuffle: "passes values between its lanes",
  vote: "votes",
  warp_barrier: "passes __syncwarp()",
  fence: "waits at a memory fence",
  exit: "leaves the kernel",
};

/** What an event does, in one sentence without its place. */
export function eventText(trace, event) {
  if (event.kind === "block_barrier") return "All threads of the block pass the barrier __syncthreads().";
  const who = `Warp ${event.warp} ${kindNames[event.kind]}: ${lanesText(event.lanes)}`;
  switch (event.kind) {
    case "shared_load":
    case "shared_store":
    case "shared_copy": {
      const conflicts = event.conflicts ?? 0;
      return `${who}, ${plural(event.wavefronts, "wavefront")}` +
          (conflicts > 0 ? `, ${conflicts} of them for bank conflicts.` : ", no bank conflict.");
    }
    case "global_load":
    case "global_store": return `${who}, ${event.bytes} bytes each, ${plural(event.sectors, "sector")}.`;
    case "bulk_copy": {
      const first = event.words[0];
      const last = event.words.at(-1) + event.bytes / 4 - 1;
      return `A bulk copy that warp ${event.warp} has waited for brings words ${first} to ${
          last} of shared memory.`;
    }
    case "shared_atomic":
    case "global_atomic": {
      const words = new Set(event.words).size;
      return `${who}, ${words === 1 ? "one word" : plural(words, "word")}.`;
    }
    default: return `${who}.`;
  }
}

/** A moment in one sentence, for the eye and for a screen reader. */
export function momentText(trace, moment) {
  const event = trace.events[moment];
  const model = modelOf(trace);
  const {outer, inner} = placeOf(trace, event);
  const where = outer ? ` Line ${outer.line}${inner ? `, in ${inner.file}:${inner.line}` : ""}.` : "";
  return `Event ${moment + 1} of ${trace.events.length}, interval ${model.intervalOf[moment]}. ` +
      eventText(trace, event) + where;
}

/** A thread's states: what is said of one in it, of many, and in a legend. */
export const stateTexts = {
  active: ["takes part in this instruction", "active", "active"],
  idle: ["idle: its warp executes this instruction without it", "idle", "idle in its warp"],
  ready: ["not its warp's turn", "not their warp's turn", "not its turn"],
  waiting: ["waits at the barrier", "waiting at the barrier", "waits at barrier"],
  left: ["has left the kernel", "left", "has left"]
};

export const threadText = (thread) =>
    `thread ${thread} (warp ${Math.floor(thread / warpSize)}, lane ${thread % warpSize})`;

/**
 * What an access to shared memory covers, as a finding names it: "tile[1][0]", "acc[4] to acc[7]", "bytes 0 to 3 of sum".
 * One that is narrower than a word is named by its word, as a trace has no more of it.
 */
export function sharedName(trace, word, bytes) {
  const variable = trace.shared?.findLast((each) => each.word <= word);
  if (!variable) return `word ${word} of shared memory`;
  const elementAt = (byte) => {
    let element = Math.floor(byte / variable.bytes);
    let indices = "";
    for (const extent of variable.extents.slice(1).reverse()) {
      indices = `[${element % extent}]${indices}`;
      element = Math.floor(element / extent);
    }
    return `${variable.name}${variable.extents.length > 0 || element > 0 ? `[${element}]` : ""}${indices}`;
  };
  const count = Math.max(bytes, 4);
  const begin = (word - variable.word) * 4;
  const [name, last] = [elementAt(begin), elementAt(begin + count - 1)];
  if (name !== last) return `${name} to ${last}`;
  const first = begin % variable.bytes;
  return count === variable.bytes ? name : `bytes ${first} to ${first + count - 1} of ${name}`;
}

/** A value's place, the value and its origin: "acc[3] = 17, from in[3] and in[4]". */
export function nodeText(trace, node) {
  node.text ??= describeNode(trace, node);
  return node.text;
}

function describeNode(trace, node) {
  const model = modelOf(trace);
  const element = model.elementBytes;
  const where = node.kind === "element" ?
      `${model.names[node.buffer] ?? "global memory"}[${node.first}${
          node.count > 1 ? `..${node.first + node.count - 1}` : ""}]` :
      node.kind === "shuffle" ?
      `register of ${threadText(node.thread)}` :
      node.kind.startsWith("shared") || node.kind === "copied" ?
      sharedName(trace, node.word, node.bytes) :
      node.kind.startsWith("global") ?
      `${model.names[node.buffer] ?? "global memory"}[${Math.floor(node.word * 4 / element)}]` :
      "unknown value";
  if (node.kind === "element")
    return `${where} = ${valueText(node.value)}, loaded by ${threadText(node.thread)}`;
  if (node.kind === "copied") return `${where} = ${valueText(node.value)}, which a copy brings`;
  if (node.kind === "unknown") return `a value that this trace did not see being written`;
  return `${where} = ${valueText(node.value)}, written by ${threadText(node.thread)}: ${
      originText(trace, node)}`;
}

/**
 * The moment at which a witness of a finding is seen: its event, or the last one if it did not get that far, as at a
 * barrier at which it still waits; null if it is in another block.
 */
export function momentOfWitness(trace, witness) {
  if (witness.block !== trace.block) return null;
  const last = trace.events.length - 1;
  return Number.isInteger(witness.event) ? Math.min(witness.event, last) : last;
}

/** In which interval and part an event is: "interval 1, part 2". */
export function whenText(trace, index) {
  const model = modelOf(trace);
  const interval = model.intervalOf[index];
  const parts = model.levels.filter((level) => level.interval === interval).length;
  const step = model.stepOf[index];
  const part = parts < 2 ? "" : step < parts ? `, part ${step + 1}` : `, after part ${parts}`;
  return `interval ${interval}${part}`;
}

/** What a witness of a finding does, without its place: "block 0, thread 1 writes acc[1]". */
export function witnessText(trace, finding, k) {
  const said = String(finding.text).replace(/^[^:]* in [^:]*: /, "").split("; ");
  const whole = said.length === finding.witnesses.length ? said[k].replace(/ at \S+:\d+$/, "") : "";
  const witness = finding.witnesses[k];
  if (whole.startsWith(`block ${witness.block}, thread`)) return whole.replace(/(\d)-(?=\d)/g, "$1–");
  const threads = [...witness.threads].sort((a, b) => a - b);
  const action = `${witness.action}`;
  return `block ${witness.block}, ${threads.length === 1 ? "thread" : "threads"} ${ranges(threads)} ${
      action}`;
}

/** What a race is about, and its memory: ["acc[3]", "shared memory"], ["word 3", "global memory"]; null if it is neither. */
export function wordText(finding) {
  const [, what] = / (?:reads|writes|atomically updates) (.+?) at \S+:\d+;/.exec(finding.text) ?? [];
  if (what === undefined) return null;
  const global = /^\d+-byte (word \d+) of a global buffer/.exec(what);
  if (global) return [global[1], "global memory"];
  return / (a|the) /.test(what) ? null : [what, "shared memory"];
}

const refused = ["out of bounds", "misaligned"];

/** What ended the block after the last event, if a finding did: [letter's number, sentence] of each such witness. */
export function endOf(trace) {
  return trace.findings.flatMap((finding) => finding.witnesses.flatMap((witness, k) => {
    if (witness.block !== trace.block || Number.isInteger(witness.event)) return [];
    const said = witnessText(trace, finding, k).replace(/^block \S+, /, "");
    const line = witness.line > 0 ? `, line ${witness.line}` : "";
    const end = refused.some((kind) => String(finding.kind).startsWith(kind)) ?
        ". The access is refused, and the block ends here" :
        "";
    return [[k, `${said}${line}${end}.`]];
  }));
}

/**
 * What lanes have read otherwise than the order of the trace has it, in a sentence; "" if nothing. Only a race does that: the
 * values are those of the run.
 */
export function strayText(trace, moment) {
  const {kind, lanes, words, values} = trace.events[moment];
  if (kind !== "shared_load") return "";
  const history = modelOf(trace).sharedHistory;
  const strays = lanesIn(lanes).flatMap((lane, k) => {
    const there = history.get(words[k])?.findLast(({event}) => event < moment);
    return there && String(there.value) !== String(values[k]) ? [[lane, values[k], there.value]] : [];
  });
  if (strays.length === 0) return "";
  const [[lane, read, there]] = strays;
  const others = strays.length > 1 ? `, and so did ${plural(strays.length - 1, "other lane")}` : "";
  return `In the run lane ${lane} read ${valueText(read)}${others}. In this order ${
      valueText(there)} is there: nothing makes the read wait for the write, or the write for the read.`;
}

/** Where the last witness of a finding is seen, or the end, where one never got further: there a page opens. */
export function momentOfFindings(trace) {
  const moments =
      trace.findings.flatMap((finding) => finding.witnesses.map((each) => momentOfWitness(trace, each)));
  return Math.max(0, ...moments.filter((moment) => moment !== null));
}

/** One line about a trace. */
export function runText(trace) {
  const grid = trace.launch.grid.reduce((product, size) => product * size, 1);
  return `block ${trace.block} of ${plural(grid, "block")} of ${plural(modelOf(trace).threads, "thread")}, ${
      trace.type}, ${trace.device}`;
}

/** The few counters that tell most, so far and in all. */
export function tallyText(trace, moment) {
  const now = countersAt(trace, moment);
  const sums = [
    [
      "wavefronts of shared memory",
      ["shared_load_wavefronts", "shared_store_wavefronts", "shared_copy_wavefronts"]
    ],
    ["bank conflicts", ["shared_load_conflicts", "shared_store_conflicts", "shared_copy_conflicts"]],
    ["bytes copied in bulk", ["bulk_copy_bytes"]],
    ["sectors of global memory", ["global_load_sectors", "global_store_sectors"]],
    ["block barriers", ["block_barriers"]], ["shuffles", ["shuffles"]], ["atomics", ["atomics"]]
  ];
  const total = (counters, keys) => keys.reduce((sum, key) => sum + (counters[key] ?? 0), 0);
  return sums.filter(([name, keys]) => total(trace.counters, keys) > 0 || name === "bank conflicts")
      .map(([name, keys]) => `${name}: ${total(now, keys)} of ${total(trace.counters, keys)}`)
      .join(" · ");
}

/** What the lanes' picture shows, for those who do not see it. */
export function statesText(states) {
  return Object.entries(stateTexts)
      .map(([state, [, name]]) => [states.filter((each) => each === state).length, name])
      .filter(([count]) => count > 0)
      .map(([count, name]) => `${count} ${name}`)
      .join(", ");
}

/** Which part of a source line a column is about, as [begin, end): an element, an assignment's left side, a call. */
export function spotOf(text, column) {
  if (!(column > 0) || column > text.length) return null;
  const at = column - 1;
  const before = text.slice(0, at);
  const closing = (from, open, close) => {
    let depth = 0;
    for (let k = from; k < text.length; ++k) {
      if (text[k] === open)
        ++depth;
      else if (text[k] === close && --depth === 0)
        return k + 1;
    }
    return text.length;
  };
  const name = /[\w*]+\s*$/.exec(before);
  if (text[at] === "[" && name) return [at - name[0].length, closing(at, "[", "]")];
  if (text[at] === "(" && name) return [at - name[0].length, closing(at, "(", ")")];
  if (/^[-+*/|&^]?=/.test(text.slice(at))) {
    const target = /\*?[\w.]+(\s*\[[^[]*\])?\s*$/.exec(before);
    if (/^=/.test(text.slice(at)) === false || target)
      return target ? [at - target[0].length, at + (text[at] === "=" ? 1 : 2)] : null;
  }
  const next = /^\W{0,3}(\w+\s*\[)/.exec(text.slice(at));
  if (next) {
    const begin = at + next[0].length - next[1].length;
    return [begin, closing(begin, "[", "]")];
  }
  const word = /^\w+/.exec(text.slice(at));
  return word ? [at, at + word[0].length] : null;
}
