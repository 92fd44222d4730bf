/// What is printed of a faulty kernel: for kernels that no page shows, the places, the carets, the threads, and what is
/// said to be missing.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "device/cuda_or_emulated.cuh"
#include "emulated/device_array.hpp"
#include "emulated/findings/diagnostic.hpp"
#include "emulated/findings/source_text.hpp"
#include "emulated/run/device.hpp"
#include "run_executable.hpp"
#include "temporary_path.hpp"

namespace {

using namespace __emulated;

// ---- kernels ----

/// Lane l gives its value to lane l - 1.
__global__ void pass_to_the_left(const int* in, int* out) {
  __shared__ int row[32];
  const unsigned lane = threadIdx.x;
  row[lane] = in[lane];               // left: write
  out[lane] = row[(lane + 1) & 31U];  // left: read
}

/// The same, with a barrier at the wrong place.
__global__ void pass_twice(const int* in, int* out) {
  __shared__ int row[32];
  const unsigned lane = threadIdx.x;
  row[lane] = in[lane];
  __syncwarp();
  const int right = row[(lane + 1) & 31U];  // twice: read
  row[lane] = right + 1;                    // twice: write
  __syncwarp();
  out[lane] = row[lane];
}

/// Turns a tile round.
template <typename T> __global__ void turn_round(const T* in, T* out) {
  extern __shared__ T tile[];
  const unsigned i = threadIdx.x;
  tile[i] = in[i];                    // turn: write
  out[i] = tile[blockDim.x - 1 - i];  // turn: read
}

/// Each block adds the sum of the block to its left.
__global__ void running_sums(const int* in, int* sums, int* out) {
  if (threadIdx.x != 0) return;
  sums[blockIdx.x] = in[blockIdx.x];                            // running: write
  if (blockIdx.x != 0) out[blockIdx.x] = sums[blockIdx.x - 1];  // running: read
}

/// Hands a value over by a flag.
__global__ void hand_over(int* value, unsigned* flag, int* out) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    *value = 42;  // flag: write
    atomicExch(flag, 1U);
  } else {
    while (atomicAdd(flag, 0U) == 0) {
    }
    *out = *value;  // flag: read
  }
}

/// The same by a flag that is `volatile`, or not even that.
template <typename Flag, bool fence>
__global__ void hand_over_by_a_store(int* value, int* plain_flag, int* out) {
  Flag* const flag = plain_flag;
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    *value = 42;  // store: write
    if (fence) __threadfence();
    *flag = 1;  // store: flag
  } else {
    while (*flag == 0) {  // store: wait
    }
    *out = *value;  // store: read
  }
}

/// Sums of all blocks up to each: it waits for the flag of the one before it.
__global__ void look_back(const int* in, int* sums, volatile int* flags, unsigned* blocks) {
  if (threadIdx.x != 0) return;
  const unsigned b = atomicAdd(blocks, 1U);
  int sum = in[b];
  if (b > 0) {
    while (flags[b - 1] == 0) {  // look: wait
    }
    sum += sums[b - 1];  // look: read
  }
  sums[b] = sum;  // look: write
  __threadfence();
  flags[b] = 1;  // look: flag
}

/// The last block adds what all threads of all blocks have left. No barrier before the ticket holds thread 0 back.
template <bool fence_of_all>
__global__ void ticket_of_thread_0(const int* in, int* parts, unsigned* ticket, int* out) {
  __shared__ bool is_last;
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  parts[i] = in[i];  // ticket: write
  if (fence_of_all || threadIdx.x == 0) __threadfence();
  if (threadIdx.x == 0) is_last = atomicAdd(ticket, 1U) == gridDim.x - 1;
  __syncthreads();
  if (!is_last || threadIdx.x != 0) return;
  int sum = 0;
  for (unsigned k = 0; k < gridDim.x * blockDim.x; ++k)
    sum += parts[k];  // ticket: read
  *out = sum;
}

/// As the Programming Guide adds numbers of a type that no atomic has: its first read is no atomic.
__global__ void add_by_comparing(int* sum) {
  int seen = *sum;  // comparing: read
  int expected;
  do {
    expected = seen;
    seen = atomicCAS(sum, expected, expected + 1);  // comparing: update
  } while (seen != expected);
}

__global__ void smooth(const int* in, int* out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i] + in[i + 1];  // smooth
}

__global__ void left_of_the_first(const int* in, int* out) {
  out[threadIdx.x] = in[static_cast<int>(threadIdx.x) - 1];  // left of
}

__global__ void read_one(const int* from, int* out) {
  *out = *from;  // one
}

__device__ int* shared_of_a_launch;

__global__ void keep_shared_memory() {
  __shared__ int cell;
  cell = 1;
  shared_of_a_launch = &cell;
}

__global__ void read_kept(int* out) {
  *out = *shared_of_a_launch;  // kept
}

