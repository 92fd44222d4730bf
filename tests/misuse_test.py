"""A wrong call of the header of beyond/12_any_operation is one error, which says what is wrong and what to do."""

import re
import subprocess
from collections import defaultdict
from pathlib import Path

import cuda_compilers
from cuda_compilers import HEADER, LEAST_NVCC, CudaCompiler

# Each call has a line of its own after these.
BEFORE = """#include <cuda_runtime.h>
#include <cuda_fp16.h>
#include <functional>
#include <string>
#include <reduction/across.cuh>
using namespace reduction;

struct Add {
  template <typename T> __host__ __device__ T operator()(T a, T b) const { return a + b; }
};
struct Negative {
  template <typename T> __device__ T operator()(T a) const { return -a; }
};
struct Named {
  Named(const Named& other) : name(other.name) {}
  std::string name;
};
struct WithName : Named, Sum {};
template <int bytes> struct Sized {
  char content[bytes];
};
struct alignas(32) Aligned {
  double content[4];
};
struct First {
  template <typename T> __host__ __device__ T operator()(T a, T) const { return a; }
  template <typename A> static __host__ __device__ A identity() { return A{}; }
};
struct OfPairs {
  __host__ __device__ int2 operator()(int2 a, int2) const { return a; }
  template <typename A> static __host__ __device__ A identity() { return A{}; }
};
struct Changes {
  __host__ __device__ int operator()(int a, int b) { return a + b; }
  template <typename A> static __host__ __device__ A identity() { return A{}; }
};
struct Multiplied {
  double value;
  __host__ __device__ Multiplied operator*(const Multiplied& b) const { return {value * b.value}; }
};
struct Constant {
  const int value = 1;
};
struct NoDefault {
  __host__ __device__ NoDefault(int i) : value(i) {}
  int value;
};

template <typename T> const T* in = nullptr;
template <typename T> T* out = nullptr;
extern WithName with_name;
int n;
void* storage;
std::size_t bytes;
cudaStream_t stream;

"""

