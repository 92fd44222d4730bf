// The pictures of the pages: which run of which program each is of, and what of it is drawn.

/** name: of the picture and of its committed trace; run: the command that makes the trace; the rest is drawStill's. */
export const stills = [
  { name: "00_cpu_serial", schedule: "sums" },
  { name: "01_interleaved", run: ["01_interleaved", "-n", "2^20", "-b", "64"], view: "activity" },
  { name: "02_nondivergent", run: ["02_nondivergent", "-n", "2^20"], view: "banks", moment: "line=18,interval=5" },
  { name: "03_sequential", run: ["03_sequential", "-n", "2^20"], view: "banks", moment: "line=17,interval=4" },
  { name: "04_first_add", run: ["04_first_add", "-n", "2^20", "-b", "64"], view: "tree" },
  { name: "05_unroll_warp", run: ["05_unroll_warp", "-n", "2^20", "-b", "64"], view: "tree" },
  { name: "06_templated", run: ["06_templated", "-n", "2^20"], view: "path", warp: 0 },
  { name: "07_cascade", run: ["07_cascade", "-n", "2^20", "-b", "64"], view: "input" },
  { name: "08_warp_shuffle", run: ["08_warp_shuffle", "-n", "2^20", "-b", "64"], view: "tree" },
  { name: "09_vector_loads", run: ["09_vector_loads", "-n", "2^20", "-b", "64"], view: "sectors", moment: 0 },
  { name: "10_single_pass", run: ["10_single_pass", "-n", "2^20", "-b", "256", "--trace-block", "255"], view: "path", warp: 0 },
  { name: "11_bulk_copy", schedule: "ring" },
  { name: "atomic_each", run: ["atomic_each", "-n", "2^20", "-b", "64"], view: "atomic", moment: "kind=global_atomic" },
  { name: "atomic_vector", run: ["atomic_vector", "-n", "2^20", "-b", "64"], view: "path", warp: 0 },
  { name: "atomic_block", run: ["atomic_block", "-n", "2^20", "-b", "64"], view: "tree" },
];
