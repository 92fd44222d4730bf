/// What CUDA C++ has beside functions means on the emulated device what it means on a GPU: variables, launches, memory of
/// kernels, traps, time.
#include <gtest/gtest.h>
#include <algorithm>
#include <cassert>
#include <string>

#include "device/cuda_or_emulated.cuh"
#include "emulated/kernel_sweep.hpp"

namespace {

using namespace __emulated;
using deletable::__syncthreads;

template <typename T> using Array = DeviceArray<T>;

const std::string here = " at emulated/language_test.cpp:";

// ---- variables of the device ----

__constant__ int scale;
__constant__ float table[4] = {1, 2, 3, 4};
__constant__ const float fixed[2] = {0.5F, 0.25F};

__global__ void use_constants(const float* in, float* out) {
  out[threadIdx.x] = in[threadIdx.x] * static_cast<float>(scale) * table[threadIdx.x % 4] * fixed[0];
}

alignas(4096) __device__ int before[10];
alignas(4096) __device__ int bins_of_all[10];
alignas(4096) __device__ int after[10];

__global__ void add_to_bin(int bin) {
  atomicAdd(&before[0], 1);
  atomicAdd(&bins_of_all[bin], 1);
  atomicAdd(&after[0], 1);
}

/// An array in dynamic shared memory that is declared outside of functions.
extern __shared__ int bins[];
__global__ void count_threads(int* sum) {
  if (threadIdx.x == 0) bins[0] = 0;
  __syncthreads();
  atomicAdd(bins, 1);
  __syncthreads();
  if (threadIdx.x == 0) sum[0] = bins[0];
}

TEST(Variables, OfEachKind) {
  Array<float> in{32}, out{32};
  Array<int> sum{1};
  std::fill(in.begin(), in.end(), 1.0F);
  scale = 10;  // the host may
  EXPECT_EQ(counters_of([&] { use_constants<<<1, 32>>>(in, out); }).global_load_requests, 1U) << "of `in`";
  EXPECT_EQ(out[2], 15.0F);
  add_to_bin<<<2, 32>>>(9);
  EXPECT_EQ(bins_of_all[9], 64);
  count_threads<<<1, 64, sizeof(int)>>>(sum);
  EXPECT_EQ(sum[0], 64);
}

__global__ void store_constant() { table[2] = 1; }

/// They end where the program's symbols say so.
TEST(Variables, HaveFindings) {
  const auto past = [&](const std::string& bin) {
    return "out of bounds in add_to_bin: block 0, thread 0 atomically updates 4-byte word " + bin +
           " of the variable bins_of_all (10 words)" + here;
  };
  expect_findings(
      {{"out of bounds in store_constant: block 0, thread 0 writes 4 bytes of a __constant__ variable" + here,
        [] { store_constant<<<1, 1>>>(); }},
       {past("-1"), [] { add_to_bin<<<1, 32>>>(-1); }},
       {past("10"), [] { add_to_bin<<<1, 32>>>(10); }}});
}

// ---- launches whose kernel's template arguments are deduced ----

template <typename T, int factor = 2> __global__ void multiply(const T* in, T* out, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= n) out[i] = in[i] * factor;
}

template <typename T> __global__ void fill(T*, int);

template <typename T> __global__ void put(T* out) { out[threadIdx.x] = 1; }
__global__ void put(float* out) { out[threadIdx.x] = 2; }
template <typename T> __global__ void put(T* out, T value) { out[threadIdx.x] = value; }

__global__ void add_all(int* out, unsigned n = 2, double factor = 1.5, const int* weights = nullptr) {
  out[threadIdx.x] += static_cast<int>(n * factor) + (weights == nullptr ? 0 : weights[0]);
}

TEST(Launches, ChooseAKernelAndItsArgumentsAsACallDoes) {
  Array<int> in{64}, out{64}, sum{1};
  Array<float> single{2};
  in[63] = 21;
  const int* const from = in.begin();
  int* const to = out.begin();
  multiply<<<2, 32>>>(from, to, 63);
  EXPECT_EQ(out[63], 42);
  multiply<int, 3><<<2, 32>>>(from, to, 63);
  EXPECT_EQ(out[63], 63);
  fill<<<1, 2>>>(single.begin(), 3);
  EXPECT_EQ(single[1], 3.0F);
  // Among overloads.
  put<<<1, 1>>>(out.begin());
  put<<<1, 1>>>(single.begin());
  EXPECT_EQ(out[0], 1);
  EXPECT_EQ(single[0], 2.0F);
  put<float><<<1, 1>>>(single.begin());
  EXPECT_EQ(single[0], 1.0F);
  put<<<1, 1>>>(out.begin(), 3);
  EXPECT_EQ(out[0], 3);
  // With default arguments; the others are converted once.
  int evaluations = 0;
  add_all<<<1, 1>>>(sum);
  EXPECT_EQ(sum[0], 3);
  add_all<<<1, 1>>>(sum, ++evaluations + 3);
  EXPECT_EQ(sum[0], 3 + 6);
  EXPECT_EQ(evaluations, 1);
  add_all<<<1, 1>>>(sum, 1, {10}, NULL);
  EXPECT_EQ(sum[0], 3 + 6 + 10);
  expect_findings({{"out of bounds in multiply: block 2, thread 0 reads 4-byte word 64",
                    [&] { multiply<<<3, 32>>>(from, to, 64); }},
                   {"out of bounds in put: block 0, thread 2 writes 4-byte word 2",
                    [&] { put<<<1, 3>>>(single.begin()); }}});
}

