"""`./emulate`: programs as people write them, unedited; what they print, what is said of them, and the exit code."""

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from conftest import REPOSITORY, emulate, succeed
from terminal_test import on_terminal

pytestmark = pytest.mark.usefixtures("without_sanitizers")

SUM = """\
#include <cstdio>
__global__ void sum(const int* in, int* out) {
  __shared__ int tile[256];
  tile[threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x];
  BARRIER
  for (int stride = 1; stride < 256; stride *= 2) {
    int index = 2 * stride * threadIdx.x;
    if (index < 256) tile[index] += tile[index + stride];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = tile[0];
}
int main() {
  int *in, *out, sums[4];
  cudaMalloc(&in, 1024 * sizeof(int));
  cudaMalloc(&out, sizeof sums);
  cudaMemset(in, 0, 1024 * sizeof(int));
  sum<<<4, 256>>>(in, out);
  cudaMemcpy(sums, out, sizeof sums, cudaMemcpyDeviceToHost);
  printf("%d\\n", sums[3]);
}
"""
RIGHT = SUM.replace("BARRIER", "__syncthreads();")
RACE = SUM.replace("BARRIER", "")
HEADER = "#pragma once\n__global__ void fill(int* out) {\n  __shared__ int one;\n  one = 1;\n  *out = one;\n}\n"
USES_HEADER = """#include "kernels/fill.cuh"
#include <cstdio>
int main() { int* out; int host; cudaMalloc(&out, 4); fill<<<1, 1>>>(out);
  cudaMemcpy(&host, out, 4, cudaMemcpyDeviceToHost); std::printf("%d\\n", host); }
"""
SLOW = """#include <cstdio>
__global__ void slow(int* x) { for (int k = 0; k < 100; ++k) x[blockIdx.x] += 1; }
int main() { int* x; cudaMalloc(&x, 4 << 20); cudaMemset(x, 0, 4 << 20); std::puts("begun"); std::fflush(stdout);
  for (;;) slow<<<1 << 20, 1>>>(x); }
"""
COSTLY = {"row.cuh": """inline __device__ float element(const float* row, int i) {
  return row[i * 64 % 1024];
}
""", "a.cu": """#include "row.cuh"
__global__ void costly(const float* in, float* out) {
  __shared__ float tile[1024];
  int i = threadIdx.x;
  tile[i * 32] = in[i * 32];
  __syncthreads();
  if (i % 2) out[32 * blockIdx.x + i] = element(tile, i) + in[7 + i / 8];
}
int main() { float *in, *out; cudaMalloc(&in, 4096); cudaMalloc(&out, 384); cudaMemset(in, 0, 4096);
  costly<<<3, 32>>>(in, out); costly<<<2, 32>>>(in, out); }
"""}
COUNTERPARTS = """#include <cstdio>
#include <vector>
__device__ int count = 3;
thread_local int own = 1;
static __device__ __managed__ int both = 7;
namespace { __managed__ struct { int calls; } counted; }
__constant__ int two[2];
using Operation = int (*)(int);
__device__ int twice(int x) { return two[1] * x; }
__device__ Operation chosen = twice;
template <typename T> struct Held {
  __device__ __attribute__((noinline)) Held(T of) : value(of) {}
  __device__ __attribute__((noinline)) ~Held() { both += 1; }
  T value;
};
template <typename F> __global__ void call(F f, Operation operation, int x) {
  count += Held<int>(f(operation(x))).value;
  ++counted.calls;
}
int main() {
  std::vector<int> none(own);
  const int host[] = {1, 2};
  cudaMemcpyToSymbol(two, host, sizeof host);
  Operation operation;
  cudaMemcpyFromSymbol(&operation, chosen, sizeof operation);
  const int base = 10;
  call<<<1, 1>>>([=] __device__(int x) { return base + x; }, operation, 21);
  int result;
  cudaMemcpyFromSymbol(&result, count, sizeof result);
  std::printf("%d %d %d\\n", result, both, counted.calls);
}
"""
# What a kernel does that has no place there, by the first of the program's arguments.
OUT_OF_PLACE = """#include <cstdio>
#include <cstdlib>
#include <unistd.h>
struct Base { virtual __host__ __device__ int area() const { return 1; } };
struct Square : Base { __host__ __device__ int area() const override { return 4; } };
using Operation = int (*)(int);
__host__ __device__ int twice(int x) { return 2 * x; }
__device__ Operation chosen = twice;
__device__ int table[4];
__global__ void call(Operation operation, int* out) { *out = operation(2); }
__global__ void area(const Base* shape, int* out) { *out = shape->area(); }
__global__ void make(Square* shape) { new (shape) Square; }
__global__ void shift(int by, int* out) { *out = 1u << by; }
__global__ void set(int* out) { out[blockIdx.x * blockDim.x + threadIdx.x] = 1; }
void launch(int blocks) { int* out; cudaMalloc(&out, blocks << 10); set<<<blocks, 256>>>(out); }
int mode = 0;
struct Global { Global() { launch(1); } ~Global() { if (mode == 7) launch(4096); } } global;
int main(int, char** words) {
  int *out, host = 0;
  Square square, *shape;
  Operation operation = twice;
  cudaMalloc(&out, 4);
  cudaMalloc(&shape, sizeof square);
  switch (mode = std::atoi(words[1])) {
    case 0: call<<<1, 1>>>(operation, out); break;
    case 1: cudaMemcpy(shape, &square, sizeof square, cudaMemcpyHostToDevice); area<<<1, 1>>>(shape, out); break;
    case 2: cudaMemcpyFromSymbol(&operation, chosen, sizeof operation); call<<<1, 1>>>(operation, out); break;
    case 3: make<<<1, 1>>>(shape); area<<<1, 1>>>(shape, out); break;
    case 4: shift<<<1, 1>>>(32, out); break;
    case 5: shift<<<1, 1>>>(3, out); std::fflush(stdout); _exit(5);
    case 6: if (fork() == 0) std::exit(0); shift<<<1, 1>>>(2, out); break;
    case 7: shift<<<1, 1>>>(1, out); break;
    case 8: std::printf("%d ", cudaMemcpyToSymbol(table[2], &host, sizeof host)); shift<<<1, 1>>>(0, out); break;
    case 9: std::free(shape); shift<<<1, 1>>>(0, out); break;
  }
  cudaMemcpy(&host, out, 4, cudaMemcpyDeviceToHost);
  std::printf("%d\\n", host);
}
"""
# What it prints, its exit code, and what is said of it.
DONE_OUT_OF_PLACE: list[tuple[str, int, list[str]]] = [
    ("-1\n", 1, ["invalid call in call: thread 0 of block 0 calls a function of the host"]),
    ("-1\n", 1, ["invalid call in area: thread 0 of block 0 calls a function of the host"]),
    ("4\n", 0, []),
    ("4\n", 0, []),
    ("1\n", 0, ["note: a.cu:13:53: undefined arithmetic in shift: thread 0 of block 0 shifts unsigned int by 32"]),
    ("", 5, ["shift: 1 launch"]),
    ("4\n", 0, ["set: 1 launch", "shift: 1 launch"]),
    ("2\n", 0, ["set: 2 launches"]),
    ("13 1\n", 0, []),
    ("1\n", 1, ["a.cu:34:", "host access in main: the host releases a global buffer (8 bytes)"]),
]
PROJECT = """cmake_minimum_required(VERSION 3.25)
project(fill LANGUAGES NONE)
find_package(emulate REQUIRED)
add_emulated_executable(fill src/a.cu OPTIONS -I include)
enable_testing()
add_test(NAME fill COMMAND fill)
"""
RACE_IN_BLOCK_2 = """#include <cstdio>
__global__ void fill(double* out) { out[threadIdx.x + 64 * blockIdx.x] = threadIdx.x + 0.5; }
__global__ void reverse(const double* in, int* out) {
  __shared__ float tile[64];
  tile[threadIdx.x] = in[threadIdx.x + 64 * blockIdx.x];
  if (blockIdx.x != 2) __syncthreads();
  out[4 * (64 * blockIdx.x + threadIdx.x)] = -tile[63 - threadIdx.x];
}
int main() { double* in; int* out; cudaMalloc(&in, 4096); cudaMalloc(&out, 4096); fill<<<4, 64>>>(in);
  reverse<<<2, 64>>>(in, out); reverse<<<4, 64>>>(in, out); std::puts("ran"); }
"""
HOST_ACCESS = """#include <cstdio>
__device__ int count = 3;
__constant__ float factors[4];
__managed__ int both;
__global__ void fill(int* on_device, int* managed, int* other) {
  on_device[threadIdx.x] = managed[threadIdx.x] = threadIdx.x;
  if (threadIdx.x == 0) both = other[0];
}
int main() {
  int *on_device, *managed, *pinned;
  cudaMalloc(&on_device, 40);
  std::printf("%d\\n", on_device[5]);
  on_device[5] = 1;
  cudaMallocManaged(&managed, 40);
  cudaMallocHost(&pinned, 40);
  for (int i = 0; i < 10; ++i) managed[i] = pinned[i] = 7;
  fill<<<1, 10>>>(on_device, managed, pinned);
  std::printf("%d\\n", managed[3]);
  std::printf("%d\\n", both);
  pinned[0] = 8;
  cudaDeviceSynchronize();
  std::printf("%d %d\\n", managed[4], both);
  std::printf("%d\\n", count);
  factors[1] = 2;
  cudaMemcpyAsync(pinned, on_device, 40, cudaMemcpyDeviceToHost);
  std::printf("%d\\n", pinned[2]);
  cudaMemcpy(pinned, on_device, 40, cudaMemcpyDeviceToHost);
  std::printf("%d\\n", pinned[3]);
}
"""
# Chunks go through two pinned buffers, each waited for by an event; a flag, and atomics, for host and kernel at once.
RIGHT_HOST = """#include <cstdio>
#include <numeric>
#include <vector>
__device__ int offset;
__global__ void add(const int* in, int* out, volatile int* flag) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i] + offset;
  if (i == 0) { __threadfence_system(); *flag = 1; }
}
__global__ void add_one(int* out) { atomicAdd(out, 1); }
int main() {
  const int n = 3000, chunks = 6;
  int *in[2], *out[2], *on_device, *flag, *sum, one = 1;
  cudaStream_t streams[2];
  cudaEvent_t done[2];
  cudaMemcpyToSymbol(offset, &one, sizeof one);
  cudaMalloc(&on_device, 2 * n * sizeof(int));
  cudaMallocHost(&flag, sizeof(int));
  cudaMallocManaged(&sum, sizeof(int));
  for (int b = 0; b < 2; ++b) {
    cudaMallocHost(&in[b], n * sizeof(int));
    cudaMallocHost(&out[b], n * sizeof(int));
    cudaStreamCreateWithFlags(&streams[b], cudaStreamNonBlocking);
    cudaEventCreate(&done[b]);
  }
  long long total = 0;
  for (int chunk = 0; chunk < chunks + 2; ++chunk) {
    const int b = chunk % 2;
    if (chunk >= 2) { cudaEventSynchronize(done[b]); total = std::accumulate(out[b], out[b] + n, total); }
    if (chunk >= chunks) continue;
    for (int i = 0; i < n; ++i) in[b][i] = chunk;
    int* const part = on_device + b * n;
    cudaMemcpyAsync(part, in[b], n * sizeof(int), cudaMemcpyHostToDevice, streams[b]);
    *flag = 0;
    add<<<n / 100, 100, 0, streams[b]>>>(part, part, flag);
    while (*(volatile int*)flag == 0) {}
    cudaMemcpyAsync(out[b], part, n * sizeof(int), cudaMemcpyDeviceToHost, streams[b]);
    cudaEventRecord(done[b], streams[b]);
  }
  *sum = 0;
  cudaStream_t blocking;  // the copy waits for it
  cudaStreamCreate(&blocking);
  add_one<<<2, 32, 0, blocking>>>(sum);
  std::vector<int> back(2 * n);
  cudaMemcpy(back.data(), on_device, 2 * n * sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("%lld %d %d\\n", total, back[0], *sum);
}
"""
GRAPHS = """#include <cstdio>
template <typename T> __global__ void add(T* out, int by) { out[threadIdx.x] += by; }
__global__ void twice(int* out, double4 unused) { out[threadIdx.x] *= 2; }
void count(void* data) { ++*static_cast<int*>(data); }
const int n = 64;
int host[n], calls = 0;
int* out;
cudaStream_t stream, other;
cudaEvent_t fork_event, join_event;
cudaGraph_t graph;
cudaGraphExec_t exec;
int shown() {
  cudaDeviceSynchronize();
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  return host[n - 1];
}
void captured() {
  size_t nodes, roots;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  cudaMemsetAsync(out, 0, sizeof host, stream);
  add<<<1, n, 0, stream>>>(out, 3);
  cudaEventRecord(fork_event, stream);
  cudaStreamWaitEvent(other, fork_event, 0);
  twice<<<1, n, 0, other>>>(out, {});
  cudaEventRecord(join_event, other);
  cudaStreamWaitEvent(stream, join_event);
  cudaLaunchHostFunc(stream, count, &calls);
  cudaStreamEndCapture(stream, &graph);
  cudaGraphGetNodes(graph, nullptr, &nodes);
  cudaGraphGetRootNodes(graph, nullptr, &roots);
  std::printf("captured: %zu %zu, %d calls\\n", nodes, roots, calls);
  cudaGraphInstantiate(&exec, graph, nullptr, nullptr, 0);
  cudaGraphDestroy(graph);
  for (int k = 0; k < 2; ++k) cudaGraphLaunch(exec, stream);
  std::printf("launched: %d, %d calls\\n", shown(), calls);
}
void by_hand() {
  cudaGraphNode_t zero, adding, copying, calling, child;
  int by = 5;
  cudaGraphCreate(&graph, 0);
  cudaMemsetParams memset{out, 0, 1, 4, n, 1};
  void* arguments[] = {&out, &by};
  cudaKernelNodeParams kernel{(void*)add<int>, 1, n, 0, arguments, nullptr};
  cudaHostNodeParams call{count, &calls};
  cudaGraphAddKernelNode(&adding, graph, nullptr, 0, &kernel);
  cudaGraphAddMemsetNode(&zero, graph, nullptr, 0, &memset);
  cudaGraphAddDependencies(graph, &zero, &adding, nullptr, 1);
  cudaGraphAddMemcpyNode1D(&copying, graph, &adding, 1, host, out, sizeof host, cudaMemcpyDeviceToHost);
  cudaGraphAddHostNode(&calling, graph, &copying, 1, &call);
  by = 100;
  cudaGraphInstantiate(&exec, graph);
  cudaGraphLaunch(exec, stream);
  cudaStreamSynchronize(stream);
  std::printf("by hand: %d %d calls\\n", host[3], calls);
  cudaGraphExecKernelNodeSetParams(exec, adding, &kernel);
  cudaGraphLaunch(exec, stream);
  cudaStreamSynchronize(stream);
  cudaGraph_t whole;
  cudaGraphCreate(&whole, 0);
  cudaGraphAddChildGraphNode(&child, whole, nullptr, 0, graph);
  by = 1000;
  cudaGraphAddKernelNode(&adding, whole, &child, 1, &kernel);
  cudaGraphExec_t both;
  cudaGraphInstantiateWithFlags(&both, whole, 0);
  std::printf("set: %d;", host[3]);
  cudaGraphLaunch(both, stream);
  std::printf(" of a child: %d; ", shown());
  cudaGraphExecUpdateResultInfo info;
  std::printf("%s\\n", cudaGetErrorName(cudaGraphExecUpdate(exec, whole, &info)));
}
void misused() {
  void* other_memory;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  std::printf("%s, ", cudaGetErrorName(cudaMalloc(&other_memory, 4)));
  std::printf("%s\\n", cudaGetErrorName(cudaStreamEndCapture(stream, &graph)));
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  add<<<1, n>>>(out, 1);
  std::printf("%s, ", cudaGetErrorName(cudaGetLastError()));
  cudaStreamEndCapture(stream, &graph);
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  std::printf("%s, ", cudaGetErrorName(cudaStreamSynchronize(stream)));
  cudaStreamEndCapture(stream, &graph);
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  cudaEventRecord(fork_event, stream);
  cudaStreamWaitEvent(other, fork_event, 0);
  add<<<1, n, 0, other>>>(out, 1);
  std::printf("%s\\n", cudaGetErrorName(cudaStreamEndCapture(stream, &graph)));
}
void read_too_early() {
  int* managed;
  cudaMallocManaged(&managed, sizeof host);
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed);
  add<<<1, n, 0, stream>>>(managed, 1);
  cudaStreamEndCapture(stream, &graph);
  cudaGraphInstantiate(&exec, graph);
  for (int i = 0; i < n; ++i) managed[i] = 1;
  cudaGraphLaunch(exec, stream);
  std::printf("%d\\n", managed[5]);
  cudaStreamSynchronize(stream);
  std::printf("%d\\n", managed[6]);
}
int main() {
  cudaMalloc(&out, sizeof host);
  cudaStreamCreate(&stream);
  cudaStreamCreate(&other);
  cudaEventCreate(&fork_event);
  cudaEventCreate(&join_event);
  captured();
  by_hand();
  misused();
  read_too_early();
}
"""
RUNTIME = """#include <cstdio>
#include <cstdlib>
#include <cuda/std/complex>
#include <cuda_profiler_api.h>
__constant__ int by;
__global__ void add(int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  const cuda::std::complex<float> turn{0, 1};
  if (i < n) out[i] -= by * static_cast<int>((turn * turn).real());
}
void CUDART_CB look(cudaStream_t, cudaError_t, void* data) { std::printf("seen: %d\\n", ((int*)data)[2000]); }
int main(int words, char**) {
  const int n = 4000;
  int *own = (int*)std::malloc(n * sizeof(int)), *pointer, value, greatest;
  cudaPointerAttributes attributes;
  cudaStream_t stream;
  for (int i = 0; i < n; ++i) own[i] = i;
  const int one = 1;
  cudaMemcpyToSymbolAsync(by, &one, sizeof one);
  std::printf("%d ", cudaHostUnregister(own));
  cudaHostRegister(own, n * sizeof(int), cudaHostRegisterMapped);
  std::printf("%d ", cudaHostRegister(own + 8, 4, 0));
  cudaHostGetDevicePointer(&pointer, own, 0);
  cudaPointerGetAttributes(&attributes, own + 5);
  std::printf("%d %d\\n", attributes.type, attributes.hostPointer == own + 5);
  cudaDeviceGetStreamPriorityRange(nullptr, &greatest);
  cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, greatest - 1);
  cudaStreamGetPriority(stream, &value);
  add<<<(n + 255) / 256, 256, 0, stream>>>(pointer, n);
  if (words > 1) std::printf("too early: %d\\n", own[2000]);
  cudaStreamAddCallback(stream, look, own, 0);
  cudaStreamSynchronize(stream);
  std::printf("%d %d, priority %d\\n", own[0], own[n - 1], value);
  cudaHostUnregister(own);
  if (words > 1) add<<<1, 32>>>(own, n);

  cudaExtent extent = make_cudaExtent(3 * sizeof(int), 2, 2);
  cudaPitchedPtr volume;
  int in[2][2][3], back[12] = {};
  for (int i = 0; i < 12; ++i) in[i / 6][i / 3 % 2][i % 3] = i;
  cudaMalloc3D(&volume, extent);
  cudaMemset3D(volume, 0, extent);
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = make_cudaPitchedPtr(in, 12, 3, 2);
  copy.dstPtr = volume;
  copy.extent = make_cudaExtent(2 * sizeof(int), 2, 1);
  copy.srcPos = copy.dstPos = make_cudaPos(sizeof(int), 0, 1);
  copy.kind = cudaMemcpyHostToDevice;
  cudaMemcpy3D(&copy);
  cudaMemcpy3DParms home = {};
  home.srcPtr = volume;
  home.dstPtr = make_cudaPitchedPtr(back, 12, 3, 2);
  home.extent = extent;
  home.kind = cudaMemcpyDeviceToHost;
  cudaMemcpy3DAsync(&home, stream);
  for (int each : back) std::printf(" %d", each);

  cudaMemPool_t pool;
  unsigned long long threshold = ~0ULL, found = 0;
  cudaDeviceGetDefaultMemPool(&pool, 0);
  cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold);
  cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &found);
  cudaMallocFromPoolAsync(&pointer, n * sizeof(int), pool, stream);
  cudaMemsetAsync(pointer, 0, n * sizeof(int), stream);
  add<<<1, 32, 0, stream>>>(pointer, n);
  cudaFreeAsync(pointer, stream);
  if (words > 1) add<<<1, 32, 0, stream>>>(pointer, n);
  size_t heap;
  cudaDeviceSetLimit(cudaLimitMallocHeapSize, 64 << 20);
  cudaDeviceGetLimit(&heap, cudaLimitMallocHeapSize);
  cudaDeviceCanAccessPeer(&value, 0, 0);
  std::printf("\\n%d %zu %d ", found == threshold, heap >> 20, value);
  cudaDeviceGetAttribute(&value, cudaDevAttrMemoryPoolsSupported, 0);
  cudaProfilerStart();
  cudaProfilerStop();
  std::printf("%d %s\\n", value, cudaGetErrorString(cudaErrorStreamCaptureUnsupported));

  cudaLaunchAttribute attribute;
  attribute.id = cudaLaunchAttributeCooperative;
  attribute.val.cooperative = 1;
  cudaMallocManaged(&pointer, n * sizeof(int));
  for (int i = 0; i < n; ++i) pointer[i] = 0;
  cudaLaunchConfig_t config = {16, 256, 0, stream, &attribute, 1};
  int most = n;
  void *arguments[] = {&pointer, &most}, *kernel = (void*)add;
  cudaLaunchKernelEx(&config, add, pointer, n);
  cudaLaunchKernelExC(&config, reinterpret_cast<const void*>(&add), arguments);
  cudaLaunchKernel(kernel, 16, 256, arguments, 0, stream);
  cudaLaunchCooperativeKernel((void*)add, 16, 256, arguments, 0, stream);
  cudaMemLocation where = {cudaMemLocationTypeDevice, 0};
  cudaMemPrefetchAsync(pointer, n * sizeof(int), where, 0, stream);
  cudaMemAdvise(pointer, n * sizeof(int), cudaMemAdviseSetReadMostly, cudaCpuDeviceId);
  cudaDeviceSynchronize();
  std::printf("%d\\n", pointer[n - 1]);
}
"""
KERNELS_FACTS = """#include <cstdio>
#include <cuda.h>
#include <nvtx3/nvtx3.hpp>
#include <nvToolsExtCudaRt.h>
template <int n> __global__ void __launch_bounds__(2 * n, 2) tile(const float* in, float*, long long* took) {
  __shared__ float tile[n][33];
  extern __shared__ int dynamic[];
  const long long begin = clock64();
  dynamic[threadIdx.x] = tile[threadIdx.x][0] = in[threadIdx.x];
  took[threadIdx.x] = clock64() - begin;
}
__global__ void whole(const float* in, const float*) {
  __shared__ double own[6000];
  own[threadIdx.x] = in[threadIdx.x];
}
template <typename Kernel> void show(Kernel kernel, int threads) {
  NVTX3_FUNC_RANGE();
  cudaFuncAttributes attributes;
  int blocks, grid, block;
  cudaFuncGetAttributes(&attributes, kernel);
  cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, kernel, threads, 0, cudaOccupancyDefault);
  cudaOccupancyMaxPotentialBlockSize(&grid, &block, kernel);
  std::printf("%zu %d: ", attributes.sharedSizeBytes, attributes.maxThreadsPerBlock);
  std::printf("%d, %d of %d\\n", blocks, grid, block);
}
int main() {
  const char* name;
  CUresult result = cuGetErrorName(CUDA_ERROR_NOT_FOUND, &name);
  nvtxNameCudaStreamA(nullptr, name);
  nvtx3::scoped_range range{"all"};
  std::printf("%s %d\\n", name, result == CUDA_SUCCESS);
  show(tile<64>, 64);
  show(tile<64>, 256);
  show(whole, 512);
  float* in;
  long long* took;
  cudaMallocManaged(&in, 256);
  cudaMallocManaged(&took, 512);
  tile<64><<<1, 64, 256>>>(in, in, took);
  cudaDeviceSynchronize();
  std::printf("%lld\\n", took[5]);
  tile<64><<<1, 64, 50000>>>(in, in, took);
  std::printf("%s\\n", cudaGetErrorName(cudaGetLastError()));
  whole<<<1, 1, 40000>>>(in, in);
  std::printf("%s\\n", cudaGetErrorName(cudaGetLastError()));
}
"""
OF_THE_RUNTIME = """713 712 1 1
seen: 2001
1 4000, priority -5
 0 0 0 0 0 0 0 7 8 0 10 11
1 64 0 1 operation not permitted when stream is capturing
4
"""
THREADS = {"a.cu": """#include <cstdio>
#include <thread>
#include <vector>
void sort(int*, int);
__global__ void add(int* a) { a[blockIdx.x * blockDim.x + threadIdx.x] += 1; }
int main() {
  std::vector<std::thread> threads;
  int sums[6] = {};
  for (int t = 0; t < 6; ++t) {
    threads.emplace_back([t, &sums] {
      const int n = 1024;
      int* a;
      cudaMalloc(&a, n * sizeof(int));
      cudaMemset(a, 0, n * sizeof(int));
      std::vector<int> on_host(n);
      for (int run = 0; run < 10; ++run) {
        add<<<n / 256, 256>>>(a);
        cudaMemcpy(on_host.data(), a, n * sizeof(int), cudaMemcpyDeviceToHost);
      }
      for (const int each : on_host) sums[t] += each;
      cudaFree(a);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const int sum : sums) std::printf("%d ", sum);
  int* a;
  cudaMalloc(&a, 64);
  cudaMemset(a, 0, 64);
  std::thread{[a] { sort(a, 16); }}.join();
  std::snprintf((char*)a, 8, "%d", 1234);
}
""", "b.cpp": """#include <cstdlib>
static int compare(const void* a, const void* b) { return *(const int*)a - *(const int*)b; }
void sort(int* a, int n) { std::qsort(a, n, sizeof(int), compare); }
"""}
HOST_WORK = """#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <vector>
std::vector<float> a(1 << 20), b(a), c(a);
volatile float result;
template <typename Work> void time(Work work) {
  double least = 1e9;
  for (int run = 0; run < 5; ++run) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
    if (time.count() < least) least = time.count();
  }
  std::printf("%f\\n", least);
}
int main() {
  const int n = 256;
  time([] { for (float& each : a) each = std::rand() / (float)RAND_MAX; });
  time([=] {
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) {
        c[i * n + j] = 0;
        for (int k = 0; k < n; ++k) c[i * n + j] += a[i * n + k] * b[k * n + j];
      }
  });
  time([] { result = std::accumulate(a.begin(), a.end(), 0.0f); });
}
"""
HOST = "#include <cstdio>\n#include <cstdlib>\n"
TWICE = """#include <cstdlib>
__device__ int last;
__global__ void twice(const int* in, int* out) { out[threadIdx.x] = 2 * in[threadIdx.x]; }
__global__ void keep(const int* in) { last = *in; }
__global__ void look(const int* in) { if (*in == 5) last = 1; }
int main(int, char** words) {
  int *in, *out, host[32] = {}; cudaMalloc(&in, 128); cudaMalloc(&out, 128);
  twice<<<1, 32>>>(in, out);
  switch (std::atoi(words[1])) {
  CASES
  }
}
"""
FILL, COPY_BACK = "cudaMemset(in, 0, 128);", "cudaMemcpy(host, out, 128, cudaMemcpyDeviceToHost);"
# What follows a launch that reads what nobody has written, and of which kernels that is a finding, and a note.
AFTER_A_READ: dict[str, tuple[str, list[str], list[str]]] = {
    "copied to the host": (COPY_BACK, ["twice"], []),
    "read by a kernel": ("keep<<<1, 1>>>(out);", ["twice"], []),
    "copied to another buffer": ("cudaMemcpy(in, out, 128, cudaMemcpyDeviceToDevice);", ["twice"], []),
    "never used": ("", ["twice"], []),
    "released": ("cudaFree(out);", ["twice"], []),
    "written over in part": (FILL + "twice<<<1, 31>>>(in, out);" + COPY_BACK, ["twice"], []),
    "a part that is not used": ("cudaMemset(out, 0, 64);" + COPY_BACK.replace("128", "64"), ["twice"], []),
    "kept in a variable": ("cudaMemset(out, 0, 128); keep<<<1, 1>>>(in); cudaMemset(in, 0, 128);", ["keep"], ["twice"]),
    "without results": ("cudaMemset(out, 0, 128); look<<<1, 1>>>(in); cudaMemset(in, 0, 128);", ["look"], ["twice"]),
    "read behind what nobody has written": (
        "twice<<<1, 16>>>(in, in + 16); twice<<<1, 32>>>(in, out);" + FILL + "cudaMemset(out, 0, 128);", ["twice"], []),
    "a warm-up": (FILL + "twice<<<1, 32>>>(in, out);" + COPY_BACK, [], ["twice"]),
    "many warm-ups": ("twice<<<1, 32>>>(in, out);" + FILL + "twice<<<1, 32>>>(in, out);" + COPY_BACK, [], ["twice"]),
    "written over by zeros": ("cudaMemset(out, 0, 128);" + COPY_BACK, [], ["twice"]),
    "written over by a copy": ("cudaMemcpy(out, host, 128, cudaMemcpyHostToDevice);" + COPY_BACK, [], ["twice"]),
}


