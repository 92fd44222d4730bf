"""NVIDIA's libraries in programs of `./emulate`: their values, and what is said of wrong calls."""

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from conftest import emulate

pytestmark = pytest.mark.usefixtures("without_sanitizers")

BEGIN = """#include <cstdio>
#include <cstdlib>
#include <vector>
template <typename T> T* on_device(const std::vector<T>& host) {
  T* device;
  cudaMalloc(&device, host.size() * sizeof(T));
  cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice);
  return device;
}
template <typename T> std::vector<T> on_host(const T* device, int n) {
  std::vector<T> host(n);
  cudaMemcpy(host.data(), device, n * sizeof(T), cudaMemcpyDeviceToHost);
  return host;
}
template <typename T> void print(const std::vector<T>& values) {
  for (T value : values) std::printf("%.6g ", double(value));
  std::puts("");
}
"""
RAND_IN_KERNELS = """#include <curand_kernel.h>
template <typename State> __global__ void begin(State* states) {
  curand_init(1234, threadIdx.x, 1, &states[threadIdx.x]);
}
template <typename State> __global__ void draw(State* states, float* out) {
  State state = states[threadIdx.x];
  float* own = out + 3 * threadIdx.x;
  own[0] = curand_uniform(&state);
  own[1] = curand_normal(&state);
  own[2] = curand_poisson(&state, 3.5);
  states[threadIdx.x] = state;
}
template <typename State> void show() {
  State* states; cudaMalloc(&states, 2 * sizeof(State));
  float* out; cudaMalloc(&out, 6 * sizeof(float));
  BEGIN<<<1, 2>>>(states);
  draw<<<1, 2>>>(states, out);
  print(on_host(out, 6));
}
int main() { show<curandState>(); show<curandStatePhilox4_32_10_t>(); show<curandStateMRG32k3a_t>(); }
"""
RAND_OF_HOST = """#include <curand.h>
int main() {
  for (auto type : {CURAND_RNG_PSEUDO_XORWOW, CURAND_RNG_PSEUDO_PHILOX4_32_10, CURAND_RNG_PSEUDO_MRG32K3A}) {
    curandGenerator_t generator;
    curandCreateGenerator(&generator, type);
    curandSetPseudoRandomGeneratorSeed(generator, 1234);
    float* out; cudaMalloc(&out, 8196 * sizeof(float));
    int status = curandGenerateUniform(generator, out, COUNT);
    if (status != 0) std::printf("%d\\n", status);
    auto host = on_host(out, 8196);
    print(std::vector<float>{host[0], host[1], host[4096], host[8194]});
    curandDestroyGenerator(generator);
  }
}
"""

