"""What nvcc refuses is refused by `./emulate`, by name and line; what it accepts is compiled."""

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import Ran, emulate

HEADERS = "#include <" + ">\n#include <".join(
    ["algorithm", "cassert", "cmath", "cstdio", "cstdlib", "cstring", "iostream", "limits", "string", "typeinfo",
     "vector"]) + ">\n"
BEFORE = HEADERS + """int square(int x) { return x * x; }
int scale = 3;
template <typename T> T half(T x) { return x / 2; }
struct Box { int v; Box(int x) : v(x) {} int get() { return v; } ~Box() { v = 0; } };
struct Cell { int v; };
Cell operator+(Cell a, Cell b) { return {a.v + b.v}; }
struct Sizes { static int count; };
int Sizes::count = 1;
const int table[2] = {1, 2};
__device__ int twice(int x) { return 2 * x; }
struct Pair { int v; __device__ int sum() { return v; } };
void store(int* p) { *p = 1; }
__device__ void put(int* p) { *p = 1; }
__global__ void fill(int* p) { *p = 1; }
"""
HOST, OF_HOST = "`{}`, a function of the host", "`{}`, a variable of the host"
ONLY = "`{}`, which is for the host only"
# What is refused: the line, and what is said of it. Each stands in a program with all the others.
IN_KERNELS = {
    "*p = square(*p);": HOST.format("square"),
    "auto f = [](int x) { return square(x); }; *p = f(2);": HOST.format("square"),
    "int (*f)(int) = square; *p = f(2);": HOST.format("square"),
    "*p = half(*p);": HOST.format("half"),
    "Cell c{1}; *p = (c + c).v;": HOST.format("operator+"),
    "Box b(3); *p = 1;": HOST.format("Box::Box"),
    "*p = ((Box*)p)->get();": HOST.format("Box::get"),
    "((Box*)p)->~Box();": HOST.format("Box::~Box"),
    "*p = scale;": OF_HOST.format("scale"),
    "scale = 4;": OF_HOST.format("scale"),
    "*p = Sizes::count;": OF_HOST.format("Sizes::count"),
    "*p = table[*p];": OF_HOST.format("table"),
    "*p = std::max(p[0], p[1]);": ONLY.format("std::max"),
    "std::sort(p, p + 4);": ONLY.format("std::sort"),
    "*p = std::numeric_limits<int>::max();": ONLY.format("std::numeric_limits::max"),
    "std::vector<int> v(3);": "calls `std::",
    "std::string s = \"a\";": "calls `std::",
    "std::cout << *p;": ONLY.format("std::cout"),
    "*p = rand();": ONLY.format("rand"),
    "exit(1);": ONLY.format("exit"),
    "puts(\"a\");": ONLY.format("puts"),
    "fprintf(stderr, \"a\");": ONLY.format("stderr"),
    "*p = strlen((char*)p);": ONLY.format("strlen"),
    "cudaDeviceSynchronize();": ONLY.format("cudaDeviceSynchronize"),
    "throw 1;": "an exception",
    "*(const char**)p = typeid(int).name();": "typeid",
    "fill(p);": "calls the kernel `fill`",
}
ON_THE_HOST = {
    "fill(nullptr);": "the kernel `fill` is called like a function: launch it, fill<<<grid, block>>>",
    "return twice(2);": "`twice`, a function of the device, is called on the host",
    "return Pair().sum();": "`Pair::sum`, a function of the device, is called on the host",
    "put<<<1, 1>>>(nullptr);": "`put` is launched, and is no kernel: declare it __global__",
    "store<<<1, 1>>>(nullptr);": "`store` is launched, and is no kernel: declare it __global__",
}
ELSEWHERE = {
    "__device__ int later = square(2);": "`later`, a variable of the device, is initialised at run time",
    "__global__ void one() { extern __shared__ int words[]; words[0] = 1; }": "",
    "__global__ void other() { extern __shared__ float words[]; words[0] = 1; }":
        "`words` is extern __shared__ as float[], and as int[]",
    "template <typename F> __global__ void apply(F f, int* p) { *p = f(1); }": "calls `a lambda of main`",
    "constexpr int cube(int x) { return x * x * x; }": "",
    "__global__ void cubes(int* p) { *p = cube(*p); }": HOST.format("cube"),
    "__device__ int below(int x) { return square(x); }": "the device's function `below` calls " + HOST.format("square"),
}
LINES = ([(f"__global__ void in{i}(int* p) {{ {line} }}", said) for i, (line, said) in enumerate(IN_KERNELS.items())] +
         [(f"int on{i}() {{ {line} return 0; }}", said) for i, (line, said) in enumerate(ON_THE_HOST.items())] +
         list(ELSEWHERE.items()))