# It prints the values that are wrong.
VALUES_OF_PTX = (REPOSITORY / "tests/emulated/ptx.cu").read_text("utf-8")
# Kernels in PTX that are right, by their numbers.
RIGHT_PTX = """#include <cstdio>
__device__ int data, flag;
__device__ unsigned address_of(const void* shared) {
  unsigned address;
  asm("{ .reg .u64 wide; cvta.to.shared.u64 wide, %1; cvt.u32.u64 %0, wide; }" : "=r"(address) : "l"(shared));
  return address;
}
#define STORE(how, p, x) asm volatile("st." how ".s32 [%0], %1;" ::"l"(p), "r"(x) : "memory")
#define LOAD(how, x, p) asm volatile("ld." how ".s32 %0, [%1];" : "=r"(x) : "l"(p) : "memory")
__global__ void flags(int* out) {  // block 1 waits for what block 0 has released
  int found = 0;
  if (blockIdx.x == 0) {
    STORE("global", &data, 42);
    STORE("release.gpu.global", &flag, 1);
  } else {
    while (found == 0) LOAD("acquire.gpu.global", found, &flag);
    LOAD("global", found, &data);
    *out = found;
  }
}
__global__ void producer(const int* in, int* out) {  // warp 0 fills, warp 1 empties
  __shared__ int tile[32];
  const int lane = threadIdx.x % 32;
  for (int pass = 0; pass < 4; ++pass) {
    if (threadIdx.x < 32) {
      if (pass > 0) asm volatile("bar.sync 2, 64;" ::: "memory");
      tile[lane] = in[32 * pass + lane];
      asm volatile("bar.arrive 1, 64;" ::: "memory");
    } else {
      asm volatile("bar.sync 1, 64;" ::: "memory");
      out[32 * pass + lane] = tile[31 - lane];
      if (pass < 3) asm volatile("bar.arrive 2, 64;" ::: "memory");
    }
  }
}
__global__ void copies(const int4* __restrict__ in, int* out) {
  __shared__ int4 tile[64];
  asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], %2;\\n" ::"r"(address_of(tile + threadIdx.x)),
               "l"(in + threadIdx.x), "n"(16));
  [&] { asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(address_of(tile + 32 + threadIdx.x)),
                     "l"(in + threadIdx.x), "r"(threadIdx.x % 2 ? 4 : 0)); }();
  asm volatile("cp.async.commit_group;");
  asm volatile("cp.async.wait_group 0;");
  __syncthreads();
  out[threadIdx.x] = tile[31 - threadIdx.x].x + tile[63 - threadIdx.x].x;
}
__global__ void bulk(const int* in, int* out) {
  __shared__ alignas(16) int tile[256];
  __shared__ unsigned long long barrier;
  const unsigned object = address_of(&barrier);
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(object), "r"(32));
    asm volatile("fence.mbarrier_init.release.cluster;");
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(object), "r"(1024) : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                     address_of(tile)),
                 "l"(in), "r"(1024), "r"(object)
                 : "memory");
  } else {
    asm volatile("{ .reg .b64 state; mbarrier.arrive.shared::cta.b64 state, [%0]; }" ::"r"(object) : "memory");
  }
  asm volatile("{\\n"
               "  .reg .pred p;\\n"
               "AGAIN:\\n"
               "  mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\\n"
               "  @p bra DONE;\\n"
               "  bra AGAIN;\\n"
               "DONE:\\n"
               "}" ::"r"(object), "r"(0) : "memory");
  out[threadIdx.x] = tile[8 * threadIdx.x];
}
int main() {
  int host[256], *in, *out;
  for (int i = 0; i < 256; ++i) host[i] = i;
  cudaMalloc(&in, sizeof host);
  cudaMalloc(&out, sizeof host);
  cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
  flags<<<2, 1>>>(out);
  cudaMemcpy(host, out, 4, cudaMemcpyDeviceToHost);
  std::printf("%d", host[0]);
  producer<<<1, 64>>>(in, out);
  cudaMemcpy(host, out, 512, cudaMemcpyDeviceToHost);
  std::printf(" %d", host[96]);
  copies<<<1, 32>>>(reinterpret_cast<int4*>(in), out);
  cudaMemcpy(host, out, 128, cudaMemcpyDeviceToHost);
  std::printf(" %d", host[0] + host[1]);
  bulk<<<1, 32>>>(in, out);
  cudaMemcpy(host, out, 128, cudaMemcpyDeviceToHost);
  std::printf(" %d\\n", host[31]);
}
"""


