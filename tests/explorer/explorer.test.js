// node --test tests/explorer: the explorer's model and its renderer.

import assert from "node:assert/strict";
import {execFileSync, spawnSync} from "node:child_process";
import {mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync} from "node:fs";
import {tmpdir} from "node:os";
import {dirname, join} from "node:path";
import test from "node:test";
import {fileURLToPath} from "node:url";

import {costOf, counterKeys, countersAt, lanesIn, modelOf, originOf, originText, sectorsOf, servedParts, sharedAt, statesAt, stepsInStep, TraceError, tracesFromText} from "../../common/explorer/trace.js";
import {endOf, momentOfFindings, momentOfWitness, momentText, nodeText, sharedName, spotOf, strayText, variablesText, whenText, witnessText, wordText} from "../../common/explorer/words.js";
import {drawSchedule, drawStill, findMoment, pictures as views} from "../../docs/stills/pictures.js";
import {dragged, drawRequests, traceOfRequests} from "../../docs/stills/requests.js";
import {schedules} from "../../docs/stills/schedules.js";

const explorer = join(dirname(fileURLToPath(import.meta.url)), "../../common/explorer");
const stills = join(explorer, "../../docs/stills");

/** The emulated device's trace of a step or of a pitfall, which a picture of a page is drawn from. */
function traceOf(name) {
  const [trace] = tracesFromText(readFileSync(join(stills, `${name}.json`), "utf8"), name);
  return structuredClone(trace);  // nothing is remembered of it: a test may change it
}

/** Those of all pictures, and those in the folder that EXPLORER_TRACES names. */
function* allTraces() {
  for (const folder of [stills, process.env.EXPLORER_TRACES].filter(Boolean))
    for (const file of readdirSync(folder).filter(
             (name) => name.endsWith(".json") && name !== "package.json"))
      for (const trace of tracesFromText(readFileSync(join(folder, file), "utf8"), file))
        yield [file, trace];
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
      const rows = views.access(trace, moment, {width: 720}).match(/class="wavefront"/g).length;
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
      const wavefronts = parts.flatMap((part) => part.wavefronts);
      const served =
          wavefronts.flatMap((wavefront) => [...wavefront.values()].flatMap((of) => [...of.lanes]));
      assert.deepEqual(new Set(served), new Set(active), line);
      return [wavefronts.length, wavefronts.length - parts.length];
    });
    assert.deepEqual(counted, measured, line);
  }
});

