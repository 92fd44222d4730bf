"""Breaks the project in one place after the other, and says which test notices: python3 -m tests.mutants [PART...]

Each mutant below is a mistake that could have been made, and the test that must fail with it. They are applied to a
copy of the tracked files, built without optimisation in a folder of its own. With PARTs, only those of files whose
names have one of them. All take about 50 minutes on two cores, so CI leaves them out (CTest's label `long`).
That the list still fits the sources is a test of its own (mutants_test.py).

Exit code: 0 every mutant is killed, 1 one survives or does not fit any more, 2 there is no such PART, 77 git or CMake
is missing.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
SKIPPED = 77
TEST_SECONDS = 200  # a mutant that goes on forever is noticed, too


@dataclass(frozen=True)
class Mutant:
    """In `file`, `before` stands once and becomes `after`.

    `test` is a CMake target and the filter of its tests, or a file in tests and one of its functions.
    """

    file: str
    before: str
    after: str
    test: str


HARNESS = "common/harness/"
REWRITE = "common/emulated/rewrite/"
RUN = "common/emulated/run/"
MEMORY = "common/emulated/memory/"
COUNT = "common/emulated/count/"
ORDER = "common/emulated/order/"
PROGRAM = "common/emulated/program/"
TRACE = "common/emulated/trace/"
HEADER = "beyond/12_any_operation/reduction/"
ROWS = "beyond/15_rows/"
AGAINST_CUB = "beyond/12_any_operation/against_cub/"

# Those of one file stand together: what is restored and what is broken next is compiled once.
MUTANTS = [
    # ---- is the sum right? ----
    Mutant(HARNESS + "verification.cpp", "return Verdict{distance == 0,", "return Verdict{distance <= 1,",
           "verification_test *"),
    Mutant(HARNESS + "verification.cpp", "verdict.error <= verdict.tolerance", "verdict.error <= 2 * verdict.tolerance",
           "verification_test *"),
    Mutant(HARNESS + "verification.cpp", "sum.magnitude, depth + 1, unit", "sum.magnitude, depth + 4, unit",
           "verification_test *"),
    Mutant(HARNESS + "verification.cpp", "worst.verified = worst.verified && verdict.verified;",
           "worst.verified = verdict.verified;", "verification_test *"),
    Mutant(HARNESS + "verification.cpp", "terms < 1 ? magnitude", "terms < 1e-3 ? magnitude", "verification_test *"),
    Mutant(HARNESS + "verification.cpp", "  add(other.low);\n", "", "verification_test *"),
    Mutant(HARNESS + "verification.cpp", "  magnitude += std::abs(x);", "  magnitude += x;", "verification_test *"),
    Mutant(HARNESS + "verification.cpp", "std::min(input.n, first + reference_chunk)",
           "std::min(input.n, first + reference_chunk - 1)", "verification_test *"),
    Mutant(HARNESS + "verification.cpp", "(part.part + k * part.of) * reference_chunk",
           "(part.part * sums.size() + k) * reference_chunk", "verification_test *"),
    Mutant(HARNESS + "verification.cpp", "(chunks + part.of - 1 - part.part) / part.of", "chunks / part.of",
           "verification_test *"),
    Mutant(HEADER + "input.cuh", "% 16)) % 16 / sizeof(T)", "% 16)) / sizeof(T)",
           "emulated_header_test *LoadsEachSectorOnce"),
    Mutant(HEADER + "input.cuh", "(::min)(static_cast<std::size_t>(count), n.capacity)",
           "static_cast<std::size_t>(count)", "header_calls_test *FromTheDevice"),
    Mutant(HEADER + "input.cuh", "(in.first) && detail::begins_with_vectors(in.second)", "(in.first)",
           "header_two_arrays_test *DotProducts"),
    Mutant(HEADER + "elements.cuh", "of_each<T>(word, word >> 8, operation)", "of_each<T>(word, word, operation)",
           "header_numbers_test ReduceNumbers*"),
    Mutant(HEADER + "elements.cuh", "__dp2a_lo(static_cast<Word>(word), Word{0x0101}, sum)",
           "__dp2a_lo(static_cast<Word>(word), Word{0x01}, sum)", "header_numbers_test ReduceNumbers*"),
    Mutant(HEADER + "reduce_kernels.cuh", "if (tid % 32 == 0) shared[tid / 32] = value;\n  __syncthreads();",
           "if (tid % 32 == 0) shared[tid / 32] = value;", "header_calls_test *Init*"),
    Mutant(HEADER + "reduce_kernels.cuh", "blockIdx.x == 0 && split.ends > 0", "split.ends > 0",
           "header_calls_test *Init*"),
    Mutant(HEADER + "launch.cuh", "return 1 + tiles + tiles / share;", "return tiles + tiles / share;",
           "header_calls_test *Nothing*"),
    Mutant(HEADER + "same_bits.cuh", "tiles < most_chunks ? static_cast<unsigned>(tiles)",
           "tiles < most_chunks ? static_cast<unsigned>(tiles / 2)", "header_calls_test *FromTheDevice"),
    Mutant(HEADER + "same_bits.cuh", "to_end <= chunks.each ? tile_size + 1", "false ? tile_size + 1",
           "header_calls_test *Init*"),
    Mutant(HEADER + "same_bits.cuh", "if (!aligned && first == 0)", "if (false)", "header_calls_test *Init*"),
    Mutant(HEADER + "same_bits.cuh", "past & 8 ? words[k + 2]", "past & 4 ? words[k + 2]", "header_calls_test *Init*"),
    Mutant(HEADER + "same_bits.cuh", "past % 4 * 8", "past % 2 * 8", "header_structs_test *FromAnyByte"),
    Mutant(HEADER + "same_bits.cuh", "across<alignof(T)>", "across<sizeof(T)>", "header_structs_test *FromAnyByte"),
    Mutant(HEADER + "same_bits.cuh", "chunk + 1 != chunks.count ||", "", "header_calls_test *Init*"),
    Mutant(HEADER + "same_bits.cuh", "past & 4 ? words[k + 1]", "past & 4 ? words[k + 2]",
           "header_calls_test *Init*"),
    Mutant(HEADER + "rows_kernels.cuh", "reinterpret_cast<A*>(bytes) + threadIdx.y * warps",
           "reinterpret_cast<A*>(bytes)", "header_matrices_test *SumsRows*"),
    Mutant(HEADER + "rows_kernels.cuh", "k < head ? k : n - count + k", "k", "header_matrices_test *SumsRows*"),
    Mutant(HEADER + "rows_kernels.cuh", "k < edges.count; k += threads", "k < edges.count; k += 32",
           "header_matrices_test *SumsRows*"),
    Mutant(HEADER + "rows_kernels.cuh", "first_edge, first + edges.place(thread)", "first_edge, edges.place(thread)",
           "header_matrices_test *FindsPlaces*"),
    Mutant(HEADER + "rows_kernels.cuh", "(piece - row * per_row) * each", "piece * each",
           "header_matrices_test *SumsRows*"),
    Mutant(HEADER + "rows_kernels.cuh", "auto result = reduction.identity();  // a NaN is passed over",
           "auto result = reduction.combined(loaded[k][0], 0);  //", "header_matrices_test *FindsExtremes*"),
    Mutant(HEADER + "rows_kernels.cuh", "if (row >= matrix.rows) return;", "", "header_matrices_test *SumsRows*"),
    Mutant(HEADER + "rows_kernels.cuh", "from[k < left ? k : 0]", "from[k]", "header_matrices_test *SumsRows*"),
    Mutant(HEADER + "rows_kernels.cuh", "if (row + l * step >= matrix.rows) continue;", "",
           "header_matrices_test *SumsRows*"),
    Mutant(HEADER + "rows_kernels.cuh", "pieces.first + threadIdx.x % 32", "pieces.first + threadIdx.x",
           "header_matrices_test *RowTheBits*"),
    Mutant(HEADER + "rows.cuh", "same_bits ? 32 :", "false ? 32 :", "header_matrices_test *ColumnTheBits*"),
    Mutant(HEADER + "rows.cuh", "parts < least ? least", "false ? least", "header_matrices_test *ABoundAllowsFor*"),
    Mutant(HEADER + "rows.cuh", "matrix.stride < matrix.width || ", "", "header_matrices_test *Refuses*"),
    Mutant(HEADER + "rows.cuh", "(columns ? matrix.rows : matrix.width) > most_counted<A>",
           "matrix.width > most_counted<A>", "header_matrices_test *Refuses*"),
    Mutant(HEADER + "rows.cuh", "matrix.width % (16 / sizeof(T)) == 0 && ", "", "header_matrices_test *SumsRows*"),
    Mutant(HEADER + "across.cuh", "number % 2 * words_of_call<A>", "0", "header_across_test *"),
    Mutant(HEADER + "across.cuh", "owners.count < peers.count", "owners.count == 0", "header_across_test *"),
    Mutant(HEADER + "across.cuh", "if (announces) mailbox.wait_for(threadIdx.x);", "",
           "header_across_test *"),
    Mutant(HEADER + "across.cuh", "all_came = all_came && detail::is_of(word, call);", "", "header_across_test *"),
    Mutant(HEADER + "across.cuh", "* rank + gpus - 1) / gpus", "* rank) / gpus", "header_across_test *"),
    Mutant(HEADER + "across.cuh", "first_warp = most_chunks;", "first_warp = 0;", "header_across_test *"),
    Mutant(HEADER + "across.cuh", "partial, first - own.first + lane,", "partial, first + lane,",
           "header_across_test *"),
    Mutant(HEADER + "same_bits.cuh", "(count + chunk_combine_block - 1) / chunk_combine_block * 32;",
           "count / chunk_combine_block * 32;", "header_calls_test *Init*"),
    Mutant(HEADER + "across.cuh", "part.count / IndexedVector<T>::width", "n / IndexedVector<T>::width",
           "header_across_test *"),
    Mutant("common/emulated/memory/peer_memory.cpp", "if (before.word == &word) Block::running()->give_way();", "",
           "header_across_test *LeavesTurns*"),
    # ---- rows ----
    Mutant(ROWS + "operations.cuh", "static __device__ float identity() { return -INFINITY; }",
           "static __device__ float identity() { return 1e-38F; }", "rows_test Rows.Maximums*"),
    Mutant(ROWS + "operations.cuh", "!(a <= b) && b == b", "a > b",
           "rows_test Rows.TheFirst*"),
    Mutant(ROWS + "operations.cuh", " && b.index < a.index;", " && false;", "rows_test Rows.TheFirst*"),
    Mutant(ROWS + "operations.cuh", "    if (b.count == 0) return a;  // both may be empty\n", "",
           "rows_test Rows.AreRightForWidths*"),
    Mutant(ROWS + "operations.cuh", "less.largest == more.largest ? 1.0F : expf", "expf",
           "rows_test Rows.Softmax*"),
    Mutant(ROWS + "operations.cuh", "std::isfinite(row.largest) ? row.sum : NAN", "row.sum", "rows_test Rows.Softmax*"),
    Mutant(ROWS + "combine.cuh", "k < edges; k += threads", "k < edges; k += 8", "rows_test Rows.AreRightForWidths*"),
    Mutant(ROWS + "combine.cuh", "  __syncthreads();\n", "", "rows_test Rows.HaveNoFinding*"),
    Mutant(ROWS + "check_rows.cpp", "if (std::isnan(expected)) return std::isnan(found);\n", "",
           "rows_test Rows.AreRightForWidths*"),
    Mutant(AGAINST_CUB + "compare.cpp", "  if (!first.verified()) return first;\n", "", "against_cub_test *"),
    Mutant(AGAINST_CUB + "compare.cpp", "        device.poison(side->out.data(), chosen.result_bytes);\n", "",
           "against_cub_test *"),
    Mutant(AGAINST_CUB + "compare.cpp", "    require_possible(*found.gbps, device.info());\n", "",
           "against_cub_test *"),
    Mutant(HARNESS + "input.cpp", "std::min(count, (k + 1) * chunk)", "std::min(count, (k + 1) * chunk - 1)",
           "input_test *"),
    Mutant(HARNESS + "reduction_plan.cpp", "std::max(1u, device.sms)) + 128;", "std::max(1u, device.sms)) + 12928;",
           "reduction_plan_test *"),
    Mutant(HARNESS + "reduction_plan.cpp", "if (kernel.traits.adds_atomically) return tree_depth(n);",
           "if (kernel.traits.adds_atomically) return n;", "reduction_plan_test *"),
    Mutant(HARNESS + "reduction_plan.cpp", "depth += additions_of_one_thread(kernel, pass, block) + levels;",
           "depth += additions_of_one_thread(kernel, pass, block) + block;", "reduction_plan_test *"),
    Mutant(HARNESS + "reduction_plan.cpp", "while (n > 1 && !is_single_pass);", "while (n > 32 && !is_single_pass);",
           "reduction_plan_test *"),
    Mutant(HARNESS + "reduction_plan.cpp", "passes.empty() && grid ?", "grid ?", "reduction_plan_test *"),
    Mutant(HARNESS + "reduction_plan.cpp", "kernel.traits.chooses_launch || kernel.grid_size(many",
           "kernel.grid_size(many", "reduction_plan_test *"),
    Mutant(HARNESS + "reduction_plan.cpp", "partial_bytes(0) + partial_bytes(1);", "partial_bytes(0);",
           "reduction_plan_test *"),

    # ---- times and what follows from them ----
    Mutant(HARNESS + "sampling.cpp", "close_enough = 0.005;", "close_enough = 0.05;", "sampling_test *"),
    Mutant(HARNESS + "sampling.cpp", "gbps <= *device.peak_gbps)", "gbps <= 10 * *device.peak_gbps)",
           "measure_test Measure.*"),
    Mutant(HARNESS + "sampling.cpp", "ms.size() >= *fixed", "ms.size() > *fixed", "sampling_test *"),
    Mutant(HARNESS + "sampling.cpp", ".median = quantile(samples, 0.5)", ".median = quantile(samples, 0.45)",
           "sampling_test *"),
    Mutant(HARNESS + "sampling.cpp", ".p95 = quantile(samples, 0.95)", ".p95 = samples.back()", "sampling_test *"),
    Mutant(HARNESS + "result.hpp", "return input_bytes() / ms->median / 1e6;",
           "return input_bytes() / ms->median / 1048576;", "measure_test Measure.*"),
    Mutant(HARNESS + "result.hpp", "*gbps() / *device.peak_gbps / (", "*device.peak_gbps / *gbps() / (",
           "measure_test Measure.*"),
    Mutant(HARNESS + "measure.cpp", "  if (!result.ms) return result;\n  reduction.check(reference, result);\n",
           "  if (!result.ms) return result;\n", "measure_test Measure.*"),
    Mutant(HARNESS + "measure.cpp", "    reduction.poison();\n    timer->start();", "    timer->start();",
           "measure_test Measure.*"),
    Mutant(HARNESS + "measure.cpp", "timer->stop() / method.back_to_back", "timer->stop()", "measure_test Measure.*"),
    Mutant(HARNESS + "measure.cpp", "if (!result.verdict.verified) return result;", "", "measure_test Measure.*"),
    Mutant(HARNESS + "measure.cpp", "if (plan.kernel.traits.waits_for_result) method.queued = false;", "",
           "measure_test Measure.*"),
    Mutant(HARNESS + "cpu_step.cpp", "    const Stopwatch tree;\n    kernel.sum_tree(chunk.data(), count);\n"
           "    sample.tree_ms += tree.ms();",
           "    kernel.sum_tree(chunk.data(), count);\n    sample.running_ms += running.ms();", "cpu_step_test *"),
    Mutant(HARNESS + "cpu_step.cpp", "tree_ms.push_back(sample.tree_ms);", "tree_ms.push_back(sample.running_ms);",
           "cpu_step_test *"),
    Mutant(HARNESS + "cpu_step.cpp", "conclude(\"tree\", sample.tree,", "conclude(\"tree\", sample.running,",
           "cpu_step_test *"),

    # ---- what is said of them: exit codes, JSON, tables ----
    Mutant(HARNESS + "report.cpp", "if (!std::all_of(results_.begin()", "if (!std::any_of(results_.begin()",
           "measure_test Report.*"),
    Mutant(HARNESS + "report.cpp", "std::mem_fn(&Result::verified)))\n    return ExitCode::wrong_result;",
           "std::mem_fn(&Result::verified)))\n    return ExitCode::verified;", "measure_test Report.*"),
    Mutant(HARNESS + "report.cpp", "    json_file_.write(json());", "", "measure_test Report.*"),
    Mutant(HARNESS + "exit_code.cpp", "code = ExitCode::wrong_result;\n    print(", "print(",
           "exit_code_test *"),
    Mutant(HARNESS + "exit_code.cpp", "code = ExitCode::wrong_result;\n    say(", "say(", "exit_code_test *"),
    Mutant(HARNESS + "exit_code.cpp", "if (code == ExitCode::verified) code = ExitCode::device_fault;", "",
           "executables_test Executables.SayWhenTheirOutputIsLost"),
    Mutant(HARNESS + "exit_code.cpp", "if (code == ExitCode::verified) code = ExitCode::device_fault;",
           "code = ExitCode::device_fault;", "executables_test Executables.KeepTheirVerdictWhereATraceIsLost"),
    Mutant(HARNESS + "exit_code.cpp", "if (error != EPIPE) lost_output", "lost_output",
           "executables_test Executables.TakeAReaderWhoLeavesForNoError"),
    Mutant(HARNESS + "exit_code.cpp", "if (previous_handler_ == SIG_IGN) std::signal(SIGINT, SIG_IGN);", "",
           "exit_code_test Interruption.*"),
    Mutant(HARNESS + "exit_code.cpp", "std::signal(signal, SIG_DFL);", "", "exit_code_test Interruption.*"),
    Mutant(HARNESS + "result_json.cpp", 'key("p5", ms.p5)', 'key("p5", ms.minimum)', "result_json_test *"),
    Mutant(HARNESS + "result_json.cpp", 'key("tolerance", Exact{result.verdict.tolerance})',
           'key("tolerance", Exact{result.verdict.error})', "result_json_test *"),
    Mutant(HARNESS + "result_json.cpp", 'key("expected", result.expected)', 'key("expected", result.value)',
           "result_json_test *"),
    Mutant(HARNESS + "result_json.cpp", "std::int64_t{1} << 53;", "std::int64_t{1} << 62;", "result_json_test *"),
    Mutant(HARNESS + "result_json.cpp", 'read("other_variants", result.other_variants);', "{}", "result_json_test *"),
    Mutant(HARNESS + "result.hpp", "return verdict.verified &&", "return",
           "executables_test LadderTable.FailsWhereAResultIsWrong"),
    Mutant(HARNESS + "text_file.cpp", "if (target_.empty()) {", "if (true) {",
           "executables_test Executables.WriteAFile*"),
    Mutant(HARNESS + "text_file.cpp", "std::filesystem::weakly_canonical(path);", "path;",
           "executables_test Executables.WriteAFile*"),
    Mutant(HARNESS + "text_file.cpp", "~Replacement() { unlink(name_.c_str()); }", "~Replacement() {}",
           "executables_test Executables.WriteAFile*"),
    Mutant(HARNESS + "text_file.hpp", " || name_ == \"/dev/stdout\"", "",
           "executables_test Executables.ReadAndWritePipes"),
    Mutant(HARNESS + "text_file.cpp", "const Replacement trial(target_);", "",
           "executables_test Executables.Refuse*"),
    Mutant(HARNESS + "ladder_text.cpp", "static_cast<double>(count) / blocks",
           "2 * static_cast<double>(count) / blocks", "executables_test Ladder*"),
    Mutant(HARNESS + "ladder_text.cpp", "is_of(result, Part::ladder) != of_the_ladder",
           "is_of(result, Part::ladder) == of_the_ladder", "ladder_text_test *"),
    Mutant(HARNESS + "ladder_text.cpp", "wavefronts_per_element(result) - conflicts) / longest",
           "wavefronts_per_element(result)) / longest", "ladder_text_test *"),
    Mutant(HARNESS + "counter_report.cpp", "same_tile ? here.blocks : run.input.n", "here.blocks",
           "counter_report_test *"),
    Mutant(HARNESS + "terminal.cpp", "if (text[k] == '\\x1b')", "if (false)", "table_test *"),
    Mutant(HARNESS + "ladder_table.cpp", "std::ranges::all_of(results, &Result::verified)",
           "std::ranges::any_of(results, &Result::verified)", "executables_test Ladder*"),
    Mutant(HARNESS + "ladder_text.cpp", "return slow->ms->median / fast.ms->median;",
           "return fast.ms->median / slow->ms->median;", "ladder_text_test *"),

    # ---- what it is asked for, and what the machine has ----
    Mutant(HARNESS + "options.cpp", "std::uint64_t{1} << 48;", "std::uint64_t{1} << 49;", "options_test *"),
    Mutant(HARNESS + "options.cpp", "return number(1, 1'000'000);", "return number(0, 1'000'000);", "options_test *"),
    Mutant(HARNESS + "options.cpp", "number(0, 256)", "number(0, 257)", "options_test *"),
    Mutant(HARNESS + "options.cpp", "MultiOptionPolicy::Throw", "MultiOptionPolicy::TakeLast", "options_test *"),
    Mutant(HARNESS + "options.cpp", 'if (word != "--")', 'if (word != "--" && answer.empty())', "options_test *"),
    Mutant(HARNESS + "memory.cpp", "leaves(__emulated::available_address_space(), address_space_limit);", "",
           "executables_test Executables.AnswerALimitOfTheHost"),
    Mutant(HARNESS + "memory.cpp", "leaves(available_in(container), container_limit);", "", "memory_test *"),
    Mutant(HARNESS + "memory.cpp", "return limit > used ? limit - used : 0;", "return limit;",
           "memory_test *"),
    Mutant(HARNESS + "memory.cpp", "bytes + memory.own_bytes;", "bytes;", "memory_test *"),

    # ---- the emulated device: what the rewriter reads and writes ----
    Mutant(REWRITE + "tokens.cpp", "find_first_not_of(\" \\t\\r\", position_ + 1)",
           "find_first_not_of(\"\\r\", position_ + 1)", "rewriter_test *"),
    Mutant(REWRITE + "tokens.cpp", "at(0) == '\\'' && is_word(at(1));", "false;", "rewriter_test *"),
    Mutant(REWRITE + "tokens.cpp", "{\"R\", \"u8R\", \"uR\", \"UR\", \"LR\"}", "{\"R\"}", "rewriter_test *"),
    Mutant(REWRITE + "tokens.cpp", " && first->offset == body[0].end()", "", "rewriter_test *"),
    Mutant(REWRITE + "code.cpp", "        open = before_branches.back();\n", "        continue;\n", "rewriter_test *"),
    Mutant(REWRITE + "code.cpp", "    if (is(name - 1, \"template\")) --name;\n", "", "rewriter_test *"),
    Mutant(REWRITE + "code.cpp", "spells(i - 1, \"->\") || ", "", "rewriter_test *"),
    Mutant(REWRITE + "code.cpp", "    if (keyword && is(i, \":\")) return true;\n", "", "rewriter_test *"),
    Mutant(REWRITE + "variables.cpp", "variable.name != none && words > 1", "variable.name != none", "rewriter_test *"),
    Mutant(REWRITE + "variables.cpp", "return !code.is_name(open - 1);", "return true;", "rewriter_test *"),
    Mutant(REWRITE + "kernels.cpp", "kernel.has_default && passed < kernel.parameters", "kernel.has_default",
           "rewriter_test *"),
    Mutant(REWRITE + "kernels.cpp", "qualifier = \" const\";", "type += \" const\";", "rewriter_test *"),
    Mutant(REWRITE + "kernels.cpp", "!kernel.has_body && has_body_elsewhere", "has_body_elsewhere", "rewriter_test *"),
    Mutant(REWRITE + "rewrite.cpp", " && !code_.spells(i, \"<<<\")", "", "rewriter_test *"),
    Mutant(REWRITE + "rewrite.cpp", "!code_.is_in_function_of(open, {\"__host__\"})", "true", "rewriter_test *"),
    Mutant(REWRITE + "rewrite.cpp", "std::pair{edit.offset, edit.length}", "edit.offset", "rewriter_test *"),
    Mutant(REWRITE + "rewrite.cpp", "    std::erase_if(newlines, [](char c) { return c != '\\n' && c != '\\r'; });\n",
           "    newlines.clear();\n", "rewriter_test *"),

    # ---- the emulated device: what it checks ----
    Mutant(ORDER + "block_races.cpp", "access.operation != Operation::store && !is_written",
           "access.operation == Operation::load && !is_written", "memory_faults_test *OfSharedMemoryToo"),
    Mutant(ORDER + "block_races.cpp", "if (shadow.moment < order_.last_block_barrier()) shadow = {};",
           "", "race_programs_test Written*"),
    Mutant(ORDER + "block_races.cpp", "    same->lanes |= own;\n", "", "race_programs_test Written*"),
    Mutant(ORDER + "block_races.cpp", "words[word].thread == first.thread + (word >> shift)",
           "true", "races_test *ThreadsOfAnyOrder"),
    Mutant(ORDER + "block_races.cpp", "buffer != nullptr && std::pair", "false && std::pair",
           "races_test *OfTwoStores"),
    Mutant(ORDER + "block_races.cpp", "access.is_volatile ? AccessKind::is_volatile : 0U",
           "0U", "races_test *VolatileFlag"),
    Mutant(ORDER + "block_races.cpp", "if (shadow.moment < order_.slice()) return {};",
           "", "race_programs_test Written*"),
    Mutant(ORDER + "clock.cpp", "else if (!clock->includes(*other))",
           "else if (false)", "race_programs_test Drawn*"),
    Mutant(ORDER + "clock.cpp", "merge(both.clock, other->clock);",
           "(void)other;", "race_programs_test Written*"),
    Mutant(ORDER + "happens_before.cpp", "  if (group != lanes) {",
           "  if (false) {", "race_programs_test Written*"),
    Mutant(ORDER + "happens_before.cpp", "[thread % warp_size] = ++time_;",
           "[thread % warp_size] = time_;", "race_programs_test Written*"),
    Mutant(ORDER + "happens_before.cpp", "    threads_[thread].acquired = acquired;\n",
           "", "race_programs_test Written*"),
    Mutant(ORDER + "happens_before.cpp", "      carried_.join(thread.at_device_fence);\n",
           "", "race_programs_test Written*"),
    Mutant(ORDER + "happens_before.cpp", "thread.at_block_fence = thread.at_device_fence = {};",
           "(void)thread;", "race_programs_test Written*"),
    Mutant(ORDER + "happens_before.cpp", "  if (has_learned_) share_others(all_threads_);\n",
           "", "race_programs_test Written*"),
    Mutant(ORDER + "happens_before.cpp", "    threads_[thread].at_device_fence = at_device_fence;\n",
           "", "race_programs_test Written*"),
    Mutant(ORDER + "happens_before.cpp", "  share_others(threads);\n  SharedClock",
           "  SharedClock", "race_programs_test Written*"),
    Mutant(ORDER + "happens_before.cpp", "if (!update.stores) continue;", "", "race_programs_test Drawn*"),
    Mutant(ORDER + "happens_before.cpp", "  if (scope == FenceScope::block) return;\n",
           "", "race_programs_test Written*"),
    Mutant(ORDER + "happens_before.cpp", "learn(thread, {{}, thread.others.told})",
           "(void)thread", "race_programs_test Written*"),
    Mutant(ORDER + "happens_before.cpp", "      learn(thread, {known->second, {}});",
           "      learn(thread, {known->second, known->second});", "race_programs_test Written*"),
    Mutant(ORDER + "happens_before.cpp", "  before_learning_();\n", "", "race_programs_test Written*"),
    Mutant(ORDER + "happens_before.cpp", "      acquire(thread, known->second.own);\n",
           "", "race_programs_test Written*"),
    Mutant(ORDER + "happens_before.hpp", "has_device_fences_ && !has_released_", "has_device_fences_",
           "race_programs_test Written*"),
    Mutant(ORDER + "grid_races.cpp", "entry.added < own_atomic", "false", "race_programs_test Written*"),
    Mutant(ORDER + "grid_races.cpp", "added.first.thread + (word >> added.shift)}",
           "added.first.thread}", "races_test *ThreadsOfAnyOrder"),
    Mutant(ORDER + "grid_races.cpp", "second.kind.writes() && !first.kind.writes() ? 1 : 0", "0",
           "race_programs_test Written*"),
    Mutant(ORDER + "grid_races.cpp", "!told.kind.has(AccessKind::follows_fence)", "true",
           "races_test *FlagThatIsStored"),
    Mutant(ORDER + "grid_races.cpp", "|| kind.has(AccessKind::is_volatile) ||", "||", "race_programs_test Written*"),
    Mutant(ORDER + "grid_races.cpp", "if (!running_.contains(block->block)) std::tie", "std::tie",
           "emulate_test.py::test_programs[tickets that the last block sets back]"),
    Mutant(ORDER + "grid_races.cpp", "entry.added < own_write", "false", "race_programs_test Written*"),
    Mutant(ORDER + "ranked_faults.hpp", " || rank < known->second.rank", "", "races_test *OfTwoStores"),
    Mutant(MEMORY + "shared_variable.cpp", "(number % divisor < 0 ? 1 : 0)", "0", "shared_names_test *"),
    Mutant(MEMORY + "shared_variable.cpp", "(count) - 1;", "(count);", "shared_names_test *"),
    Mutant(MEMORY + "memory.cpp", " || variable.memory.bytes() < bytes", "", "memory_faults_test *ArrayThatWasLeft"),
    Mutant(MEMORY + "memory.cpp", "return buffer->contains(address, bytes) ? buffer : nullptr;", "return buffer;",
           "memory_faults_test OutOfBounds.*"),
    Mutant(RUN + "block.hpp", "  if (!at_same_call(self, threads_[first_])) barrier_is_divergent_ = true;\n",
           "", "branches_and_loops_test Barriers.*"),
    Mutant(RUN + "resident_blocks.cpp", "    case Halt::meets: ++met_; [[fallthrough]];\n",
           "    case Halt::meets: [[fallthrough]];\n", "side_by_side_test CooperativeLaunch.*"),
    Mutant(RUN + "device.cpp", "if (is_cooperative) {", "if (false) {", "side_by_side_test *TheDevice"),
    Mutant(RUN + "launch.cpp", "if (configuration.is_cooperative) {", "if (false) {", "side_by_side_test *Memory"),
    Mutant(RUN + "barriers.cpp", "  arrived_at_grid_ = 0;\n  watchdog_.meet(size_);\n", "  arrived_at_grid_ = 0;\n",
           "side_by_side_test *HaveNoEnd"),
    Mutant(RUN + "loop_watch.cpp", "combined(event, hash_of({access.address, access.bytes}))", "event",
           "endless_loops_test LongLoop.*"),
    Mutant(RUN + "loop_watch.cpp", "combined(number_of(call_site), hash_of(value))",
           "combined(number_of(call_site), value.size())",
           "endless_loops_test LongLoop.*"),
    Mutant(RUN + "loop_watch.cpp", "combined(std::exchange(self.all, 0), hash_of(stack))",
           "combined(std::exchange(self.all, 0), stack.size())",
           "endless_loops_test EndlessLoop.*"),
    Mutant(RUN + "block.cpp", "  if (halt_ != Halt::ended) observers_.give_way();\n", "", "race_programs_test Drawn*"),
    Mutant(RUN + "hooks.cpp", "return note(operation, address, 16, from);",
           "return note(operation, address, 16, from, true);", "races_test MissingFence.*"),
    Mutant(RUN + "barriers.cpp", "  if (!met.empty()) observers_.named_sync(met);\n", "",
           "warp_functions_test *ThemselvesOnly"),
    Mutant(RUN + "barriers.cpp", "    if ((group & bit_of(source)) != 0) continue;", "    continue;",
           "warp_functions_test *HaveFindings"),
    Mutant(RUN + "barriers.cpp", "case Shuffle::down: return last - lane >= distance",
           "case Shuffle::down: return last - lane > distance", "warp_functions_test Shuffles.*"),

    # ---- the emulated device: what it counts ----
    Mutant(COUNT + "block_counts.cpp", "counters_.shuffles += shuffles_for(met.bytes);", "++counters_.shuffles;",
           "warp_functions_test Shuffles.*"),
    Mutant(COUNT + "warp_instructions.cpp", "if (!std::is_sorted(sectors.begin(), end)) std::sort(",
           "std::minmax(", "plain_kernels_test *SharedMemory"),
    Mutant(COUNT + "warp_instructions.cpp", "if (std::find(here.begin(), end, word) != end) continue;", "",
           "plain_kernels_test *SharedMemory"),
    Mutant(COUNT + "warp_instructions.cpp", "std::unique(sorted.begin(), end) - sorted", "end - sorted",
           "emulate_test.py::test_json_of_lines"),
    Mutant(COUNT + "warp_instructions.cpp", "distinct * bytes + sector_bytes - 1", "distinct * bytes",
           "emulate_test.py::test_json_of_lines"),
    Mutant(COUNT + "warp_instructions.cpp", "total.conflicts += needed - 1;", "total.conflicts += needed;",
           "bank_conflicts_test *"),
    Mutant(COUNT + "warp_instructions.cpp", "bytes <= 4 ? 32 : bytes <= 8 ? 16 : 8;", "bytes <= 8 ? 32 : 8;",
           "bank_conflicts_test *"),
    Mutant(COUNT + "warp_instructions.cpp", "pairs_agree(addresses, lanes, 1) || pairs_agree(addresses, lanes, 2)",
           "pairs_agree(addresses, lanes, 1)", "bank_conflicts_test *Loads*"),

    # ---- what is said of anybody's program ----
    Mutant(MEMORY + "memory.cpp", " & ~entry(initialised_, word)", "",
           "emulate_test.py::test_reads_of_what_nobody_has_written"),
    Mutant(MEMORY + "memory.cpp", "  if (buffer->second.has_taint(0, buffer->second.bytes())) lose_taint();\n", "",
           "emulate_test.py::test_reads_of_what_nobody_has_written"),
    Mutant(ORDER + "grid_races.cpp", "  if (is_tainted_ && !is_seen) global_memory().lose_taint();\n", "",
           "emulate_test.py::test_reads_of_what_nobody_has_written"),
    Mutant(ORDER + "grid_races.cpp", "is_plain ? Operation::store : Operation::atomic", "Operation::store",
           "emulate_test.py::test_programs"),
    Mutant(ORDER + "grid_races.cpp", "is_tainted ? &buffer : nullptr", "nullptr",
           "emulate_test.py::test_reads_of_what_nobody_has_written"),
    Mutant(PROGRAM + "tracer.cpp", "finding_->block == trace_->block", "true", "emulate_test.py::test_trace"),
    Mutant(PROGRAM + "tracer.cpp", "finding_ ? !is_here : choice_.block && !is_here", "false",
           "emulate_test.py::test_trace"),
    Mutant(TRACE + "trace_json.cpp", "if (!variable.may_be_unset) return true;", "return true;",
           "trace_test Trace.HasVariables*"),
    Mutant(TRACE + "local_variables.cpp", "location.front().name == \"reg\" ||", "", "trace_test Trace.HasVariables*"),
    Mutant(PROGRAM + "tracer.cpp", "!(has_floats && has_low_halves)", "true",
           "emulate_test.py::test_values_of_a_trace"),

    Mutant(MEMORY + "closed_memory.cpp", "if (page >= closed.begin", "if (false && page >= closed.begin",
           "emulate_test.py::test_programs"),
    Mutant(MEMORY + "symbol_table.cpp", "type == STT_FILE ||", "type == STT_NOTYPE || type == STT_FILE ||",
           "emulate_test.py::test_programs"),
    Mutant(ORDER + "host_order.cpp", "if (is_blocking(other) && other != nullptr) join(own, clock);", "(void)clock;",
           "emulate_test.py::test_programs"),
    Mutant(ORDER + "host_order.cpp", "use.number <= host_[use.stream]", "use.number < host_[use.stream]",
           "emulate_test.py::test_programs"),
    Mutant(ORDER + "host_order.cpp", "can_race(use.operation, operation)",
           "can_race(use.operation, operation) && use.operation != Operation::load",
           "emulate_test.py::test_programs"),
    Mutant(ORDER + "host_order.cpp", "other.number > before[other.stream]", "other.number > 0",
           "emulate_test.py::test_programs"),
    Mutant(ORDER + "host_order.cpp", "  if (host_order().is_met()) return uses;\n", "",
           "emulate_test.py::test_programs"),
    Mutant(RUN + "scheduler.cpp", "signal == SIGFPE", "signal == SIGBUS", "crashes_test Crash.*"),
    Mutant(RUN + "indirect_calls.cpp", "on_device(called) != called", "on_device(called) == nullptr",
           "emulate_test.py::test_what_has_no_place_in_a_kernel"),
    Mutant("common/emulated/language/runtime/memory.cpp", "if (!__emulated::is_within_device",
           "if (__emulated::is_within_device",
           "emulate_test.py::test_programs"),
    Mutant("common/emulated/language/runtime/memory.cpp", "{true, closed_memory().is_shared(first)}", "{true, false}",
           "pitfalls_test.py::test_pitfall[result_cleared_while_others_add]"),
    Mutant("common/emulated/findings/finding.cpp", "{\"trap\", \"what_ends_a_thread\"}",
           "{\"trap\", \"endless_loop\"}", "pitfalls_test.py::test_each_kind_of_finding_has_a_pitfall"),
    Mutant(REWRITE + "rewrite.cpp", "code_.is_any(end - 2, {\"void\", \"const\"})", "true", "rewriter_test *"),
    Mutant(REWRITE + "rewrite.cpp", "    if (code_.is(i, \"static\")) remove(i, i);", "    (void)i;",
           "emulate_test.py::test_programs"),
    Mutant(PROGRAM + "processes.cpp", "WIFSIGNALED(status) && last_signal == 0", "false",
           "emulate_test.py::test_programs"),

    # ---- the scripts ----
    Mutant("common/scripts/set_up.sh", "if ! flock --nonblock 9", "if false",
           "scripts_test.py::test_the_second_run_waits_for_the_first"),

    # ---- the tools ----
    Mutant("tools/check_pages.py", " | plot.stale()", "",
           "tools/pages_test.py::test_check_pages_names_what_is_stale"),
    Mutant("tools/write_pages.py", "or text != text_of(file)}", "}",
           "tools/pages_test.py::test_check_pages_names_what_is_stale"),
    Mutant("tools/markdown.py", "if count != 1:", "if count == 0:",
           "tools/pages_test.py::test_a_page_without_the_section_is_refused"),
    Mutant("tools/measure.py", "                if not file.exists():", "                if True:",
           "tools/measure_test.py::test_goes_on_where_it_stopped"),
    Mutant("tools/measure.py", "dataclasses.replace(before, date=now.date) != now:", "before.gpu != now.gpu:",
           "tools/measure_test.py::test_another_measurement_does_not_go_on"),
    Mutant("tools/programs.py", "ran.returncode != 0:\n            say", "ran.returncode > 0:\n            say",
           "tools/measure_test.py::test_goes_on_where_it_stopped"),
    Mutant("tools/results.py", "type(value) is kind or", "isinstance(value, kind) or",
           "tools/results_test.py::test_what_does_not_fit_is_refused"),
    Mutant("tools/results.py", "raise failures[0]", "return value",
           "tools/results_test.py::test_what_does_not_fit_is_refused"),
    Mutant("tools/output_file.py", "        new.write_text(text, \"utf-8\")\n        new.replace(path)",
           "        path.write_text(text, \"utf-8\")",
           "tools/command_line_test.py::test_what_cannot_be_written_leaves_the_old_file"),
    Mutant("tools/results.py", "    if isinstance(document, list):\n        return", "    if False:\n        return",
           "tools/results_test.py::test_committed_files_fit"),
    Mutant("tools/compare.py", "if all(result.verified for", "if any(result.verified for",
           "tools/compare_test.py::test_what_was_measured_is_shown"),
    Mutant("tools/compare.py", "    if not result.verified:\n        return \"**WRONG**\"\n", "",
           "tools/compare_test.py::test_what_was_measured_is_shown"),
    Mutant("tools/documented_tables.py", "self.peak_gbps * 100", "self.peak_gbps * 90",
           "tools/pages_test.py::test_the_published_tables_fit_together"),
]


# ---- the run ----


def is_pytest(test: str) -> bool:
    return ".py" in test


def targets_of(mutant: Mutant) -> list[str]:
    """What is built for its test. Those in Python run tools, or `./emulate`."""
    if not is_pytest(mutant.test):
        return mutant.test.split()[:1]
    return ["emulate"] if mutant.file.startswith("common/emulated/") else []


class Copy:
    """The tracked files in a folder of their own, with a build."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.build = folder / "build-debug"
        tracked = subprocess.run(["git", "ls-files", "-z"], cwd=REPOSITORY, check=True, capture_output=True, text=True)
        for name in filter(None, tracked.stdout.split("\0")):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(REPOSITORY / name, folder / name, follow_symlinks=False)

    def configure(self) -> None:
        subprocess.run(["cmake", "--preset", "debug", "-DREDUCTION_CUDA=OFF"], cwd=self.folder,
                       check=True, stdout=subprocess.DEVNULL)

    def builds(self, *targets: str) -> bool:
        command = ["cmake", "--build", str(self.build), "--parallel", str(len(os.sched_getaffinity(0))), "--target",
                   *targets]
        built = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if built.returncode != 0:
            print(built.stdout[-4000:])
        return built.returncode == 0

    def passes(self, test: str) -> bool:
        if is_pytest(test):
            command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "--bin",
                       f"{self.build}/bin", f"tests/{test}"]
        else:
            target, tests = test.split()
            command = [f"{self.build}/bin/{target}", f"--gtest_filter={tests}", "--gtest_brief=1", "--gtest_fail_fast"]
        # Python would take a module that changes twice in a second for the same.
        environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
        try:
            # A mutant's traceback is not worth reading.
            return subprocess.run(command, cwd=self.folder, env=environment, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                  timeout=TEST_SECONDS).returncode == 0
        except subprocess.TimeoutExpired:
            return False

    def verdict(self, mutant: Mutant) -> str:
        """`killed`, or what is wrong."""
        file = self.folder / mutant.file
        text = file.read_text("utf-8")
        if text.count(mutant.before) != 1:
            return "DOES NOT APPLY"
        file.write_text(text.replace(mutant.before, mutant.after), "utf-8")
        try:
            if (targets := targets_of(mutant)) and not self.builds(*targets):
                return "DOES NOT COMPILE"
            return "SURVIVED" if self.passes(mutant.test) else "killed"
        finally:
            file.write_text(text, "utf-8")