# The last block sets the tickets back by a plain store, behind the atomics of all others: for each number of blocks.
TICKETS = """__device__ unsigned tickets;
__global__ void sum_all(int* partial, int* out) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = 1;
    __threadfence();
    last = atomicAdd(&tickets, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (last) {
    __threadfence();
    int sum = 0;
    for (unsigned k = threadIdx.x; k < gridDim.x; k += blockDim.x) sum += partial[k];
    atomicAdd(out, sum);
    if (threadIdx.x == 0) tickets = 0;
  }
}
int main() {
  int *partial, *out, sum;
  cudaMalloc(&partial, 256); cudaMalloc(&out, 4);
  for (int blocks = 1; blocks <= 64; ++blocks) {
    cudaMemset(out, 0, 4);
    sum_all<<<blocks, 32>>>(partial, out);
    cudaMemcpy(&sum, out, 4, cudaMemcpyDeviceToHost);
    if (sum != blocks) return 1;
  }
}
"""

# With an argument some lines do not wait for the stream that they need. In any case two streams add to one word by
# atomics, and write neighbouring bytes of another, and the default one waits for both.
STREAMS = """#include <cstdio>
__global__ void fill(int* out) { out[threadIdx.x] = 2; }
__global__ void fill(char* out, int n) { if (threadIdx.x < n) out[threadIdx.x] = 1; }
__global__ void sum(const int* in, int* out) { atomicAdd(out, in[threadIdx.x]); }
int main(int words, char**) {
  const bool wrong = words > 1;
  cudaStream_t a, b, apart;
  cudaStreamCreate(&a), cudaStreamCreate(&b), cudaStreamCreateWithFlags(&apart, cudaStreamNonBlocking);
  cudaEvent_t event;
  cudaEventCreate(&event);
  int *in, *out, *more, host[64] = {5};
  cudaMalloc(&in, 256), cudaMalloc(&out, 256);
  cudaMemset(out, 0, 256);
  cudaMemcpyAsync(in, host, 256, cudaMemcpyHostToDevice, a);
  if (!wrong) cudaEventRecord(event, a);
  cudaStreamWaitEvent(b, event);
  sum<<<1, 64, 0, b>>>(in, out);
  sum<<<1, 64, 0, a>>>(in, out);
  fill<<<1, 64>>>(in);
  if (wrong) fill<<<1, 64, 0, apart>>>(in);
  fill<<<1, 3, 0, a>>>(reinterpret_cast<char*>(out + 1), 3);
  fill<<<1, 3, 0, b>>>(reinterpret_cast<char*>(out + 1) + 3, 3);
  cudaMallocAsync(&more, 256, apart);
  fill<<<1, 64, 0, apart>>>(more);
  cudaFreeAsync(more, wrong ? b : apart);
  cudaMemcpy(host, in, 256, cudaMemcpyDeviceToHost);
  std::printf("%d\\n", host[0]);
  cudaDeviceSynchronize();
  fill<<<1, 64, 0, b>>>(in);
}
"""
# Behind the barrier all is right.
NARROW_ATOMICS = """#include <cuda/atomic>
__global__ void k(int* out) {
  __shared__ int own;
  if (threadIdx.x == 0) own = 0;
  atomicAdd_block(&out[0], 1);
  cuda::atomic_ref<int, cuda::thread_scope_block>{out[1]}.fetch_add(1, cuda::memory_order_relaxed);
  asm volatile("red.relaxed.cta.global.add.s32 [%0], 1;" ::"l"(out + 2) : "memory");
  __syncthreads();
  atomicAdd_block(&own, 1);
  atomicAdd_block(&out[4 + blockIdx.x], 1);
  __syncthreads();
  atomicAdd(&out[3], own);
}
int main() { int* out; cudaMalloc(&out, 24); cudaMemset(out, 0, 24); k<<<2, 32>>>(out); }
"""
# libcu++'s words: a flag between blocks, a lock, one in shared memory, and the host's.
ORDERED = """#include <cuda/std/atomic>
#include <cstdio>
using cuda::atomic, cuda::thread_scope_block, cuda::thread_scope_device;
template <typename T> using Word = atomic<T, thread_scope_device>;
__device__ Word<int> count{3};
struct Message { int value; Word<bool> is_there; };
class Lock {
 public:
  __device__ void lock() {
    for (int free = 0; !held_.compare_exchange_weak(free, 1, cuda::std::memory_order_acquire); free = 0) {
    }
  }
  __device__ void unlock() { held_.store(0, cuda::memory_order_release); }
 private:
  Word<int> held_{0};
};
__global__ void k(Message* message, Lock* lock, int* out, float* most) {
  __shared__ atomic<unsigned, thread_scope_block> lanes;
  if (threadIdx.x == 0) lanes.store(0, cuda::memory_order_relaxed);
  __syncthreads();
  lanes |= 1u << threadIdx.x;
  cuda::atomic_ref<float, thread_scope_device>{*most}.fetch_max(threadIdx.x / 2.0f, cuda::memory_order_relaxed);
  __syncthreads();
  if (threadIdx.x > 0) return;
  if (blockIdx.x == 0) {
    message->value = static_cast<int>(lanes.load() >> 28);
    message->is_there.store(true, cuda::memory_order_release);
  }
  while (!message->is_there.load(cuda::memory_order_acquire)) {
  }
  const int value = message->value;
  lock->lock();
  *out += value + count++;
  lock->unlock();
}
int main() {
  Message* message; Lock* lock; int* out; float* most;
  cudaMallocManaged(&message, sizeof *message); cudaMallocManaged(&lock, sizeof *lock);
  cudaMallocManaged(&out, 4); cudaMallocManaged(&most, 4);
  new (message) Message{}; new (lock) Lock; *out = *most = 0;
  k<<<3, 32>>>(message, lock, out, most);
  cudaDeviceSynchronize();
  atomic<long long> own{40};
  own -= 2;
  std::printf("%d %g %d\\n", *out, *most, static_cast<int>(own + message->is_there));
}
"""