__global__ void read_dynamic(int* out) {
  extern __shared__ int cells_of_launch[];
  *out = cells_of_launch[1];  // dynamic
}

// An array of three numbers, and right behind it a variable of one byte.
asm(R"(
  .pushsection .data
  .balign 64
  .globl numbers_before_a_letter, letter_behind_numbers
  .hidden numbers_before_a_letter, letter_behind_numbers
  .type numbers_before_a_letter, %object
  .size numbers_before_a_letter, 12
numbers_before_a_letter:
  .zero 12
  .type letter_behind_numbers, %object
  .size letter_behind_numbers, 1
letter_behind_numbers:
  .zero 52
  .popsection
)");
extern "C" __attribute__((visibility("hidden"))) int numbers_before_a_letter[3];

__global__ void read_number(int* out, int i) {
  *out = numbers_before_a_letter[i];  // number
}

__global__ void on_one_line(const int* in, int* out) {
  // clang-format off
  __shared__ int one[64]; one[threadIdx.x] = in[threadIdx.x]; out[threadIdx.x] = one[63 - threadIdx.x];  // one line
  // clang-format on
}

__global__ void leave_early(const int* in, int* out, unsigned n) {
  __shared__ int tile[64];
  if (threadIdx.x >= n) return;
  tile[threadIdx.x] = in[threadIdx.x];
  __syncthreads();  // early
  out[threadIdx.x] = tile[n - 1 - threadIdx.x];
}

