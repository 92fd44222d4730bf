#pragma once
#include <cstddef>
#include <span>

struct CUstream_st;

namespace __emulated {

/// CUDA's types. Not the global ones, which nvcc's part of the same program has: cuda.hpp gives them to kernels under these
/// names. Nor is any function here: a call with such a value would find it beside the program's own of that name.
namespace types {

struct uint3 {
  unsigned x, y, z;
};

struct dim3 {
  unsigned x, y, z;

  constexpr dim3(unsigned of_x = 1, unsigned of_y = 1, unsigned of_z = 1) : x{of_x}, y{of_y}, z{of_z} {}
  constexpr dim3(const uint3& of) : x{of.x}, y{of.y}, z{of.z} {}
};

}  // namespace types
using types::dim3;
using types::uint3;

/// What `<<<grid, block, shared_bytes, stream>>>` says (CUDA C++ Programming Guide, "Execution Configuration").
struct ExecutionConfiguration {
  dim3 grid;                     ///< blocks
  dim3 block;                    ///< threads per block
  std::size_t shared_bytes = 0;  ///< dynamic shared memory per block
  const CUstream_st* stream = nullptr;
  bool is_cooperative = false;  ///< whether all blocks are there at once, and may meet
  bool is_counted = true;       ///< or it is a library's own, and its counters say nothing

  constexpr ExecutionConfiguration(const dim3& of_grid = {}, const dim3& of_block = {},
                                   std::size_t of_shared_bytes = 0, const CUstream_st* of_stream = nullptr)
      : grid{of_grid}, block{of_block}, shared_bytes{of_shared_bytes}, stream{of_stream} {}
};

/// The number of blocks, or threads, of such a shape.
constexpr std::size_t count(const dim3& shape) { return std::size_t{shape.x} * shape.y * shape.z; }

/// What `__launch_bounds__` promises the compiler; the rest of what it may say is advice.
struct Bounds {
  constexpr Bounds(unsigned threads, int = 0, int = 0) : most_threads{threads} {}
  unsigned most_threads;
};

/// A kernel with its arguments, as the device sees it: something to call once per thread.
struct KernelCall {
  void (*run_thread)(const void* arguments);
  std::span<const std::byte> arguments;  ///< constant memory: a kernel copies its parameters from here
  const void* entry;                     ///< the kernel's address, which names it in a finding
  std::span<const void* const> inputs;   ///< what parameters point to as const, or nullptr
};

}  // namespace __emulated
