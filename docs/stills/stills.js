// The pictures of the pages that have a trace: which run of which program each is of, and what of it is drawn.

/**
 * name: of the picture and of its committed trace; run: the command that makes the trace; events: how many of them are
 * kept, where not all are; the rest is drawStill's. Without a view the trace is there for the tests.
 */
export const stills = [
  { name: "01_interleaved", run: ["01_interleaved", "-n", "2^20", "-b", "64"], view: "activity" },
  { name: "02_nondivergent", run: ["02_nondivergent", "-n", "2^20"], view: "access", moment: "line=18,interval=5" },
  { name: "02_nondivergent_levels", run: ["02_nondivergent", "-n", "64", "-b", "64"], view: "activity" },
  { name: "03_sequential", run: ["03_sequential", "-n", "2^20"], view: "access", moment: "line=17,interval=4" },
  { name: "03_sequential_tree", run: ["03_sequential", "-n", "64", "-b", "32"], view: "tree" },
  { name: "05_unroll_warp", run: ["05_unroll_warp", "-n", "2^20", "-b", "64"], view: "tree" },
  { name: "07_cascade", run: ["07_cascade", "-n", "2^20", "-b", "64"] },
  { name: "08_warp_shuffle", run: ["08_warp_shuffle", "-n", "2^20", "-b", "64"], view: "tree" },
  { name: "09_vector_loads", run: ["09_vector_loads", "-n", "2^20", "-b", "64"], view: "access", moment: 0 },
  { name: "10_single_pass", run: ["10_single_pass", "-n", "2^20", "-b", "256", "--trace-block", "255"], view: "path", warp: 0 },
  { name: "atomic_each", run: ["atomic_each", "-n", "2^20", "-b", "64"], view: "access", moment: "kind=global_atomic" },
  { name: "atomic_vector", run: ["atomic_vector", "-n", "2^20", "-b", "64"], view: "access", moment: "kind=global_atomic", loads: true },
  { name: "atomic_block", run: ["atomic_block", "-n", "2^20", "-b", "64"], view: "tree" },
  { name: "endless_loop", run: ["pitfall", "endless_loop"], view: "finding", events: 60 },
  { name: "no_barrier_between_levels", run: ["pitfall", "no_barrier_between_levels"], view: "finding" },
  { name: "warp_synchronous_tail", run: ["pitfall", "warp_synchronous_tail"], view: "finding" },
  { name: "one_syncwarp_a_level", run: ["pitfall", "one_syncwarp_a_level"], view: "finding" },
  { name: "barrier_for_working_threads", run: ["pitfall", "barrier_for_working_threads"], view: "finding" },
  { name: "barrier_inside_the_bounds_check", run: ["pitfall", "barrier_inside_the_bounds_check", "--trace-block", "2"], view: "finding" },
  { name: "unguarded_second_load", run: ["pitfall", "unguarded_second_load", "--trace-block", "1"], view: "finding" },
  { name: "grid_from_bytes", run: ["pitfall", "grid_from_bytes", "--trace-block", "4"], view: "finding" },
  { name: "one_cell_for_all_blocks", run: ["pitfall", "one_cell_for_all_blocks"], view: "finding" },
  { name: "tail_past_shared_memory", run: ["pitfall", "tail_past_shared_memory"], view: "finding" },
  { name: "add_without_an_atomic", run: ["pitfall", "add_without_an_atomic"], view: "finding" },
  { name: "ticket_without_a_fence", run: ["pitfall", "ticket_without_a_fence"], view: "finding" },
  { name: "no_fence_behind_the_ticket", run: ["pitfall", "no_fence_behind_the_ticket"], view: "finding" },
  { name: "scan_in_place", run: ["pitfall", "scan_in_place"], view: "finding" },
  { name: "transpose_without_a_barrier", run: ["pitfall", "transpose_without_a_barrier"], view: "finding" },
  { name: "histogram_without_atomics", run: ["pitfall", "histogram_without_atomics"], view: "finding" },
  { name: "double_buffer_overwritten", run: ["pitfall", "double_buffer_overwritten"], view: "finding" },
  { name: "cells_cleared_beside_stores", run: ["emulate", "docs/pitfalls/cells_cleared_beside_stores.cu"], view: "finding" },
  { name: "stride_in_global_memory", run: ["emulate", "docs/pitfalls/stride_in_global_memory.cu"], view: "access", moment: "line=8" },
  { name: "columns_without_padding", run: ["emulate", "docs/pitfalls/columns_without_padding.cu"], view: "access", moment: "line=11", zero: 32, events: 66 },
];
