// Traces for tests: kernels of the ladder as generators, one per thread, whose warps execute in step. What they do is
// written down by hand, so that the explorer is not only tested against what the emulated device happens to write.

const popcount = (mask) => [...Array(32).keys()].filter((lane) => (mask >>> lane) & 1).length;

/** Wavefronts of an access to shared memory, counted the long way round. */
function wavefrontsOf(kind, lanes, words, bytes) {
  let together = bytes <= 4 ? 32 : bytes === 8 ? 16 : 8;
  if (bytes > 4 && kind === "shared_load") {
    const differ = (distance) =>
        lanes.some((a, i) => lanes.some((b, k) => (a ^ b) === distance && words[i] !== words[k]));
    if (!differ(1) || !differ(2)) together *= 2;
  }
  let wavefronts = 0;
  let parts = 0;
  for (let first = 0; first < 32; first += together) {
    const banks = Array.from({length: 32}, () => new Set());
    lanes.forEach((lane, k) => {
      if (lane < first || lane >= first + together) return;
      for (let w = 0; w < Math.max(1, bytes / 4); ++w)
        banks[(words[k] + w) % 32].add(words[k] + w);
    });
    const most = Math.max(...banks.map((bank) => bank.size));
    wavefronts += most;
    if (most > 0) ++parts;
  }
  return {wavefronts, conflicts: wavefronts - parts};
}

const load = (words, bytes, line) => ({kind: "shared_load", word: words, bytes, line});

function* loadTile(word, bytes) {
  yield {
    kind: "shared_store",
    word,
    bytes,
    line: 4,
    value: yield { kind: "global_load", buffer: 0, word, bytes, line: 4 }
  };
  yield {kind: "block_barrier", line: 5};
}

function* storeResult(tid, bytes) {
  if (tid === 0)
    yield {kind: "global_store", buffer: 1, word: 0, bytes, line: 10, value: yield load(0, bytes, 10)};
}

const rising = (block) => Array.from({length: Math.log2(block)}, (_, k) => 2 ** k);

/** A tree in shared memory: with each stride, the thread adds to the element that `placeOf` gives it, if it gives one. */
const tree = (strides, placeOf) => function*({tid, block, bytes, width}) {
  yield* loadTile(tid * width, bytes);
  for (const stride of strides(block)) {
    const place = placeOf(tid, stride, block);
    if (place !== null) {
      const a = yield load((place + stride) * width, bytes, 7);
      const b = yield load(place * width, bytes, 7);
      yield {kind: "shared_store", word: place * width, bytes, line: 7, value: a + b};
    }
    yield {kind: "block_barrier", line: 8};
  }
  yield* storeResult(tid, bytes);
};

const kernels = {
  interleaved: tree(rising, (tid, stride) => (tid % (2 * stride) === 0 ? tid : null)),
  nondivergent: tree(rising, (tid, stride, block) => (2 * stride * tid < block ? 2 * stride * tid : null)),
  sequential: tree((block) => rising(block).reverse(), (tid, stride) => (tid < stride ? tid : null)),
  *
      shuffles({tid, bytes, width}) {
        let sum = yield {kind: "global_load", buffer: 0, word: tid * width, bytes, line: 4};
        for (let delta = 16; delta >= 1; delta /= 2) {
          const from = tid % 32 + delta < 32 ? tid % 32 + delta : tid % 32;
          sum += yield {kind: "shuffle", bytes, line: 5, value: sum, from};
        }
        if (tid % 32 === 0) yield {kind: "global_atomic", buffer: 1, word: 0, bytes, line: 6, value: sum};
      },
};

const source = [
  "#pragma once", "template <typename T> __global__ void reduce_kernel(const T* in, T* out, size_t n) {",
  "  T* shared = memory();", "  shared[tid] = in[i];", "  __syncthreads();",
  "  for (unsigned stride = 1;;) {", "    shared[a] += shared[b];", "    __syncthreads();", "  }",
  "  if (tid == 0) out[blockIdx.x] = shared[0];", "}"
];

