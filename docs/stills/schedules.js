// Pictures without a trace, by name: what is true of every run, or runs where there is no emulated device.

const bold = (words, wide) => [words, wide, "", "bold"];
const space = (wide = 1) => ["", wide, ""];
const all = (words, kind, wide = 1) => words.map((each) => [String(each), wide, kind]);

/** The running sum and the tree of step 00, side by side: the same additions, and how many wait for each other. */
function sums(n) {
  const levels = Math.log2(n);
  const row = (chain, tree) => ({
    gap: 0.9,
    cells: [...Array.from({length: n}, (_, k) => chain(k)), space(), ...Array.from({length: n}, (_, k) => tree(k))]
  });
  const added = (is) => is ? ["+", 1, "active"] : space();
  const rows = [{cells: [bold("running_sum: a chain", n), space(), bold("tree_sum: a tree", n)]}];
  rows.push({cells: [[`${n - 1} additions, ${n - 1} in a row`, n, ""], space(), [`${n - 1} additions, ${levels} in a row`, n, ""]]});
  rows.push(row((k) => [`x${k}`, 1], (k) => [`x${k}`, 1]));
  const arrows = [];
  for (let i = 1; i < n; ++i) {
    const stride = 2 ** i;
    rows.push(row((k) => added(k === i), (k) => added(stride <= n && k % stride === 0)));
    arrows.push([i + 1, i - 1, i + 2, i], [2, i, i + 2, i]);
    for (let k = 0; k < n && stride <= n; k += stride)
      arrows.push([i + 1, n + 1 + k, i + 2, n + 1 + k], [i + 1, n + 1 + k + stride / 2, i + 2, n + 1 + k]);
  }
  return {
    title: `Two sums of ${n} elements: a chain and a tree`,
    description: `Both do ${n - 1} additions. In the chain each waits for the one before; the tree has ${levels} levels.`,
    rows,
    arrows
  };
}

/** The ring of step 11: the TMA fills stages while the threads add those that are full. */
function ring(stages, tiles) {
  // A copy takes as long as two turns, so two stages are under way while a third is added.
  const stage = (first) => {
    const cells = [];
    for (let tile = first; tile < tiles; tile += stages)
      cells.push([`copy ${tile}`, tile < stages ? 2 + tile : 2, "track"], [`add ${tile}`, 1, "active"]);
    return {name: `stage ${first}`, cells: [...cells, space(stages - 1 - first + 0.01)]};
  };
  return {
    title: "A ring of three stages: copies overlap with additions",
    description: "Three tiles are asked for at once. Whenever the threads have added a stage and passed a barrier, it is filled again while they add the next.",
    rows: [
      {name: "One block over time →", cells: []},
      ...Array.from({length: stages}, (_, k) => stage(k)),
      {name: "Grey: the TMA brings a tile. Blue: all threads have waited for it, and add it. Then a __syncthreads(), and the stage is free.", cells: []}
    ]
  };
}

/** The values of lanes with the barriers, and without: what is wrong there has a mark. */
const beside = (right, wrong) => [
  ...all(right), space(0.4), ...wrong.map((each) => [String(each), 1, String(each).endsWith("!") ? "conflict" : "cell"])
];
const waits = {gap: 0.1, cells: [["__syncwarp()", 4, "warpbarrier", "mono"], space(4.4)]};

