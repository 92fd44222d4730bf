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
  { name: "endless_loop", run: ["emulate", "docs/pitfalls/endless_loop.cu"], view: "finding", events: 24 },
  { name: "no_barrier_between_levels", run: ["emulate", "docs/pitfalls/no_barrier_between_levels.cu"], view: "finding" },
  { name: "warp_synchronous_tail", run: ["emulate", "docs/pitfalls/warp_synchronous_tail.cu"], view: "finding" },
  { name: "one_syncwarp_a_level", run: ["emulate", "docs/pitfalls/one_syncwarp_a_level.cu"], view: "finding" },
  { name: "barrier_for_working_threads", run: ["emulate", "docs/pitfalls/barrier_for_working_threads.cu"], view: "finding" },
  { name: "barrier_inside_the_bounds_check", run: ["emulate", "docs/pitfalls/barrier_inside_the_bounds_check.cu"], view: "finding" },
  { name: "unguarded_second_load", run: ["emulate", "docs/pitfalls/unguarded_second_load.cu"], view: "finding" },
  { name: "grid_from_bytes", run: ["emulate", "docs/pitfalls/grid_from_bytes.cu"], view: "finding" },
  { name: "one_cell_for_all_blocks", run: ["emulate", "docs/pitfalls/one_cell_for_all_blocks.cu"], view: "finding" },
  { name: "tail_past_shared_memory", run: ["emulate", "docs/pitfalls/tail_past_shared_memory.cu"], view: "finding" },
  { name: "add_without_an_atomic", run: ["emulate", "docs/pitfalls/add_without_an_atomic.cu"], view: "finding" },
  { name: "ticket_without_a_fence", run: ["emulate", "docs/pitfalls/ticket_without_a_fence.cu"], view: "finding" },
  { name: "no_fence_behind_the_ticket", run: ["emulate", "docs/pitfalls/no_fence_behind_the_ticket.cu"], view: "finding" },
  { name: "scan_in_place", run: ["emulate", "docs/pitfalls/scan_in_place.cu"], view: "finding" },
  { name: "transpose_without_a_barrier", run: ["emulate", "docs/pitfalls/transpose_without_a_barrier.cu"], view: "finding" },
  { name: "histogram_without_atomics", run: ["emulate", "docs/pitfalls/histogram_without_atomics.cu"], view: "finding" },
  { name: "double_buffer_overwritten", run: ["emulate", "docs/pitfalls/double_buffer_overwritten.cu"], view: "finding", events: 150 },
  { name: "cells_cleared_beside_stores", run: ["emulate", "docs/pitfalls/cells_cleared_beside_stores.cu"], view: "finding" },
  { name: "stride_in_global_memory", run: ["emulate", "docs/pitfalls/stride_in_global_memory.cu"], view: "access", moment: "line=8" },
  { name: "columns_without_padding", run: ["emulate", "docs/pitfalls/columns_without_padding.cu"], view: "access", moment: "line=11", zero: 32, events: 66 },
];