def of_ptx(name: str, statement: str, said: str, threads: int = 64) -> "Case":
    """A kernel of one such statement, on the first line."""
    return Case({"a.cu": f"__global__ void k(int* p) {{ int a, b, c, d; {statement} }}\nint main() {{ int* p; "
                         f"cudaMalloc(&p, 256); cudaMemset(p, 0, 256); k<<<1, {threads}>>>(p); }}"},
                ["--quiet", "a.cu"], code=1, said=[f"a.cu:1: {name} in k", said])


@dataclass
class Case:
    files: dict[str, str]
    words: list[str]
    out: str = ""
    code: int = 0
    said: list[str] = field(default_factory=list)  # on stderr
    unsaid: list[str] = field(default_factory=list)
    stdin: str = ""


CASES = {
    "right": Case({"a.cu": RIGHT}, ["a.cu"], "0\n", said=["sum: 1 launch, <<<4, 256>>>; 4 blocks", "shared loads"],
                  unsaid=["error", "note", "warning"]),
    "many findings": Case({"a.cu": RACE.replace("sum<<<", "for (int k = 0; k < 9; ++k) sum<<<")
                           .replace("out[blockIdx.x]", "out[0]")}, ["a.cu"], code=1,
                          out="-1\n", said=["""
a: 2 findings in 9 launches
  a.cu:11: race in sum, 9 launches
  a.cu:4, a.cu:8: race in sum, 9 launches
"""]),
    "values of PTX": Case({"ptx.cu": VALUES_OF_PTX}, ["--quiet", "ptx.cu"]),
    "kernels in PTX": Case({"a.cu": RIGHT_PTX}, ["--quiet", "--schedules=5", "a.cu"], "42 127 368 248\n"),
    "tickets that the last block sets back": Case({"a.cu": TICKETS}, ["--quiet", "--schedules=5", "a.cu"],
                                                  unsaid=["a"]),
    "a relaxed flag": Case({"a.cu": RIGHT_PTX.replace("release.gpu", "relaxed.gpu")}, ["--quiet", "a.cu"],
                           "42 127 368 248\n", 1, said=["race in flags"]),
    "a flag without acquisition": Case({"a.cu": RIGHT_PTX.replace("acquire.gpu", "relaxed.gpu")}, ["--quiet", "a.cu"],
                                       "42 127 368 248\n", 1, said=["missing fence in flags"]),
    "a barrier that nobody empties": Case(
        {"a.cu": RIGHT_PTX.replace('if (pass > 0) asm volatile("bar.sync', 'if (pass > 0) asm volatile("bar.arrive')},
        ["--quiet", "a.cu"], "42 -1 368 248\n", 1, said=["race in producer"]),
    "a copy that nobody waits for": Case({"a.cu": RIGHT_PTX.replace("wait_group 0", "wait_group 1")},
                                         ["--quiet", "a.cu"], code=1, out="42 127 61 248\n",
                                         said=["a.cu:38: thread 31 is copying to it"]),
    "PTX out of bounds": of_ptx(
        "out of bounds", 'asm volatile("ld.global.s32 %0, [%1+256];" : "=r"(a) : "l"(p + threadIdx.x));', "thread 0"),
    "misaligned PTX": of_ptx(
        "misaligned access",
        'asm("ld.global.v4.s32 {%0, %1, %2, %3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "l"(p + 1));',
        "reads 16 bytes"),
    "a race in PTX": of_ptx("race", 'asm volatile("st.global.s32 [%0], %1;" ::"l"(p), "r"(1));', "thread 1 writes it"),
    "too few at a barrier of PTX": of_ptx(
        "deadlock", 'asm volatile("bar.sync 1, 128;");', "of the 128 threads of a barrier 64 have come"),
    "a barrier of PTX for parts of warps": of_ptx("trap", 'asm volatile("bar.sync 1, 40;");', "each for whole warps"),
    "a trap of PTX": of_ptx("trap", 'asm volatile("trap;");', "__trap()"),
    "quiet": Case({"a.cu": RIGHT}, ["a.cu", "--quiet"], "0\n", unsaid=["a"]),
    "without counters": Case({"a.cu": RACE}, ["--counters=off", "a.cu"], "0\n", unsaid=["race", "shared"]),
    "its own exit code": Case(
        {"a.cu": HOST + "int main(int count, char** words) { return std::atoi(words[1]) + count; }"},
        ["a.cu", "--", "5", "--limit"], code=8),
    "a finding leaves the program's own": Case({"a.cu": RACE.replace("sums[3]);", "sums[3]); return 7;")}, ["a.cu"],
                                               "0\n", 7, said=["race"]),
    "stdin": Case({"a.cu": HOST + "int main() { int c; while ((c = std::getchar()) != EOF) std::putchar(c + 1); }"},
                  ["a.cu"], "IBM", stdin="HAL"),
    "a header with a kernel": Case({"a.cu": USES_HEADER, "kernels/fill.cuh": HEADER}, ["a.cu"], "1\n"),
    "the same by -I": Case({"src/a.cu": USES_HEADER, "include/kernels/fill.cuh": HEADER},
                           ["src/a.cu", "-I", "include"], "1\n"),
    "two files of one name, and C++": Case(
        {"x/a.cu": "extern \"C\" __global__ void k() {}\nvoid launch() { k<<<2, 32>>>(); }",
         "y/a.cu": "void launch();\nint twice(int);\nint main() { launch(); return twice(N); }",
         "z.cpp": "int twice(int n) { return 2 * n; }"},
        ["x/a.cu", "y/a.cu", "z.cpp", "-DN=3", "-O3", "-arch=sm_90", "-gencode", "arch=compute_80,code=sm_80",
         "-Xcompiler", "-Wall,-Wextra,-Werror", "--extended-lambda", "-lineinfo", "-lm"], code=6, said=["k: 1 launch"]),
    "what host and device have, each or both": Case({"a.cu": COUNTERPARTS}, ["a.cu"], "55 8 1\n",
                                                    said=["call: 1 launch"], unsaid=["note"]),
    "the host's accesses": Case(
        {"a.cu": HOST_ACCESS}, ["a.cu"], "-1\n3\n7\n4 7\n3\n2\n3\n", 1,
        said=["a.cu:12:", "host access in main: the host reads 4-byte word 5 of a global buffer (10 words)",
              "a.cu:13:", "host access in main: the host writes",
              "a.cu:18:", "missing synchronisation in main: the host reads 4-byte word 3 of managed memory (10 words), "
              "which fill may still be writing",
              "a.cu:19:", "word 0 of the variable both (1 words), which fill may still be writing",
              "a.cu:20:", "missing synchronisation in main: the host writes", "which fill may still be reading",
              "a.cu:23:", "word 0 of the variable count (1 words)",
              "a.cu:24:", "word 1 of the variable factors (4 words)",
              "a.cu:26:", "which a copy may still be writing", "a: 8 findings in 1 launch"]),
    "accesses that the host may make": Case({"a.cu": RIGHT_HOST}, ["a.cu"], "63000 5 64\n", unsaid=["error"]),
    "graphs": Case(
        {"a.cu": GRAPHS}, ["a.cu"], code=1, out="""captured: 4 1, 0 calls
launched: 6, 2 calls
by hand: 6 3 calls
set: 101; of a child: 1006; cudaErrorGraphExecUpdateFailure
cudaErrorStreamCaptureUnsupported, cudaErrorStreamCaptureInvalidated
cudaErrorStreamCaptureImplicit, cudaErrorStreamCaptureUnsupported, cudaErrorStreamCaptureUnjoined
2
2
""", said=["missing synchronisation in read_too_early: the host reads 4-byte word 5 of managed memory",
           "a: 1 finding in", "twice: 2 launches"]),
    "a carry of PTX is its thread's": Case({"a.cu": """
#include <cstdio>
__managed__ unsigned in[128], out[128];
__global__ void add(const unsigned* a, unsigned* sum) {
  const unsigned i = 2 * threadIdx.x;
  asm("add.cc.u32 %0, %1, %1;" : "=r"(sum[i]) : "r"(a[i]));
  asm("addc.u32 %0, %1, %1;" : "=r"(sum[i + 1]) : "r"(a[i + 1]));
}
int main() {
  for (unsigned i = 0; i < 128; i += 4) in[i] = 1U << 31;
  add<<<1, 64>>>(in, out);
  cudaDeviceSynchronize();
  for (unsigned i = 1; i < 128; i += 2) if (out[i] != (i % 4 == 1)) return 1;
}
"""}, ["a.cu", "--schedules", "5"], unsaid=["error"]),
    "a copy of what nothing has written": Case(
        {"a.cu": """struct Padded { double x; int y; };
__global__ void fill(Padded* out, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i].x = out[i].y = 1; }
int main() { Padded *out, host[100]; cudaMalloc(&out, sizeof host);
  fill<<<100 / 64, 64>>>(out, 100);
  cudaMemcpy(host, out, 64 * sizeof(Padded), cudaMemcpyDeviceToHost);
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost); }
"""}, ["a.cu"], said=["a: note: a.cu:7:13: uninitialised read in main: the host by cudaMemcpy() reads 4-byte word 255 "
                      "of a global buffer (400 words), which nothing has written"], unsaid=["error", "a.cu:6"]),
    "streams that wait": Case({"a.cu": STREAMS}, ["--quiet", "a.cu"], "2\n", unsaid=["a"]),
    "streams that do not wait": Case({"a.cu": STREAMS}, ["--quiet", "a.cu", "--", "wrong"], "2\n", 1, said=[
        *(f"a.cu:{place}: missing synchronisation in main: the host starts {what} in another stream may still be {does}"
          for place, what, does in (
              ("17", "sum, which reads 4-byte word 0 of a global buffer (64 words) that a copy", "writing"),
              ("20", "fill, which writes 4-byte word 0 of a global buffer (64 words) that a copy", "writing"),
              ("25:16", "cudaFreeAsync(), which writes 4-byte word 0 of a global buffer (64 words) that fill",
               "writing"),
              ("26:13", "a copy, which reads 4-byte word 0 of a global buffer (64 words) that fill", "writing"))),
        "a: 4 findings in"]),
    "what the runtime has": Case({"a.cu": RUNTIME}, ["a.cu"], OF_THE_RUNTIME, unsaid=["error"]),
    "what a kernel's body says of it, with a toolkit": Case(
        {"a.cu": KERNELS_FACTS}, ["a.cu", "-I", "/usr/local/cuda/include"], """CUDA_ERROR_NOT_FOUND 1
8448 128: 24, 2112 of 128
8448 128: 0, 2112 of 128
48000 1024: 4, 264 of 1024
5
cudaErrorInvalidValue
cudaErrorInvalidValue
""", said=["note: clock64() and its like gave counts of accesses, for the emulated device has no time"]),
    "what is wrong with its calls": Case(
        {"a.cu": RUNTIME}, ["a.cu", "--", "wrong"], OF_THE_RUNTIME.replace("seen:", "too early: 2001\nseen:"), 1,
        said=["missing synchronisation in main: the host reads 4-byte word 2000 of registered memory (4000 words), "
              "which add may still be writing",
              "out of bounds in add: thread 0 of block 0 reads 4 bytes outside of the device's",
              "out of bounds in add, 2 launches"]),  # it is unregistered, and released
    "several host threads, and C++": Case(
        THREADS, ["a.cu", "b.cpp"], "10240 10240 10240 10240 10240 10240 ", 1,
        said=["b.cpp:2:", "host access in compare: the host reads", "b.cpp:3:", "host access in sort", "a.cu:30:",
              "host access in main: the host writes", "a: 3 findings in 60 launches"]),
    "a crash of the host's": Case({"a.cu": HOST + "int main() { int* volatile p = nullptr; return *p; }"}, ["a.cu"],
                                  code=139, said=["a: note: ended by a signal: Segmentation fault"]),
    "helper_cuda.h's questions": Case({"a.cu": """#include <cublas_v2.h>
#include <curand.h>
#if !defined(CUBLAS_API_H_) || !defined(CURAND_H_) || !defined(__DRIVER_TYPES_H__)
#error
#endif
int main() { cublasHandle_t handle; return cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS; }"""}, ["a.cu"]),
    "blanks": Case({"a b/c d.cu": RIGHT}, ["a b/c d.cu"], "0\n"),
    "what nvcc defines": Case(
        {"a.cu": HOST + """#if !defined(__CUDACC__) || __CUDACC_VER_MAJOR__ != 13
#error no nvcc
#endif
__host__ __device__ int where() {
#ifdef __CUDA_ARCH__
  return __CUDA_ARCH__;
#else
  return 1;
#endif
}
__global__ void k(int* out) { *out = where(); }
int main() { int *out, host; cudaMalloc(&out, 4); k<<<1, 1>>>(out);
  cudaMemcpy(&host, out, 4, cudaMemcpyDeviceToHost); std::printf("%d %d\\n", host, where()); }
"""}, ["a.cu"], "750 1\n"),
    "an end before it is known who uses what was read": Case(
        {"a.cu": """__global__ void warm_up(int* x, int* y) { *y = *x; }
__global__ void on(int* z) { *z = 1; }
int main() { int *x, *y, *z; cudaMalloc(&x, 4); cudaMalloc(&y, 4); cudaMalloc(&z, 4);
  warm_up<<<1, 1>>>(x, y); for (;;) on<<<1, 1>>>(z); }
"""}, ["a.cu", "--limit", "1"], code=124, said=["a: note: a.cu:1:48: uninitialised read", "was ended"],
        unsaid=["error"]),
    "static kernels of one name": Case(
        {"a.cu": """#include <cstdio>
static __constant__ int which = 1;
static __global__ void k() { printf("%d", which); }
void a() { k<<<1, 1>>>(); }
""", "b.cu": """#include <cstdio>
static __constant__ int which = 2;
static __global__ void k() { printf("%d", which); }
void a();
int main() { a(); k<<<1, 1>>>(); cudaDeviceSynchronize(); }
"""}, ["a.cu", "b.cu"], "12"),
    "a template with __restrict__": Case(
        {"a.cu": """template <typename T> __global__ void __maxnreg__(64) k(const T* __restrict__ p,
                              T* __restrict__ q) { *q = *p; }
int main() { int *p, *q; cudaMalloc(&p, 4); cudaMalloc(&q, 4); cudaMemset(p, 0, 4); k<<<1, 1>>>(p, q); }
"""}, ["a.cu"], said=["k: 1 launch"], unsaid=["error"]),
    "tables of virtual functions that the host has, too": Case(
        {"a.cu": """struct Shape {
  __device__ virtual int area() const = 0;
  __device__ virtual ~Shape() {}
};
struct Square : Shape {
  __device__ Square(int of_side) : side(of_side) {}
  __device__ int area() const override { return side * side; }
  int side;
};
__global__ void make(Shape** shape, int side) { *shape = new Square(side); }
__global__ void release(Shape** shape) { delete *shape; }
int main() { Shape** shape; cudaMalloc(&shape, 8); make<<<1, 1>>>(shape, 3); release<<<1, 1>>>(shape); }
"""}, ["a.cu"], said=["release: 1 launch"], unsaid=["error"]),
    "a reference to what is managed": Case(
        {"a.cu": """struct Two { int one, other; };
__global__ void k(Two& two, const int& more) { two.other += more; }
int main() { Two* two; cudaMallocManaged(&two, 8); *two = {3, 4}; k<<<1, 1>>>(*two, two->one);
  cudaDeviceSynchronize(); return two->other; }
"""}, ["a.cu"], code=7, unsaid=["error"]),
    "an atomic behind a store of its own thread": Case(
        {"a.cu": """__global__ void k(int* out) { *out = 1; atomicAdd(out, 1); }
int main() { int *out, host; cudaMalloc(&out, 4); k<<<1, 1>>>(out);
  cudaMemcpy(&host, out, 4, cudaMemcpyDeviceToHost); return host; }
"""}, ["a.cu"], code=2, unsaid=["error"]),
    "calls that fail, at which nobody looks": Case(
        {"a.cu": """__global__ void k() {} template <typename T> __global__ void of(T) {}
int main() { int *out, host;
  cudaMalloc(&out, 4);
  cudaMemcpy(&host, out, 4, cudaMemcpyHostToDevice);
  for (int i = 0; i < 3; ++i)
    cudaFree(out);
  k<<<1, 2048>>>();
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaStreamDestroy(stream);
  k<<<1, 1, 0, stream>>>();
  cudaStreamSynchronize(stream);
  of<<<0, 1>>>(1);
  cudaEvent_t begin, end;
  cudaEventCreate(&begin), cudaEventCreate(&end), cudaEventRecord(begin);
  float milliseconds;
  cudaEventElapsedTime(&milliseconds, begin, end);
  of<<<1, 1>>>(1), cudaEventRecord(end);
  cudaEventElapsedTime(&milliseconds, begin, end); }
"""}, ["a.cu"], said=[f"a: note: a.cu:{place}: failed call in main: the host gets cudaError{error}"
                      for place, error in (("4:13", "InvalidValue"), ("6:13", "InvalidValue"),
                                           ("7", "InvalidConfiguration"), ("11", "InvalidResourceHandle"),
                                           ("12:24", "InvalidResourceHandle"), ("13", "InvalidConfiguration"),
                                           ("17:23", "InvalidResourceHandle"), ("19:23", "NotReady"))],
        unsaid=["error: ", "k: 1 launch"]),
    "atomic objects": Case({"a.cu": ORDERED}, ["--quiet", "--schedules=3", "a.cu"], "57 15.5 39\n", unsaid=["a"]),
    "atomic objects whose order is missing": Case(
        {"a.cu": ORDERED.replace("store(true, cuda::memory_order_release", "store(true, cuda::memory_order_relaxed")},
        ["--quiet", "a.cu"], "57 15.5 39\n", 1, said=["race in k"]),
    "atomics that are so within their block only": Case({"a.cu": NARROW_ATOMICS}, ["--quiet", "a.cu"], code=1, said=[
        *(f"a.cu:{place}: race in k: thread 0 of block 0 atomically updates" for place in ("5", "6:59", "7")),
        "`thread_scope_block`", "a: 3 findings in 1 launch"]),
    "a static array of the host's": Case(
        {"a.cu": "int h[32];\n__global__ void k(int* p) { p[threadIdx.x] = 1; }\nint main() { k<<<1, 32>>>(h); }\n"},
        ["a.cu"], code=1, said=["out of bounds in k", "the host's variable h"]),
    "an object that lives longer than main": Case(
        {"a.cu": "struct Buffer { int* p = nullptr; ~Buffer() { cudaFree(p); } } b;\n"
                 "int main() { cudaMalloc(&b.p, 4); }\n"},
        ["a.cu"], unsaid=["error", "signal"]),
    "options of the host's compiler, and C": Case(
        {"a.cu": """#include <cstdio>
extern "C" int* made();
int main() { int sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < 100; ++i) sum += i;
  std::printf("%d %d\\n", sum, *made()); }
""", "b.c": "#include <stdlib.h>\nint* made(void) { int* p = malloc(4); *p = 7; return p; }\n"},
        ["a.cu", "b.c", "-Xcompiler", "-fopenmp -O3", "-fmad=false"], "4950 7\n"),
    "an older standard": Case({"a.cu": RIGHT}, ["-std=c++14", "a.cu"], "0\n", said=["note: -std=c++14"]),
    "volatile without a warning": Case({"a.cu": RIGHT.replace("__shared__ int", "__shared__ volatile int")}, ["a.cu"],
                                       "0\n", unsaid=["warning"]),
    "the lines that cost": Case(COSTLY, ["a.cu"], said=["""
  conflicts  extra sectors  lanes each  source
        155            140        32.0  a.cu:5     tile[i * 32] = in[i * 32];
                        15        16.0  a.cu:7     if (i % 2) out[32 * blockIdx…
         35                       16.0  row.cuh:2  return row[i * 64 % 1024];
"""]),
    "stop": Case({"a.cu": RACE}, ["a.cu", "--stop"], "", 1, said=["race"]),
    "stop where a result is copied": Case({"a.cu": RIGHT.replace("cudaMemset(in, 0, 1024 * sizeof(int));", "")},
                                          ["a.cu", "--stop"], "", 1, said=["uninitialised read in sum"]),
    "so many buffers that what is kept of one begins at a page": Case(
        {"a.cu": """int main() {
  int* buffers[1000];
  for (int*& each : buffers) cudaMalloc(&each, 4);
  for (int* each : buffers) cudaFree(each);
}
"""}, ["a.cu", "--limit", "20"], unsaid=["error", "--limit"]),
    "no time": Case(
        {"a.cu": HOST + "int main() { cudaEvent_t a, b; float ms; cudaEventCreate(&a); cudaEventCreate(&b);"
         "cudaEventRecord(a); cudaEventRecord(b);"
         "std::printf(\"%d\", cudaEventElapsedTime(&ms, a, b)); std::printf(\" %f\\n\", ms); }"},
        ["a.cu"], "0 nan\n", said=["\na: note: cudaEventElapsedTime gave NaN, for the emulated device has no time"]),
}

