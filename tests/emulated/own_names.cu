// A program whose names are those that the emulated device has for itself: none of them is visible here.
#include <cuda_runtime.h>

#include <cstdio>

using namespace std;

// NVIDIA's helper_cuda.h asks for them.
#if !defined(__CUDA_RUNTIME_H__) || !defined(__DRIVER_TYPES_H__)
#error "there is no runtime"
#endif

namespace emulated {
namespace detail {
struct Block {
  int threads;
};
}  // namespace detail
}  // namespace emulated
using emulated::detail::Block;

enum class Access { load, store };
struct Counters {
  int loads, stores;
};
struct Launch {
  int grid, block;
};
struct Sum {
  template <typename T> __device__ T operator()(T a, T b) const { return a + b; }
};
struct SourceLine {
  int line;
};

constexpr int warp_size = 32, banks = 32, margin = 1, device = 0;
__device__ int shared_variable = 1;
__constant__ int types = 1;

// Found beside the device's own by the types of their arguments, if those were in one namespace with functions.
__host__ __device__ int count(dim3 shape) { return static_cast<int>(shape.x * shape.y * shape.z); }
template <typename T> __device__ void copy_word(T* to, const T* from) { *to = *from; }
template <typename T> __device__ T known_at_run_time(T value) { return value; }
template <typename T> __device__ T rounded(T value) { return value; }
template <typename T> __device__ T wrapped_sum(T a, T b) { return {a.x + b.x, a.y + b.y}; }

__global__ void map(int* cells) { cells[threadIdx.x] = static_cast<int>(threadIdx.x); }
__global__ void transform(int* cells) { cells[threadIdx.x] += margin; }
__global__ void allocate(int* cells) { atomicAdd(cells, shared_variable * types); }
__global__ void launch(Counters* counters) {
  if (threadIdx.x != 0 || threadIdx.y != 0) return;
  counters->loads = count(dim3{blockDim});
  counters->stores = static_cast<int>(Access::store);
}
__global__ void any(float2* pairs) {
  float2 sum = wrapped_sum(pairs[0], known_at_run_time(pairs[1]));
  copy_word(&pairs[0], &sum);
}

template <typename T, typename Operation> __global__ void reduction(T* cells, Operation operation) {
  __shared__ T shared[warp_size];
  shared[threadIdx.x] = cells[threadIdx.x];
  for (unsigned stride = warp_size / 2; stride > 0; stride /= 2) {
    __syncthreads();
    if (threadIdx.x < stride)
      shared[threadIdx.x] = operation(shared[threadIdx.x], shared[threadIdx.x + stride]);
  }
  if (threadIdx.x == 0) cells[0] = rounded(shared[0]);
}

int main() {
  const Launch shape{1, banks};
  const Block block{shape.block};
  int* cells;
  Counters* counters;
  float2* pairs;
  cudaSetDevice(device);
  cudaMallocManaged(&cells, banks * sizeof(int));
  cudaMallocManaged(&counters, sizeof(Counters));
  cudaMallocManaged(&pairs, 2 * sizeof(float2));
  pairs[0] = make_float2(1, 2);
  pairs[1] = make_float2(3, 4);
  map<<<shape.grid, block.threads>>>(cells);
  transform<<<shape.grid, block.threads>>>(cells);
  allocate<<<shape.grid, block.threads>>>(cells);
  reduction<<<shape.grid, block.threads>>>(cells, Sum{});
  launch<<<1, dim3(4, 2)>>>(counters);
  any<<<1, 1>>>(pairs);
  cudaDeviceSynchronize();
  assert(pairs != nullptr);  // of a header that nvcc includes
  const bool right = cells[0] == 32 * 33 / 2 + 32 && counters->loads == count(dim3(4, 2)) &&
                     counters->stores == 1 && pairs[0].x == 4 && pairs[0].y == 6;
  printf("%s\n", right ? "right" : "wrong");
  return right ? 0 : 1;
}