/// Launched above, by a template that is defined here.
template <typename T> __global__ void fill(T* out, int value) { out[threadIdx.x] = static_cast<T>(value); }

// ---- memory of kernels ----

struct Node {
  int value;
  Node* next;
};

__global__ void build_list(Node** lists, int length) {
  Node* first = nullptr;
  for (int i = 0; i < length; ++i) {
    Node* const node = new Node;
    node->value = i;
    node->next = first;
    first = node;
  }
  lists[blockIdx.x * blockDim.x + threadIdx.x] = first;
}

__global__ void add_and_release(Node** lists, int* out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  int sum = 0;
  for (Node* node = lists[i]; node != nullptr;) {
    Node* const next = node->next;
    sum += node->value;
    delete node;
    node = next;
  }
  out[i] = sum;
}

TEST(KernelMemory, OutlivesALaunchAndIsFollowedHoweverMuchThereIs) {
  Array<Node*> lists{256};
  Array<int> out{256};
  for (const unsigned length : {10U, 10U, 200U}) {
    EXPECT_EQ(counters_of([&] { build_list<<<4, 64>>>(lists, length); }).global_store_lanes,
              256 * (2 * length + 1));
    EXPECT_EQ(counters_of([&] { add_and_release<<<4, 64>>>(lists, out); }).global_load_lanes,
              256 * (2 * length + 1));
    EXPECT_EQ(out[255], static_cast<int>(length * (length - 1) / 2));
  }
}

enum class Misuse {
  none,
  reads_unwritten,
  writes_past_the_end,
  reads_released,
  releases_a_buffer,
  releases_twice
};

__global__ void misuse_memory(Misuse misuse, float* out) {
  float* const mine = new float[8];
  if (misuse != Misuse::reads_unwritten) mine[3] = 1;
  if (misuse == Misuse::writes_past_the_end) mine[8] = 1;
  if (misuse == Misuse::reads_released) delete[] mine;
  if (misuse == Misuse::releases_a_buffer) free(out);
  out[0] = mine[3];
  if (misuse == Misuse::releases_twice) delete[] mine;
  delete[] mine;
}

__global__ void share_memory(int* out, bool barrier) {
  __shared__ int* words;
  if (threadIdx.x == 0) words = static_cast<int*>(malloc(blockDim.x * sizeof(int)));
  __syncthreads();
  words[threadIdx.x] = static_cast<int>(threadIdx.x);
  if (barrier) __syncthreads();
  out[threadIdx.x] = words[blockDim.x - 1 - threadIdx.x];
  __syncthreads();
  if (threadIdx.x == 0) free(words);
}

TEST(KernelMemory, IsCheckedAsBuffersAre) {
  Array<float> out{1};
  Array<int> numbers{64};
  const auto row = [&](Misuse misuse, const std::string& start, const std::string& part) {
    return FindingRow{start + " in misuse_memory: block 0, thread 0 " + part,
                      [&out, misuse] { misuse_memory<<<1, 1>>>(misuse, out); }};
  };
  const std::string memory = " of a kernel's memory (8 words)";
  expect_findings(
      {row(Misuse::reads_unwritten, "uninitialised read", "reads 4-byte word 3" + memory),
       row(Misuse::writes_past_the_end, "out of bounds", "writes 4-byte word 8" + memory),
       row(Misuse::reads_released, "out of bounds", "reads 4-byte word 3" + memory),
       row(Misuse::releases_a_buffer, "out of bounds", "releases memory that no kernel holds at "),
       row(Misuse::releases_twice, "out of bounds", "releases memory that no kernel holds at "),
       {"race in share_memory: ", [&] { share_memory<<<1, 64>>>(numbers, false); }}});
  misuse_memory<<<1, 1>>>(Misuse::none, out);
  share_memory<<<1, 64>>>(numbers, true);
  EXPECT_EQ(numbers[0], 63);
}

// ---- what a kernel says ----

__global__ void stop_at(const int* in, int limit) {
  const int value = in[threadIdx.x];
  assert(value < limit);
  if (value == limit - 1) __trap();
}

TEST(Traps, AreFindings) {
  Array<int> in{64};
  for (int i = 0; i < 64; ++i)
    in[i] = i;
  stop_at<<<1, 64>>>(in, 65);
  expect_findings(
      {{"trap in stop_at: block 0, thread 31 calls __trap()" + here, [&] { stop_at<<<1, 33>>>(in, 32); }},
       {"trap in stop_at: block 0, thread 0 fails the assertion `value < limit`" + here,
        [&] { stop_at<<<1, 32>>>(in + 40, 40); }}});
}

__global__ void wait_for(long long clocks, const float* in, long long* out) {
  const long long begin = clock64();
  while (clock64() - begin < clocks) {
  }
  const long long begun = clock64();
  for (int i = 0; i < 10; ++i)
    out[i] = in[i] > 0 ? 1 : 0;
  out[threadIdx.x] = clock() - begun;
}

TEST(Time, IsACountOfAccesses) {
  Array<long long> out{32};
  Array<float> in{32};
  EXPECT_EQ(finding_of([&] { wait_for<<<1, 1>>>(2'000'000'000, in, out); }), "");
  EXPECT_EQ(out[0], 21);
}

}  // namespace