# What is no program, and the one line that says so, or the compiler's.
NO_PROGRAMS = {
    "empty": ("", "undefined reference to `main'"),
    "library": ("int one() { return 1; }", "undefined reference to `main'"),
    "comment": ("/* int main() {}", "comment.cu:1: error: a comment without its \"*/\""),
    "string": ('int main() { "abc\n}', "string.cu:1: error: a literal without its closing quote"),
    "syntax": ("int main( {}", "syntax.cu:1:13: error: expected ‘)’"),
    "a b": ("int main() { return 0 }", "a b.cu:1:22: error: expected ‘;’"),
    "include": ('#include "nowhere.cuh"', "include.cu:1:10: fatal error: nowhere.cuh: No such file"),
    "directory": ('#include "folder.cu"', "directory.cu:1:10: fatal error: folder.cu: No such file"),
    "end": ("#if 1\nint main() {}", "end.cu:1: error: unterminated #if"),
    "error": ("#error not today", "error.cu:1:2: error: #error not today"),
    "launch": ("__global__ void k() {}\nint main() { k<<<1>>>(); }",
               "launch.cu:2: error: a launch without a grid and a block"),
    "wgmma": ('__global__ void k() {\n  asm volatile("{\\n.reg .pred p;\\n"\n"wgmma.mma_async.sync {};}");\n}',
              "wgmma.cu:2:46: error: static assertion failed: asm: wgmma.mma_async.sync is not modelled"),
    "register": ('__device__ void k(unsigned& x) { asm("mov.u32 %0, %%clock_hi;" : "=r"(x)); }',
                 "register.cu:1:206: error: static assertion failed: asm: %%clock_hi is not modelled"),
    "constraint": ('__device__ void k(float x) { asm("trap;" :: "r"(x)); }',
                   "asm: the type of an operand is not the one"),
    "assembly": ('__global__ void k() { asm("x;"); }',
                 "assembly.cu:1:66: error: static assertion failed: asm: x is not modelled on the emulated device"),
    "managed": ("namespace { struct S { int x; }; }\n__managed__ S s;\n__global__ void k() { s.x = 1; }\nint main() {}",
                "__managed__ s: its type is in an unnamed namespace"),
    "name": ("int main() { return one; }", "name.cu:1:21: error: ‘one’ was not declared"),
    "function": ("void one(); int main() { one(); }", "function.cu:1: undefined reference to `one()'"),
}
WRONG = {
    "": "there is no file to compile",
    "--limit": "--limit needs a number of seconds from 1 to 1000000",
    "--limit=0 a.cu": "--limit is '0'; it can be a number of seconds from 1 to 1000000",
    "--counters maybe a.cu": "--counters is 'maybe'; it can be on or off",
    "--trace page a.cu": "--trace is 'page'; it can be FILE.html[:KERNEL[:LAUNCH[:BLOCK]]]",
    "--trace a.html:sum:0 a.cu": "--trace is 'a.html:sum:0'",
    "--trace=a.html:sum:1:2:3 a.cu": "--trace is 'a.html:sum:1:2:3'",
    "--quiet=1 a.cu": "--quiet takes no value",
    "--sizes a.cu": "there is no option '--sizes'",
    "-c a.cu": "-c is for nvcc",
    "-ptx a.cu": "-ptx is for nvcc",
    "-cubin a.cu": "-cubin is for nvcc",
    "''": "'' is no program",
    ".": "'.' is no program",
    "a.py": "'a.py' is no program",
    "nowhere.cu": "nowhere.cu: error: cannot be read: No such file or directory",
    "folder.cu": "folder.cu: error: is no file",
    "binary.cu": "binary.cu: error: is no text",
    "object.o": "object.o: file format not recognized",
    "-o nowhere/made a.cu": "cannot open output file nowhere/made: No such file or directory",
    "-o folder.cu a.cu": "cannot open output file folder.cu: Is a directory",
    "-o /dev/full a.cu": "No space left on device",
    "-lnowhere a.cu": "cannot find -lnowhere",
    "-D": "-D needs a value",
} | {f"{name}.cu": message for name, (_, message) in NO_PROGRAMS.items()}


