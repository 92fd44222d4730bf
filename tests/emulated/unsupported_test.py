"""What of CUDA the emulated device does not have is refused by name when a kernel is compiled, with what to do."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import REPOSITORY

BEFORE = '#include "device/cuda_or_emulated.cuh"\n'
# A source, its line that has the error, and what the compiler says of it.
REFUSED = {
    "texture reference": ("texture<float, 2> pixels;\n"
                          "__global__ void k1(float* out) { out[0] = tex2D(pixels, 0, 0); }\n",
                          1, "textures are not modelled on the emulated device: read the array itself"),
    "texture object": ("__global__ void k2(cudaTextureObject_t pixels, float* out) {\n"
                       "  out[0] = tex2D<float>(pixels, 0, 0);\n}\n",
                       2, "tex2D: textures are not modelled on the emulated device: read the array itself"),
    "surface": ("__global__ void k3(cudaSurfaceObject_t pixels) { surf2Dwrite(1.0F, pixels, 0, 0); }\n",
                1, "surf2Dwrite: surfaces are not modelled on the emulated device: access the array itself"),
    "clock64": ("__global__ void k4(long long* out) { out[0] = clock64(); }\n",
                1, "clock64(): the emulated device has no time: count with its counters instead"),
    "inline PTX": ("__global__ void k5(int* out) {\n  asm volatile(\"mov.u32 %0, %laneid;\" : \"=r\"(out[0]));\n}\n",
                   2, "inline PTX is not modelled on the emulated device: write it in CUDA C++"),
    "a barrier of the grid": ("#include <cooperative_groups.h>\n"
                              "__global__ void k6() { cooperative_groups::this_grid().sync(); }\n",
                              2, "grid_group::sync() is not modelled on the emulated device: end the kernel "
                              "there, and launch another"),
    "a tile of two warps": ("#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;\n"
                            "__global__ void k7() { cg::tiled_partition<64>(cg::this_thread_block()).sync(); }\n",
                            3, "a tile of more than 32 threads is not modelled on the emulated device: use a "
                            "thread_block"),
    "a barrier of the grid by its function": (
        "__global__ void k10() {\n  auto grid = cg::this_grid();\n  cg::sync(grid);\n}\n", 3,
        "sync(grid) is not modelled on the emulated device: end the kernel there, and launch another"),
    "memory of tiles": ("__global__ void k11() { __shared__ cg::block_tile_memory<64> scratch; }\n", 1,
                        "block_tile_memory is not modelled on the emulated device, as tiles of more than 32 threads "
                        "are not: use a thread_block"),
    "a block with such memory": ("__global__ void k12(int scratch) { cg::this_thread_block(scratch).sync(); }\n", 1,
                                 "this_thread_block(scratch) is not modelled on the emulated device, as tiles of more "
                                 "than 32 threads are not: use this_thread_block()"),
    "two parts": ("__global__ void k13(int* out) {\n"
                  "  auto part = cg::binary_partition(cg::coalesced_threads(), threadIdx.x % 2 != 0);\n"
                  "  out[0] = part.size();\n}\n", 2,
                  "binary_partition is not modelled on the emulated device: count the lanes of "
                  "`group.ballot(predicate)`"),
    "a part for each label": ("__global__ void k14(int* out) {\n"
                              "  auto part = cg::labeled_partition(cg::coalesced_threads(), threadIdx.x % 3);\n"
                              "  out[0] = part.size();\n}\n", 2,
                              "labeled_partition is not modelled on the emulated device: count the lanes of "
                              "`group.match_any(label)`"),
    "one thread of a group": ("__global__ void k15(int* out) {\n"
                              "  cg::invoke_one(cg::this_thread_block(), [&] { out[0] = 1; });\n}\n", 2,
                              "invoke_one is not modelled on the emulated device: write `if (group.thread_rank() == "
                              "0)`"),
    "one thread for all": ("__global__ void k16(int* out) {\n"
                           "  cg::invoke_one_broadcast(cg::coalesced_threads(), [&] { return out[0]; });\n}\n", 2,
                           "invoke_one_broadcast is not modelled on the emulated device: write "
                           "`if (group.thread_rank() == 0)`, then `group.shfl(value, 0)`"),
    "a cooperative launch": ("__global__ void k8() {}\n"
                             "void run() { cudaLaunchCooperativeKernel((void*)k8, dim3(1), dim3(1), nullptr); }\n",
                             2, "cudaLaunchCooperativeKernel: the emulated device has no barrier of a grid: launch "
                             "the kernel with <<<grid, block>>>, once for each part between two barriers"),
    "a graph": ("void capture(cudaStream_t stream) {\n"
                "  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);\n"
                "  cudaGraphExec_t graph;\n  cudaGraphLaunch(graph, stream);\n}\n", 2,
                "cudaStreamBeginCapture: the emulated device has no graphs: launch the kernels one by one"),
    "an array of the host's": ("void copy(void* to) { cudaMemcpyToArray(to, 0, 0, nullptr, 4, 1); }\n", 1,
                               "cudaMemcpyToArray: arrays and volumes are not modelled on the emulated device: use "
                               "cudaMalloc and cudaMemcpy, or cudaMemcpy2D"),
    "a texture of the host's": ("void bind(void* p) { cudaBindTexture(nullptr, 0, p, 4); }\n", 1,
                                "cudaBindTexture: textures are not modelled on the emulated device: pass the array "
                                "itself"),
    "peers": ("void peers() { cudaDeviceEnablePeerAccess(1, 0); }\n", 1,
              "cudaDeviceEnablePeerAccess: there is one emulated device in a program, and so it has no peers"),
    "registered memory": ("void lock(void* p) { cudaHostRegister(p, 4, 0); }\n", 1,
                          "cudaHostRegister: the emulated device follows memory that it has allocated: use "
                          "cudaMallocHost"),
    "a block's best size": ("void choose(int* g, int* b) { cudaOccupancyMaxPotentialBlockSize(g, b, choose); }\n", 1,
                            "cudaOccupancyMaxPotentialBlockSize: the emulated device knows no registers: choose the "
                            "block's size"),
    "a limit": ("void limit() { cudaDeviceSetLimit(cudaLimitMallocHeapSize, 1 << 24); }\n", 1,
                "cudaDeviceSetLimit: the emulated device has fixed limits: 64 KiB of stack, 8 MiB of heap"),
    "an atomic of a type": ("__global__ void k9(short* out) { atomicAdd(out, 1); }\n", 1, "atomicAdd"),
    "wmma": ("#include <mma.h>\n", 1, "<mma.h>: wmma, the tensor cores, is not modelled on the emulated device: "
             "write the product as a loop"),
    "an address of shared memory": ("__global__ void k18(int* out) { out[0] = __cvta_generic_to_shared(out); }\n", 1,
                                    "__cvta_generic_to_shared: the emulated device does not tell a kernel what memory "
                                    "a pointer is to: use the pointer as it is"),
    "cuRAND": ("#include <curand_kernel.h>\n", 1, "<curand_kernel.h>: cuRAND is not modelled on the emulated device: "
               "let the host draw the numbers, or write a generator"),
    "CUB": ("#include <cub/cub.cuh>\n", 1, "<cub/cub.cuh>: CUB is not modelled on the emulated device: write what "
            "the kernel needs of it"),
    "Thrust": ("#include <thrust/device_vector.h>\n", 1, "<thrust/device_vector.h>: Thrust is not modelled on the "
               "emulated device: allocate with cudaMalloc() and launch a kernel"),
    "pipelines of C": ("#include <cuda_pipeline.h>\n", 1, "<cuda_pipeline.h>: asynchronous copies are not modelled on "
                       "the emulated device: copy by plain loads and stores, and use __syncthreads()"),
    "cuda::barrier": ("#include <cuda/barrier>\n", 1, "<cuda/barrier>: cuda::barrier is not modelled on the "
                      "emulated device: use __syncthreads(), and copy by plain loads and stores"),
    "cuda::pipeline": ("#include <cuda/pipeline>\n", 1, "<cuda/pipeline>: cuda::pipeline is not modelled on the "
                       "emulated device: use __syncthreads(), and copy by plain loads and stores"),
    "cuda::atomic_ref": ("#include <cuda/atomic>\n__global__ void k17(int* out) {\n"
                         "  cuda::atomic_ref<int, cuda::thread_scope_device> count(*out);\n}\n", 3,
                         "cuda::atomic_ref: the emulated device has it for a std::uint64_t that several devices share "
                         "(thread_scope_system): within one, use atomicAdd() and its like"),
    "cuda::atomic": ("__device__ cuda::atomic<int, cuda::thread_scope_device> count;\n", 1,
                     "cuda::atomic is not modelled on the emulated device: use atomicAdd() and its like on a plain "
                     "variable"),
    "memcpy_async": ("#include <cooperative_groups/memcpy_async.h>\n", 1,
                     "memcpy_async is not modelled on the emulated device: copy by plain loads and stores"),
    "scan": ("#include <cooperative_groups/scan.h>\n", 1,
             "scans of groups are not modelled on the emulated device: write them with shfl_up"),
}


def said_of(source: str, folder: Path, build: Path, compiler: str, *flags: str) -> tuple[int, str]:
    """The exit code of the rewriter and the compiler, and what they say, with the source's own lines."""
    kernel = folder / "kernel.cu"
    rewritten = folder / "kernel.cpp"
    kernel.write_text(BEFORE + source)
    ran = subprocess.run([build / "bin/kernel_rewriter", kernel, rewritten], capture_output=True, text=True)
    if ran.returncode == 0:
        all_errors = ["-ferror-limit=0"] if "clang" in compiler else []
        ran = subprocess.run([compiler, *all_errors, "-std=c++20", "-fsyntax-only", "-w", *flags,
                              f"-I{REPOSITORY}/common",
                              f"-I{REPOSITORY}/common/emulated/language/include", rewritten],
                             capture_output=True, text=True, env=os.environ | {"LC_ALL": "C.UTF-8"})
    return ran.returncode, ran.stderr