/** What each picture is of: rows.js has the form. */
export const schedules = {
  "00_cpu_serial": sums(8),
  "11_bulk_copy": ring(3, 6),
  host_and_device: {
    title: "Host and device",
    description:
        "The host copies the numbers into the device's memory, launches the kernel, and copies the sum back.",
    rows: [
      {cells: [bold("host", 5), space(4), bold("device", 5)]},
      {cells: [["numbers, in the host's memory", 5, "track"], ["1 cudaMemcpy", 4, ""], ["in, in global memory", 5, "track"]]},
      {gap: 1.6, cells: [["CPU: main()", 5], ["2 launch <<<…>>>", 4, ""], ["GPU: the kernel, many threads", 5, "active"]]},
      {gap: 1.6, cells: [["sum, in the host's memory", 5, "track"], ["3 cudaMemcpy", 4, ""], ["out, in global memory", 5, "track"]]},
    ],
    arrows: [[1, 0, 1, 2], [2, 0, 2, 2], [3, 2, 3, 0], [1, 2, 2, 2], [2, 2, 3, 2]],
  },
  threads_and_memories: {
    title: "A grid has blocks, a block warps, a warp lanes",
    description: "All share global memory, a block has shared memory, and a lane its registers.",
    rows: [
      {name: "A grid: all blocks of a launch", cells: [...all(["block 0"]), ["block 1", 1, "active"], ["…", 0.6, ""], ["block 3906"]]},
      {cells: [["global memory and L2 cache: all blocks", 1, "track"]]},
      {gap: 1.8, name: "A block: on one multiprocessor", cells: [...all(["warp 0"]), ["warp 1", 1, "active"], ["…", 0.6, ""], ["warp 7"]]},
      {cells: [["shared memory: this block. L1 cache: this multiprocessor", 1, "track"]]},
      {gap: 1.8, name: "A warp: 32 lanes, one instruction", cells: [...all(["lane 0", "lane 1"]), ["lane 2", 1, "active"], ["…", 0.6, ""], ["lane 31"]]},
      {gap: 1.8, name: "A lane: one thread", cells: [["registers: this thread", 1, "track"]]},
    ],
    zooms: [[0, 1, 2], [2, 1, 4], [4, 2, 5]],
  },
  "04_first_add": {
    title: "Two tiles, one block",
    description: "In 03 each tile has a block. In 04 a block adds two: its thread 0 adds in[0] and in[256], thread 1 in[1] and in[257].",
    rows: [
      {name: "03: a block for each tile of 256", cells: [["in[0..255]", 1, "track"], ["in[256..511]", 1, "track"]]},
      {gap: 1.6, cells: [["block 0", 1, "active"], ["block 1", 1, "active"]]},
      {gap: 1, name: "04: one block of 256 for both", cells: [
        ["in[0]", 1.2, "track"], ["in[1]", 1.2, "track"], ["…", 0.5, ""], ["in[255]", 1.4, "track"], space(0.3),
        ["in[256]", 1.4, "track"], ["in[257]", 1.4, "track"], ["…", 0.5, ""], ["in[511]", 1.4, "track"]
      ]},
      {gap: 2.4, cells: [space(0.5), ["thread 0", 1.2, "active"], space(0.3), ["thread 1", 1.2, "active"], ["…", 0.6, ""], ["thread 255", 1.3, "active"], space(0.5)]},
    ],
    arrows: [[0, 0, 1, 0], [0, 1, 1, 1], [2, 0, 3, 1], [2, 5, 3, 1], [2, 1, 3, 3], [2, 6, 3, 3], [2, 3, 3, 5], [2, 8, 3, 5]],
  },
  "05_lanes_by_value": {
    title: "The tail by value, for lanes 0 to 3",
    description:
        "With the barriers all lanes end with 10. Without them lane 2 may write before lane 0 has read: lane 0 ends with 11.",
    rows: [
      {cells: [bold("with __syncwarp()", 4), space(0.4), bold("without: lane 2 is ahead", 4)]},
      {name: "shared[0..3]; at the right, lane 2 has read and written", cells: beside([1, 2, 3, 4], [1, 2, "4!", 4])},
      {name: "each reads shared[tid ^ 2]", cells: beside([3, 4, 1, 2], ["4!", 4, 1, 2])},
      waits,
      {name: "adds it, and writes", cells: beside([4, 6, 4, 6], ["5!", 6, 4, 6])},
      waits,
      {name: "each reads shared[tid ^ 1]", cells: beside([6, 4, 6, 4], [6, "5!", 6, 4])},
      waits,
      {name: "adds it, and writes", cells: beside([10, 10, 10, 10], ["11!", "11!", 10, 10])},
    ],
  },
  "06_templated": {
    title: "The tree's loop in 05, and the same in 06 for a block of 256",
    description: "What 05 does between the additions, set stride, test it and jump back, is not in 06.",
    rows: [
      {cells: [bold("05, in a block of 256", 5), space(0.4), bold("06, compiled for 256", 5)]},
      ...[["stride = blockDim.x / 2"], ["stride > 32?"], ["tid < stride? add", "tid < 128? add"], ["barrier", "barrier"],
        ["stride /= 2, jump back"], ["stride > 32?"], ["tid < stride? add", "tid < 64? add"], ["barrier", "barrier"],
        ["stride /= 2, jump back"], ["stride > 32? no"], ["the last warp", "the last warp"]
      ].map(([loop, straight]) => ({
        gap: 0.2,
        cells: [[loop, 5, straight ? "active" : "track"], space(0.4), straight ? [straight, 5, "active"] : space(5)]
      })),
    ],
  },
  "12_any_operation": {
    title: "What 12 launches, by the size of the input",
    description:
        "Up to 64 KiB one block, up to 256 KiB a cluster of eight blocks, above two kernels, of which the second is launched ahead.",
    rows: [
      {name: "up to 64 KiB: one block, nothing to combine", cells: [["block", 1, "active"], space(7)]},
      {gap: 1, name: "up to 256 KiB: a cluster; each block writes its result into the shared memory of the first",
        cells: Array.from({length: 8}, (_, k) => [k > 0 ? `${k}` : "block 0", k > 0 ? 1 : 1.4, k > 0 ? "track" : "active"])},
      {gap: 1.8, cells: [["block 0 combines", 3, "active"], space(5.4)]},
      {gap: 1, name: "more: two kernels, over time →", cells: [["first kernel: as many blocks as fit", 5.4, "track"], space(3)]},
      {gap: 0.1, cells: [space(3), ["second is launched, waits", 2.4], ["one block combines", 3, "active"]]},
    ],
    arrows: Array.from({length: 8}, (_, k) => [1, k, 2, 0]),
  },
  "13_many_gpus": {
    title: "Two GPUs, and the mailbox of each",
    description: "Each GPU reduces its shard to eight values and stores them in both mailboxes. Both combine all 16 in one order.",
    rows: [
      {cells: [bold("GPU 0", 4), space(0.4), bold("GPU 1", 4)]},
      {name: "its shard: half of the chunks", cells: [["chunks 0..4095", 4, "track"], space(0.4), ["chunks 4096..8191", 4, "track"]]},
      {gap: 1.6, name: "8 of 16 warps: a value each", cells: [["values 0..7", 4, "active"], space(0.4), ["values 8..15", 4]]},
      {gap: 3, name: "its mailbox: each place has a value and the number of the call",
        cells: [["0..7", 2, "active"], ["8..15", 2], space(0.4), ["0..7", 2, "active"], ["8..15", 2]]},
      {gap: 1.6, name: "all 16, combined in one order: the same bits", cells: [["sum", 4], space(0.4), ["sum", 4]]},
    ],
    arrows: [[1, 0, 2, 0], [1, 2, 2, 2], [2, 0, 3, 0], [2, 0, 3, 3], [2, 2, 3, 1], [2, 2, 3, 4], [3, 0, 4, 0], [3, 1, 4, 0], [3, 3, 4, 2], [3, 4, 4, 2]],
  },
  "14_same_bits": {
    title: "The order of 14, for 2^28 numbers of 4 bytes",
    description: "Four numbers make a vector, 8192 vectors a chunk, 8192 chunks the sum. Which thread adds what depends on no device.",
    rows: [
      {name: "a vector: 4 numbers, one after the other", cells: [...all(["in[0]", "in[1]", "in[2]", "in[3]"], "track")]},
      {gap: 1.8, name: "a chunk: 8192 vectors; thread t of 512 takes t, t + 512, …",
        cells: [["0", 1, "active"], ["1", 1, "track"], ["…", 0.6, ""], ["511", 1, "track"], ["512", 1, "active"], ["513", 1, "track"], ["…", 0.6, ""], ["8191", 1.2, "track"]]},
      {gap: 1.8, name: "its threads: trees of 32 lanes, then a tree of 16 warps", cells: [["thread 0", 1.6, "active"], ["thread 1", 1.6], ["…", 0.6, ""], ["thread 511", 2]]},
      {gap: 1.8, name: "the result of each of 8192 chunks, in one block", cells: [["chunk 0", 1.6, "active"], ["chunk 1", 1.6], ["…", 0.6, ""], ["chunk 8191", 2]]},
      {gap: 1.8, name: "the same two trees", cells: [["the sum", 1, "active"]]},
    ],
    arrows: [[0, 0, 1, 0], [0, 1, 1, 0], [0, 2, 1, 0], [0, 3, 1, 0], [1, 0, 2, 0], [1, 4, 2, 0], [2, 0, 3, 0], [2, 1, 3, 0], [2, 3, 3, 0], [3, 0, 4, 0], [3, 1, 4, 0], [3, 3, 4, 0]],
  },
};
