// What pictures need of a trace: states at a moment, counters so far, where each value came from. No DOM, no drawing.

const traceFormat = "reduction trace";
const traceVersion = 1;
export const bankCount = 32;
export const warpSize = 32;

/** The counters that a trace's events add up to, in the order of a report: polls are no events. */
export const counterKeys = (trace) => Object.keys(trace.counters).filter((key) => key !== "barrier_polls");

const elementBytesOf = {
  int32: 4,
  int64: 8,
  float32: 4,
  float64: 8,
  complex64: 8,
  complex128: 16
};

/** What is wrong with a file, in one sentence for its reader. */
export class TraceError extends Error {}

/** Returns the traces in a .json file, or in a page that these programs wrote; throws a TraceError. */
export function tracesFromText(text, name) {
  // Written so that this script can stand in such a page itself.
  const opening = /<[s]cript type="application\/json" id="traces">/.exec(text);
  let json = text;
  if (opening) {
    const begin = opening.index + opening[0].length;
    const end = text.indexOf(
        "<" +
            "/script>",
        begin);
    json = text.slice(begin, end < 0 ? undefined : end);
  }
  let parsed;
  try {
    parsed = JSON.parse(json);
  } catch {
    throw new TraceError(`${name} is not a trace: it is neither JSON nor a page written with --trace.`);
  }
  const traces = Array.isArray(parsed) ? parsed : [parsed];
  if (traces.length === 0) throw new TraceError(`${name} holds no trace.`);
  traces.forEach((trace) => checkTrace(trace, name));
  return traces;
}

/** Throws a TraceError unless the object is a trace of this version. */
function checkTrace(trace, name) {
  const fail = (what) => {
    throw new TraceError(`${name} is not a trace that this page can draw: ${what}.`);
  };
  if (trace?.format !== traceFormat) fail(`its "format" is not "${traceFormat}"`);
  if (trace.version !== traceVersion)
    fail(`its version is ${JSON.stringify(trace.version ?? null)}, and this page reads version ${
        traceVersion}`);
  if (!Object.hasOwn(elementBytesOf, trace.type)) fail(`its type is ${JSON.stringify(trace.type ?? null)}`);
  try {
    modelOf(trace);
  } catch {
    fail("what it holds is not what these programs write");
  }
  // A block's first access may be its fault.
  if (trace.events.length === 0 && trace.findings.length === 0) fail("it has no events");
}

/** The number of lanes in a mask. */
export function countLanes(mask) {
  let count = 0;
  for (let rest = mask >>> 0; rest !== 0; rest = (rest & (rest - 1)) >>> 0)
    ++count;
  return count;
}

/** The lanes in a mask, ascending. */
export function lanesIn(mask) {
  const lanes = [];
  for (let lane = 0; lane < warpSize; ++lane)
    if ((mask >>> lane) & 1) lanes.push(lane);
  return lanes;
}

/** The words of shared memory that a lane's access covers, beginning with `word`. */
export function wordsOfAccess(word, bytes) {
  return Array.from({length: Math.max(1, bytes / 4)}, (_, k) => word + k);
}

/**
 * How many lanes are served together: half a warp or a quarter, if they access 8 or 16 bytes, and twice as many of a load if
 * each active lane asks for the word of lane ^ 1, or that one is idle; or so with lane ^ 2.
 */
function lanesTogether(event) {
  if (event.bytes <= 4) return warpSize;
  const least = event.bytes <= 8 ? warpSize / 2 : warpSize / 4;
  if (event.kind !== "shared_load") return least;
  const wordOf = new Map(lanesIn(event.lanes).map((lane, k) => [lane, event.words[k]]));
  const agree =
      (distance) => [...wordOf].every(([lane, word]) => (wordOf.get(lane ^ distance) ?? word) === word);
  return agree(1) || agree(2) ? 2 * least : least;
}

/**
 * How an access to shared memory is served: parts of the warp one after the other, each in as many wavefronts as the
 * bank with the most distinct words needs. Returns [{first, last, wavefronts: [Map bank -> {word, lanes}]}].
 */