IS_NO_INTEGER = "n, the number of elements, has to be an integer"
KNOWS_NO_IDENTITY = "the operation does not know its identity: pass reduction::WithIdentity"
NO_OPTION = "after the operation (and the transform) come [init][, stream]"
TOO_LARGE = "an element or accumulator may have at most 1536 bytes and an alignment of at most 16"
IS_NO_FLOAT = "a Bounded is of float or double"
IS_ROUNDED = "has to be a number that the Bounded's type has exactly"
NOT_COPYABLE = "have to be trivially copyable"
# A call, and what the error says.
MISUSES = {
    # n
    "a bool as n": ("reduce(in<int>, out<int>, true, Sum{})", IS_NO_INTEGER),
    "a double as n": ("reduce(in<int>, out<int>, 1e6, Sum{})", IS_NO_INTEGER),
    "no n": ("reduce(in<int>, out<int>, Sum{}, stream)", IS_NO_INTEGER),
    # the operation
    "std::plus": ("reduce(in<int>, out<int>, n, std::plus<>{})", "use reduction::Sum"),
    "std::plus of a type": ("reduce(in<int>, out<int>, n, std::plus<int>{})", "use reduction::Sum"),
    "std::plus, identity": ("reduce(in<int>, out<int>, n, WithIdentity{std::plus<>{}, 0})", "use reduction::Sum"),
    "no identity": ("reduce(in<int>, out<int>, n, Add{})", KNOWS_NO_IDENTITY),
    "as CUB is called": ("reduce(storage, bytes, in<int>, out<int>, n, Add{}, 0, stream)", KNOWS_NO_IDENTITY),
    "a value as operation": ("reduce(in<int>, out<int>, n, 0)", "the operation has to be callable as A(A, A)"),
    "an operation on others": ("reduce(in<int>, out<int>, n, OfPairs{})",
                               "the operation has to be callable as A(A, A)"),
    "an operation that is no const": ("reduce(in<int>, out<int>, n, Changes{})", "as A(A, A), also as a const"),
    "a product of what 1 does not make": ("reduce(in<Multiplied>, out<Multiplied>, n, Product{})", KNOWS_NO_IDENTITY),
    "an operation with a string": ("reduce(in<int>, out<int>, n, with_name)", NOT_COPYABLE),
    "std::plus in SameBits": ("reduce(in<int>, out<int>, n, SameBits{std::plus<long>{}})", "use reduction::Sum"),
    "no identity in SameBits": ("reduce(in<float>, out<float>, n, SameBits{Add{}})", KNOWS_NO_IDENTITY),
    "a value in SameBits": ("reduce(in<int>, out<int>, n, SameBits{0L})",
                            "the operation has to be callable as A(A, A)"),
    "SameBits of SameBits": ("reduce(in<int>, out<int>, n, SameBits<SameBits<Sum>>{})",
                             "the operation has to be callable as A(A, A)"),
    "SameBits in another adaptor": ("reduce(in<int>, out<int>, n, WithIdentity{SameBits{Sum{}}, 0})",
                                    "the operation has to be callable as A(A, A)"),
    "an index across GPUs": ("reduce_across(Peers{}, in<float>, out<Indexed<float>>, n, SameBits{ArgMin{}})",
                             "reduce_across: ArgMin and ArgMax are left out"),
    "no SameBits across GPUs": ("reduce_across(Peers{}, in<float>, out<float>, n, Sum{})", "pass SameBits{operation}"),
    # the types
    "a constant out": ("reduce(in<int>, in<int>, n, Sum{})", "out points to a constant"),
    "elements with a string": ("reduce(in<Named>, out<int>, n, Sum{})", "elements have to be trivially copyable"),
    "elements without a default": ("reduce(in<NoDefault>, out<NoDefault>, n, First{})", "default constructible"),
    "elements with a constant": ("reduce(in<Constant>, out<Constant>, n, First{})", "elements have to be"),
    "volatile elements": ("reduce(in<volatile int>, out<int>, n, Sum{})", "elements have to be"),
    "a volatile out": ("reduce(in<int>, out<volatile int>, n, Sum{})", "the accumulator has to be"),
    "an accumulator with a string": ("reduce<std::string>(in<int>, out<int>, n, First{})",
                                     "the accumulator has to be trivially copyable"),
    "too large": ("reduce(in<Sized<1540>>, out<Sized<1540>>, n, First{})", TOO_LARGE),
    "aligned too much": ("reduce(in<Aligned>, out<Aligned>, n, First{})", TOO_LARGE),
    "an accumulator too large": ("reduce<Sized<2048>>(in<Sized<4>>, out<Sized<4>>, n, First{})", TOO_LARGE),
    "elements that do not convert": ("reduce(in<int2>, out<int>, n, Sum{})",
                                     "an element, after the transform, has to convert to the accumulator"),
    "a result that does not convert": ("reduce<int>(in<int>, out<int2>, n, Sum{})",
                                       "the accumulator has to convert to the type that out points to"),
    "ArgMin into a value": ("reduce(in<float>, out<float>, n, ArgMin{})", "the operation has to be callable"),
    "MinMax into a value": ("reduce(in<float>, out<float>, n, MinMax{})", "the operation has to be callable"),
    "ArgMin of pairs": ("reduce(in<int2>, out<Indexed<int>>, n, ArgMin{})", "an element, after the transform"),
    "MinMax of pairs": ("reduce(in<int2>, out<Extremes<int>>, n, MinMax{})", "an element, after the transform"),
    "a bound of integers": ("reduce(in<int>, out<Bounded<int>>, n, CompensatedSum{})", IS_NO_FLOAT),
    "a bound of halves": ("reduce(in<__half>, out<Bounded<__half>>, n, CompensatedSum{})", IS_NO_FLOAT),
    "a bound of rounded elements": ("reduce(in<double>, out<Bounded<float>>, n, CompensatedSum{})", IS_ROUNDED),
    "a bound of rounded integers": ("reduce(in<long long>, out<Bounded<double>>, n, CompensatedSum{})", IS_ROUNDED),
    "a bound of pairs": ("reduce(in<int2>, out<Bounded<float>>, n, CompensatedSum{})", IS_ROUNDED),
    "CompensatedSum into a value": ("reduce(in<float>, out<float>, n, CompensatedSum{})",
                                    "the operation has to be callable"),
    "Sum into a Bounded": ("reduce(in<float>, out<Bounded<float>>, n, Sum{})", "the operation has to be callable"),
    # the storage
    "bytes by their address": ("reduce(storage, &bytes, in<int>, out<int>, n, Sum{})", IS_NO_INTEGER),
    # init and stream
    "an int where the stream stands": ("reduce(in<int>, out<int>, n, Sum{}, 1, 0)", NO_OPTION),
    "the stream before the init": ("reduce(in<int>, out<int>, n, Sum{}, stream, 1)", NO_OPTION),
    "two streams": ("reduce(in<int>, out<int>, n, Sum{}, stream, stream)", NO_OPTION),
    "an init that does not convert": ("reduce(in<int>, out<int>, n, Sum{}, int2{})", NO_OPTION),
    "an init that is rounded": ("reduce(in<float>, out<Bounded<float>>, n, CompensatedSum{}, 1)", NO_OPTION),
    "three options": ("reduce(in<int>, out<int>, n, Sum{}, 1, stream, 1)", NO_OPTION),
    # the transform
    "no transform": ("transform_reduce(in<int>, out<int>, n, Sum{}, 0)", "the transform cannot be called"),
    "a pointer to a member": ("transform_reduce(in<int2>, out<int>, n, Sum{}, &int2::x)", "the transform cannot be"),
    "the transform before the operation": ("transform_reduce(in<int>, out<int>, n, Negative{}, Sum{})",
                                           "the transform cannot be called"),
    "a transform with a string": ("transform_reduce(in<int>, out<int>, n, Sum{}, with_name)", NOT_COPYABLE),
}
RIGHT = ["reduce_across(Peers{}, in<float>, out<float>, n, SameBits{Sum{}}, 1.0f, stream)",
         "reduce(in<int>, out<int>, n, Sum{}, 1, stream)",
         "reduce(storage, bytes, in<int>, out<int>, n, WithIdentity{Add{}, 0}, 0, stream)",
         "reduce(in<Sized<128>>, out<Sized<128>>, n, First{})",
         "transform_reduce(in<float>, out<Indexed<float>>, n, ArgMin{}, Negative{})",
         "reduce(in<float>, out<Bounded<float>>, n, CompensatedSum{}, 1.0f, stream)",
         "reduce(in<int>, out<int>, n, SameBits{WithIdentity{Add{}, 0}}, 0, stream)",
         "transform_reduce(in<short>, out<Bounded<double>>, n, CompensatedSum{}, Negative{}, 1)"]