LAMBDA = "int main() { int* p = nullptr; apply<<<1, 1>>>([](int x) { return x + 1; }, p); }\n"
# What both take.
ACCEPTED = HEADERS + """
#include <math_constants.h>
struct Plain { int v = 4; };
struct Made { int v; __device__ Made(int x) : v(x) {} __device__ ~Made() {} };
struct Held { Made first{1}; Plain second; };
struct Both { int v; __host__ __device__ Both() : v(1) {} Both(const Both&) = default; };
struct Shape { __device__ virtual int area() const { return 1; } };
struct Square : Shape { __device__ int area() const override { return 4; } };
static inline __device__ int of_file(int x) { return x; }
namespace { __device__ int hidden(int x) { return x; } }
namespace deep { template <typename T> __device__ T id(T x) { return x; } }
template <> __device__ int deep::id<int>(int x) { return x + 1; }
__device__ __host__ int either(int x) { return x; }
#define BOTH __host__ __device__
template <typename T> BOTH T also(T x) { return either(x); }
float* __device__ pointer(float* p) { return p; }
int square(int x) { return x * x; }
__host__ __device__ int lenient(int x) {
#ifdef __CUDA_ARCH__
  return x;
#else
  return square(x);
#endif
}
const int size = 3;
const float ratio = 0.5f;
constexpr double exact = 0.25;
__device__ const int odd[3] = {1, 3, 5};
__constant__ int even[3];
static __device__ int counter;
__device__ int (*chosen)(int) = of_file;
struct Limits { static constexpr int most = 8; };
extern "C" __device__ int of_c(int x) { return x; }
extern "C" __global__ void c_kernel(int* p) { *p = of_c(2); }
__launch_bounds__(64) __global__ void bounds1(int* p) { *p = 1; }
__global__ void __launch_bounds__(64, 2) bounds2(int* __restrict__ p) { *p = 1; }
__device__ __forceinline__ int forced(int x) { return x; }
__device__ __noinline__ int apart(int x) { return x; }
__global__ void grid_constant(const __grid_constant__ Plain plain, int* p) { *p = plain.v; }
template <typename F> __global__ void apply(F f, int* p) { *p = f(1); }
template <typename T> __global__ void typed(T* p, T value = T()) { *p = value; }
static __global__ void of_this_file(int* p) { *p = size; }
namespace deep { __global__ void inner(int* p) { *p = 1; } }
#define LAUNCH(kernel, ...) kernel<<<1, 1>>>(__VA_ARGS__)
__global__ void everything(int* p, float* f, const char* text) {
  static const int steps[2] = {1, 2};
  Held held;
  Both both, copy = both;
  Square square;
  const Shape* shape = &square;
  auto twice = [=](int x) { auto inner = [](int y) { return of_file(y); }; return inner(x) + p[0]; };
  *p = held.second.v + copy.v + shape->area() + twice(2) + of_file(1) + hidden(1) + deep::id(2) + deep::id(2u);
  *p += either(1);
  *p += also(2) + lenient(3) + size + odd[*p] + even[*p] + counter + chosen(1) + Limits::most + of_c(1) + forced(1);
  *f = *pointer(f) + ratio + exact + std::sqrt(*f) + std::abs(*f) + std::floor(*f) + powf(*f, 2) + std::move(*f);
  *f += CUDART_INF_F + CUDART_NAN + CUDART_MAX_NORMAL_F + CUDART_PI;
  *p += apart(steps[*p & 1]) + min(*p, 3) + max(*p, 3u) + abs(*p) + (int)clock() + __popc(*p) + atomicAdd(p, 1);
  for (int i : {1, 2}) *p += i;
  int* own = new int[2];
  int* more = (int*)malloc(4);
  memcpy(more, own, 4);
  memset(own, 0, 4);
  Plain* placed = new (own) Plain;
  assert(placed->v == 4);
  free(more);
  delete[] own;
  printf("%s\\n", text);
  __shared__ float tile[32];
  tile[threadIdx.x] = __shfl_sync(~0u, *f, 0);
  __syncthreads();
}
int main(int count, char**) {
  int* p = nullptr;
  cudaMalloc(&p, 4);
  void (*kernel)(int*) = of_this_file;
  cudaMemcpyToSymbol(even, odd, 0);
  int on_host = either(1) + also(2) + lenient(3) + Both().v;
  cudaFuncAttributes attributes;
  cudaFuncGetAttributes(&attributes, everything);
  if (count == 0) {
    kernel<<<1, 1>>>(p); deep::inner<<<1, 1>>>(p); typed<<<1, 1>>>(p); typed<int><<<dim3{1, 1}, 1>>>(p, 2);
    c_kernel<<<1, 1>>>(p);
    bounds1<<<1, 1>>>(p); bounds2<<<1, 1>>>(p); grid_constant<<<1, 1>>>(Plain{}, p); LAUNCH(of_this_file, p);
    apply<<<1, 1>>>([=] __device__(int x) { return x + on_host; }, p);
    apply<<<1, 1>>>([=] __host__ __device__(int x) { return either(x); }, p);
    everything<<<1, 32>>>(p, nullptr, "a");
  }
  std::vector<int> sorted{2, 1};
  std::sort(sorted.begin(), sorted.end(), [](int a, int b) { return square(a) < std::max(b, 2); });
}
"""
# What both take of shared memory: the program ends with 0 if its kernel has computed the right value.
SHARED = """
struct Both { int a; float b[2]; };
extern __shared__ float array[];
__shared__ int counter;
__shared__ float tile[32][33];
static __shared__ Both both;
namespace deep { __shared__ volatile unsigned inner; }
#define AT(i) tile[i][1]
template <typename T> __device__ T first(const T* p) { return *p; }
template <typename T> __device__ T same(T x) { return x; }
__device__ void count() { atomicAdd(&counter, 1); }
__device__ int shadow(int counter) { int tile = counter; counter = 2 * tile; return counter; }
__global__ void in_file(int* out, int n) {
  if (threadIdx.x == 0) { counter = 0; counter++; both = {1, {2, 3}}; both.b[1] += 1; deep::inner = 7u; }
  array[threadIdx.x] = 2;
  AT(threadIdx.x) = 3;
  float (*rows)[33] = tile, *row = tile[threadIdx.x], *p = array + 1;
  int& counted = counter;
  for (int i = 2; i < 33; ++i) *(row + i) = i;
  __syncthreads();
  count();
  __syncthreads();
  const unsigned next = (threadIdx.x + 1) % 32;
  int right = counter == 33 && counted * counter == 33 * 33 && n * counter == 66 && 2 < counter && same(counter) == 33;
  right += first(array) == 2 && *array == 2 && p[3] == 2 && ((int*)array)[2] == __float_as_int(2);
  right += rows[next][1] == 3 && *(*tile + 1) == 3 && first(&tile[next][2]) == 2 && sizeof(tile) == 32 * 33 * 4;
  right += both.a + both.b[0] + (&both)->b[1] == 7 && same(both).a == 1 && ::deep::inner == 7u;
  right += shadow(3) == 6 && [&] { return counter; }() == 33 && (n && counter);
  atomicAdd(out, right);
}
__global__ void sum(int* out) {
  __shared__ struct { int first[32]; } s;
  __shared__ union Word { float f[32]; int i[32]; } u;
  __shared__ struct Named { int a; } named[32];
  s.first[threadIdx.x] = 1;
  u.f[threadIdx.x] = 1;
  named[threadIdx.x].a = 2;
  __syncthreads();
  const unsigned next = (threadIdx.x + 1) % 32;
  atomicAdd(out, s.first[next] + (u.i[next] == __float_as_int(1.0f)) + named[next].a + (sizeof(s) == 128));
}
int main() {
  int *out, is = 0;
  cudaMalloc(&out, 4);
  cudaMemset(out, 0, 4);
  sum<<<1, 32>>>(out);
  in_file<<<1, 32, 128>>>(out, 2);
  cudaMemcpy(&is, out, 4, cudaMemcpyDeviceToHost);
  cudaFree(out);
  return is == 32 * 10 ? 0 : is;
}
"""


