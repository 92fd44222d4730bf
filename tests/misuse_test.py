"""A wrong call of the header of beyond/12_any_operation is one error, which says what is wrong and what to do."""

import re
import subprocess
from collections import defaultdict
from pathlib import Path

import pytest

import cuda_compilers
from cuda_compilers import HEADER, LEAST_NVCC, CudaCompiler

# Each call has a line of its own after these.
BEFORE = """#include <cuda_runtime.h>
#include <cuda_fp16.h>
#include <functional>
#include <string>
#include <reduction/across.cuh>
#include <reduction/rows.cuh>
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
struct Changes {
  __host__ __device__ int operator()(int a, int b) { return a + b; }
  template <typename A> static __host__ __device__ A identity() { return A{}; }
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
IS_NO_MATRIX = "reduce_rows: rows, width and stride have to be integers"
NO_OPTION = "after the operation (and the transform) come [init][, stream]"
TOO_LARGE = "an element or accumulator may have at most 1536 bytes and an alignment of at most 16"
IS_NO_FLOAT = "a Bounded is of float or double"
IS_ROUNDED = "has to be a number that the Bounded's type has exactly"
NOT_COPYABLE = "have to be trivially copyable"
NONE = ""
CUDA = ["-std=c++17", "-D__CUDA_ARCH_LIST__=900"]
LEAST = 1000 * LEAST_NVCC[0] + 10 * LEAST_NVCC[1]
# A call, and what the error says.
CALLS = {
    # n
    "a bool as n": ("reduce(in<int>, out<int>, true, Sum{})", IS_NO_INTEGER),
    "a double as n": ("reduce(in<int>, out<int>, 1e6, Sum{})", IS_NO_INTEGER),
    "n on the device, no integer": ("reduce(in<int>, out<int>, OnDevice{in<float>, n}, Sum{})", IS_NO_INTEGER),
    "no n": ("reduce(in<int>, out<int>, Sum{}, stream)", IS_NO_INTEGER),
    # the operation
    "std::plus": ("reduce(in<int>, out<int>, n, std::plus<>{})", "use reduction::Sum"),
    "std::plus, identity": ("reduce(in<int>, out<int>, n, WithIdentity{std::plus<>{}, 0})", "use reduction::Sum"),
    "no identity": ("reduce(in<int>, out<int>, n, Add{})", KNOWS_NO_IDENTITY),
    "as CUB is called": ("reduce(storage, bytes, in<int>, out<int>, n, Add{}, 0, stream)", KNOWS_NO_IDENTITY),
    "a value as operation": ("reduce(in<int>, out<int>, n, 0)", "the operation has to be callable as A(A, A)"),
    "an operation that is no const": ("reduce(in<int>, out<int>, n, Changes{})", "as A(A, A), also as a const"),
    "an operation with a string": ("reduce(in<int>, out<int>, n, with_name)", NOT_COPYABLE),
    "std::plus in SameBits": ("reduce(in<int>, out<int>, n, SameBits{std::plus<long>{}})", "use reduction::Sum"),
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
    "volatile elements": ("reduce(in<volatile int>, out<int>, n, Sum{})", "elements have to be"),
    "volatile elements of one of two": ("transform_reduce(in<int>, in<volatile int>, out<int>, n, Sum{}, Add{})",
                                        "elements have to be"),
    "one of two of no type": ("transform_reduce(in<void>, in<int>, out<int>, n, Sum{}, Add{})", "elements have to be"),
    "a volatile out": ("reduce(in<int>, out<volatile int>, n, Sum{})", "the accumulator has to be"),
    "an accumulator with a string": ("reduce<std::string>(in<int>, out<int>, n, First{})",
                                     "the accumulator has to be trivially copyable"),
    "too large": ("reduce(in<Sized<1540>>, out<Sized<1540>>, n, First{})", TOO_LARGE),
    "aligned too much": ("reduce(in<Aligned>, out<Aligned>, n, First{})", TOO_LARGE),
    "elements that do not convert": ("reduce(in<int2>, out<int>, n, Sum{})",
                                     "an element, after the transform, has to convert to the accumulator"),
    "a result that does not convert": ("reduce<int>(in<int>, out<int2>, n, Sum{})",
                                       "the accumulator has to convert to the type that out points to"),
    "ArgMin into a value": ("reduce(in<float>, out<float>, n, ArgMin{})", "the operation has to be callable"),
    "ArgMin of pairs": ("reduce(in<int2>, out<Indexed<int>>, n, ArgMin{})", "an element, after the transform"),
    "a bound of integers": ("reduce(in<int>, out<Bounded<int>>, n, CompensatedSum{})", IS_NO_FLOAT),
    "a bound of rounded elements": ("reduce(in<double>, out<Bounded<float>>, n, CompensatedSum{})", IS_ROUNDED),
    "Sum into a Bounded": ("reduce(in<float>, out<Bounded<float>>, n, Sum{})", "the operation has to be callable"),
    # the storage
    "bytes by their address": ("reduce(storage, &bytes, in<int>, out<int>, n, Sum{})", IS_NO_INTEGER),
    # init and stream
    "an int where the stream stands": ("reduce(in<int>, out<int>, n, Sum{}, 1, 0)", NO_OPTION),
    "the stream before the init": ("reduce(in<int>, out<int>, n, Sum{}, stream, 1)", NO_OPTION),
    "an init that does not convert": ("reduce(in<int>, out<int>, n, Sum{}, int2{})", NO_OPTION),
    "an init that is rounded": ("reduce(in<float>, out<Bounded<float>>, n, CompensatedSum{}, 1)", NO_OPTION),
    # From C++20 on Indexed<float>(0) compiles: it would be the value 0 at index 0, without a word.
    "a value as a struct": ("reduce(in<float>, out<Indexed<float>>, n, ArgMin{}, 0)", NO_OPTION),
    "a value as a struct, to begin with": ("reduce<float>(in<float>, out<Extremes<float>>, n, Sum{})",
                                           "the accumulator has to convert to the type that out"),
    "three options": ("reduce(in<int>, out<int>, n, Sum{}, 1, stream, 1)", NO_OPTION),
    # the transform
    "no transform": ("transform_reduce(in<int>, out<int>, n, Sum{}, 0)", "the transform cannot be called"),
    "a transform of one of two": ("transform_reduce(in<int>, in<short>, out<int>, n, Sum{}, Negative{})",
                                  "the transform cannot be called"),
    "no transform of two": ("transform_reduce(in<int>, in<int>, out<int>, n, Sum{}, 0)", "the transform cannot be"),
    "a pointer to a member": ("transform_reduce(in<int2>, out<int>, n, Sum{}, &int2::x)", "the transform cannot be"),
    "the transform before the operation": ("transform_reduce(in<int>, out<int>, n, Negative{}, Sum{})",
                                           "the transform cannot be called"),
    "a transform with a string": ("transform_reduce(in<int>, out<int>, n, Sum{}, with_name)", NOT_COPYABLE),
    # rows and columns
    "no stride": ("reduce_rows(in<int>, out<int>, n, n, Sum{}, stream)", IS_NO_MATRIX),
    "a double as rows": ("reduce_columns(in<int>, out<int>, 1e6, n, n, Sum{})", IS_NO_MATRIX),
    "rows on the device": ("reduce_rows(in<int>, out<int>, OnDevice{in<int>, n}, n, n, Sum{})", IS_NO_MATRIX),
    "rows without an identity": ("reduce_rows(in<int>, out<int>, n, n, n, Add{})", KNOWS_NO_IDENTITY),
    "ArgMin of columns into a value": ("reduce_columns(in<float>, out<float>, n, n, n, ArgMin{})",
                                       "the operation has to be callable"),
    "the stream before the init of rows": ("reduce_rows(in<int>, out<int>, n, n, n, Sum{}, stream, 1)", NO_OPTION),
    "no transform of rows": ("transform_reduce_rows(in<int>, out<int>, n, n, n, Sum{}, 0)", "the transform cannot be"),
    # These are right, so each of those above has one thing wrong.
    "across GPUs": ("reduce_across(Peers{}, in<float>, out<float>, n, SameBits{Sum{}}, 1.0f, stream)", NONE),
    "two arrays": ("transform_reduce(in<int>, out<int>, out<int>, n, Sum{}, Add{}, 0, stream)", NONE),
    "n on the device": ("reduce(storage, bytes, in<int>, out<int>, OnDevice{out<int>, n}, SameBits{Sum{}}, 0)", NONE),
    "storage": ("reduce(storage, bytes, in<int>, out<int>, n, WithIdentity{Add{}, 0}, 0, stream)", NONE),
    "large": ("reduce(in<Sized<128>>, out<Sized<128>>, n, First{})", NONE),
    "an index": ("transform_reduce(in<float>, out<Indexed<float>>, n, ArgMin{}, Negative{})", NONE),
    "a bound": ("transform_reduce(in<short>, out<Bounded<double>>, n, CompensatedSum{}, Negative{}, 1)", NONE),
    "rows": ("transform_reduce_rows<long>(in<int>, out<int>, n, n, n, SameBits{Sum{}}, Negative{}, 0, stream)", NONE),
    "the same bits": ("reduce(in<int>, out<int>, n, SameBits{WithIdentity{Add{}, 0}}, 0, stream)", NONE),
}


@cuda_compilers.each(clang=False)
def test_each_misuse_is_one_readable_error(compiler: CudaCompiler, tmp_path: Path) -> None:
    """All in one source, of C++20, which takes more than C++17: an error more does not hide the others."""
    source = tmp_path / "calls.cu"
    source.write_text(BEFORE + "".join(f"cudaError_t call_{number}() {{ return {call}; }}\n"
                                       for number, (call, _) in enumerate(CALLS.values())))
    ran = subprocess.run([*compiler.command("90", standard=20), "-c", source, "-o", tmp_path / "calls.o"],
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    errors = defaultdict(list)
    for said in re.split(r"\n(?=\S+\(\d+\): )", ran.stdout):
        if first := re.match(r"\S+: (?:fatal )?error.*", said):
            # Where the last of the templates was instantiated, or the error itself is.
            line = re.findall(rf"at line (\d+) of \S*{source.name}|{source.name}\((\d+)\)", said)[-1]
            errors[int(line[0] or line[1]) - BEFORE.count("\n") - 1].append(first[0])
    for number, (name, (_, reason)) in enumerate(CALLS.items()):
        assert len(errors[number]) == bool(reason), f"{name}: {errors[number]}"
        assert reason in "".join(errors[number]), f"{name}: {errors[number]}"


@pytest.mark.parametrize("name, toolkit, options, said", [
    ("version", LEAST, CUDA, NONE),
    ("version", LEAST - 10, CUDA, "reduction/reduce.cuh needs the CUDA toolkit 12.4 or newer"),
    ("version", LEAST, [*CUDA, "-std=c++14"], "reduction/reduce.cuh needs C++17 or newer"),
    ("version", LEAST, CUDA[:1], "needs a compiler that tells its list of architectures"),
    ("reduce", LEAST, CUDA[:1], "include it where nvcc compiles, in a .cu file")])
def test_what_it_needs(tmp_path: Path, name: str, toolkit: int, options: list[str], said: str) -> None:
    """A header, by a compiler with these options and CUDA's headers of that version."""
    (tmp_path / "cuda_runtime_api.h").write_text(f"#define CUDART_VERSION {toolkit}\n")
    ran = subprocess.run(["g++", "-E", "-x", "c++", f"-I{tmp_path}", *options, HEADER / f"reduction/{name}.cuh"],
                         capture_output=True, text=True)
    assert (ran.returncode != 0) == bool(said) and said in ran.stderr, ran.stderr