# A block of 80 threads, whose last warp is a half one, and a row of 100 elements.
CUB_OF_BLOCKS = """#include <cub/cub.cuh>
struct Running { int sum; __device__ int operator()(int all) { int before = sum; sum += all; return before; } };
template <cub::BlockLoadAlgorithm load, cub::BlockStoreAlgorithm store> __global__ void all(const int* in, int* out) {
  using Load = cub::BlockLoad<int, 20, 3, load, 4>;
  using Store = cub::BlockStore<int, 20, 3, store, 4>;
  using Reduce = cub::BlockReduce<int, 20, cub::BLOCK_REDUCE_RAKING, 4>;
  using Scan = cub::BlockScan<int, 20, cub::BLOCK_SCAN_WARP_SCANS, 4>;
  using Sort = cub::BlockRadixSort<int, 20, 3, int, 4, true, cub::BLOCK_SCAN_WARP_SCANS, 0, 4>;
  __shared__ typename Load::TempStorage loading;
  __shared__ typename Store::TempStorage storing;
  __shared__ typename Reduce::TempStorage reducing;
  __shared__ typename Scan::TempStorage scanning;
  __shared__ typename Sort::TempStorage sorting;
  int thread = threadIdx.x + 20 * threadIdx.y, items[3], sums[3], all_of_block;
  Load(loading).Load(in, items, 100, -1);
  int sum = Reduce(reducing).Sum(items);
  BARRIER
  int most = Reduce(reducing).Reduce(items[0], cub::Max(), 33);
  if (thread == 0) { out[0] = sum; out[1] = most; }
  Scan(scanning).ExclusiveSum(items, sums, all_of_block);
  if (thread == 79) { out[2] = sums[0]; out[3] = all_of_block; }
  __syncthreads();
  Running running{1000};
  Scan(scanning).InclusiveSum(items[0], sums[0], running);
  if (thread == 79) out[4] = sums[0];
  int places[3] = {3 * thread, 3 * thread + 1, 3 * thread + 2};
  Sort(sorting).SortDescending(items, places);
  if (thread == 0) { out[5] = items[0]; out[6] = places[0]; out[7] = places[1]; }
  Store(storing).Store(out + 8, items, 100);
}
__global__ void of_warp(const int* in, int* out) {
  using Reduce = cub::WarpReduce<int, 16>;
  using Scan = cub::WarpScan<int>;
  __shared__ Reduce::TempStorage reducing[2];
  __shared__ Scan::TempStorage scanning;
  int least = Reduce(reducing[threadIdx.x / 16]).Reduce(in[threadIdx.x], cub::Min(), 5), before, all_of_warp;
  Scan(scanning).ExclusiveScan(in[threadIdx.x], before, 7, cub::Sum(), all_of_warp);
  if (threadIdx.x == 16) { out[0] = least; out[1] = before; out[2] = all_of_warp; }
}
int main() {
  std::vector<int> row(100);
  for (int i = 0; i < 100; ++i) row[i] = i * 37 % 91 - 20;
  int *in = on_device(row), *out = on_device(std::vector<int>(108));
  all<cub::BLOCK_LOAD_DIRECT, cub::BLOCK_STORE_DIRECT><<<1, dim3(20, 4)>>>(in, out);
  print(on_host(out, 12));
  all<cub::BLOCK_LOAD_TRANSPOSE, cub::BLOCK_STORE_TRANSPOSE><<<1, dim3(20, 4)>>>(in, out);
  print(on_host(out, 12));
  all<cub::BLOCK_LOAD_WARP_TRANSPOSE, cub::BLOCK_STORE_STRIPED><<<1, dim3(20, 4)>>>(in, out);
  print(on_host(out, 12));
  of_warp<<<1, 32>>>(in, out);
  print(on_host(out, 3));
}
"""

THRUST = """#include <iostream>
#include <thrust/adjacent_difference.h>
#include <thrust/device_vector.h>
#include <thrust/distance.h>
#include <thrust/execution_policy.h>
#include <thrust/extrema.h>
#include <thrust/for_each.h>
#include <thrust/host_vector.h>
#include <thrust/inner_product.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/reduce.h>
#include <thrust/remove.h>
#include <thrust/scan.h>
#include <thrust/sequence.h>
#include <thrust/set_operations.h>
#include <thrust/sort.h>
#include <thrust/transform_reduce.h>
#include <thrust/unique.h>
struct Square { __device__ float operator()(const float& x) { return x * x; } };
struct Odd { __host__ __device__ bool operator()(int x) { return x & 1; } };
struct Fused {
  template <typename Tuple> __device__ void operator()(Tuple t) {
    thrust::get<2>(t) = thrust::get<0>(t) * thrust::get<1>(t) + 1;
  }
};
template <typename Vector> void show(const Vector& values) {
  thrust::copy(values.begin(), values.end(), std::ostream_iterator<float>(std::cout, " "));
  std::cout << std::endl;
}
int main() {
  using namespace thrust::placeholders;
  thrust::host_vector<int> host(7);
  for (int i = 0; i < 7; ++i) host[i] = i * 5 % 7;
  thrust::device_vector<int> keys = host, values(7), sums(7), heads(7);
  thrust::sequence(values.begin(), values.end(), 10);
  thrust::sort_by_key(keys.begin(), keys.end(), values.begin());
  show(values);
  thrust::sort(values.begin(), values.end(), [] __device__ (int a, int b) { return a % 4 < b % 4; });
  show(values);
  thrust::transform(values.begin(), values.end(), keys.begin(), 2 * _1 % 4);
  auto ends = thrust::reduce_by_key(keys.begin(), keys.end(), values.begin(), heads.begin(), sums.begin());
  thrust::iterator_difference<decltype(ends.first)>::type found = thrust::distance(heads.begin(), ends.first);
  std::cout << found << ' ' << sums[0] << ' ' << heads[1] << std::endl;
  thrust::adjacent_difference(keys.begin(), keys.end(), keys.begin(), [] __device__ (int a, int b) { return a - b; });
  show(keys);
  thrust::exclusive_scan(values.begin(), values.end(), sums.begin(), 100);
  show(sums);
  thrust::device_vector<float> x(4), y(4, 3), z(4);
  thrust::sequence(x.begin(), x.end());
  thrust::for_each(thrust::make_zip_iterator(thrust::make_tuple(x.begin(), y.begin(), z.begin())),
                   thrust::make_zip_iterator(thrust::make_tuple(x.end(), y.end(), z.end())), Fused());
  std::cout << thrust::transform_reduce(z.begin(), z.end(), Square(), 0.0f, thrust::plus<float>()) << ' '
            << thrust::inner_product(x.begin(), x.end(), z.begin(), 0.0f) << ' '
            << *thrust::max_element(z.begin(), z.end()) << ' '
            << thrust::reduce(values.begin(), values.end()) << std::endl;
  values.erase(thrust::remove_if(values.begin(), values.end(), Odd()), values.end());
  values.push_back(7);
  values[0] += 1;
  show(values);
  int* raw = thrust::raw_pointer_cast(values.data());
  thrust::sort(thrust::device, raw, raw + COUNT, thrust::greater<int>());
  show(values);
  int* sum = thrust::raw_pointer_cast(sums.data());
  thrust::for_each(thrust::counting_iterator<int>(0), thrust::counting_iterator<int>(9),
                   [=] __device__ (int i) { ADD; });
  std::cout << sums[0] << std::endl;
}
"""