def compiled(bin_folder: Path, folder: Path, source: str, *options: str) -> Ran:
    (folder / "a.cu").write_text(source)
    return emulate(bin_folder, folder, "a.cu", *options, "-o", "a")


def test_refused(bin_folder: Path, tmp_path: Path) -> None:
    ran = compiled(bin_folder, tmp_path, BEFORE + "".join(f"{line}\n" for line, _ in LINES) + LAMBDA)
    said: dict[int, str] = {int(line): text for line, text in re.findall(r"a\.cu:(\d+): error: (.*)", ran.stderr)}
    expected = {BEFORE.count("\n") + i: said_of for i, (_, said_of) in enumerate(LINES, start=1) if said_of}
    assert ran.returncode == 2 and said.keys() == expected.keys(), ran.stderr
    for line, text in expected.items():
        assert text in said[line]


def test_refused_unless_constexpr_is_relaxed(bin_folder: Path, tmp_path: Path) -> None:
    source = ("#include <algorithm>\nconstexpr int cube(int x) { return x * x * x; }\n"
              "int square(int x) { return x * x; }\n"
              "__global__ void k(int* p) { *p = cube(*p); *p = std::max(p[0], 2);\n*p = square(*p); }\nint main() {}\n")
    ran = compiled(bin_folder, tmp_path, source, "--expt-relaxed-constexpr")
    assert re.findall(r"a\.cu:(\d+): error: .*`(\w+)`,", ran.stderr) == [("5", "square")], ran.stderr