@pytest.fixture(autouse=True)
def nothing_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> object:
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    yield
    assert not list(folder.iterdir())


def write(files: dict[str, str], folder: Path) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def test_each_instruction_of_ptx_is_tried() -> None:
    table = (REPOSITORY / "common/emulated/language/ptx_table.hpp").read_text("utf-8")
    names = re.findall(r'^    \{"([\w.]+)", ', table, re.MULTILINE)
    tried = VALUES_OF_PTX + RIGHT_PTX
    assert len(names) > 90 and [name for name in names if not re.search(re.escape(name) + r'[. ";]', tried)] == []


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_programs(case: Case, bin_folder: Path, tmp_path: Path) -> None:
    write(case.files, tmp_path)
    ran = emulate(bin_folder, tmp_path, *case.words, stdin=case.stdin)
    assert (ran.stdout, ran.returncode) == (case.out, case.code), ran.stderr
    assert all(text in ran.stderr for text in case.said), ran.stderr
    assert not any(text in ran.stderr for text in case.unsaid), ran.stderr
    sentences = (" | ", "error: ", "help: ", "note: ")
    assert all(len(line) <= 80 for line in ran.stderr.splitlines() if not any(mark in line for mark in sentences))


def test_reads_of_what_nobody_has_written(bin_folder: Path, tmp_path: Path) -> None:
    cases = "".join(f"case {k}: {rest} break;\n" for k, (rest, _, _) in enumerate(AFTER_A_READ.values()))
    write({"a.cu": TWICE.replace("CASES", cases)}, tmp_path)
    emulate(bin_folder, tmp_path, "a.cu", "-o", "a")
    for k, (name, (_, findings, notes)) in enumerate(AFTER_A_READ.items()):
        ran = subprocess.run(["./a", str(k)], cwd=tmp_path, capture_output=True, text=True)
        told = re.findall(r"(error|note): .*uninitialised read in (\w+): thread 0 of block 0 reads", ran.stderr)
        assert sorted(told) == [("error", each) for each in findings] + [("note", each) for each in notes], name
        assert ran.returncode == bool(findings) and ran.stderr.count("it was written over") == len(notes), name
    quiet = subprocess.run(["./a", "10"], cwd=tmp_path, capture_output=True, text=True,
                           env=os.environ | {"EMULATE": "quiet\n"})
    assert (quiet.returncode, quiet.stderr) == (0, "")