export function servedParts(event) {
  const together = lanesTogether(event);
  const active = lanesIn(event.lanes);
  const parts = [];
  for (let first = 0; first < warpSize; first += together) {
    const wavefronts = [];
    const places = new Map();
    active.forEach((lane, k) => {
      if (lane < first || lane >= first + together) return;
      for (const word of wordsOfAccess(event.words[k], event.bytes)) {
        const bank = word % bankCount;
        let place = places.get(word);
        if (!place) {
          place = {word, lanes: []};
          places.set(word, place);
          let row = 0;
          while (wavefronts[row]?.has(bank))
            ++row;
          (wavefronts[row] ??= new Map()).set(bank, place);
        }
        place.lanes.push(lane);
      }
    });
    if (wavefronts.length > 0) parts.push({first, last: first + together - 1, wavefronts});
  }
  return parts;
}

/** The buffer that the k-th active lane of an event accesses. */
export const bufferOf = (event, k) => event.buffers?.[k] ?? event.buffer;

/** The sectors of an access to global memory, ascending: [{buffer, sector, first (word), words: Map word -> lanes}]. */
export function sectorsOf(event) {
  const active = lanesIn(event.lanes);
  const bySector = (offset) => {
    const sectors = new Map();
    active.forEach((lane, k) => {
      for (const word of wordsOfAccess(event.words[k], event.bytes)) {
        const [buffer, sector] = [bufferOf(event, k), Math.floor((word + offset) / 8)];
        const key = `${buffer}:${sector}`;
        if (!sectors.has(key))
          sectors.set(key, {buffer, sector, first: sector * 8 - offset, words: new Map()});
        const words = sectors.get(key).words;
        words.set(word, [...(words.get(word) ?? []), lane]);
      }
    });
    return [...sectors.values()].sort((a, b) => a.buffer - b.buffer || a.sector - b.sector);
  };
  // A buffer need not begin with a sector: the count of the event says where one does.
  for (let offset = 0; offset < 8; ++offset) {
    const sectors = bySector(offset);
    if (event.sectors === undefined || sectors.length === event.sectors) return sectors;
  }
  return bySector(0);
}

// ---- the trace, with what follows from it ----

const models = new WeakMap();

/** Everything that pictures ask of a trace, derived once. */
export function modelOf(trace) {
  let model = models.get(trace);
  if (!model) {
    model = derive(trace);
    models.set(trace, model);
  }
  return model;
}

function derive(trace) {
  const threads = trace.launch.block.reduce((product, size) => product * size, 1);
  const warps = Math.ceil(threads / warpSize);
  const count = trace.events.length;

  const intervalOf = new Uint32Array(count);
  const intervals = [{first: 0, last: -1, barrier: null, lastOfWarp: new Int32Array(warps).fill(-1)}];
  trace.events.forEach((event, index) => {
    const current = intervals[intervals.length - 1];
    intervalOf[index] = intervals.length - 1;
    current.last = index;
    if (event.kind === "block_barrier") {
      current.barrier = index;
      if (index + 1 < count)
        intervals.push(
            {first: index + 1, last: index, barrier: null, lastOfWarp: new Int32Array(warps).fill(-1)});
    } else {
      current.lastOfWarp[event.warp] = index;
    }
  });

  const exitOf = new Int32Array(threads).fill(count);
  trace.events.forEach((event, index) => {
    if (event.kind !== "exit") return;
    for (const lane of lanesIn(event.lanes))
      exitOf[event.warp * warpSize + lane] = index;
  });

  // The kernel's own file is the one that has it, or else that of most events.
  const uses = trace.sources.map(() => 0);
  for (const event of trace.events)
    if (event.line > 0 && event.source < uses.length) ++uses[event.source];
  const defined = trace.sources.findIndex(
      ({lines}) => lines.some((text) => text.includes("__global__") && text.includes(trace.kernel)));
  const kernelSource = defined >= 0 ? defined : Math.max(0, uses.indexOf(Math.max(...uses)));

  return {
    trace,
    threads,
    warps,
    elementBytes: elementBytesOf[trace.type],
    intervalOf,
    intervals,
    exitOf,
    counted: countEvents(trace, threads),
    kernelSource,
    names: bufferNames(trace, kernelSource),
    ...traceValues(trace, threads, intervalOf),
  };
}

