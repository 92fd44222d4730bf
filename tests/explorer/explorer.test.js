// node --test tests/explorer: the explorer's model and its renderer.

import assert from "node:assert/strict";
import {execFileSync, spawnSync} from "node:child_process";
import {mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync} from "node:fs";
import {tmpdir} from "node:os";
import {dirname, join} from "node:path";
import test from "node:test";
import {fileURLToPath} from "node:url";

import {counterKeys, countersAt, lanesIn, modelOf, originOf, originText, sectorsOf, servedParts, sharedAt, statesAt, stepsInStep, TraceError, tracesFromText} from "../../common/explorer/trace.js";
import {endOf, momentOfWitness, momentText, openingMoment, sharedName, spotOf, whenText, witnessText, wordText} from "../../common/explorer/words.js";
import {drawSchedule, drawStill, findMoment, pictures as views, schedules} from "../../docs/stills/pictures.js";

import {racyTrace, refusedTrace, simulate} from "./simulate.js";

const explorer = join(dirname(fileURLToPath(import.meta.url)), "../../common/explorer");

/** Traces by hand, and those of the emulated device in the folder that EXPLORER_TRACES names. */
function* allTraces() {
  for (const name of ["interleaved", "nondivergent", "sequential"]) {
    yield [`${name} 64`, simulate(name)];
    yield [`${name} 256 float64`, simulate(name, {block: 256, type: "float64", input: (k) => k / 7})];
    yield [`${name} 128 int64`, simulate(name, {block: 128, type: "int64"})];
  }
  yield ["shuffles", simulate("shuffles")];
  yield ["race", racyTrace()];
  const folder = process.env.EXPLORER_TRACES;
  for (const file of folder ? readdirSync(folder) : []) {
    if (!/\.(json|html)$/.test(file)) continue;
    for (const trace of tracesFromText(readFileSync(join(folder, file), "utf8"), file))
      yield [file, trace];
  }
}