def test_what_has_no_place_in_a_kernel(bin_folder: Path, tmp_path: Path) -> None:
    write({"a.cu": OUT_OF_PLACE}, tmp_path)
    emulate(bin_folder, tmp_path, "a.cu", "-o", "a")
    for mode, (out, code, said) in enumerate(DONE_OUT_OF_PLACE):
        ran = subprocess.run(["./a", str(mode)], cwd=tmp_path, capture_output=True, text=True)
        assert (ran.stdout, ran.returncode) == (out, code), (mode, ran.stderr)
        assert all(ran.stderr.count(text) == 1 for text in [*said, "set: "]), (mode, ran.stderr)
        assert ran.stderr.count("error: ") == code % 5, (mode, ran.stderr)


@pytest.mark.parametrize("words", WRONG)
def test_what_is_wrong(words: str, bin_folder: Path, tmp_path: Path, cmake_cache: dict[str, str]) -> None:
    write({"a.cu": RIGHT, "a.py": "print(1)", "object.o": "int main() {}"} |
          {f"{name}.cu": text for name, (text, _) in NO_PROGRAMS.items()}, tmp_path)
    (tmp_path / "folder.cu").mkdir()
    (tmp_path / "binary.cu").write_bytes(b"\x7fELF\0\0")
    before = sorted(tmp_path.iterdir())
    ran = emulate(bin_folder, tmp_path, *([words] if words == "a b.cu" else shlex.split(words)))
    assert ran.returncode == 2 and not ran.stdout
    is_from_clang = "clang" in cmake_cache["CMAKE_CXX_COMPILER"] and f"{words}:1:" in ran.stderr
    assert is_from_clang or ran.stderr.count(WRONG[words]) == 1, ran.stderr
    assert sorted(tmp_path.iterdir()) == before