@pytest.mark.parametrize(("line", "said"), {
    "struct S { __global__ void k(int* p) {} };": "a __global__ function is a member of a class",
    "struct S { static __global__ void k(int* p) {} };": "a __global__ function is a member of a class",
    "template <int n> __global__ int k(int* p) { return *p; }": "a __global__ function returns a value",
}.items())
def test_no_kernel(line: str, said: str, bin_folder: Path, tmp_path: Path) -> None:
    ran = compiled(bin_folder, tmp_path, f"\n{line}\nint main() {{}}\n")
    assert ran.returncode == 2 and f"a.cu:2: error: {said}" in ran.stderr


def test_accepted(bin_folder: Path, tmp_path: Path) -> None:
    ran = compiled(bin_folder, tmp_path, ACCEPTED, "--extended-lambda")
    assert (ran.returncode, ran.stderr) == (0, "")


def test_shared_memory(bin_folder: Path, tmp_path: Path) -> None:
    ran = compiled(bin_folder, tmp_path, SHARED)
    assert (ran.returncode, ran.stderr) == (0, "")
    ran = subprocess.run(["./a"], cwd=tmp_path, capture_output=True, text=True)
    assert ran.returncode == 0 and "error" not in ran.stderr, ran.stderr


def test_nvcc_says_the_same(tmp_path: Path, need: Callable[[str], str]) -> None:
    def is_refused(source: str) -> bool:
        (tmp_path / "a.cu").write_text(source)
        words = [need("nvcc"), "-std=c++20", "-arch=sm_90", "--extended-lambda", "-c", "a.cu", "-o", "a.o"]
        return subprocess.run(words, cwd=tmp_path, capture_output=True).returncode != 0

    right = "".join(f"{line}\n" for line, said in LINES if not said)
    assert not is_refused(ACCEPTED) and not is_refused(SHARED)
    assert not is_refused(BEFORE + right + "int main() {}\n")
    for line, said in LINES:
        if said:
            main = LAMBDA if "apply" in line else "int main() {}\n"
            assert is_refused(BEFORE + right + line + "\n" + main), line