def test_named_by_the_rewriter(build_folder: Path, tmp_path: Path, need: Callable[[str], str]) -> None:
    code, said = said_of("__global__ void child() {}\n__global__ void k() {\n  child<<<1, 1>>>();\n}\n", tmp_path,
                         build_folder, need("g++"))
    assert code != 0
    assert "kernel.cu:4: error: a launch within a kernel (dynamic parallelism) is not modelled: launch it from " \
           "the host" in said


@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_named_by_the_compiler(compiler: str, build_folder: Path, tmp_path: Path, need: Callable[[str], str]) -> None:
    """All in one source: an error more does not hide the others."""
    code, said = said_of("".join(source for source, _, _ in REFUSED.values()), tmp_path, build_folder, need(compiler))
    assert code != 0
    first = 1  # line of the source, less one for the line before it
    for name, (source, line, reason) in REFUSED.items():
        assert reason in said, f"{name}: {said}"
        assert f"kernel.cu:{first + line}:" in said, f"{name}: {said}"
        first += source.count("\n")


# What NVIDIA's helper_math.h, which many samples include, defines where __CUDACC__ is not.
OWN_FUNCTIONS = """#include <math.h>
inline float fminf(float a, float b) { return a < b ? a : b; }
inline float fmaxf(float a, float b) { return a > b ? a : b; }
inline int max(int a, int b) { return a > b ? a : b; }
inline int min(int a, int b) { return a < b ? a : b; }
inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }
inline __device__ __host__ float lerp(float a, float b, float t) { return a + t * (b - a); }
__global__ void k(float* out) {
  out[0] = rsqrtf(2) + lerp(1, 2, fminf(1, 2)) + fmaxf(1, 2);
  out[1] = min(1, 2) + max(1, 2) + min(1U, 2U) + rsqrt(2.0);
}
"""