test("what is dragged below a picture takes what the emulated device counts", () => {
  const requestsIn = ({events}, fits) =>
      events.filter((event, k) => event.kind === "shared_load" && fits(k))
          .map(
              ({warp, lanes, words, wavefronts, conflicts}) => ({warp, lanes, words, wavefronts, conflicts}));
  const files =
      ["01_interleaved", "02_nondivergent", "02_nondivergent_levels", "03_sequential", "03_sequential_tree"];
  for (const file of files) {
    const trace = traceOf(file);
    const {intervalOf} = modelOf(trace);
    const name = file.replace(/_(levels|tree)$/, "");
    const [block] = trace.launch.block;
    const strides = dragged[name].parameters.stride({block});
    strides.forEach((stride, k) => {
      const interval = name === "03_sequential" ? strides.length - k : k + 1;
      const counted = requestsIn(trace, (at) => intervalOf[at] === interval);
      const drawn = requestsIn(traceOfRequests(name, {stride, block}), () => true);
      const other = drawn.map((each) => ({...each, words: each.words.map((word) => word + stride)}));
      // Which of its two words a thread loads first is the compiler's.
      const sorted = (requests) => requests.map((each) => JSON.stringify(each)).sort();
      assert.deepEqual(sorted([...drawn, ...other]), sorted(counted), `${file}, stride ${stride}`);
    });
  }
  const trace = traceOf("columns_without_padding");
  const [{words, ...counted}] = requestsIn(trace, () => true);
  const column = {...counted, words: words.map((word) => word - trace.shared[0].word)};
  const without = traceOfRequests("columns_without_padding", {padding: 0});
  assert.deepEqual(requestsIn(without, () => true), [column]);
  const {svg, text} = drawRequests("01_interleaved", {stride: 4, block: 64});
  assert.equal(text, "stride 4, block 64: 4 of 32 lanes in each of 2 warps at work");
  assert.equal(svg.match(/class="active"/g).length, 2 * 4 + 1, "and the legend");
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
  const trace = traceOf("03_sequential");
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

/** A trace of one thread: what it does, by kind, word and value. */
function threadOf(...steps) {
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
  return {...traceOf("03_sequential"), sources: [{file: "a.cu", lines}], buffers: [{bytes: 64}], events};
}

test("a struct that is copied in parts comes from its parts, and its buffer has its name", () => {
  const trace = threadOf(
      ["global_load", 0, 5, 3], ["global_load", 1, 7, 3], ["shared_store", 0, 5, 3],
      ["shared_store", 1, 7, 3]);
  const {nodes, names} = modelOf(trace);
  assert.deepEqual(names, ["in"]);
  assert.deepEqual(nodes.map((node) => originText(trace, node)), ["in[0]", "in[1]"]);
});

test("a difference that is 0 is computed from what was loaded", () => {
  const trace = threadOf(
      ["global_load", 0, 7, 3], ["shared_store", 0, 7, 3], ["shared_load", 0, 7, 4], ["shared_load", 0, 7, 4],
      ["shared_store", 0, 0, 4]);
  const {nodes} = modelOf(trace);
  assert.equal(originText(trace, nodes[1]), "computed from in[0]; one of them counted more than once");
});

test("counters begin with one event, and at the last moment are those of the trace", () => {
  assert.equal(countersAt(traceOf("03_sequential"), 0).shared_store_requests, 0);
  for (const [name, trace] of allTraces()) {
    if (trace.truncated) continue;
    const counters = countersAt(trace, trace.events.length - 1);
    for (const key of counterKeys(trace))
      assert.equal(counters[key], trace.counters[key], `${name}, ${key}`);
  }
});

test("values come from where they do", () => {
  // Levels of 01: word 4 is made of two elements, then of four; a moment before, its value is the older one.
  const interleaved = traceOf("01_interleaved");
  const moment = findMoment(interleaved, "line=17,interval=2,kind=shared_store");
  const originAt = (at, wanted) =>
      originText(interleaved, sharedAt(interleaved, at).find(({word}) => word === wanted).node);
  assert.equal(originAt(moment - 1, 4), "in[4..5]");
  assert.equal(originAt(moment, 4), "in[4..7]");
  assert.equal(originAt(interleaved.events.length - 1, 0), "in[0..63]");
  // A block's sum has each of its elements once, of all types, by shared memory and by shuffles.
  let sums = 0;
  for (const [name, trace] of allTraces()) {
    if (trace.findings.length || trace.truncated || !/^0[1-9]/.test(name)) continue;
    const {nodes} = modelOf(trace);
    assert.ok(nodes.every((node) => node.exact), name);
    const {elements} = originOf(nodes.findLast(({kind}) => kind === "global_store"));
    assert.ok(elements.length >= trace.launch.block[0], name);
    assert.ok(elements.every(([buffer, , times]) => buffer === 0 && times === 1), name);
    ++sums;
  }
  assert.ok(sums >= 9);
});

test("thread 5 of 07 loads what the picture says", () => {
  const loaded =
      modelOf(traceOf("07_cascade")).leaves.filter(({thread}) => thread === 5).map(({first}) => first);
  const picture = JSON.stringify(schedules["07_cascade"].rows);
  const drawn = [...picture.matchAll(/thread 5: in\[(\d+)\]/g)].map((match) => Number(match[1]));
  assert.deepEqual(loaded, drawn);
});

test("atomics carry origins", () => {
  const trace = traceOf("atomic_block");
  const atomic = modelOf(trace).nodes.find(({kind}) => kind === "global_atomic");
  assert.equal(originOf(atomic).elements.length, 128);
});

test("an element that is added twice is said to be", () => {
  const trace = traceOf("01_interleaved");
  const moment = trace.events.findIndex(({kind, line}) => kind === "shared_store" && line === 17);
  const {warp} = trace.events[moment];
  const [a, b] = trace.events.slice(0, moment).filter((event) => event.line === 17 && event.warp === warp);
  a.words = [...b.words];
  a.values = [...b.values];
  trace.events[moment].values = b.values.map((value) => 2 * value);
  const node = modelOf(trace).nodes.find(({event}) => event === moment);
  assert.match(originText(trace, node), /^in\[[01]\]; one of them counted more than once$/);
});

test("a value that no sum explains is drawn as computed", () => {
  const trace = traceOf("01_interleaved");
  const moment = trace.events.findIndex(({kind, line}) => kind === "shared_store" && line === 17);
  trace.events[moment].values = trace.events[moment].values.map(() => 123456789);
  const nodes = modelOf(trace).nodes.filter(({event}) => event === moment);
  assert.ok(nodes.every((node) => !node.exact && node.sources.length === 2));
  assert.match(originText(trace, nodes[0]), /^computed from /);
  assert.match(views.tree(trace, moment, {}), /edge guess/);
});

test("words of shared memory stand in rows as the banks do, and what was written is marked", () => {
  const trace = traceOf("01_interleaved");
  const moment = findMoment(trace, "line=17,interval=2,kind=shared_store");
  for (const [width, columns, value] of [[2000, 32, "1.4946e9"], [1000, 16, "1.4946e9"], [366, 8, "1.5e9"]]) {
    const picture = views.memory(trace, moment, {width, font: 11});
    const rows = [...picture.matchAll(/>shared\[(\d+)\]<\/text>/g)].map((match) => Number(match[1]));
    assert.deepEqual(rows, Array.from({length: 64 / columns}, (_, k) => k * columns));
    const [[, title, shown]] =
        picture.matchAll(/class="active"><title>([^<]*)[^]*?class="on bold"[^>]*>([^<]*)</g);
    assert.match(title, /^shared\[0\] = -?\d+, written by thread 0/);
    assert.equal(shown, value);
  }
});

test("states of threads", () => {
  const trace = traceOf("01_interleaved");
  const moment = findMoment(trace, "line=17,interval=1,warp=0");
  const states = statesAt(trace, moment);
  assert.deepEqual(states.slice(0, 4), ["active", "idle", "active", "idle"]);
  assert.equal(states[32], "ready");
  assert.equal(
      statesAt(trace, findMoment(trace, "line=17,interval=1,warp=1,kind=shared_store"))[0], "waiting");
  assert.ok(statesAt(trace, findMoment(trace, "kind=block_barrier")).every((state) => state === "waiting"));
  assert.ok(statesAt(trace, trace.events.length - 1).every((state) => state === "left"));
});

test("two traces go in step", () => {
  const [a, b] = ["02_nondivergent", "03_sequential"].map(traceOf);
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
  const short = traceOf("01_interleaved");
  assert.deepEqual(stepsInStep(a, short).at(-1), [a.events.length - 1, short.events.length - 1]);
});

test("two traces beside each other have one scale", () => {
  const [a, b] = ["01_interleaved", "02_nondivergent"].map(traceOf);
  for (const [view, scale] of [
           ["timeline", /text-anchor="end" class="muted">(\d+)</g],
           ["activity", /width="([\d.]+)"[^>]*class="track"/],
           ["access", /width="([\d.]+)"[^>]*class="ready"/], ["memory", />\+?(\d+)</g]]) {
    const [alone, one, other] = [[a, []], [a, [b]], [b, [a]]].map(
        ([trace, beside]) => views[view](trace, 0, {beside, width: 720}).match(scale));
    assert.deepEqual(one.slice(-1), other.slice(-1), view);
    if (["timeline", "activity"].includes(view)) assert.notDeepEqual(one, alone, view);
  }
});

test("every view of every moment is well-formed, and the same each time", () => {
  for (const [name, trace] of allTraces()) {
    // Every moment of a small block; some moments of a large one, and these in all widths.
    const stride = Math.max(1, Math.floor(trace.events.length / 6));
    for (let moment = 0; moment < trace.events.length; ++moment) {
      if (modelOf(trace).threads * trace.events.length > 3000 && moment % stride !== 0) continue;
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

test("a finding marks both threads", () => {
  const trace = traceOf("warp_synchronous_tail");
  const [{witnesses}] = trace.findings;
  const lettersOf =
      (view, at) => [...new Set([...views[view](trace, at, {}).matchAll(/class="onflag"[^>]*>([A-Z])</g)].map(
                         (match) => match[1]))]
                        .sort();
  assert.deepEqual(lettersOf("lanes", witnesses[0].event), ["A", "B"]);
  // An access shows who asks for the finding's word, and nobody who asks for another.
  witnesses.forEach((witness, k) => assert.deepEqual(lettersOf("access", witness.event), ["AB"[k]]));
  assert.doesNotMatch(views.lanes(traceOf("03_sequential"), 5, {}), /onflag/);
  assert.equal(momentOfFindings(trace), witnesses[0].event);
  for (const [name, worst] of [
           ["02_nondivergent", "conflicts=7"], ["stride_in_global_memory", "sectors=32"],
           ["05_unroll_warp", "sectors=4"]]) {
    const costs = traceOf(name).events.map(costOf);
    assert.equal(costs.indexOf(Math.max(...costs)), findMoment(traceOf(name), worst), name);
  }
  assert.equal(whenText(trace, witnesses[1].event), "interval 1, part 6");
  assert.equal(witnessText(trace, trace.findings[0], 1), "block 0, thread 0 reads it");
  assert.deepEqual(endOf(trace), []);
});

test("what a race has read stands beside what the order of the trace has", () => {
  const race = traceOf("no_barrier_between_levels");
  assert.match(
      strayText(race, race.findings[0].witnesses[1].event), /^In the run lane 0 read 1\. In this order 7 is there: /);
  for (const name of ["02_nondivergent", "05_unroll_warp", "08_warp_shuffle", "barrier_inside_the_bounds_check"])
    traceOf(name).events.forEach((_, moment) => assert.equal(strayText(traceOf(name), moment), "", name));
});

test("the steps of a race stand as they happened: a read gets what the word has by then", () => {
  let reads = 0;
  for (const [name, trace] of allTraces()) {
    if (trace.findings[0]?.kind !== "race") continue;
    const text = views.finding(trace, 0, {width: 2000}).replace(/<[^>]*>/g, "\n");
    let held;
    for (const [step, verb, value] of text.matchAll(/(reads|writes) (\d+)\n|…\n/g)) {
      if (verb === "reads" && held !== undefined) assert.equal(value, held, `${name}: ${step}`);
      reads += verb === "reads";
      held = value;
    }
  }
  assert.ok(reads > 10, `${reads} reads`);
});

test("what never happened is shown at the end, and many threads are framed", () => {
  const refused = traceOf("tail_past_shared_memory");
  assert.equal(momentOfFindings(refused), refused.events.length - 1);
  assert.deepEqual(endOf(refused), [[
                     0,
                     "thread 0 reads shared[32] (shared has 32 elements), line 16. The access is refused, " +
                         "and the block ends here."
                   ]]);
  assert.match(views.timeline(refused, 0, {}), /onflag">A</);
  const missed = traceOf("barrier_for_working_threads");
  const [waits, left] = missed.findings[0].witnesses;
  assert.equal(momentOfWitness(missed, waits), missed.events.length - 1);
  assert.equal(momentOfWitness(missed, left), left.event);
  assert.equal(momentOfWitness(missed, {...waits, block: 1}), null);
  assert.equal(views.lanes(missed, left.event, {}).match(/class="witness"/g).length, 4);
  assert.equal(witnessText(missed, missed.findings[0], 1), "block 0, threads 64–127 have left the kernel");
  assert.deepEqual(endOf(missed), [[0, "threads 0–63 wait at __syncthreads(), line 12."]]);
});

test("variables of a line are short: one value, a progression, or the first", () => {
  const text = (...values) => variablesText({variables: [{name: "i", values}]});
  for (const [values, short] of [
         [[1, 1, 1], "1"], [[0, 2, 4, 6], "0, 2, 4, 6"], [[0, 2, 4, 6, 8], "0, 2, 4 … 8"],
         [[0, 2, 4, 6, 9], "0, 2, 4 …"], [[true, false], "true, false"], [[null, 1], "?, 1"]])
    assert.equal(text(...values), `i ${short}`);
  const both = [{name: "stride", values: [1]}, {name: "sum", values: [0.1 + 0.2]}];
  assert.equal(variablesText({variables: both}), "stride 1 · sum 0.3");
  assert.equal(variablesText({}), "");
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
    const trace = traceOf(name);
    const [{event, threads}] = trace.findings[0].witnesses;
    const {lanes, words, bytes} = trace.events[event];
    const word = words[lanesIn(lanes).indexOf(threads[0] % 32)];
    assert.deepEqual(wordText(trace.findings[0]), [sharedName(trace, word, bytes), "shared memory"]);
  }
});

test("a vote is drawn with what each lane brings and gets", () => {
  const trace = traceOf("08_warp_shuffle");
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

test("copies bring what shared memory then holds", () => {
  const trace = traceOf("03_sequential");
  const at = trace.events.findIndex(({kind}) => kind === "shared_load");
  const {source, line, words: [word]} = trace.events[at];
  const copy =
      {source, line, column: 0, warp: 0, lanes: 1, bytes: 16, words: [word], values: [[7, 8, 9, 10]]};
  trace.events.splice(
      at, 0, {kind: "shared_copy", ...copy, wavefronts: 1, conflicts: 0}, {kind: "bulk_copy", ...copy});
  Object.assign(trace.counters, {shared_copy_wavefronts: 1, bulk_copy_bytes: 16});
  const [checked] = tracesFromText(JSON.stringify(trace), "copies");
  assert.match(
      momentText(checked, at), /Warp 0 receives in shared memory what it has copied: lane 0, 1 wave/);
  assert.match(
      momentText(checked, at + 1), /A bulk copy that warp 0 has waited for brings words 0 to 3 of shared/);
  for (const moment of [at, at + 1]) {
    const {node, now} = sharedAt(checked, moment).find((each) => each.word === word + 3);
    assert.ok(now);
    assert.match(nodeText(checked, node), / = .*, which a copy brings$/);
    views.access(checked, moment, {}).split("<svg").slice(1).forEach((picture) => checkXml(`<svg${picture}`));
  }
  const {shared_copy_wavefronts: wavefronts, bulk_copy_bytes: bytes} = countersAt(checked, at + 1);
  assert.deepEqual([wavefronts, bytes], [1, 16]);
  const sum = modelOf(checked).nodes.find(({sources}) => sources.some(({kind}) => kind === "copied"));
  assert.match(originText(checked, sum), /what copies bring/);
});

test("a file that is no trace gets one sentence", () => {
  const good = traceOf("01_interleaved");
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
  const trace = traceOf("warp_synchronous_tail");
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
    const trace = traceOf("01_interleaved");
    trace.title = "</script><b>";
    const whole = page.replace("@explorer_traces@", () => JSON.stringify([trace]).replaceAll("<", "\\u003c"));
    assert.deepEqual(tracesFromText(whole, "x.html"), [trace]);
  } finally {
    rmSync(folder, {recursive: true});
  }
});