/** What an event adds to the counters. */
function increments(event) {
  const lanes = event.kind === "block_barrier" ? 0 : countLanes(event.lanes);
  switch (event.kind) {
    case "shared_load":
    case "shared_store":
    case "shared_copy":
    case "global_load":
    case "global_store":
      return {
        [`${event.kind}_requests`]: 1,
        [`${event.kind}_wavefronts`]: event.wavefronts,
        [`${event.kind}_conflicts`]: event.conflicts,
        [`${event.kind}_sectors`]: event.sectors,
        [`${event.kind}_lanes`]: lanes
      };
    case "bulk_copy": return {bulk_copy_bytes: lanes * event.bytes};
    case "shared_atomic":
    case "global_atomic": return {atomics: lanes};
    case "shuffle": return {shuffles: event.shuffles ?? 1};
    case "block_barrier": return {block_barriers: 1};
    case "warp_barrier": return {warp_barriers: 1};
    default: return {};
  }
}

function countEvents(trace, threads) {
  const keys = counterKeys(trace);
  const sums = Object.fromEntries(keys.map((key) => [key, new Float64Array(trace.events.length)]));
  trace.events.forEach((event, index) => {
    const added = increments(event);
    for (const key of keys) {
      const before = index > 0 ? sums[key][index - 1] :
          key === "blocks"     ? 1 :
          key === "threads"    ? threads :
                                 0;
      sums[key][index] = before + (added[key] ?? 0);
    }
  });
  return sums;
}

/** The counters after event `moment`. */
export function countersAt(trace, moment) {
  const {counted} = modelOf(trace);
  return Object.fromEntries(counterKeys(trace).map((key) => [key, counted[key][moment]]));
}

/**
 * What each thread does at a moment, one word per thread: "active" (takes part in this event), "idle" (its warp executes,
 * and it does not take part), "ready" (its warp's turn comes later), "waiting" (its warp has nothing to do before the
 * next barrier) or "left".
 */
export function statesAt(trace, moment) {
  const model = modelOf(trace);
  const event = trace.events[moment];
  const interval = model.intervals[model.intervalOf[moment]];
  return Array.from({length: model.threads}, (_, thread) => {
    const warp = Math.floor(thread / warpSize);
    if (model.exitOf[thread] <= moment) return "left";
    if (event.kind === "block_barrier") return "waiting";
    if (event.warp === warp) return (event.lanes >>> thread % warpSize) & 1 ? "active" : "idle";
    return interval.lastOfWarp[warp] > moment ? "ready" : "waiting";
  });
}

/** What an access takes beyond the least: wavefronts for bank conflicts, or sectors; what it takes in all decides between equals. */
export function costOf(event) {
  const least = event.sectors === undefined ? 0 : Math.ceil(countLanes(event.lanes) * event.bytes / 32);
  const beyond = (event.conflicts ?? 0) + Math.max(0, (event.sectors ?? 0) - least);
  return beyond * 1000 + (event.wavefronts ?? event.sectors ?? 0);
}

/** The words of shared memory that have a value at a moment, ascending: [{word, node, now}]. */
export function sharedAt(trace, moment) {
  const words = [];
  for (const [word, history] of modelOf(trace).sharedHistory) {
    const node = history.findLast(({event}) => event <= moment);
    if (node) words.push({word, node, now: node.event === moment});
  }
  return words.sort((a, b) => a.word - b.word);
}

