"""Sum, Product and CompensatedSum of 12's header round each result once, and flush none, whatever nvcc's options."""

import re
import subprocess
from pathlib import Path

import pytest

import cuda_compilers
from cuda_compilers import CudaCompiler

# Squares, which nvcc would add by fused multiplications.
SOURCE = """#include <cuda_bf16.h>
#include <reduction/reduce.cuh>
using namespace reduction;
struct Square {
  template <typename T> __device__ T operator()(T x) const { return x * x; }
};
template <typename T, typename Out, typename Operation> cudaError_t call(Operation operation) {
  return transform_reduce(static_cast<const T*>(nullptr), static_cast<Out*>(nullptr), 1, operation, Square{});
}
template <typename A, typename T, typename Out> cudaError_t sum_in() {
  return reduce<A>(static_cast<const T*>(nullptr), static_cast<Out*>(nullptr), 1, SameBits{Sum{}});
}
"""
CALLS = {"sum": "call<{T}, {T}>(Sum{{}})", "product": "call<{T}, {T}>(Product{{}})",
         "compensated sum": "call<{T}, Bounded<{T}>>(CompensatedSum{{}})",
         "of floats": "call<float, Bounded<{T}>>(CompensatedSum{{}})",
         "of floats in another type": "sum_in<{T}, float, float>()",
         "of doubles in another type": "sum_in<{T}, double, double>()",
         "of bfloat16 in another type": "sum_in<{T}, __nv_bfloat16, {T}>()"}
# How PTX says that a result is rounded to the nearest, and nothing else.
ROUNDED = {"add.rn", "sub.rn", "mul.rn", "cvt.rn", "abs", "cvt"}


@cuda_compilers.each(clang=False)
@pytest.mark.parametrize("options", [(), ("--use_fast_math",), ("-ftz=true",)], ids=" ".join)
@pytest.mark.parametrize("of", CALLS)
def test_each_result_is_rounded_once(compiler: CudaCompiler, options: tuple[str, ...], of: str, tmp_path: Path) -> None:
    calls = "".join(f"cudaError_t of_{T}() {{ return {CALLS[of].format(T=T)}; }}\n" for T in ["float", "double"])
    (tmp_path / "calls.cu").write_text(SOURCE + calls)
    subprocess.run([compiler.program, "-arch=sm_90", "-std=c++17", f"-I{cuda_compilers.HEADER}", *options, "-ptx",
                    tmp_path / "calls.cu", "-o", tmp_path / "calls.ptx"], check=True)
    ptx = (tmp_path / "calls.ptx").read_text()
    # Between these lines is what was written as PTX; all else is nvcc's own.
    inline = "".join(re.findall(r"// begin inline asm(.*?)// end inline asm", ptx, re.S))
    others = re.sub(r"// begin inline asm.*?// end inline asm", "", ptx, flags=re.S)
    added = re.findall(r"\t((?:add|sub|mul|fma|abs|neg|cvt)[a-z.]*?)((?:\.(?:ftz|sat))*)\.f(?:32|64)\b", inline)
    assert {name for name, _ in added} <= ROUNDED and not any(flushes for _, flushes in added), added
    assert ("mul.rn" if of == "product" else "add.rn", "") in added
    # The squares are all that nvcc may choose an instruction for.
    assert set(re.findall(r"\t(add|sub|fma|abs|neg)\.[a-z.]*f(?:32|64)\b", others)) == set()
    assert re.findall(r"\tcvt[a-z.]*\.f(?:32\.f64|64\.f32)", others) == []