def main(parts: list[str]) -> int:
    for program in ("git", "cmake"):
        if not shutil.which(program):
            print(f"skipped: there is no {program} here")
            return SKIPPED
    mutants = [mutant for mutant in MUTANTS if not parts or any(part in mutant.file for part in parts)]
    if not mutants:
        print("no mutant is of a file that has one of these in its name:", *parts)
        return 2
    tests = list(dict.fromkeys(mutant.test for mutant in mutants))
    targets = {target for mutant in mutants for target in targets_of(mutant)} | {"ladder_table"}
    with tempfile.TemporaryDirectory(prefix="mutants.") as folder:
        begun = time.monotonic()
        copy = Copy(Path(folder))
        copy.configure()
        if not copy.builds(*sorted(targets)):
            return 1
        if failing := [test for test in tests if not copy.passes(test)]:
            print("These fail without a mutant:", *failing, sep="\n")
            return 1
        print(f"built, and all tests pass: {time.monotonic() - begun:.0f} s", flush=True)
        verdicts = []
        for number, mutant in enumerate(mutants, 1):
            since = time.monotonic()
            verdicts.append(copy.verdict(mutant))
            # The first line that differs.
            lines = zip(*(text.splitlines() + [""] for text in (mutant.before, mutant.after)))
            before, after = next((before.strip(), after.strip()) for before, after in lines if before != after)
            print(f"{number:3} {verdicts[-1]:8} {time.monotonic() - since:3.0f} s  {mutant.file}: "
                  f"{before} → {after or 'nothing'}  [{mutant.test}]", flush=True)
        killed = verdicts.count("killed")
        print(f"{killed} of {len(mutants)} mutants killed, {(time.monotonic() - begun) / 60:.0f} min")
    return 0 if killed == len(mutants) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