__global__ void maximum_of_tile(const int* in, int* out, unsigned n) {
  __shared__ int tile[64];
  if (threadIdx.x < n) tile[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  if (threadIdx.x != 0) return;
  int most = 0;
  for (unsigned i = 0; i < 64; ++i)
    if (tile[i] > most) most = tile[i];  // maximum
  *out = most;
}

__global__ void count_digits(const int* in, int* counts) {
  counts[in[threadIdx.x] % 10] += 1;  // digits
}

__global__ void everyone_writes(const int* in, int* out) {
  out[blockIdx.x] = in[threadIdx.x];  // everyone
}

__device__ void store_first(int* cells, int value) {
  cells[0] = value;  // first: write
}

__global__ void through_a_function(int* out) {
  store_first(out, static_cast<int>(threadIdx.x));  // first: call
}

__global__ void half_a_warp(int* out) {
  if (threadIdx.x < 16) __syncwarp();      // half: warp
  if (threadIdx.x >= 16) __syncthreads();  // half: block
  out[threadIdx.x] = 1;
}

__global__ void one_is_gone(int* out) {
  if (threadIdx.x == 3) return;
  __syncthreads();  // gone
  out[threadIdx.x] = 1;
}

// ---- what is printed ----

/// A place of a diagnostic, the words beside it, and what is marked below.
struct Part {
  std::string path;
  unsigned line = 0;
  unsigned column = 0;
  std::string words;
  std::string marked{};
};

struct Printed {
  std::vector<Part> parts;
  std::vector<std::string> rest;  ///< the other lines
};

/// Takes a diagnostic apart. A caret that is not at the column of its place fails.
Printed printed(const std::string& text) {
  static const std::regex place{R"(([^ :]+):(\d+):(?:(\d+):)? (.*))"};
  static const std::regex source{R"( *(\d+) \| (.*))"};
  Printed all;
  std::istringstream lines{text};
  std::smatch found;
  for (std::string line; std::getline(lines, line);) {
    if (std::regex_match(line, found, source)) {
      const std::string code = found[2];
      EXPECT_EQ(std::to_string(all.parts.back().line), found[1]) << text;
      std::string marks;
      std::getline(lines, marks);
      marks.erase(0, marks.find('|') + 2);
      const auto begin = marks.find_first_not_of(' ');
      all.parts.back().marked = code.substr(begin, marks.size() - begin);
      const unsigned column = all.parts.back().column;
      EXPECT_EQ(marks.find('^'), column == 0 ? std::string::npos : column - 1) << text;
    } else if (std::regex_match(line, found, place)) {
      const unsigned column = found[3].matched ? static_cast<unsigned>(std::stoul(found[3])) : 0;
      all.parts.push_back({found[1], static_cast<unsigned>(std::stoul(found[2])), column, found[4]});
    } else {
      all.rest.push_back(line);
    }
  }
  return all;
}

/// The findings of a launch as they are printed.
std::string diagnostic_from(const auto& launch_kernel, bool styled = false) {
  try {
    launch_kernel();
  } catch (const KernelFinding& finding) {
    return diagnostic_of(finding.findings(), styled);
  }
  return "";
}

/// The line of this file that ends with this comment.
unsigned line_of(const std::string& comment) {
  std::ifstream file{__FILE__};
  unsigned number = 1;
  for (std::string line; std::getline(file, line); ++number)
    if (line.ends_with("  // " + comment)) return number;
  ADD_FAILURE() << "no line has the comment " << comment;
  return 0;
}

void expect_part(const Part& part, const std::string& comment, const std::string& words,
                 const std::string& marked) {
  EXPECT_TRUE(part.path.ends_with("emulated/findings_test.cpp")) << part.path;
  EXPECT_EQ(part.line, line_of(comment)) << words;
  EXPECT_EQ(part.words, words);
  EXPECT_EQ(part.marked, marked) << words;
  EXPECT_NE(part.column, 0U) << words;
}

void expect_help(const Printed& all, const std::string& help, const std::string& page) {
  std::vector<std::string> lines;
  if (!help.empty()) lines.push_back("help: " + help);
  if (!page.empty()) lines.push_back("      see docs/pitfalls/" + page + ".md");
  EXPECT_EQ(all.rest, lines);
}

using Ints = DeviceArray<int>;

TEST(Findings, OfARaceWithinAWarp) {
  Ints in{32}, out{32};
  const Printed all = printed(diagnostic_from([&] { pass_to_the_left<<<1, 32>>>(in, out); }));
  ASSERT_EQ(all.parts.size(), 2U);
  expect_part(all.parts[0], "left: write",
              "race in pass_to_the_left: thread 1 of block 0 writes 4-byte word 1 of a shared variable",
              "row[lane] =");
  expect_part(all.parts[1], "left: read", "thread 0 reads it, and nothing orders the two",
              "row[(lane + 1) & 31U]");
  expect_help(all, "put a `__syncwarp()` between the read and the write", "warp_synchronous_tail");
}

TEST(Findings, OfARaceInAWarpThatHasABarrier) {
  Ints in{32}, out{32};
  const Printed all = printed(diagnostic_from([&] { pass_twice<<<1, 32>>>(in, out); }));
  ASSERT_EQ(all.parts.size(), 2U);
  expect_part(all.parts[0], "twice: write",
              "race in pass_twice: thread 1 of block 0 writes 4-byte word 1 of a shared variable",
              "row[lane] =");
  EXPECT_EQ(all.parts[1].line, line_of("twice: read"));
  EXPECT_EQ(all.parts[1].words, "thread 0 reads it, and nothing orders the two");
  EXPECT_TRUE(all.parts[1].marked.ends_with("row[(lane + 1) & 31U]")) << all.parts[1].marked;
  expect_help(all, "put one more `__syncwarp()` between the read and the write", "one_syncwarp_a_level");
}

/// That some of it is within a warp does not make it a matter of a warp.
TEST(Findings, OfARaceBetweenWarps) {
  DeviceArray<float> in{128}, out{128};
  const std::size_t bytes = 128 * sizeof(float);
  const Printed all = printed(diagnostic_from([&] { turn_round<float><<<1, 128, bytes>>>(in, out); }));
  ASSERT_EQ(all.parts.size(), 2U);
  expect_part(all.parts[0], "turn: write",
              "race in turn_round: thread 64 of block 0 writes 4-byte word 64 of shared memory", "tile[i] =");
  expect_part(all.parts[1], "turn: read", "thread 63 reads it, and nothing orders the two",
              "tile[blockDim.x - 1 - i]");
  expect_help(
      all, "put a `__syncthreads()` between the read and the write, where all threads of the block reach it",
      "no_barrier_between_levels");
}

TEST(Findings, OfARaceBetweenBlocks) {
  Ints in{4}, sums{4}, out{4};
  const Printed all = printed(diagnostic_from([&] { running_sums<<<4, 32>>>(in, sums, out); }));
  ASSERT_EQ(all.parts.size(), 2U);
  expect_part(all.parts[0], "running: write",
              "race in running_sums: thread 0 of block 0 writes 4-byte word 0 of a global buffer (4 words)",
              "sums[blockIdx.x] =");
  expect_part(all.parts[1], "running: read", "thread 0 of block 1 reads it, and nothing orders the two",
              "sums[blockIdx.x - 1]");
  expect_help(all,
              "blocks run in any order: read in the next launch, or in the block that a ticket shows to be "
              "the last, as "
              "in beyond/10_single_pass",
              "");
}

TEST(Findings, OfAFlagWithoutAFence) {
  Ints value{1}, out{1};
  DeviceArray<unsigned> flag{1};
  const Printed all = printed(diagnostic_from([&] { hand_over<<<2, 32>>>(value, flag, out); }));
  ASSERT_EQ(all.parts.size(), 2U);
  expect_part(all.parts[0], "flag: write",
              "race in hand_over: thread 0 of block 0 writes 4-byte word 0 of a global buffer (1 words)",
              "*value =");
  EXPECT_EQ(all.parts[1].line, line_of("flag: read"));
  EXPECT_EQ(all.parts[1].words, "thread 0 of block 1 reads it, and nothing orders the two");
  expect_help(
      all,
      "put a `__threadfence()` after the write in block 0, before the atomic that tells other blocks of it",
      "ticket_without_a_fence");
}

constexpr const char* flag_by_atomics =
    "write it by an atomic, such as `atomicExch(&flag, 1)`, and read it by one, such as `atomicAdd(&flag, "
    "0)`: "
    "`volatile` orders nothing and makes nothing atomic";
const std::string in_any_order =
    "blocks run in any order: read in the next launch, or in the block that a ticket shows to be the last, "
    "as in "
    "beyond/10_single_pass; if it is a flag, ";
const std::string fence_without_an_atomic =
    "the `__threadfence()` after the write in block 0 tells nobody of it: let an atomic behind it do so, "
    "such as "
    "`atomicExch(&flag, 1)`, and the other block ask by one, such as `atomicAdd(&flag, 0)`";

/// The lines of each finding, and its help.
std::set<std::string> helps_from(const auto& launch_kernel) {
  std::set<std::string> helps;
  try {
    launch_kernel();
  } catch (const KernelFinding& finding) {
    for (const Finding& each : finding.findings()) {
      std::string lines;
      for (const Witness& witness : each.witnesses)
        lines += std::to_string(witness.location.line) + ' ';
      helps.insert(lines + each.help);
    }
  }
  return helps;
}

std::string lines_of(const std::string& one, const std::string& other) {
  return std::to_string(line_of(one)) + ' ' + std::to_string(line_of(other)) + ' ';
}

TEST(Findings, OfAFlagThatIsStored) {
  Ints value{1}, flag{1}, out{1};
  const std::set<std::string> expected{
      lines_of("store: write", "store: read") + fence_without_an_atomic,
      lines_of("store: flag", "store: wait") + in_any_order + flag_by_atomics};
  for (const auto kernel : {hand_over_by_a_store<int, true>, hand_over_by_a_store<volatile int, true>}) {
    flag[0] = 0;
    EXPECT_EQ(helps_from([&] { kernel<<<2, 32>>>(value, flag, out); }), expected);
  }
}

/// Without a fence, only `volatile` says that a word may be a flag.
TEST(Findings, OfAVolatileFlag) {
  Ints value{1}, flag{1}, out{1};
  const std::string generic = in_any_order.substr(0, in_any_order.find(';'));
  const std::string data = lines_of("store: write", "store: read") + generic;
  const std::string of_flag = lines_of("store: flag", "store: wait");
  const auto helps = [&](auto kernel) {
    flag[0] = 0;
    return helps_from([&] { kernel<<<2, 32>>>(value, flag, out); });
  };
  EXPECT_EQ(helps(hand_over_by_a_store<volatile int, false>),
            (std::set{data, of_flag + in_any_order + flag_by_atomics}));
  EXPECT_EQ(helps(hand_over_by_a_store<int, false>), (std::set{data, of_flag + generic}));
}

TEST(Findings, OfALookBackByAFlagThatIsStored) {
  Ints in{4}, sums{4}, flags{4};
  DeviceArray<unsigned> blocks{1};
  const std::set<std::string> expected{lines_of("look: write", "look: read") + fence_without_an_atomic,
                                       lines_of("look: flag", "look: wait") + in_any_order + flag_by_atomics};
  EXPECT_EQ(helps_from([&] { look_back<<<4, 32>>>(in, sums, flags, blocks); }), expected);
}

TEST(Findings, OfATicketThatDoesNotWaitForTheBlock) {
  Ints in{256}, parts{256}, out{1};
  DeviceArray<unsigned> ticket{1};
  const std::set<std::string> expected{lines_of("ticket: write", "ticket: read") +
                                       "put a `__syncthreads()` between the write in block 0 and the "
                                       "atomic by which another of its threads tells "
                                       "other blocks of it"};
  for (const Order order : {Order::ascending, Order::descending, Order::random}) {
    set_schedule({order, 1});
    for (const auto kernel : {ticket_of_thread_0<true>, ticket_of_thread_0<false>}) {
      ticket[0] = 0;
      EXPECT_EQ(helps_from([&] { kernel<<<4, 64>>>(in, parts, ticket, out); }), expected);
    }
  }
  set_schedule({});
}

TEST(Findings, OfAReadBesideAnAtomic) {
  Ints sum{1};
  const std::string meant = "; if they are meant to meet, as before a loop of `atomicCAS()`, ";
  const std::string by_an_atomic = "read by an atomic, too, as in `atomicAdd(&word, 0)`";
  const Printed of_a_warp = printed(diagnostic_from([&] { add_by_comparing<<<1, 32>>>(sum); }));
  ASSERT_EQ(of_a_warp.parts.size(), 2U);
  EXPECT_EQ(of_a_warp.parts[0].line, line_of("comparing: update"));
  EXPECT_EQ(of_a_warp.parts[1].line, line_of("comparing: read"));
  expect_help(of_a_warp, "put a `__syncwarp()` between the read and the atomic update" + meant + by_an_atomic,
              "");
  const Printed of_blocks = printed(diagnostic_from([&] { add_by_comparing<<<4, 1>>>(sum); }));
  expect_help(of_blocks, "blocks run in any order: read in the next launch, or " + by_an_atomic, "");
}

TEST(Findings, OfAnIndexBelow0) {
  Ints in{64}, out{64};
  const Printed all = printed(diagnostic_from([&] { left_of_the_first<<<2, 32>>>(in, out); }));
  ASSERT_EQ(all.parts.size(), 1U);
  EXPECT_EQ(all.parts[0].words,
            "out of bounds in left_of_the_first: thread 0 of block 0 reads 4-byte word -1 of a global buffer "
            "(64 words)");
  expect_help(
      all, "`static_cast<int>(threadIdx.x) - 1` is below 0: check it before the access, as in `if (i >= 0)`",
      "");
}

TEST(Findings, OfMemoryThatIsNotTheDevices) {
  Ints out{1};
  const auto expect = [&](const auto& launch_kernel, const std::string& memory, const std::string& help) {
    const Printed all = printed(diagnostic_from(launch_kernel));
    ASSERT_EQ(all.parts.size(), 1U);
    EXPECT_TRUE(all.parts[0].words.ends_with(": thread 0 of block 0 reads " + memory)) << all.parts[0].words;
    expect_help(all, help, "");
  };
  const std::vector<int> of_host{1};
  const std::string outside = "4 bytes outside of the device's memory";
  expect([&] { read_one<<<1, 1>>>(of_host.data(), out); }, outside,
         "this is memory of the host, or of another thread or block: a kernel reaches its block's shared "
         "memory and "
         "what comes from `cudaMalloc()`, so copy there what it needs");
  expect([&] { read_one<<<1, 1>>>(nullptr, out); }, outside, "the pointer is null, or next to it");
  const int* const nowhere = reinterpret_cast<const int*>(std::uintptr_t{1} << 60);
  expect([&] { read_one<<<1, 1>>>(nowhere, out); }, outside,
         "no memory is there: look at the pointer, and at the index");
  const int* released = nullptr;
  {
    const Ints of_device{1 << 20};
    released = of_device + 3;
  }
  expect([&] { read_one<<<1, 1>>>(released, out); },
         "4-byte word 3 of a global buffer that has been released (1048576 words)",
         "the buffer has been released: use it before that");
}

TEST(Findings, OfSharedMemoryThatIsNotThere) {
  Ints out{1};
  set_host_threads(1);
  keep_shared_memory<<<1, 1>>>();
  const Printed kept = printed(diagnostic_from([&] { read_kept<<<1, 1>>>(out); }));
  ASSERT_EQ(kept.parts.size(), 1U);
  EXPECT_EQ(
      kept.parts[0].words,
      "out of bounds in read_kept: thread 0 of block 0 reads 4 bytes of what was shared memory in another "
      "launch");
  expect_help(kept, "what a block has in shared memory ends with it: pass it on through a buffer", "");
  set_host_threads(0);
  const Printed dynamic = printed(diagnostic_from([&] { read_dynamic<<<1, 1>>>(out); }));
  expect_help(dynamic,
              "give the block shared memory: its bytes are the third value in `<<<...>>>`, and there is none",
              "");
}

/// Not the neighbour, which has no room for what is read.
TEST(Findings, OfAVariableNameTheArrayThatWasLeft) {
  Ints out{1};
  const Printed all = printed(diagnostic_from([&] { read_number<<<1, 1>>>(out, 3); }));
  ASSERT_EQ(all.parts.size(), 1U);
  EXPECT_EQ(all.parts[0].words,
            "out of bounds in read_number: thread 0 of block 0 reads 4-byte word 3 of the variable "
            "numbers_before_a_letter (3 words)");
}

/// The compiler's columns are those of what stands for the declaration.
TEST(Findings, HaveNoColumnBehindADeclarationOfSharedMemory) {
  Ints in{64}, out{64};
  const Printed all = printed(diagnostic_from([&] { on_one_line<<<1, 64>>>(in, out); }));
  ASSERT_EQ(all.parts.size(), 2U);
  for (const Part& part : all.parts) {
    EXPECT_EQ(part.line, line_of("one line"));
    EXPECT_EQ(part.column, 0U);
  }
}

TEST(Findings, OfAnAccessOutOfBounds) {
  Ints in{64}, out{64};
  const Printed all = printed(diagnostic_from([&] { smooth<<<2, 32>>>(in, out); }));
  ASSERT_EQ(all.parts.size(), 1U);
  expect_part(
      all.parts[0], "smooth",
      "out of bounds in smooth: thread 31 of block 1 reads 4-byte word 64 of a global buffer (64 words)",
      "in[i + 1]");
  expect_help(all, "check `i + 1` before the access: it is past the buffer's end", "unguarded_second_load");
}

/// Of an output that is too small for the grid, more often than of an index that is wrong.
TEST(Findings, OfAWriteOutOfBounds) {
  Ints in{65}, out{32};
  const Printed all = printed(diagnostic_from([&] { smooth<<<2, 32>>>(in, out); }));
  ASSERT_EQ(all.parts.size(), 1U);
  EXPECT_EQ(
      all.parts[0].words,
      "out of bounds in smooth: thread 0 of block 1 writes 4-byte word 32 of a global buffer (32 words)");
  expect_help(all, "check `i` before the access, or launch fewer blocks: it is past the buffer's end",
              "grid_from_bytes");
}

TEST(Findings, OfAMissedBarrier) {
  Ints in{64}, out{64};
  Printed all = printed(diagnostic_from([&] { leave_early<<<1, 64>>>(in, out, 63U); }));
  ASSERT_EQ(all.parts.size(), 1U);
  expect_part(all.parts[0], "early",
              "missed barrier in leave_early: threads 0-62 of block 0 wait at __syncthreads()",
              "__syncthreads()");
  ASSERT_FALSE(all.rest.empty());
  EXPECT_EQ(all.rest[0], "thread 63 has left the kernel");
  all.rest.erase(all.rest.begin());
  expect_help(
      all,
      "every thread of the block has to reach this barrier, idle ones too: no `return` before it, and no "
      "condition around it that only some meet",
      "barrier_for_working_threads");
}

/// The place comes first, whichever thread is lower.
TEST(Findings, OfAMissedBarrierBeginWithItsPlace) {
  Ints out{64};
  const Printed all = printed(diagnostic_from([&] { one_is_gone<<<1, 64>>>(out); }));
  ASSERT_EQ(all.parts.size(), 1U);
  expect_part(all.parts[0], "gone",
              "missed barrier in one_is_gone: threads 0-2, 4-63 of block 0 wait at __syncthreads()",
              "__syncthreads()");
  ASSERT_FALSE(all.rest.empty());
  EXPECT_EQ(all.rest[0], "thread 3 has left the kernel");
}

TEST(Findings, OfAnUninitialisedRead) {
  Ints in{64}, out{1};
  const Printed all = printed(diagnostic_from([&] { maximum_of_tile<<<1, 64>>>(in, out, 50U); }));
  ASSERT_EQ(all.parts.size(), 1U);
  expect_part(
      all.parts[0], "maximum",
      "uninitialised read in maximum_of_tile: thread 0 of block 0 reads 4-byte word 50 of a shared variable, "
      "which nothing has written",
      "tile[i]");
  expect_help(
      all, "shared memory begins without values: write the word first, with 0 where there is no input", "");
}

/// One line that reads and writes a word on behalf of several threads takes an atomic, and no barrier.
TEST(Findings, OfAnUpdateByManyThreads) {
  Ints in{64}, counts{10};
  const Printed all = printed(diagnostic_from([&] { count_digits<<<1, 64>>>(in, counts); }));
  ASSERT_EQ(all.parts.size(), 2U);
  for (const Part& part : all.parts)
    EXPECT_EQ(part.line, line_of("digits")) << part.words;
  expect_help(all,
              "use an atomic, such as `atomicAdd()`, in place of the read and the write, or give each thread "
              "a word of its "
              "own",
              "add_without_an_atomic");
}

TEST(Findings, OfManyWriters) {
  Ints in{64}, out{1};
  const Printed all = printed(diagnostic_from([&] { everyone_writes<<<1, 64>>>(in, out); }));
  ASSERT_EQ(all.parts.size(), 2U);
  expect_part(
      all.parts[0], "everyone",
      "race in everyone_writes: thread 0 of block 0 writes 4-byte word 0 of a global buffer (1 words)",
      "out[blockIdx.x] =");
  expect_part(all.parts[1], "everyone", "thread 1 writes it, and nothing orders the two",
              "out[blockIdx.x] =");
  expect_help(
      all,
      "give each thread a word of its own, or let one thread write; between two passes of a loop, put a "
      "`__syncthreads()`",
      "");
}

/// GCC inlines what a kernel calls: the call is named, too.
TEST(Findings, InAFunctionNameItsCall) {
  Ints out{1};
  const std::string text = diagnostic_from([&] { through_a_function<<<1, 32>>>(out); });
  const Printed all = printed(text);
  ASSERT_EQ(all.parts.size(), 2U);
  expect_part(
      all.parts[0], "first: write",
      "race in through_a_function: thread 0 of block 0 writes 4-byte word 0 of a global buffer (1 words)",
      "cells[0] =");
#ifndef __clang__
  EXPECT_NE(text.find("findings_test.cpp:" + std::to_string(line_of("first: call"))), std::string::npos)
      << text;
#endif
}

TEST(Findings, OfADeadlockNameTheLanesThatDoNotCome) {
  Ints out{32};
  const Printed all = printed(diagnostic_from([&] { half_a_warp<<<1, 32>>>(out); }));
  ASSERT_EQ(all.parts.size(), 2U);
  expect_part(all.parts[0], "half: warp",
              "deadlock in half_a_warp: threads 0-15 of block 0 wait at __syncwarp()", "__syncwarp()");
  expect_part(all.parts[1], "half: block", "threads 16-31 wait at __syncthreads()", "__syncthreads()");
  expect_help(all,
              "the mask of thread 0 also names lanes 16-31: all lanes of a mask have to make the same call, "
              "with the same "
              "mask",
              "");
}

TEST(Findings, HaveTheSameWordsWithColours) {
  Ints in{64}, out{64};
  const auto launch_kernel = [&] { smooth<<<2, 32>>>(in, out); };
  const std::string styled = diagnostic_from(launch_kernel, true);
  EXPECT_NE(styled.find("\x1b[1;31mout of bounds\x1b[0m"), std::string::npos) << styled;
  EXPECT_EQ(std::regex_replace(styled, std::regex{"\x1b\\[[0-9;]*m"}, ""), diagnostic_from(launch_kernel));
}

// ---- source lines ----

/// A file that is older than the program, with one line, and a finding there.
class SourceLines : public testing::Test {
 protected:
  SourceLines() : file_{reduction::temporary_path("kernel.cuh")} {}
  ~SourceLines() override { std::filesystem::remove(file_); }

  std::string diagnostic_at(const std::string& line, unsigned column) {
    std::ofstream{file_} << line << '\n';
    std::filesystem::last_write_time(file_, std::filesystem::last_write_time("/proc/self/exe") - age_);
    const SourceLocation location{file_.string(), 1, column};
    return diagnostic_of(
        {{Fault::out_of_bounds, "k", "4 bytes", {{"writes", 0, {1}, nullptr, location}}, "", "", ""}}, false);
  }

  std::filesystem::path file_;
  std::chrono::seconds age_{60};
};

TEST_F(SourceLines, HaveTheCaretBelowWhatFollowsTabs) {
  EXPECT_TRUE(diagnostic_at("\tif (a)\tx = y[i];", 14)
                  .ends_with("\n    1 |         if (a)  x = y[i];\n"
                             "      |                     ~^~~\n"));
}

TEST_F(SourceLines, HaveTheCaretBelowWhatFollowsLettersOfTwoBytes) {
  EXPECT_TRUE(diagnostic_at("/* größe */ x = 1;", 17)
                  .ends_with("\n    1 | /* größe */ x = 1;\n"
                             "      |             ~~^\n"));
}

TEST_F(SourceLines, AreUnderlinedWithoutAColumn) {
  EXPECT_TRUE(diagnostic_at("  x = y[i];  // why", 0)
                  .ends_with("\n    1 |   x = y[i];  // why\n"
                             "      |   ~~~~~~~~~\n"));
}

TEST_F(SourceLines, AreNotShownOfAFileThatHasChanged) {
  age_ = std::chrono::seconds{-60};
  const std::string text = diagnostic_at("x = y[i];", 6);
  EXPECT_EQ(text.find("y[i]"), std::string::npos) << text;
  EXPECT_NE(text.find(":1:6: out of bounds in k: thread 1 of block 0 writes 4 bytes\nnote: "),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("build again"), std::string::npos) << text;
}

TEST(SourceLine, IsLeftOutOfAFileThatIsNotThere) {
  const SourceLocation location{"/nowhere/kernel.cuh", 3, 4};
  EXPECT_EQ(
      diagnostic_of(
          {{Fault::endless_loop, "", "", {{"runs", 2, {1, 2, 3}, nullptr, location}}, "do", "p.md", ""}},
          false),
      "/nowhere/kernel.cuh:3:4: endless loop in a kernel: threads 1-3 of block 2 runs\n"
      "help: do\n"
      "      see p.md\n");
}

TEST(SourceSpan, IsWhatTheColumnStandsFor) {
  const auto marked = [](std::string_view line, std::string_view at, bool reads = false) {
    const Span span = span_at(line, static_cast<unsigned>(line.find(at)) + 1, reads);
    return std::string{line.substr(span.begin, span.end - span.begin)};
  };
  EXPECT_EQ(marked("if (i < n) sum += a.cells[i + b[2]];", "[i"), "a.cells[i + b[2]]");
  EXPECT_EQ(marked("if (i < n) sum += a.cells[i + b[2]];", "];"), "a.cells[i + b[2]]");
  EXPECT_EQ(marked("for (;;) points[i]->x += 2;", "+="), "points[i]->x +=");
  EXPECT_EQ(marked("  return points[i].x;", ".x"), "points[i].x");
  EXPECT_EQ(marked("  (*bins)++;", "++"), "(*bins)++");
  EXPECT_EQ(marked("  if (tid == 0) *out = sum;", "= sum"), "*out =");
  EXPECT_EQ(marked("  *out = tile(3);", "=", true), "= tile(3)");
  EXPECT_EQ(marked("  o[b]=*cnt;", "=*"), "o[b]=");
  EXPECT_EQ(marked("  o[b]=*cnt;", "=*", true), "=*cnt");
  EXPECT_EQ(marked("  o[b]+=-x;", "+="), "o[b]+=");
  EXPECT_EQ(marked("  o[b]>>=*x;", ">>"), "o[b]>>=");
  EXPECT_EQ(marked("  atomicAdd(&x[0], y);", "("), "atomicAdd(&x[0], y)");
  EXPECT_EQ(marked("  const int sum = a[0] + a[1];  // why", "sum"), "sum = a[0] + a[1]");
  EXPECT_EQ(marked("  if (sum == 0) return;", "sum"), "sum");
  EXPECT_EQ(marked("  f(x[", "["), "x[") << "the rest is on the next line";
}

// ---- programs ----

TEST(Pitfall, PrintsTheFindingAndEndsWithOne) {
  const reduction::Outcome outcome =
      reduction::run_command("cd '" SOURCE_FOLDER "' && " PITFALL " add_without_an_atomic");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.out, "");
  EXPECT_TRUE(outcome.error.starts_with("pitfall: error: docs/pitfalls/add_without_an_atomic.cuh:15:"))
      << outcome.error;
  EXPECT_TRUE(outcome.error.ends_with("see docs/pitfalls/add_without_an_atomic.md\n")) << outcome.error;
  EXPECT_EQ(outcome.error.find('\x1b'), std::string::npos) << "colours without a terminal";
}

