# shellcheck shell=bash
# The steps that docs/counters has counts of. profile.sh and generate_table.sh read this file.

# shellcheck disable=SC2034  # the scripts use them
# Those that the emulated device runs, too: both sides are compared.
readonly compared_steps=(
  01_interleaved 02_nondivergent 03_sequential 04_first_add 05_unroll_warp 06_templated 07_cascade
  08_warp_shuffle 09_vector_loads 10_single_pass
)
# shellcheck disable=SC2034
# Those that only a GPU runs: there is nothing to compare.
readonly gpu_only_steps=(11_bulk_copy 12_any_operation)