def test_where_nothing_can_be_written(bin_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write({"a.cu": RIGHT}, tmp_path)
    ran = emulate(bin_folder, tmp_path, "a.cu", "--json", "/dev/full")
    assert (ran.stdout, ran.returncode) == ("0\n", 2) and "/dev/full cannot be written" in ran.stderr
    monkeypatch.setenv("TMPDIR", str(tmp_path / "nowhere"))
    ran = emulate(bin_folder, tmp_path, "a.cu")
    assert ran.returncode == 2
    assert ran.stderr == "emulate: error: there is no folder for temporary files: set TMPDIR to one\n"


def test_two_at_once(bin_folder: Path, tmp_path: Path) -> None:
    write({"a.cu": RIGHT}, tmp_path)
    running = [subprocess.Popen([bin_folder / "emulate", "a.cu", "--quiet"], cwd=tmp_path, stdout=subprocess.PIPE,
                                text=True) for _ in range(2)]
    assert [process.communicate(timeout=100)[0] for process in running] == ["0\n", "0\n"]


def test_time_of_host_code(bin_folder: Path, tmp_path: Path, cmake_cache: dict[str, str]) -> None:
    """A product of matrices, an array that is filled, and a sum cost as much as without a device."""
    write({"a.cu": HOST_WORK}, tmp_path)
    compiler = cmake_cache["CMAKE_CXX_COMPILER"]
    subprocess.run([compiler, "-O2", "-x", "c++", "-std=c++20", "a.cu", "-o", "plain"], cwd=tmp_path, check=True)
    emulate(bin_folder, tmp_path, "a.cu", "-o", "emulated")
    plain, emulated = (
        [float(seconds) for seconds in subprocess.run([f"./{name}"], cwd=tmp_path, capture_output=True,
                                                      text=True).stdout.split()]
        for name in ("plain", "emulated"))
    assert all(here <= 5 * there for here, there in zip(emulated, plain, strict=True)), (emulated, plain)


def test_the_ends_of_a_long_program(bin_folder: Path, tmp_path: Path) -> None:
    write({"a.cu": SLOW}, tmp_path)
    limited = emulate(bin_folder, tmp_path, "a.cu", "--limit", "1")
    assert limited.returncode == 124 and "ended by --limit" in limited.stderr and "slow: 1 launch" in limited.stderr
    with subprocess.Popen([bin_folder / "emulate", "a.cu"], cwd=tmp_path, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, start_new_session=True) as running:
        assert running.stdout is not None and running.stdout.readline() == "begun\n"
        time.sleep(0.5)
        os.killpg(running.pid, signal.SIGINT)  # as a terminal does
        said = running.communicate(timeout=60)[1]
    assert running.returncode == 130 and "interrupted" in said and "slow: 1 launch" in said


def test_progress_is_for_a_terminal(bin_folder: Path, tmp_path: Path) -> None:
    write({"a.cu": SLOW.replace("k < 100", "k < 100000").replace("1 << 20, 1", "1 << 10, 1")}, tmp_path)
    command = f"'{bin_folder}/emulate' a.cu --limit 4 >/dev/null"
    assert b"blocks after" not in subprocess.run(command, shell=True, cwd=tmp_path, capture_output=True).stderr
    said, code = on_terminal(command, tmp_path)
    assert code == 124 and re.search(r"\r\x1b\[Kslow: \d+ of 1024 blocks after 2 s", said), said
    assert said.index("\r\x1b[Ka: note: ended by --limit") > said.rindex("blocks after"), said


def test_gdb(bin_folder: Path, tmp_path: Path) -> None:
    if shutil.which("gdb") is None or subprocess.run(
            ["gdb", "-batch", "-ex", "run", "true"], capture_output=True).returncode != 0:
        pytest.skip("needs gdb")
    write({"a.cu": RIGHT}, tmp_path)
    assert emulate(bin_folder, tmp_path, "a.cu", "-g", "-o", "a").returncode == 0
    asked = ["break a.cu:8 if threadIdx.x == 3 && blockIdx.x == 2", "run", "print threadIdx", "print stride",
             "print index", "print in != 0", "print tile[0]", "delete", "continue"]
    ran = subprocess.run(["gdb", "-batch", *(word for each in asked for word in ("-ex", each)), "a"], cwd=tmp_path,
                         capture_output=True, text=True, timeout=100)
    for text in ("a.cu:8\n8\t    if (index < 256)", "$1 = {x = 3, y = 0, z = 0}", "$2 = 1\n", "$3 = 6\n", "$4 = true",
                 "$5 = 0\n", "exited normally"):
        assert text in ran.stdout, ran.stdout + ran.stderr


def test_the_command_where_it_is_built(bin_folder: Path, tmp_path: Path) -> None:
    """In the caller's folder, by a link, from a checkout whose path has a blank."""
    built = tmp_path / "a checkout/build/bin"
    built.mkdir(parents=True)
    for file in bin_folder.glob("emulate*"):
        (built / file.name).symlink_to(file)
    (built / "emulate.built").touch()
    shutil.copy(REPOSITORY / "emulate", tmp_path / "a checkout")
    (tmp_path / "command").symlink_to(tmp_path / "a checkout/emulate")
    write({"here/a.cu": RIGHT}, tmp_path)
    ran = subprocess.run(["../command", "a.cu"], cwd=tmp_path / "here", capture_output=True, text=True)
    assert (ran.returncode, ran.stdout) == (0, "0\n"), ran.stderr


def test_a_project_with_the_installed_command(build_folder: Path, tmp_path: Path) -> None:
    """A change of a header with a kernel is compiled."""
    folder, built = tmp_path / "project", tmp_path / "built"
    prefix = tmp_path / "pre fix"
    succeed("cmake", "--install", build_folder, "--component", "emulate", "--prefix", prefix)
    write({"CMakeLists.txt": PROJECT, "src/a.cu": USES_HEADER, "include/kernels/fill.cuh": HEADER}, folder)
    succeed("cmake", "-S", folder, "-B", built, f"-DCMAKE_PREFIX_PATH={prefix}")
    for one in ("1", "2"):
        write({"include/kernels/fill.cuh": HEADER.replace("one = 1", f"one = {one}")}, folder)
        succeed("cmake", "--build", built)
        assert f"\n1: {one}\n" in succeed("ctest", "--test-dir", built, "-V")


def test_json_of_lines(bin_folder: Path, tmp_path: Path) -> None:
    write(COSTLY, tmp_path)
    emulate(bin_folder, tmp_path, "a.cu", "--quiet", "--json", "a.json")
    [kernel] = json.loads((tmp_path / "a.json").read_text())["kernels"]
    assert (kernel["nsight_compute"]["l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"] ==
            kernel["counters"]["shared_load_wavefronts"])
    lines = kernel["lines"]
    assert [(Path(line["file"]).name, line["line"]) for line in lines] == [("a.cu", 5), ("a.cu", 7), ("row.cuh", 2)]
    assert [line["code"] for line in lines][2] == "return row[i * 64 % 1024];"
    assert [line["nsight_compute"]["memory_l1_wavefronts_shared_ideal"] for line in lines] == [5, 0, 5]
    assert [line["nsight_compute"]["memory_l2_theoretical_sectors_global"] for line in lines] == [160, 30, 0]
    assert [line["nsight_compute"]["memory_l2_theoretical_sectors_global_ideal"] for line in lines] == [20, 15, 0]
    for name, count in kernel["counters"].items():
        if name.endswith(("requests", "wavefronts", "conflicts", "sectors", "lanes")):
            assert sum(line["counters"][name] for line in lines) == count, name


@pytest.mark.parametrize("choice, kernel, launch, block", [
    ("", "reverse", 3, 2), (":reverse:2", "reverse", 3, 2), (":fill", "fill", 1, 0), ("::2", "reverse", 2, 0),
    (":reverse:1:1", "reverse", 2, 1), (":reverse::1", "reverse", 2, 1)])
def test_trace(choice: str, kernel: str, launch: int, block: int, bin_folder: Path, tmp_path: Path) -> None:
    """Of the block with the finding, or of what is chosen."""
    write({"a.cu": RACE_IN_BLOCK_2}, tmp_path)
    ran = emulate(bin_folder, tmp_path, "a.cu", "--quiet", "--trace", "a.json" + choice)
    assert (ran.returncode, ran.stdout) == (1, "ran\n") and ran.stderr.count("race in reverse") == 1
    assert f"a.json: block {block} of launch " in ran.stderr
    trace = json.loads((tmp_path / "a.json").read_text())
    assert (trace["kernel"], trace["launch"]["number"], trace["block"]) == (kernel, launch, block)
    has_finding = (launch, block) == (3, 2)
    assert [finding["witnesses"][0]["event"] is not None for finding in trace["findings"]] == [True] * has_finding


def test_values_of_a_trace(bin_folder: Path, tmp_path: Path) -> None:
    """They have no type here: what they are written as follows from their bits."""
    of_pairs = "__shared__ float2 pairs[64]; pairs[threadIdx.x] = make_float2(threadIdx.x + 0.5f, 1.5f);"
    write({"a.cu": RACE_IN_BLOCK_2.replace("if (blockIdx.x != 2)", of_pairs)}, tmp_path)
    assert emulate(bin_folder, tmp_path, "a.cu", "--trace", "a.html:reverse").returncode == 0
    page = (tmp_path / "a.html").read_text()
    [text] = re.findall('<script type="application/json" id="traces">(.*?)</script>', page, re.DOTALL)
    [trace] = json.loads(text)
    values = [event["values"][:2] for event in trace["events"] if event.get("warp") == 0 and "values" in event]
    assert values == [[0.5, 1.5], [0.5, 1.5], [[0.5, 1.5], [1.5, 1.5]], [63.5, 62.5], [-63, -62]]


def test_other_orders(bin_folder: Path, tmp_path: Path) -> None:
    """Only where the thread with the flag comes first, the other one reads what nothing orders."""
    write({"a.cu": """#include <cstdio>
__global__ void k(int* out) {
  __shared__ int flag, data;
  if (threadIdx.x == 0) flag = data = 0;
  __syncthreads();
  if (threadIdx.x == 33) { data = 1; atomicExch(&flag, 1); }
  if (threadIdx.x == 0 && atomicAdd(&flag, 0) == 1) *out = data;
}
int main() { int* out; cudaMalloc(&out, 4); cudaMemset(out, 0, 4); k<<<1, 64>>>(out); std::puts("ran"); }
"""}, tmp_path)
    assert emulate(bin_folder, tmp_path, "a.cu").returncode == 0
    ran = emulate(bin_folder, tmp_path, "a.cu", "--schedules", "5", "--json", "a.json", "--trace", "trace.json")
    assert (ran.stdout, ran.returncode) == ("ran\n", 1) and ran.stderr.count("race in k") == 1
    [finding] = json.loads((tmp_path / "a.json").read_text())["findings"]
    assert [witness["line"] for witness in finding["witnesses"]] == [7, 6]
    assert "race" in json.loads((tmp_path / "trace.json").read_text())["findings"][0]["text"]