/** The trace of one block. `input` gives the elements, small integers unless it says otherwise. */
export function simulate(name, {block = 64, type = "int32", input = (k) => (k * 7919) % 1000} = {}) {
  const bytes = {int32: 4, float32: 4, int64: 8, float64: 8}[type];
  const width = bytes / 4;
  const shared = new Map();
  const global = [new Map(Array.from({length: block}, (_, k) => [k * width, input(k)])), new Map()];
  const threads = Array.from({length: block}, (_, tid) => {
    const generator = kernels[name]({tid, block, bytes, width});
    return {tid, generator, next: generator.next()};
  });
  const events = [];
  const place = (line) => ({source: 0, line, column: 0});
  const runWarp = (warp) => {
    const lanes = threads.slice(warp * 32, warp * 32 + 32);
    for (;;) {
      const ready = lanes.filter(({next}) => !next.done && next.value.kind !== "block_barrier");
      if (ready.length === 0) return;
      const first = ready.reduce((a, b) => (b.next.value.line < a.next.value.line ? b : a)).next.value;
      const group =
          ready.filter(({next}) => next.value.line === first.line && next.value.kind === first.kind);
      const operations = group.map(({next}) => next.value);
      const event = {
        kind: first.kind,
        warp,
        lanes: group.reduce((mask, {tid}) => (mask | (1 << tid % 32)) >>> 0, 0),
        ...place(first.line),
        bytes
      };
      if (first.buffer !== undefined) event.buffer = first.buffer;
      let results = operations.map(() => undefined);
      if (first.kind === "shuffle") {
        event.from = operations.map(({from}) => from);
        event.brought = operations.map(({value}) => value);
        event.values = event.from.map((lane) => event.brought[group.findIndex(({tid}) => tid % 32 === lane)]);
        event.shuffles = bytes / 4;
        results = event.values;
      } else {
        event.words = operations.map(({word}) => word);
        const memory = first.kind.startsWith("shared") ? shared : global[first.buffer];
        if (first.kind.endsWith("load"))
          results = event.values = event.words.map((word) => memory.get(word));
        else if (first.kind.endsWith("atomic")) {
          event.before = [];
          event.values = operations.map(({word, value}) => {
            event.before.push(memory.get(word) ?? 0);
            memory.set(word, (memory.get(word) ?? 0) + value);
            return memory.get(word);
          });
        } else
          event.values = operations.map(({word, value}) => (memory.set(word, value), value));
        if (first.kind === "shared_load" || first.kind === "shared_store") {
          event.banks = event.words.map((word) => word % 32);
          Object.assign(event, wavefrontsOf(first.kind, group.map(({tid}) => tid % 32), event.words, bytes));
        } else if (!first.kind.endsWith("atomic"))
          event.sectors = new Set(event.words.flatMap(
                                      (word) => [Math.floor(word / 8), Math.floor((word + width - 1) / 8)]))
                              .size;
      }
      events.push(event);
      group.forEach((thread, k) => {
        thread.next = thread.generator.next(results[k]);
      });
    }
  };
  for (;;) {
    for (let warp = 0; warp < block / 32; ++warp)
      runWarp(warp);
    if (threads.every(({next}) => next.done)) break;
    events.push({kind: "block_barrier", ...place(threads[0].next.value.line)});
    threads.forEach((thread) => {
      thread.next = thread.generator.next();
    });
  }
  for (let warp = 0; warp < block / 32; ++warp)
    events.push({kind: "exit", warp, lanes: 0xffffffff, source: 0, line: 0, column: 0});
  return {
    format: "reduction trace",
    version: 1,
    program: name,
    title: `${name} by hand`,
    device: "a test",
    kernel: "reduce_kernel",
    type,
    launch: {number: 1, grid: [4, 1, 1], block: [block, 1, 1], shared_bytes: block * bytes},
    block: 0,
    truncated: false,
    sources: [{file: `${name}/kernel.cuh`, lines: source}],
    buffers: [{bytes: block * bytes * 4}, {bytes: 4 * bytes}],
    shared: [{name: "shared", word: 0, bytes, extents: [block]}],
    events,
    counters: countAll(events, block),
    findings: [],
  };
}

function countAll(events, block) {
  const counters = {blocks: 1, threads: block};
  for (const kind of ["shared_load", "shared_store", "global_load", "global_store"]) {
    const own = events.filter((event) => event.kind === kind);
    const sum = (of) => own.reduce((total, event) => total + of(event), 0);
    counters[`${kind}_requests`] = own.length;
    if (kind.startsWith("shared")) {
      counters[`${kind}_wavefronts`] = sum((event) => event.wavefronts);
      counters[`${kind}_conflicts`] = sum((event) => event.conflicts);
    } else
      counters[`${kind}_sectors`] = sum((event) => event.sectors);
    counters[`${kind}_lanes`] = sum((event) => popcount(event.lanes));
  }
  counters.block_barriers = events.filter(({kind}) => kind === "block_barrier").length;
  counters.warp_barriers = 0;
  counters.shuffles = events.reduce((total, event) => total + (event.shuffles ?? 0), 0);
  counters.atomics = events.filter(({kind}) => kind.endsWith("atomic"))
                         .reduce((total, event) => total + popcount(event.lanes), 0);
  return counters;
}

/** A trace with a race: two threads at one word of shared memory, and no barrier between them. */
export function racyTrace() {
  const trace = simulate("sequential", {block: 32});
  const reads = trace.events.findIndex(({kind, line}) => kind === "shared_load" && line === 7);
  const writes = trace.events.findIndex(({kind, line}) => kind === "shared_store" && line === 7);
  trace.findings.push({
    kind: "race",
    text: "race in reduce_kernel: thread 1 writes shared[1], thread 0 reads it",
    help: "put a `__syncwarp()` between the read and the write",
    page: "docs/pitfalls/warp_synchronous_tail.md",
    witnesses: [
      {action: "writes shared[1]", block: 0, threads: [1], source: 0, line: 7, column: 15, event: writes},
      {action: "reads it", block: 0, threads: [0], source: 0, line: 7, column: 21, event: reads}
    ],
  });
  return trace;
}

/** A trace that ends at an access out of bounds, which never happened. */
export function refusedTrace() {
  const trace = simulate("sequential", {block: 32});
  trace.findings.push({
    kind: "out of bounds",
    text:
        "out of bounds in reduce_kernel: block 0, thread 3 reads shared[99] (shared has 32 elements) at sequential/kernel.cuh:7",
    help: "check the index before the access",
    page: "",
    witnesses: [{action: "reads", block: 0, threads: [3], source: 0, line: 7, column: 21, event: null}],
  });
  const store = trace.events.findIndex(({kind, line}) => kind === "shared_store" && line === 7);
  trace.events.splice(store);
  trace.counters = countAll(trace.events, 32);
  return trace;
}
