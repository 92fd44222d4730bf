# Writes a folder of results of a card that does not exist, as docs/plots and print_results read them:
#
#   CARD_NAME=NAME awk -f made_up_results.awk -v folder=FOLDER -v peak=GBPS
#
# A step takes the time of its launches and of its bytes at the bandwidth that it is said to reach.

BEGIN {
  card = ENVIRON["CARD_NAME"]
  gsub(/"/, "\\\"", card)
  gpu_steps = split("01_interleaved 02_nondivergent 03_sequential 04_first_add 05_unroll_warp 06_templated " \
                    "07_cascade 08_made_up peer_cub", steps)
  split("8.7 14.1 18.3 34.0 44.7 49.2 76.8 84.5 91.9", percents)
  types = split("int32 int64 float32 float64 complex64 complex128", type)
  split("4 8 4 8 8 16", bytes)

  print_measured(folder "/measured.json")

  begin(folder "/ladder.json")
  result("00_cpu_serial", "cpu", "int32", 28, "null", 2 ^ 30 / 12.3e6)
  for (s = 1; s <= gpu_steps; ++s) on_gpu(s, 1, 28, 256)
  end()

  begin(folder "/sweep_block.json")
  for (s = 1; s <= gpu_steps; ++s)
    for (block = 32; block <= 1024; block *= 2)
      if (!is_library(s) || block == 256) on_gpu(s, 1, 28, block)
  end()

  begin(folder "/sweep_size.json")
  for (s = 1; s <= gpu_steps; ++s)
    for (k = 10; k <= 34; k += 2) on_gpu(s, 1, k, 256)
  end()

  begin(folder "/sweep_type.json")
  for (s = 1; s <= gpu_steps; ++s)
    for (t = 1; t <= types; ++t) on_gpu(s, t, 28, 256)
  end()

  # CUB takes a quarter longer, except in one cell, where it is faster; the last type goes to fewer elements.
  begin(folder "/sweep_size_types.json")
  for (t = 1; t <= types; ++t)
    for (k = 10; k <= (type[t] == "complex128" ? 10 : 20); k += 10) {
      of_library("12_any_operation", t, k, 1)
      of_library("peer_cub", t, k, type[t] == "int64" && k == 10 ? 0.9 : 1.25)
    }
  end()

  # Half of CUB's bandwidth; torch has one type and one size only.
  begin(folder "/peers.json")
  for (t = 1; t <= types; ++t)
    for (k = 20; k <= 28; k += 8) {
      of_library("12_any_operation", t, k, 1)
      of_library("peer_cub", t, k, 0.5)
      if (type[t] == "float32" && k == 28) of_library("peer_torch", t, k, 1, "torch 1.2.3")
    }
  end()

  # Only one of two was run with eight.
  begin(folder "/method_lead_in.json")
  timing = "{\"flush\": \"read\", \"warm_up\": 3, \"queued\": true, \"lead_in\": 0}"
  of_library("07_made_up", 1, 20, 0.009)
  of_library("peer_cub", 1, 20, 0.008)
  sub(/0}/, "8}", timing)
  of_library("peer_cub", 1, 20, 0.007)
  timing = ""
  end()

  # Two GPUs, of which one takes a quarter longer.
  begin(folder "/many_gpus.json")
  job = "\"ranks\": 1, \"nodes\": 1, \"elements_a_rank\": 1024, \"gbps_a_rank\": 4.1, \"times_one_rank\": 1, \"combined_by\": \"MPI\""
  of_library("13_many_gpus", 1, 10, 0.001)
  gsub(/"ranks": 1/, "\"ranks\": 2", job)
  gsub(/_rank": 1,/, "_rank\": 1.54,", job)
  of_library("13_many_gpus", 1, 11, 0.0013)
  job = ""
  end()
  begin(folder "/many_gpus_alone.json")
  ordinal = "\"ordinal\": 0, "
  of_library("12_any_operation", 1, 10, 0.001)
  ordinal = "\"ordinal\": 1, "
  of_library("12_any_operation", 1, 10, 0.00125)
  ordinal = ""
  end()

  begin(folder "/atomics.json")
  of_library("atomic_each", 3, 25, 32)
  of_library("atomic_block", 3, 25, 0.5)
  of_library("atomic_block", 1, 25, 0.5)
  end()
}

# A result that takes so many milliseconds.
function of_library(step, t, k, ms, version) {
  result(step, "cuda", type[t], k, "null", ms, bytes[t], version)
}

function is_library(s) { return steps[s] ~ /^peer_/ }

# Bandwidth falls off on both sides of 256 threads, and grows with wider elements.
function on_gpu(s, t, k, block,    share, distance) {
  distance = log(block / 256) / log(2)
  share = percents[s] / 100 / (1 + 0.12 * distance * distance)
  if (steps[s] < "07") share *= sqrt(bytes[t] / 4) < 1.9 ? sqrt(bytes[t] / 4) : 1.9
  result(steps[s], "cuda", type[t], k, is_library(s) ? "null" : block,
    0.005 + 2 ^ k * bytes[t] / (peak * share) / 1e6, bytes[t])
}

function print_measured(file) {
  printf "{\"gpu\": \"%s\", \"driver\": \"1.2.3\", \"cuda\": \"13.0\", \"date\": \"2026-11-21\",\n", card >file
  printf " \"commit\": \"none\", \"command\": \"made_up_results.awk\"}\n" >file
  close(file)
}

function begin(path) { file = path; separator = "[" }

function result(step, kind, name, k, block, ms, size, version,    gbps) {
  gbps = 2 ^ k * (size ? size : 4) / ms / 1e6
  printf "%s\n{\"step\": \"%s\", ", separator, step >file
  printf "\"device\": {%s\"kind\": \"%s\", \"name\": \"%s\", \"peak_gbps\": %s}, ", ordinal, kind, card,
    kind == "cuda" ? peak : "null" >file
  printf "\"type\": \"%s\", \"elements\": %.0f, \"block\": %s, ", name, 2 ^ k, block >file
  printf "\"ms\": {\"median\": %.6g, \"p5\": %.6g, ", ms, ms * 0.99 >file
  printf "\"p95\": %.6g, \"min\": %.6g}, ", ms * 1.01, ms * 0.98 >file
  if (job) printf "%s, ", job >file
  if (timing) printf "\"timing\": %s, ", timing >file
  printf "\"gbps\": %.6g, \"percent_of_peak\": %s, \"verified\": true, \"version\": \"%s\"}", gbps,
    kind == "cuda" ? sprintf("%.4g", gbps / peak * 100) : "null", version ? version : "0.0.0" >file
  separator = ","
}

function end() { print "\n]" >file; close(file) }