TEST(Pitfall, RunsTheFixedForm) {
  const reduction::Outcome outcome = reduction::run_command(PITFALL " --fixed ticket_without_a_fence");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
  EXPECT_NE(outcome.out.find("no finding, and the same result as on the CPU: 5559936"), std::string::npos)
      << outcome.out;
}

TEST(Pitfall, ListsThemAll) {
  const reduction::Outcome outcome = reduction::run_command(PITFALL " --list");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
  EXPECT_EQ(std::ranges::count(outcome.out, '\n'), 16) << outcome.out;
}

TEST(Pitfall, RefusesAnotherNameInOneLine) {
  for (const char* const arguments :
       {" lockstep", "", " endless_loop endless_loop", " --slow endless_loop", " --list endless_loop",
        " --list ''", " --list --fixed", " --list --trace-beside x.json"}) {
    const reduction::Outcome outcome = reduction::run_command(PITFALL + std::string{arguments});
    EXPECT_EQ(outcome.exit_code, 2) << arguments;
    EXPECT_TRUE(outcome.error.starts_with("pitfall: error: ")) << outcome.error;
    EXPECT_EQ(std::ranges::count(outcome.error, '\n'), 1) << outcome.error;
  }
  EXPECT_NE(reduction::run_command(PITFALL " lockstep").error.find("ticket_without_a_fence"),
            std::string::npos);
}