# Each algorithm is asked for its storage first.
CUB_OF_DEVICE = """#include <cub/cub.cuh>
#define RUN(algorithm, ...)                                              \\
  {                                                                      \\
    void* storage = nullptr;                                             \\
    size_t bytes = 0;                                                    \\
    cub::algorithm(storage, bytes, __VA_ARGS__);                         \\
    cudaMalloc(&storage, bytes);                                         \\
    cub::algorithm(storage, bytes, __VA_ARGS__);                         \\
    cudaFree(storage);                                                   \\
  }
struct Above { int limit; __device__ bool operator()(int x) const { return x > limit; } };
int main() {
  int* in = on_device(std::vector<int>{8, 6, 7, 5, 3, 0, 9, 5});
  int *out = on_device(std::vector<int>(8)), *places = on_device(std::vector<int>(8));
  int* count = on_device(std::vector<int>(1));
  int *order = on_device(std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7}), *begins = on_device(std::vector<int>{0, 3, 3, 8});
  RUN(DeviceReduce::Sum, in, out, 8) print(on_host(out, 1));
  RUN(DeviceReduce::Reduce, in, out, 8, cub::Min(), 100) print(on_host(out, 1));
  RUN(DeviceScan::ExclusiveSum, in, out, 8) print(on_host(out, 8));
  RUN(DeviceRadixSort::SortPairs, in, out, order, places, 8) print(on_host(places, 8));
  RUN(DeviceRadixSort::SortKeysDescending, in, out, 8) print(on_host(out, 8));
  RUN(DeviceSelect::If, in, out, count, 8, Above{5}) print(on_host(count, 1));
  RUN(DeviceRunLengthEncode::Encode, begins, out, places, count, 4) print(on_host(places, 3));
  RUN(DeviceHistogram::HistogramEven, in, out, 4, 0, 9, 8) print(on_host(out, 3));
  RUN(DeviceSegmentedReduce::Sum, in, out, 3, begins, begins + 1) print(on_host(out, 3));
}
"""
BLAS = """#include <cublasLt.h>
#include <cublas_v2.h>
int main() {
  cublasHandle_t blas;
  cublasCreate(&blas);
  float two = 2, less = -1, one = 1, zero = 0, result;
  float *a = on_device(std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  float* x = on_device(std::vector<float>{2, -2});
  float *b = on_device(std::vector<float>{-3, -2, -1, 0, 1, 2, 3, 4}), *c = on_device(std::vector<float>(6, 1));
  int status = cublasSgemm(blas, CUBLAS_OP_N, CUBLAS_OP_N, 3, 2, 4, &two, a, LEADING, b, 4, &less, c, 3);
  if (status != 0) std::printf("%d\\n", status);
  print(on_host(c, 6));
  cublasSgemm(blas, CUBLAS_OP_T, CUBLAS_OP_T, 3, 2, 4, &two, a, 4, b, 2, &less, c, 3);
  print(on_host(c, 6));
  float* y = on_device(std::vector<float>(3));
  cublasSgemv(blas, CUBLAS_OP_N, 3, 2, &one, a, 3, x, 1, &zero, y, 1);
  print(on_host(y, 3));
  cublasSger(blas, 3, 2, &one, y, 1, x, 1, a, 3);
  print(on_host(a, 6));
  cublasSgeam(blas, CUBLAS_OP_T, CUBLAS_OP_N, 2, 3, &one, a, 3, &zero, nullptr, 2, c, 2);
  print(on_host(c, 6));
  cublasSdot(blas, 2, b, 2, x, 1, &result);
  int place;
  cublasIsamax(blas, 8, b, 1, &place);
  std::printf("%g %d\\n", result, place);
  float *lower = on_device(std::vector<float>{2, 1, 0, 3}), *right = on_device(std::vector<float>{4, 8, 2, 7});
  cublasStrsm(blas, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, CUBLAS_DIAG_NON_UNIT, 2, 2, &one, lower, 2,
              right, 2);
  print(on_host(right, 4));
  cublasSetPointerMode(blas, CUBLAS_POINTER_MODE_DEVICE);
  cublasSnrm2(blas, 2, x, 1, y);
  cublasSaxpy(blas, 3, y, a, 1, c, 1);
  print(on_host(c, 3));
  std::vector<half> small(4);
  for (int i = 0; i < 4; ++i) small[i] = __float2half(i + 1);
  half* h = on_device(small);
  cublasSetPointerMode(blas, CUBLAS_POINTER_MODE_HOST);
  cublasGemmEx(blas, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, &one, h, CUDA_R_16F, 2, h, CUDA_R_16F, 2, &zero, c,
               CUDA_R_32F, 2, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
  print(on_host(c, 4));
  cublasLtMatmulDesc_t product;
  cublasLtMatmulDescCreate(&product, CUBLAS_COMPUTE_32F, CUDA_R_32F);
  cublasOperation_t transposed = CUBLAS_OP_T;
  cublasLtMatmulDescSetAttribute(product, CUBLASLT_MATMUL_DESC_TRANSA, &transposed, sizeof transposed);
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_RELU_BIAS;
  cublasLtMatmulDescSetAttribute(product, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue);
  cublasLtMatmulDescSetAttribute(product, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &x, sizeof x);
  cublasLtMatrixLayout_t square;
  cublasLtMatrixLayoutCreate(&square, CUDA_R_32F, 2, 2, 2);
  cublasLtHandle_t lt;
  cublasLtCreate(&lt);
  cublasLtMatmul(lt, product, &one, lower, square, b + 4, square, &zero, c, square, c, square, nullptr, nullptr, 0,
                 nullptr);
  print(on_host(c, 4));
}
"""
FFT = """#include <cufft.h>
#include <cmath>
template <typename T> void show(T value) {
  std::printf("%ld %ld, ", std::lround(100 * value.x), std::lround(100 * value.y));
}
int main() {
  cufftHandle plan, rows, back;
  cufftComplex* x = on_device(std::vector<cufftComplex>{{1, 0}, {2, 1}, {0, 3}, {1, 1}, {4, 0}, {0, 2}});
  cufftPlan1d(&plan, SIZE, CUFFT_C2C, 1);
  cufftExecC2C(plan, x, x, CUFFT_FORWARD);
  for (auto value : on_host(x, 6)) show(value);
  cufftExecC2C(plan, x, x, CUFFT_INVERSE);
  for (auto value : on_host(x, 2)) show(value);
  double* real = on_device(std::vector<double>{1, 5, 2, 7, 3, 4});
  cufftDoubleComplex* half = on_device(std::vector<cufftDoubleComplex>(4));
  cufftPlan2d(&rows, 2, 3, CUFFT_D2Z);
  cufftPlan2d(&back, 2, 3, CUFFT_Z2D);
  cufftExecD2Z(rows, real, half);
  for (auto value : on_host(half, 4)) show(value);
  cufftExecZ2D(back, half, real);
  std::puts("");
  print(on_host(real, 6));
}
"""