/** Global buffers' names: what the source calls them where they are accessed, else the kernel's parameters. */
function bufferNames(trace, kernelSource) {
  const names = trace.buffers.map(() => null);
  // What the steps call shared memory, and what any kernel declares as such.
  const declarations =
      trace.sources.flatMap(({lines}) => lines.filter((text) => text.includes("__shared__")));
  const isShared = (name) => ["shared", "ring", "loaded"].includes(name) ||
      declarations.some((text) => new RegExp(`__shared__[^;]*\\b${name}\\b`).test(text));
  const firstLoads = new Set();
  const take = (buffer, name) => {
    if (name && !names.includes(name) && !isShared(name)) names[buffer] = name;
  };
  for (const event of trace.events) {
    if (event.buffer === undefined) continue;
    if (event.kind === "global_load")
      for (const buffer of event.buffers ?? [event.buffer])
        if (!names[buffer]) firstLoads.add(buffer);
    if (event.buffers || names[event.buffer]) continue;
    const text = trace.sources[event.source]?.lines[event.line - 1] ?? "";
    const [before, after] =
        [text.slice(0, Math.max(0, event.column - 1)), text.slice(Math.max(0, event.column - 1))];
    if (event.kind.endsWith("_atomic"))
      take(event.buffer, /&(\w+)/.exec(text)?.[1]);
    else if (event.calls?.length)
      continue;
    else if (event.kind === "global_load")
      take(
          event.buffer, /^\s*\[/.test(after) ? /(\w+)\s*$/.exec(before)?.[1] : /(\w+)\s*\[/.exec(after)?.[1]);
    else if (event.kind === "global_store")
      take(event.buffer, /(\w+)\s*\[[^[]*\]\s*$/.exec(before)?.[1] ?? /\*\s*(\w+)\s*$/.exec(before)?.[1]);
  }
  const code = trace.sources[kernelSource]?.lines.join("\n") ?? "";
  const begin = code.search(new RegExp(`\\b${String(trace.kernel).replace(/\W/g, "")}\\s*\\(`));
  const parameters = begin < 0 ? [] : code.slice(begin, code.indexOf(")", begin)).split(",");
  const pointers =
      parameters.map((text) => ({name: /\*\s*(\w+)\s*$/.exec(text)?.[1], constant: /\bconst\b/.test(text)}));
  names.forEach((name, buffer) => {
    const fits = pointers.find(
        (each) => each.name && each.constant === firstLoads.has(buffer) && !names.includes(each.name));
    names[buffer] = name ?? fits?.name ?? `buffer ${buffer}`;
  });
  return names;
}

// ---- where values came from ----

/** Sums in the trace's type: integers wrap around, floating-point numbers have a tolerance. */
function arithmetic(type) {
  if (type === "int32") {
    return {
      zero: 0,
      parse: (v) => Number(v) | 0,
      add: (a, b) => (a + b) | 0,
      sub: (a, b) => (a - b) | 0,
      same: (a, b) => a === b
    };
  }
  if (type === "int64") {
    const wrap = (v) => BigInt.asIntN(64, v);
    return {
      zero: 0n,
      parse: (v) => wrap(BigInt(v)),
      add: (a, b) => wrap(a + b),
      sub: (a, b) => wrap(a - b),
      same: (a, b) => a === b
    };
  }
  const tolerance = type === "float32" || type === "complex64" ? 2e-5 : 1e-12;
  const near = (a, b, size) => a === b ||
      Math.abs(a - b) <= tolerance * Math.max(size, Math.abs(a), Math.abs(b)) ||
      (Number.isNaN(a) && Number.isNaN(b));
  const number = (v) => (typeof v === "string" ? Number(v.replace("inf", "Infinity")) : v);
  if (type.startsWith("complex")) {
    return {
      zero: [0, 0, 0],
      parse: (v) => [number(v[0]), number(v[1]), Math.abs(v[0]) + Math.abs(v[1])],
      add: (a, b) => [a[0] + b[0], a[1] + b[1], a[2] + b[2]],
      sub: (a, b) => [a[0] - b[0], a[1] - b[1], a[2] + b[2]],
      same: (a, b) => near(a[0], b[0], Math.max(a[2], b[2])) && near(a[1], b[1], Math.max(a[2], b[2]))
    };
  }
  return {
    zero: [0, 0],
    parse: (v) => [number(v), Math.abs(number(v))],
    add: (a, b) => [a[0] + b[0], a[1] + b[1]],
    sub: (a, b) => [a[0] - b[0], a[1] + b[1]],
    same: (a, b) => near(a[0], b[0], Math.max(a[1], b[1]))
  };
}

/**
 * Follows values through registers, shared memory, shuffles and atomics. A node is a value that was stored, brought to
 * a shuffle or left by an atomic; a leaf is what a thread loaded from global memory. A node's sources are the thread's
 * loads since its last node whose sum is the value, or its last node and these loads; if no such sum fits, all of them
 * (exact: false).
 */
function traceValues(trace, threads, intervalOf) {
  const sums = arithmetic(trace.type);
  const elementBytes = elementBytesOf[trace.type];
  const isComplex = trace.type.startsWith("complex");
  let longestValue = 0;
  const nodes = [];
  const leaves = [];
  const sharedHistory = new Map();
  const globalNodes = new Map();
  const held =
      Array.from({length: threads}, () => ({last: null, loads: [], spent: [], words: [], loaded: 0}));
  const stepsOfWarp = new Map();
  const levels = new Map();

  const parsed = (value, bytes) => {
    if (value === null || value === undefined) return null;
    const list = bytes > elementBytes && Array.isArray(value) ? value : [value];  // of several elements
    if (bytes < elementBytes || list.some((element) => element === null)) return null;
    try {
      return list.map(sums.parse).reduce(sums.add);
    } catch {
      return null;
    }
  };

  const sourcesOf = (thread, wanted, place) => {
    const {last, loads, spent} = held[thread];
    if (wanted === null)
      return {sources: last ? [last, ...loads.map((l) => l.from)] : loads.map((l) => l.from), exact: false};
    const withLast = (k) =>
        last?.sum !== null && last?.sum !== undefined && sums.same(sums.add(last.sum, k), wanted);
    let sum = sums.zero;
    const suffixes = [];
    for (let k = loads.length - 1; k >= 0; --k) {
      if (loads[k].sum === null) break;
      sum = sums.add(sum, loads[k].sum);
      suffixes.push({begin: k, sum});
    }
    const from = (begin) => loads.slice(begin).map((load) => load.from);
    const all = suffixes.length === loads.length ? sum : null;
    if (all !== null) {
      // Where a sum that lanes pass on is 0, both fit: it is carried on in a register.
      if (last?.kind === "shuffle" && withLast(all)) return {sources: [last, ...from(0)], exact: true};
      if (loads.length > 0 && sums.same(all, wanted)) return {sources: from(0), exact: true};
      if (withLast(all)) return {sources: [last, ...from(0)], exact: true};
    }
    for (const {begin, sum: part} of suffixes) {
      if (sums.same(part, wanted)) return {sources: from(begin), exact: true};
      if (withLast(part)) return {sources: [last, ...from(begin)], exact: true};
    }
    const isWanted = (load) => load.sum !== null && sums.same(load.sum, wanted);
    if (loads.length === 0) {
      // A struct is copied in parts: all of it is loaded, then all of it is stored.
      const part = last?.place === place && spent.find(isWanted);
      return part ? {sources: [part.from], exact: true} : {sources: [], exact: sums.same(wanted, sums.zero)};
    }
    // The identity, of a lane that only holds what a shuffle has brought it.
    if (sums.same(wanted, sums.zero) && loads.every(({from}) => ["shuffle", "unknown"].includes(from.kind)))
      return {sources: [], exact: true};
    const one = loads.find(isWanted);
    return one ? {sources: [one.from], exact: true} : {sources: from(0), exact: false};
  };

  const levelOf = (event, index) => {
    const interval = intervalOf[index];
    const key = `${interval}:${event.warp}`;
    const step = stepsOfWarp.get(key) ?? 0;
    stepsOfWarp.set(key, step + 1);
    const levelKey = `${interval}:${step}`;
    if (!levels.has(levelKey)) levels.set(levelKey, {interval, step, kinds: new Set(), first: index});
    const level = levels.get(levelKey);
    level.kinds.add(event.kind);
    return level;
  };

  const makeNode = (event, index, thread, level, fields, wanted) => {
    const place = `${event.kind}:${event.source}:${event.line}:${event.column}`;
    const node = {
      place,
      id: nodes.length,
      event: index,
      thread,
      level,
      kind: event.kind,
      sum: fields.sum ?? wanted,
      ...sourcesOf(thread, wanted, place),
      ...fields
    };
    nodes.push(node);
    if (held[thread].loads.length > 0) held[thread].spent = held[thread].loads;
    held[thread].last = node;
    held[thread].loads = [];
    return node;
  };

  /** In all words of shared memory that it covers. */
  const keep = (node) => {
    for (const value of [node.value].flat(2))
      longestValue = Math.max(longestValue, String(value).length + (isComplex ? 4 : 0));
    for (const word of wordsOfAccess(node.word, node.bytes)) {
      if (!sharedHistory.has(word)) sharedHistory.set(word, []);
      sharedHistory.get(word).push(node);
    }
  };

  const stepOf = new Uint32Array(trace.events.length);
  trace.events.forEach((event, index) => {
    if (event.kind === "block_barrier") return;
    // How many levels its warp has written in this interval before it.
    stepOf[index] = stepsOfWarp.get(`${intervalOf[index]}:${event.warp}`) ?? 0;
    const active = lanesIn(event.lanes);
    const threadOf = (k) => event.warp * warpSize + active[k];
    switch (event.kind) {
      case "shared_load":
        active.forEach((_, k) => {
          const history = sharedHistory.get(event.words[k]);
          const from = history?.[history.length - 1] ?? {
            kind: "unknown",
            word: event.words[k],
            value: event.values[k],
            event: index,
            thread: threadOf(k)
          };
          held[threadOf(k)].loads.push({from, sum: parsed(event.values[k], event.bytes)});
        });
        break;
      case "global_load":
        active.forEach((_, k) => {
          const thread = threadOf(k);
          let from = globalNodes.get(`${bufferOf(event, k)}:${event.words[k]}`);
          if (!from) {
            from = {
              kind: "element",
              buffer: bufferOf(event, k),
              first: Math.floor(event.words[k] * 4 / elementBytes),
              count: Math.max(1, Math.floor(event.bytes / elementBytes)),
              value: event.values[k],
              event: index,
              thread,
              order: held[thread].loaded++
            };
            leaves.push(from);
          }
          held[thread].loads.push({from, sum: parsed(event.values[k], event.bytes)});
        });
        break;
      case "shared_store":
      case "global_store":
      case "shared_atomic":
      case "global_atomic": {
        const level = levelOf(event, index);
        const shared = event.kind.startsWith("shared");
        active.forEach((_, k) => {
          const word = event.words[k];
          const fields = {word, bytes: event.bytes, value: event.values[k], buffer: bufferOf(event, k)};
          let wanted = parsed(event.values[k], event.bytes);
          const key = `${bufferOf(event, k)}:${word}`;
          if (event.kind.endsWith("atomic")) {
            const before = parsed(event.before[k], event.bytes);
            fields.sum = wanted;
            fields.before = shared ? sharedHistory.get(word)?.at(-1) : globalNodes.get(key);
            wanted = wanted === null || before === null ? null : sums.sub(wanted, before);
          }
          const node = makeNode(event, index, threadOf(k), level, fields, wanted);
          if (fields.before) node.sources = [fields.before, ...node.sources];
          if (!shared) {
            globalNodes.set(key, node);
            return;
          }
          keep(node);
        });
        break;
      }
      case "shared_copy":
      case "bulk_copy":
        // No register holds what a copy brings, so it is no value that the thread has written.
        active.forEach((_, k) => keep({
                         kind: "copied",
                         word: event.words[k],
                         bytes: event.bytes,
                         value: event.values[k],
                         event: index,
                         thread: threadOf(k)
                       }));
        break;
      case "shuffle": {
        // A wide element goes word by word: its words are put together before its value is looked for.
        const wide = Math.max(1, Math.floor(elementBytes / event.bytes));
        let done = true;
        active.forEach((_, k) => {
          const words = held[threadOf(k)].words;
          words.push([event.brought[k], event.values[k]]);
          if (words.length < wide) done = false;
        });
        if (!done) break;
        const level = levelOf(event, index);
        const brought = new Map();
        active.forEach((lane, k) => {
          const words = held[threadOf(k)].words;
          const value =
              wide === 1 ? event.brought[k] : joinWords(words.map((w) => w[0]), trace.type, event.bytes);
          const node = makeNode(
              event, index, threadOf(k), level, {value}, parsed(value, Math.max(event.bytes, elementBytes)));
          brought.set(lane, node);
        });
        active.forEach((lane, k) => {
          const mine = held[threadOf(k)];
          const value =
              wide === 1 ? event.values[k] : joinWords(mine.words.map((w) => w[1]), trace.type, event.bytes);
          mine.words = [];
          const from = brought.get(event.from[k]) ??
              {kind: "unknown", value, event: index, thread: event.warp * warpSize + event.from[k]};
          mine.loads.push({from, sum: parsed(value, Math.max(event.bytes, elementBytes))});
        });
        break;
      }
      default: break;
    }
  });

  const ordered = [...levels.values()].sort((a, b) => a.interval - b.interval || a.step - b.step);
  ordered.forEach((level, number) => {
    level.number = number;
  });
  return {nodes, leaves, sharedHistory, longestValue, stepOf, levels: ordered};
}

function joinWords(words, type, bytes) {
  if (bytes !== 4 || words.some((word) => typeof word !== "number")) return null;
  const view = new DataView(new ArrayBuffer(words.length * 4));
  words.forEach((word, k) => view.setUint32(k * 4, word >>> 0, true));
  switch (type) {
    case "int64": return view.getBigInt64(0, true).toString();
    case "float64": return view.getFloat64(0, true);
    case "complex64": return [view.getFloat32(0, true), view.getFloat32(4, true)];
    case "complex128": return [view.getFloat64(0, true), view.getFloat64(8, true)];
    default: return null;
  }
}

/** The elements of global memory that a value was made of: {elements: sorted [[buffer, index, times]], exact}. */
export function originOf(node) {
  if (node.origin) return node.origin;
  // The depth of a tree is small, that of a chain is not: no recursion.
  const stack = [node];
  while (stack.length > 0) {
    const top = stack[stack.length - 1];
    if (top.origin) {
      stack.pop();
      continue;
    }
    if (top.kind === "element") {
      top.origin = {
        exact: true,
        elements: Array.from({length: top.count}, (_, k) => [top.buffer, top.first + k, 1])
      };
      continue;
    }
    if (!top.sources) {
      top.origin = {exact: top.kind === "copied", copied: top.kind === "copied", elements: []};
      continue;
    }
    const missing = top.sources.filter((source) => !source.origin);
    if (missing.length > 0) {
      stack.push(...missing);
      continue;
    }
    top.origin = {
      exact: top.exact && top.sources.every((source) => source.origin.exact),
      copied: top.sources.some((source) => source.origin.copied),
      elements: mergeElements(top.sources.map((source) => source.origin.elements))
    };
  }
  return node.origin;
}

function mergeElements(lists) {
  const all = lists.flat().sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const merged = [];
  for (const [buffer, index, times] of all) {
    const last = merged[merged.length - 1];
    if (last && last[0] === buffer && last[1] === index)
      merged[merged.length - 1] = [buffer, index, last[2] + times];
    else
      merged.push([buffer, index, times]);
  }
  return merged;
}

/** An origin in words: "in[0..31]", "in[0, 64, 128]", "32 elements of in: in[0], in[4] … in[124]". */
export function originText(trace, node) {
  const {names} = modelOf(trace);
  const {elements, exact, copied} = originOf(node);
  if (elements.length === 0 && !copied) return exact ? "nothing: it is 0" : "a value computed in the kernel";
  const groups = new Map();
  for (const [buffer, index] of elements) {
    if (!groups.has(buffer)) groups.set(buffer, []);
    groups.get(buffer).push(index);
  }
  const parts = [...groups].map(([buffer, indices]) => {
    const name = names[buffer] ?? `buffer ${buffer}`;
    const first = indices[0];
    const last = indices[indices.length - 1];
    if (indices.length === 1) return `${name}[${first}]`;
    if (last - first === indices.length - 1) return `${name}[${first}..${last}]`;
    if (indices.length <= 4) return `${name}[${indices.join(", ")}]`;
    const stride = indices[1] - first;
    if (indices.every((index, k) => index === first + k * stride))
      return `${name}[${first}], ${name}[${first + stride}] … ${name}[${last}] (${indices.length} elements)`;
    return `${indices.length} elements of ${name} from ${name}[${first}] to ${name}[${last}]`;
  });
  if (copied) parts.push("what copies bring");
  const twice = elements.filter((element) => element[2] > 1).length;
  const more =
      twice === 0 ? "" : `; ${twice === 1 ? "one of them" : `${twice} of them`} counted more than once`;
  return (exact ? "" : "computed from ") + parts.join(" and ") + more;
}

/**
 * Two traces in step: pairs of moments, interval by interval, and within an interval by the share that is done. Of
 * intervals that only one of them has, the other shows its last moment.
 */
export function stepsInStep(a, b) {
  const one = modelOf(a).intervals;
  const other = modelOf(b).intervals;
  const steps = [];
  for (let k = 0; k < Math.max(one.length, other.length); ++k) {
    const span = (intervals) => {
      const interval = intervals[k];
      if (!interval) return {first: intervals[intervals.length - 1].last, work: 0, barrier: null};
      const end = interval.barrier ?? interval.last + 1;
      return {first: interval.first, work: end - interval.first, barrier: interval.barrier};
    };
    const [x, y] = [span(one), span(other)];
    const count = Math.max(x.work, y.work);
    const at = (s, step) => {
      if (s.work === 0) return s.barrier ?? s.first;
      return s.first + Math.floor(step * s.work / count);
    };
    for (let step = 0; step < count; ++step)
      steps.push([at(x, step), at(y, step)]);
    if (x.barrier !== null || y.barrier !== null) {
      const end = (s) => s.barrier ?? Math.max(s.first, s.first + s.work - 1);
      steps.push([end(x), end(y)]);
    }
  }
  return steps;
}