each_nvcc = cuda_compilers.each(clang=False)


def errors_of_calls(compiler: CudaCompiler, calls: list[str], folder: Path, standard: int = 17
                    ) -> dict[int, list[str]]:
    """The lines of the errors that each call is at the end of, by its number."""
    source = folder / "calls.cu"
    source.write_text(BEFORE + "".join(f"cudaError_t call_{number}() {{ return {call}; }}\n"
                                       for number, call in enumerate(calls)))
    ran = subprocess.run([*compiler.command("90", standard=standard), "-c", source, "-o", folder / "calls.o"],
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    errors = defaultdict(list)
    for said in re.split(r"\n(?=\S+\(\d+\): )", ran.stdout):
        if first := re.match(r"\S+: (?:fatal )?error.*", said):
            # Where the last of the templates was instantiated, or the error itself is.
            line = re.findall(rf"at line (\d+) of \S*{source.name}|{source.name}\((\d+)\)", said)[-1]
            errors[int(line[0] or line[1]) - BEFORE.count("\n") - 1].append(first[0])
    assert (ran.returncode != 0) == bool(errors), ran.stdout
    return errors


@each_nvcc
def test_each_misuse_is_one_readable_error(compiler: CudaCompiler, tmp_path: Path) -> None:
    """All in one source: an error more does not hide the others."""
    errors = errors_of_calls(compiler, [call for call, _ in MISUSES.values()], tmp_path)
    for number, (name, (_, reason)) in enumerate(MISUSES.items()):
        assert len(errors[number]) == 1, f"{name}: {errors[number]}"
        assert reason in errors[number][0], f"{name}: {errors[number]}"


@each_nvcc
def test_right_calls_are_none(compiler: CudaCompiler, tmp_path: Path) -> None:
    """So each misuse has one thing wrong."""
    assert not errors_of_calls(compiler, RIGHT, tmp_path)


@each_nvcc
def test_a_value_is_no_struct(compiler: CudaCompiler, tmp_path: Path) -> None:
    """From C++20 on Indexed<float>(0) compiles. As an init it would be the value 0 at index 0, without a word."""
    calls = ["reduce(in<float>, out<Indexed<float>>, n, ArgMin{}, 0)",
             "reduce(in<float>, out<Extremes<float>>, n, MinMax{}, 0, stream)",
             "reduce<float>(in<float>, out<Extremes<float>>, n, Sum{})"]
    errors = errors_of_calls(compiler, calls, tmp_path, standard=20)
    for number, reason in enumerate([NO_OPTION, NO_OPTION, "the accumulator has to convert to the type that out"]):
        assert len(errors[number]) == 1 and reason in errors[number][0], errors[number]


def refused(tmp_path: Path, toolkit: int, *options: str) -> list[str]:
    """What version.cuh says to a compiler with these options, with CUDA's headers of that version."""
    (tmp_path / "cuda_runtime_api.h").write_text(f"#define CUDART_VERSION {toolkit}\n")
    ran = subprocess.run(["g++", "-E", "-x", "c++", f"-I{tmp_path}", *options, HEADER / "reduction/version.cuh"],
                         capture_output=True, text=True)
    return re.findall(r"error: #error (.*)", ran.stderr) if ran.returncode else []


def test_what_it_needs(tmp_path: Path) -> None:
    least = 1000 * LEAST_NVCC[0] + 10 * LEAST_NVCC[1]
    cuda = ["-std=c++17", "-D__CUDA_ARCH_LIST__=900"]
    assert not refused(tmp_path, least, *cuda)
    assert refused(tmp_path, least - 10, *cuda) == [
        f'"reduction/reduce.cuh needs the CUDA toolkit {LEAST_NVCC[0]}.{LEAST_NVCC[1]} or newer"']
    assert refused(tmp_path, least, *cuda, "-std=c++14") == ['"reduction/reduce.cuh needs C++17 or newer"']
    assert "needs a compiler that tells its list of architectures" in refused(tmp_path, least, "-std=c++17")[0]


def test_it_is_refused_outside_a_source_in_cuda() -> None:
    ran = subprocess.run(["g++", "-E", "-x", "c++", HEADER / "reduction/reduce.cuh"], capture_output=True, text=True)
    assert "include it where nvcc compiles, in a .cu file" in ran.stderr