TEST(Pitfall, SaysWhenItsOutputIsLost) {
  for (const char* const arguments : {" --list", " --help", " --fixed ticket_without_a_fence"}) {
    const reduction::Outcome outcome =
        reduction::run_command(PITFALL + std::string{arguments} + " >/dev/full");
    EXPECT_EQ(outcome.exit_code, 3) << arguments;
    EXPECT_EQ(outcome.error, "pitfall: error: stdout does not take the output\n");
  }
}

/// addr2line alone gives lines, and nothing gives barriers.
TEST(Pitfall, DoesWithoutBinutils) {
  const std::filesystem::path tools = reduction::temporary_path("tools");
  std::filesystem::create_directory(tools);
  const std::string run = "PATH=" + tools.string() + ' ' + PITFALL;
  const reduction::Outcome without_any = reduction::run_command(run + " add_without_an_atomic");
  EXPECT_EQ(without_any.exit_code, 1);
  EXPECT_TRUE(without_any.error.starts_with("pitfall: error: race in a kernel: thread 0 of block 0 writes "))
      << without_any.error;
  const reduction::Outcome barrier = reduction::run_command(run + " barrier_for_working_threads");
  EXPECT_NE(barrier.error.find("barrier_for_working_threads.cuh:14:7: "), std::string::npos) << barrier.error;

  ASSERT_EQ(reduction::run_command("ln -s \"$(command -v addr2line)\" " + tools.string()).exit_code, 0);
  const reduction::Outcome lines = reduction::run_command(run + " add_without_an_atomic");
  EXPECT_NE(lines.error.find("add_without_an_atomic.cuh:15: race in add_without_an_atomic: "),
            std::string::npos)
      << lines.error;
  std::filesystem::remove_all(tools);
}

}  // namespace