@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_gives_way_to_functions_of_the_program(compiler: str, build_folder: Path, tmp_path: Path,
                                               need: Callable[[str], str]) -> None:
    code, said = said_of(OWN_FUNCTIONS, tmp_path, build_folder, need(compiler))
    assert code == 0, said


@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_only_where_it_is_used(compiler: str, build_folder: Path, tmp_path: Path, need: Callable[[str], str]) -> None:
    """To pass a texture on, or to have PTX for a GPU's architecture alone, is no error."""
    source = "__global__ void k(cudaTextureObject_t) {\n#if __CUDA_ARCH__ >= 800\n  asm(\"ptx\");\n#endif\n}\n"
    code, said = said_of(source, tmp_path, build_folder, need(compiler))
    assert code == 0, said


@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_architecture(compiler: str, build_folder: Path, tmp_path: Path, need: Callable[[str], str]) -> None:
    """Undefined: host and device have one compiler. A program whose functions are all for the device may define it."""
    source = ("#include <cooperative_groups.h>\n#include <cuda_fp16.h>\n#include <cuda_runtime.h>\n"
              "__global__ void k() {\n#if __CUDA_ARCH__ >= 700\n  __syncwarp();\n#else\n#error \"older\"\n#endif\n}\n")
    assert said_of(source, tmp_path, build_folder, need(compiler))[0] != 0
    code, said = said_of(source, tmp_path, build_folder, need(compiler), "-D__CUDA_ARCH__=800")
    assert code == 0, said