@dataclass
class Case:
    program: str
    printed: str
    said: list[str] = field(default_factory=list)  # none: there is no finding
    replaced: tuple[str, str] = ("", "")


# What NVIDIA's libraries print, where there is no finding.
CASES = {
    "cuRAND in kernels": Case(RAND_IN_KERNELS, "0.434899 0.146282 4 0.926417 -0.270872 1 \n"
                              "0.853469 -1.56054 3 0.324165 0.254343 0 \n0.58717 1.74795 5 0.673102 -0.353967 3 \n",
                              replaced=("BEGIN", "begin")),
    "states that nobody has begun": Case(
        RAND_IN_KERNELS, "", ["uninitialised read in draw: thread 0 of block 0 reads"],
        ("BEGIN<<<1, 2>>>(states);", "")),
    "cuRAND": Case(RAND_OF_HOST, "0.145468 0.820181 0.434899 0.78264 \n0.127208 0.853469 0.478122 0.816564 \n"
                   "0.786752 0.152112 0.58717 0.418846 \n", replaced=("COUNT", "8195")),
    "cuRAND behind the end": Case(
        RAND_OF_HOST, "", ["out of bounds in main: the host by curandGenerateUniform() writes 4-byte word 8196"],
        ("COUNT", "8200")),
    "Thrust": Case(THRUST.replace("COUNT", "values.size()"),
                   "10 13 16 12 15 11 14 \n16 12 13 10 14 15 11 \n4 28 2\n0 0 2 -2 0 2 0 \n"
                   "100 116 128 141 151 165 180 \n166 48 10 91\n"
                   "17 12 10 14 7 \n17 14 12 10 7 \n136\n", replaced=("ADD", "atomicAdd(sum, i)")),
    "Thrust's functor races": Case(THRUST.replace("COUNT", "values.size()"), "", ["race in element_of_algorithm"],
                                   ("ADD", "*sum += i")),
    "Thrust behind the end": Case(THRUST.replace("ADD", "atomicAdd(sum, i)"), "", [
        "out of bounds in main: the host by thrust::sort() reads 4-byte word 7 of a global buffer (7 words)"],
        ("COUNT", "8")),
    "CUB on the device": Case(CUB_OF_DEVICE, "43 \n0 \n0 8 14 21 26 29 29 38 \n5 4 3 7 1 2 0 6 \n9 8 7 6 5 5 3 0 \n4 \n"
                              "1 2 1 \n1 3 3 \n21 0 22 \n"),
    "cuBLAS": Case(BLAS, "-37 -49 -61 139 159 179 \n57 69 81 -99 -87 -75 \n-6 -6 -6 \n-11 -10 -9 16 17 18 \n"
                   "-11 16 -10 17 -9 18 \n-4 8\n2 2 1 2 \n-42.1127 -12.2843 -35.4558 \n7 10 15 22 \n6 4 12 10 \n",
                   replaced=("LEADING", "3")),
    "cuBLAS by the other order": Case(
        BLAS, "", ["out of bounds in main: the host by cublasSgemm() reads 4-byte word 12"],
        ("LEADING", "4")),
    "cuBLAS of unwritten elements": Case(
        BLAS.replace("LEADING", "3"), "",
        ["uninitialised read in main: the host by cublasSgemv() reads 4-byte word 0"],
        ("on_device(std::vector<float>{2, -2})", "nullptr;\n  cudaMalloc(&x, 8)")),
    "cuFFT": Case(FFT, "800 700, 73 73, -446 -720, 200 -100, 246 320, -273 -273, 600 0, 1200 6"
                  "00, 2200 0, 100 -173, -600 0, -600 -346, \n"
                  "6 30 12 42 18 24 \n", replaced=("SIZE", "6")),
    "cuFFT behind the end": Case(
        FFT, "", ["out of bounds in main: the host by cufftExecC2C() reads 8-byte word 6"], ("SIZE", "8")),
    "CUB in kernels": Case(CUB_OF_BLOCKS, "2286 69 2289 2286 1757 70 59 27 70 69 68 67 \n" * 2 +
                           "2286 69 2289 2286 1757 70 59 27 70 67 64 61 \n-8 305 786 \n",
                           replaced=("BARRIER", "__syncthreads();")),
    "CUB's storage twice": Case(CUB_OF_BLOCKS, "", [": race in all: thread 32 of block 0 writes", "of reducing"],
                                ("BARRIER", "")),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_programs(case: Case, bin_folder: Path, tmp_path: Path) -> None:
    (tmp_path / "a.cu").write_text(BEGIN + case.program.replace(*case.replaced))
    ran = emulate(bin_folder, tmp_path, "a.cu", "--quiet")
    assert ran.returncode == (1 if case.said else 0), ran.stderr
    assert all(text in ran.stderr for text in case.said), ran.stderr
    if case.printed:
        assert ran.stdout == case.printed