/** Throws unless the text is well-formed XML: tags that match, attributes in quotes, nothing unescaped. */
function checkXml(text) {
  const open = [];
  const token = /<(\/?)([A-Za-z][\w:-]*)((?:\s+[\w:-]+="[^"<]*")*)\s*(\/?)>|[^<]+/gy;
  const body = text.trim();
  while (token.lastIndex < body.length) {
    const at = token.lastIndex;
    const [whole, closing, name, , empty] =
        token.exec(body) ?? assert.fail(`no XML from here: ${body.slice(at, at + 80)}`);
    assert.doesNotMatch(whole, /&(?!#\d+;)/, "an ampersand that is no reference");
    if (closing)
      assert.equal(open.pop(), name, "a closing tag");
    else if (name && !empty)
      open.push(name);
  }
  assert.deepEqual(open, []);
  assert.doesNotMatch(text, /NaN|undefined|Infinity/);
}

test("banks has a row for each wavefront", () => {
  let conflicts = 0;
  for (const [name, trace] of allTraces()) {
    trace.events.forEach((event, moment) => {
      if (event.wavefronts === undefined) return;
      const rows = views.banks(trace, moment, {width: 720}).match(/class="wavefront"/g).length;
      assert.equal(rows, event.wavefronts, `${name}, event ${moment}`);
      const parts = servedParts(event);
      assert.equal(event.wavefronts - parts.length, event.conflicts, `${name}, event ${moment}`);
      conflicts += event.conflicts;
    });
  }
  assert.ok(conflicts > 0, "a trace with bank conflicts is among them");
});

test("an access is served as it was on an H200", () => {
  const file = join(explorer, "../../docs/counters/bank_conflicts/nvidia_h200.csv");
  const lines = readFileSync(file, "utf8").trim().split("\n").filter((line) => !line.startsWith("#"));
  assert.equal(lines.length, 1 + 3348);
  for (const line of lines.slice(1)) {
    const [bytes, lanes, share, multiplier, modulus, ...measured] = line.split(",").map(Number);
    const active = lanesIn(lanes);
    const words = active.map((lane) => Math.floor(lane / share) * multiplier % modulus * bytes / 4);
    const counted = ["shared_load", "shared_store"].flatMap((kind) => {
      const parts = servedParts({kind, bytes, lanes, words});
      const wavefronts = parts.reduce((sum, part) => sum + part.wavefronts.length, 0);
      return [wavefronts, wavefronts - parts.length];
    });
    assert.deepEqual(counted, measured, line);
  }
});

test("a bank gives one word per wavefront, and every word that is asked for is served", () => {
  const trace = simulate("nondivergent", {block: 256, type: "float64"});
  for (const event of trace.events) {
    if (event.wavefronts === undefined) continue;
    const served = new Map();
    for (const part of servedParts(event)) {
      for (const wavefront of part.wavefronts) {
        for (const [bank, {word, lanes}] of wavefront) {
          assert.equal(word % 32, bank);
          for (const lane of lanes) {
            assert.ok(lane >= part.first && lane <= part.last);
            served.set(`${lane}:${word}`, (served.get(`${lane}:${word}`) ?? 0) + 1);
          }
        }
      }
    }
    assert.equal(served.size, event.words.length * 2);
    assert.ok([...served.values()].every((times) => times === 1));
  }
});

test("sectors are as many as the event says, wherever the buffer begins", () => {
  for (const [name, trace] of allTraces()) {
    trace.events.forEach((event, moment) => {
      if (event.sectors !== undefined)
        assert.equal(sectorsOf(event).length, event.sectors, `${name}, event ${moment}`);
    });
  }
  const words = Array.from({length: 32}, (_, k) => k);
  assert.equal(sectorsOf({lanes: 0xffffffff, words, bytes: 4, sectors: 5}).length, 5);
});

test("lanes that read two buffers at once read the elements of both", () => {
  const trace = simulate("sequential");
  const load = trace.events.find(({kind}) => kind === "global_load");
  load.buffers = load.words.map((_, lane) => lane % 2);
  load.sectors *= 2;
  const [checked] = tracesFromText(JSON.stringify(trace), "two buffers");
  const {leaves, names} = modelOf(checked);
  assert.deepEqual(leaves.slice(0, 4).map(({buffer}) => buffer), [0, 1, 0, 1]);
  assert.equal(new Set(names).size, 2);
  const sectors = sectorsOf(checked.events.find(({buffers}) => buffers));
  assert.equal(sectors.length, load.sectors);
  assert.ok(sectors.every(({words}) => words.size === 4));
});

test("a fault before the first event is a trace, and no picture", () => {
  const trace = {...racyTrace(), events: []};
  trace.findings.forEach(({witnesses}) => witnesses.forEach((witness) => (witness.event = null)));
  const [checked] = tracesFromText(JSON.stringify(trace), "no events");
  assert.equal(modelOf(checked).kernelSource, 0);
  assert.throws(() => tracesFromText(JSON.stringify({...trace, findings: []}), "nothing"), TraceError);
});

/** A trace of one thread: what it does, by kind, word and value. */
function traceOf(...steps) {
  const events = steps.map(([kind, word, value, line]) => ({
                             kind,
                             warp: 0,
                             lanes: 1,
                             source: 0,
                             line,
                             column: 3,
                             bytes: 4,
                             words: [word],
                             values: [value],
                             ...(kind.startsWith("global") ? {buffer: 0, sectors: 1} :
                                                             {banks: [word], wavefronts: 1, conflicts: 0})
                           }));
  const lines = [
    "__global__ void reduce_kernel(const Pair* in) {", "  __shared__ Pair tile[64];",
    "  tile[threadIdx.x] = in[threadIdx.x];", "  tile[0].x -= tile[0].y;", "}"
  ];
  return {
    ...simulate("sequential", {block: 32}),
    sources: [{file: "a.cu", lines}],
    buffers: [{bytes: 64}],
    events
  };
}

test("a struct that is copied in parts comes from its parts, and its buffer has its name", () => {
  const trace = traceOf(
      ["global_load", 0, 5, 3], ["global_load", 1, 7, 3], ["shared_store", 0, 5, 3],
      ["shared_store", 1, 7, 3]);
  const {nodes, names} = modelOf(trace);
  assert.deepEqual(names, ["in"]);
  assert.deepEqual(nodes.map((node) => originText(trace, node)), ["in[0]", "in[1]"]);
});

test("a difference that is 0 is computed from what was loaded", () => {
  const trace = traceOf(
      ["global_load", 0, 7, 3], ["shared_store", 0, 7, 3], ["shared_load", 0, 7, 4], ["shared_load", 0, 7, 4],
      ["shared_store", 0, 0, 4]);
  const {nodes} = modelOf(trace);
  assert.equal(originText(trace, nodes[1]), "computed from in[0]; one of them counted more than once");
});

test("counters begin with one event, and at the last moment are those of the trace", () => {
  for (const [name, trace] of allTraces()) {
    assert.equal(countersAt(trace, 0).shared_store_requests, 0);
    const counters = countersAt(trace, trace.events.length - 1);
    for (const key of counterKeys)
      assert.equal(counters[key], trace.counters[key], `${name}, ${key}`);
  }
});

test("values come from where they do: the tree of 8 elements in a warp, by hand", () => {
  for (const [type, input] of [
           ["int32", (k) => (k < 4 ? 2 ** 31 - 1 : -k)], ["float32", (k) => 0.1 * k - 1],
           ["int64", (k) => k * 2 ** 40]]) {
    const trace = simulate("sequential", {block: 32, type, input});
    const wrap = type === "int32" ? (v) => v | 0 : (v) => v;
    for (const event of trace.events)
      if (event.values)
        event.values =
            event.values.map((v) => (type === "int64" && Math.abs(v) > 2 ** 53 ? String(v) : wrap(v)));
    const model = modelOf(trace);
    assert.ok(model.nodes.every((node) => node.exact), type);
    const last = trace.events.length - 1;
    const words = sharedAt(trace, last);
    const width = type === "int64" ? 2 : 1;
    assert.equal(originText(trace, words.find(({word}) => word === 0).node), "in[0..31]");
    // Word 8 was last written at stride 16, word 4 at stride 8 after that.
    assert.equal(originText(trace, words.find(({word}) => word === 8 * width).node), "in[8, 24]");
    assert.equal(originText(trace, words.find(({word}) => word === 4 * width).node), "in[4, 12, 20, 28]");
    assert.equal(originText(trace, words.find(({word}) => word === 17 * width).node), "in[17]");
    const root = model.nodes.find(({kind}) => kind === "global_store");
    assert.equal(originOf(root).elements.length, 32);
    assert.ok(originOf(root).elements.every(([buffer, , times]) => buffer === 0 && times === 1));
  }
});

test("interleaved and sequential trees differ in what a word was made of", () => {
  const early = simulate("interleaved", {block: 32});
  const moment = findMoment(early, "line=7,interval=2,kind=shared_store");
  assert.equal(originText(early, sharedAt(early, moment).find(({word}) => word === 4).node), "in[4..7]");
  const before = sharedAt(early, moment - 1).find(({word}) => word === 4);
  assert.equal(originText(early, before.node), "in[4..5]", "a moment before, its value is the older one");
});

test("shuffles and atomics carry origins", () => {
  const trace = simulate("shuffles", {block: 64});
  const atomics = modelOf(trace).nodes.filter(({kind}) => kind === "global_atomic");
  assert.equal(originText(trace, atomics[0]), "in[0..31]");
  assert.equal(originText(trace, atomics[1]), "in[0..63]");
});

test("an element that is added twice is said to be", () => {
  const trace = simulate("sequential", {block: 32});
  const store = trace.events.find(({kind, line}) => kind === "shared_store" && line === 7);
  const loads = trace.events.filter(
      ({kind, line, lanes}) => kind === "shared_load" && line === 7 && lanes === store.lanes);
  loads[0].words = [...loads[1].words];
  loads[0].values = [...loads[1].values];
  store.values = loads[1].values.map((value) => 2 * value);
  const node = modelOf(trace).nodes.find(({event}) => trace.events[event] === store);
  assert.match(originText(trace, node), /^in\[0\]; one of them counted more than once$/);
});

test("a value that no sum explains is drawn as computed", () => {
  const trace = simulate("sequential", {block: 32});
  const moment = trace.events.findIndex(({kind, line}) => kind === "shared_store" && line === 7);
  trace.events[moment].values = trace.events[moment].values.map(() => 123456789);
  const nodes = modelOf(trace).nodes.filter(({event}) => event === moment);
  assert.ok(nodes.every((node) => !node.exact && node.sources.length === 2));
  assert.match(originText(trace, nodes[0]), /^computed from /);
  assert.match(views.tree(trace, moment, {}), /edge guess/);
});

test("states of threads", () => {
  const trace = simulate("interleaved", {block: 64});
  const moment = findMoment(trace, "line=7,interval=1,warp=0");
  const states = statesAt(trace, moment);
  assert.deepEqual(states.slice(0, 4), ["active", "idle", "active", "idle"]);
  assert.equal(states[32], "ready");
  assert.equal(statesAt(trace, findMoment(trace, "line=7,interval=1,warp=1"))[0], "waiting");
  assert.ok(statesAt(trace, findMoment(trace, "kind=block_barrier")).every((state) => state === "waiting"));
  assert.ok(statesAt(trace, trace.events.length - 1).every((state) => state === "left"));
});

test("two traces go in step", () => {
  const a = simulate("interleaved", {block: 256});
  const b = simulate("sequential", {block: 256});
  const steps = stepsInStep(a, b);
  const [one, other] = [modelOf(a), modelOf(b)];
  for (const [x, y] of steps) {
    assert.equal(one.intervalOf[x], other.intervalOf[y]);
    assert.equal(a.events[x].kind === "block_barrier", b.events[y].kind === "block_barrier");
  }
  assert.equal(new Set(steps.map(([x]) => x)).size, a.events.length, "no event is left out");
  assert.equal(new Set(steps.map(([, y]) => y)).size, b.events.length);
  for (let k = 1; k < steps.length; ++k)
    assert.ok(steps[k][0] >= steps[k - 1][0] && steps[k][1] >= steps[k - 1][1]);
  const short = simulate("sequential", {block: 64});
  assert.deepEqual(stepsInStep(a, short).at(-1), [a.events.length - 1, short.events.length - 1]);
});

test("every view of every moment is well-formed, and the same each time", () => {
  for (const [name, trace] of allTraces()) {
    // Every moment of a small block; some moments of a large one, and these in all widths.
    const stride = Math.max(1, Math.floor(trace.events.length / 6));
    for (let moment = 0; moment < trace.events.length; ++moment) {
      if (modelOf(trace).threads > 64 && moment % stride !== 0) continue;
      for (const [view, draw] of Object.entries(views)) {
        for (const options of [{width: 720}, {width: 366, font: 11}, {still: true}].slice(
                 0, moment % stride === 0 ? 3 : 1)) {
          const picture = draw(trace, moment, options);
          try {
            checkXml(picture);
          } catch (error) {
            error.message = `${name}, ${view} at ${moment}: ${error.message}`;
            throw error;
          }
          if (moment === 0)
            assert.equal(draw(structuredClone(trace), moment, options), picture, `${name}, ${view}`);
        }
      }
      assert.match(momentText(trace, moment), /^Event \d+ of \d+, interval \d+\. .*\.$/);
    }
  }
  for (const name of Object.keys(schedules))
    checkXml(drawSchedule(name));
});

test("a still stands on its own: a title, a background, both schemes", () => {
  const still = drawStill(simulate("nondivergent"), {view: "banks", moment: "line=7,interval=2"});
  checkXml(still);
  for (const part
           of [/role="img"/, /<title>[^<]+<\/title>/, /<desc>[^<]+<\/desc>/, /prefers-color-scheme:dark/,
               /class="paper"/])
    assert.match(still, part);
  assert.match(still, /viewBox="0 0 440 \d+"/);
});

test("a finding marks both threads", () => {
  const trace = racyTrace();
  const moment = trace.findings[0].witnesses[0].event;
  assert.match(
      views.finding(trace, moment, {}), /Put a <tspan class="mono"[^>]*>__syncwarp\(\)<\/tspan> between/);
  const lettersOf =
      (view, at) => [...new Set([...views[view](trace, at, {}).matchAll(/class="onflag"[^>]*>([A-Z])</g)].map(
                         (match) => match[1]))]
                        .sort();
  for (const view of ["lanes", "finding"])
    assert.deepEqual(lettersOf(view, moment), ["A", "B"], view);
  // An access shows who asks for the finding's word, and nobody who asks for another.
  trace.findings[0].witnesses.forEach(
      (witness, k) => assert.deepEqual(lettersOf("banks", witness.event), ["AB"[k]]));
  assert.doesNotMatch(views.lanes(simulate("sequential"), 5, {}), /onflag/);
});

test("a finding of many threads frames them, and its moment is the end if it never got further", () => {
  const trace = simulate("sequential", {block: 64});
  const half = (first) => Array.from({length: 32}, (_, k) => first + k);
  trace.findings.push({
    kind: "missed barrier",
    text: "missed barrier",
    help: "",
    page: "",
    witnesses: [
      {action: "wait", block: 0, threads: half(0), source: 0, line: 8, column: 0, event: null},
      {action: "have left", block: 0, threads: half(32), source: 0, line: 0, column: 0, event: 3},
      {action: "wait", block: 1, threads: [0], source: 0, line: 8, column: 0, event: null}
    ]
  });
  const [waits, left, elsewhere] = trace.findings[0].witnesses;
  assert.equal(momentOfWitness(trace, waits), trace.events.length - 1);
  assert.equal(momentOfWitness(trace, left), 3);
  assert.equal(momentOfWitness(trace, elsewhere), null);
  assert.equal(views.lanes(trace, 3, {}).match(/class="witness"/g).length, 2);
  assert.doesNotMatch(views.access(trace, 3, {}), /onflag/);
});

test("words of shared memory are called what findings call them", () => {
  const table = JSON.parse(readFileSync(join(explorer, "../../tests/emulated/shared_names.json"), "utf8"));
  for (const [name, bytes, extents, position, count, text] of table) {
    if (text.includes(" has ") || count < 4)
      continue;  // a trace has no access out of bounds, and only whole words
    assert.equal(sharedName({shared: [{name, word: 32, bytes, extents}]}, 32 + position / 4, count), text);
  }
  const racy = ["histogram_without_atomics", "no_barrier_between_levels", "transpose_without_a_barrier"];
  for (const name of racy) {
    const file = join(explorer, `../../docs/stills/${name}.json`);
    const [trace] = tracesFromText(readFileSync(file, "utf8"), file);
    const [{event, threads}] = trace.findings[0].witnesses;
    const {lanes, words, bytes} = trace.events[event];
    const word = words[lanesIn(lanes).indexOf(threads[0] % 32)];
    assert.deepEqual(wordText(trace.findings[0]), [sharedName(trace, word, bytes), "shared memory"]);
  }
});

test("a finding says what each witness does, where in the trace, and what ended the block", () => {
  const race = racyTrace();
  const [writes, reads] = race.findings[0].witnesses;
  assert.deepEqual(endOf(race), []);
  assert.equal(openingMoment(race), writes.event);
  assert.equal(whenText(race, reads.event), "interval 1");
  assert.equal(witnessText(race, race.findings[0], 1), "block 0, thread 0 reads it");

  const refused = refusedTrace();
  assert.equal(openingMoment(refused), refused.events.length - 1);
  assert.deepEqual(endOf(refused), [[
                     0,
                     "thread 3 reads shared[99] (shared has 32 elements), line 7. The access is refused, " +
                         "and the block ends here."
                   ]]);
  assert.match(views.timeline(refused, 0, {}), /onflag">A</);

  const missed = simulate("sequential", {block: 64});
  missed.findings.push({
    kind: "missed barrier",
    text:
        "missed barrier in k: block 0, threads 0-31 wait at __syncthreads() at k.cuh:8; block 1, threads 3-5, 9 have left the kernel",
    help: "",
    page: "",
    witnesses: [
      {action: "wait at __syncthreads()", block: 0, threads: [0], source: 0, line: 8, column: 0, event: null},
      {action: "have left the kernel", block: 1, threads: [3], source: 0, line: 0, column: 0, event: null}
    ]
  });
  assert.equal(witnessText(missed, missed.findings[0], 0), "block 0, threads 0–31 wait at __syncthreads()");
  assert.equal(witnessText(missed, missed.findings[0], 1), "block 1, threads 3–5, 9 have left the kernel");
  assert.deepEqual(endOf(missed), [[0, "threads 0–31 wait at __syncthreads(), line 8."]]);
});

test("a warp's levels are apart by as many lines as it meets barriers", () => {
  const trace = simulate("shuffles", {block: 32});
  const lines = () =>
      views.tree(trace, trace.events.length - 1, {}).match(/class="warpbarrier"/g)?.length ?? 0;
  assert.equal(lines(), 0);
  const at = trace.events.findLastIndex(({kind}) => kind === "shuffle");
  const {source, line} = trace.events[at];
  const barrier = {kind: "warp_barrier", source, line, column: 0, warp: 0, lanes: 0xffffffff};
  trace.events.splice(at, 0, barrier, {...barrier});
  const twice = structuredClone(trace);
  assert.equal(
      views.tree(twice, twice.events.length - 1, {}).match(/class="warpbarrier"/g).length, 2 + 1,
      "and the legend's");
});

test("a vote is drawn with what each lane brings and gets", () => {
  const trace = simulate("shuffles", {block: 32});
  const at = trace.events.findIndex(({kind}) => kind === "shuffle");
  const {source, line} = trace.events[at];
  trace.events.splice(at, 0, {
    kind: "vote",
    source,
    line,
    column: 0,
    warp: 0,
    lanes: 0b1011,
    bytes: 8,
    brought: [1, 0, 1],
    values: [9, 9, 9]
  });
  const [checked] = tracesFromText(JSON.stringify(trace), "a vote");
  assert.match(momentText(checked, at), /Warp 0 votes: lanes 0, 1, 3\./);
  const picture = views.access(checked, at, {});
  checkXml(picture);
  assert.match(picture, /lane 1 brings 0</);
  assert.match(picture, /lane 3 takes 9</);
  assert.equal(
      picture.match(/class="link"[^>]* d="([^"]*)"|d="([^"]*)"[^>]*class="link"/)[0].match(/M/g).length, 3);
  assert.deepEqual(countersAt(checked, at), countersAt(checked, at - 1), "votes are not counted");
});

test("labels of the stills can be read on a telephone", () => {
  const folder = join(explorer, "../../docs/stills");
  const pictures = readdirSync(folder).filter((name) => name.endsWith(".svg"));
  assert.ok(pictures.length > 20);
  for (const name of pictures) {
    const text = readFileSync(join(folder, name), "utf8");
    const width = Number(/viewBox="0 0 (\d+)/.exec(text)[1]);
    for (const [, size, said] of text.matchAll(/<text[^>]* font-size="([\d.]+)"[^>]*>([^<]*)/g)) {
      const pixels = size * 358 / width;
      assert.ok(
          pixels >= 10, `${name}: ${said} is ${pixels.toFixed(1)} pixels high where it is shown 358 wide`);
    }
  }
});

test("of very many levels and events, those around the moment are drawn", () => {
  const trace = simulate("sequential", {block: 32});
  const pass = trace.events.filter(({line}) => line === 7 || line === 8);
  const end = trace.events.splice(trace.events.findIndex(({line}) => line === 10));
  for (let k = 0; k < 100; ++k)
    trace.events.push(...structuredClone(pass));
  trace.events.push(...end);
  const moment = Math.floor(trace.events.length / 2);
  for (const draw of Object.values(views)) {
    const picture = draw(trace, moment, {width: 720});
    checkXml(picture);
    assert.ok(picture.length < 300000, `${picture.length}`);
  }
  assert.match(views.tree(trace, moment, {}), /more levels before and after/);
  assert.doesNotMatch(views.tree(simulate("sequential"), 10, {}), /more levels/);
});

test("levels of two intervals are apart however many steps the first has", () => {
  const trace = simulate("sequential", {block: 32});
  const barrier = trace.events.findIndex(({kind}) => kind === "block_barrier");
  const store = trace.events[barrier - 1];
  assert.equal(store.kind, "shared_store");
  const isWrite = ({kind}) => kind.endsWith("_store");
  trace.events.splice(barrier, 0, ...Array(65536).fill(store));
  assert.equal(modelOf(trace).levels.length, trace.events.filter(isWrite).length);
});

test("moments are found by number and by condition", () => {
  const trace = simulate("interleaved");
  assert.equal(findMoment(trace, "end"), trace.events.length - 1);
  assert.equal(findMoment(trace, 3), 3);
  assert.equal(trace.events[findMoment(trace, "line=7,interval=3,kind=shared_store,nth=2")].warp, 1);
  assert.throws(() => findMoment(trace, "line=99"), /no such event/);
});

test("a file that is no trace gets one sentence", () => {
  const good = simulate("sequential", {block: 32});
  assert.equal(tracesFromText(JSON.stringify(good), "x.json").length, 1);
  const refused = [
    ["hello", /^x\.json is not a trace: it is neither JSON nor a page/], ["[]", /holds no trace/],
    ["null", /"format"/],
    ...[[{format: "results"}, /"format"/], [{version: 2}, /version is 2, and this page reads version 1/],
        [{type: "int8"}, /type/], [{events: []}, /no events/], [{events: [null]}, /what it holds/],
        [{launch: {}}, /what it holds/]]
        .map(([change, expected]) => [JSON.stringify({...good, ...change}), expected])
  ];
  for (const [text, expected] of refused) {
    assert.throws(() => tracesFromText(text, "x.json"), (error) => {
      assert.ok(error instanceof TraceError);
      assert.match(error.message, expected);
      return true;
    });
  }
});

test("text from a trace stays text", () => {
  const evil = `</script><img src=x onerror="alert(1)">&<svg onload='x'>\u0000\ud800`;
  const trace = racyTrace();
  trace.program = trace.title = trace.kernel = trace.device = evil;
  trace.sources[0].file = evil;
  trace.sources[0].lines = trace.sources[0].lines.map(() => evil);
  trace.findings[0].text = trace.findings[0].help = trace.findings[0].kind = evil;
  trace.findings[0].witnesses.forEach((witness) => {
    witness.action = evil;
  });
  trace.events.forEach((event) => {
    if (event.values) event.values[0] = evil;
  });
  for (const draw of Object.values(views)) {
    for (const still of [false, true]) {
      const picture = draw(trace, 4, {still});
      checkXml(picture);
      assert.doesNotMatch(picture, /<img|<svg onload|<\/script/);
    }
  }
});

test("the place of a column in a source line", () => {
  const text = "    if (tid < stride) shared[tid] += shared[tid + stride];";
  const spot = (column) => text.slice(...spotOf(text, column));
  assert.equal(spot(text.indexOf("[tid]") + 1), "shared[tid]");
  assert.equal(spot(text.indexOf("[tid + ") + 1), "shared[tid + stride]");
  assert.equal(spot(text.indexOf("+=") + 1), "shared[tid] +=");
  assert.equal(spotOf(text, 0), null);
  assert.equal(spotOf(text, 1000), null);
  assert.deepEqual(spotOf("  __syncthreads();", 16), [2, 17]);
});

test("the page is one script that parses, without anything from outside", () => {
  const folder = mkdtempSync(join(tmpdir(), "explorer"));
  try {
    const cmake = spawnSync("cmake", [
      `-DFOLDER=${explorer}`, `-DPAGE=${join(folder, "page.html")}`, "-P", join(explorer, "bundle.cmake")
    ]);
    assert.equal(cmake.status, 0, String(cmake.stderr));
    const page = readFileSync(join(folder, "page.html"), "utf8");
    const scripts = [...page.matchAll(/<script type="module">\n([\s\S]*?)<\/script>/g)];
    assert.equal(scripts.length, 1);
    assert.doesNotMatch(scripts[0][1], /^(import|export) /m);
    writeFileSync(join(folder, "bundle.mjs"), scripts[0][1]);
    execFileSync(process.execPath, ["--check", join(folder, "bundle.mjs")]);
    assert.doesNotMatch(page.replaceAll("http://www.w3.org/2000/svg", ""), /https?:|\bsrc=|@import/);
    assert.ok(page.length < 128 * 1024, `${page.length} bytes`);
    const trace = simulate("sequential", {block: 32});
    trace.title = "</script><b>";
    const whole = page.replace("@explorer_traces@", () => JSON.stringify([trace]).replaceAll("<", "\\u003c"));
    assert.deepEqual(tracesFromText(whole, "x.html"), [trace]);
  } finally {
    rmSync(folder, {recursive: true});
  }
});
