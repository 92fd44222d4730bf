/// \file
/// What `./emulate --grade` compiles with a student's kernel, whose path is in place of KERNEL (tools/grade.py). It adds up
/// inputs whose sums are exact in every type and any order of additions, so a sum is right to the bit or wrong.
///
/// grade FILE TYPE BLOCK [N...]: adds up N elements, or as many as there are beside the edges of warp, block and tile, and
/// writes to FILE the number of blocks for 2^30 elements, `grid BLOCKS`, and for each N `begin N TILE`, then
/// `sum RUN GOT EXPECTED`. The end is `done`, or `refused WHY`. TYPE may be `time`, on a GPU: `gbps FIGURE`.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <iterator>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

#include "harness/input.hpp"

#include "KERNEL"

#ifdef __EMULATED_DEVICE__
#include "emulated/language/complex.hpp"
#else
#include <cuda/std/complex>
#endif

/// A kernel.cuh that declares no traits has these, as in the steps.
namespace step_defaults {
inline constexpr StepTraits traits{};
}
using namespace step_defaults;

// A student's names are in the global namespace.
namespace grading {

#ifdef __EMULATED_DEVICE__
template <typename Real> using Complex = __emulated::Complex<Real>;
#else
template <typename Real> using Complex = cuda::std::complex<Real>;
#endif

constexpr size_t most_at_edges = 10'007;

template <typename Real> std::string text_of(const Real* parts, size_t count) {
  std::ostringstream text;
  text.precision(17);
  if constexpr (std::is_integral_v<Real>)
    text << static_cast<std::make_signed_t<Real>>(parts[0]);  // as the steps print it
  else
    text << parts[0];
  if (count == 2) text << '+' << parts[1] << 'i';
  return text.str();
}

/// Eighths for float, and what a float would round away for double; all bits of integers.
template <typename Real> Real element(size_t i) {
  const std::uint64_t bits = reduction::random_bits(1, i);
  if constexpr (std::is_integral_v<Real>) {
    return static_cast<Real>(bits);
  } else {
    const auto signed_count = [](std::uint64_t from) {
      return static_cast<double>(from % 127 + 1) * (from % 2 != 0 ? -1 : 1);
    };
    const double fine = sizeof(Real) == 8 ? signed_count(bits >> 32) / (std::uint64_t{1} << 35) : 0;
    return static_cast<Real>(signed_count(bits & 0xffff) / 8 + fine);
  }
}

inline void expect_success(cudaError_t status) {
  if (status != cudaSuccess)
    throw std::runtime_error(std::string{"CUDA says: "} + cudaGetErrorString(status));
}

struct Release {
  void operator()(void* data) const { cudaFree(data); }
};

template <typename T> std::unique_ptr<T, Release> allocate(size_t elements) {
  void* data = nullptr;
  expect_success(cudaMalloc(&data, elements * sizeof(T)));
  return std::unique_ptr<T, Release>{static_cast<T*>(data)};
}

/// Number of blocks of one pass, if passes come to an end.
template <typename T> unsigned blocks_of(size_t n, unsigned block) {
  const size_t blocks = std::max<size_t>(1, grid_size<T>(n, block));
  if ((n > 1 && blocks >= n) || blocks >> 31 != 0)
    throw std::runtime_error("grid_size(" + std::to_string(n) + ", " + std::to_string(block) + ") is " +
                             std::to_string(blocks) + ": passes never end");
  return static_cast<unsigned>(blocks);
}

/// Most elements that one block takes.
template <typename T> size_t tile_of(unsigned block) {
  size_t n = 1;
  while (n < most_at_edges && grid_size<T>(n + 1, block) <= 1)
    ++n;
  return n;
}

/// The launches of one reduction, as the steps have them.
template <typename T> const T* reduce(const T* in, T* partial, T* next, size_t n, unsigned block) {
  const bool is_single = ::traits.single_pass || ::traits.adds_atomically;
  do {
    const unsigned blocks = blocks_of<T>(n, block);
    launch_reduce(blocks, block, in, partial, n);
    expect_success(cudaGetLastError());
    in = partial;
    std::swap(partial, next);
    n = blocks;
  } while (n > 1 && !is_single);
  return in;
}

/// Adds up n elements, twice where that takes no time: the second run finds what the first has left. \param Real  of which T
/// has some.
template <typename T, typename Real> void add_up(std::FILE* said, size_t n, unsigned block) {
  constexpr size_t parts = sizeof(T) / sizeof(Real);
  const size_t offset = n == 0 ? 1 : n % 4;  // an input may begin at any element's address
  std::vector<Real> values(n * parts);
  Real expected[parts]{};
  for (size_t i = 0; i < values.size(); ++i)
    expected[i % parts] += values[i] = element<Real>(i);
  const auto buffer = allocate<T>(offset + n);
  const auto partial = allocate<T>(blocks_of<T>(n, block));
  const auto next = allocate<T>(blocks_of<T>(n, block));
  T* const in = buffer.get() + offset;
  expect_success(cudaMemcpy(in, values.data(), n * sizeof(T), cudaMemcpyHostToDevice));
  for (int run = 1; run <= (n <= most_at_edges ? 2 : 1); ++run) {
    Real got[parts];
    const T* const sum = reduce<T>(in, partial.get(), next.get(), n, block);
    expect_success(cudaMemcpy(got, sum, sizeof(T), cudaMemcpyDeviceToHost));
    std::fprintf(said, "sum %d %s %s\n", run, text_of(got, parts).c_str(), text_of(expected, parts).c_str());
  }
}

template <typename T, typename Real = T> void run(std::FILE* said, unsigned block, std::set<size_t> sizes) {
  const size_t tile = tile_of<T>(block);
  if (sizes.empty()) {
    sizes = {0, 1, 2, 1000, most_at_edges};
    for (const size_t edge : {size_t{32}, size_t{block}, tile, 2 * tile})
      sizes.insert({edge - 1, edge, edge + 1});
    sizes.erase(sizes.upper_bound(most_at_edges), sizes.end());
  }
  std::fprintf(said, "grid %zu\n", grid_size<T>(size_t{1} << 30, block));
  for (const size_t n : sizes) {
    std::fprintf(said, "begin %zu %zu\n", n, tile);
    add_up<T, Real>(said, n, block);
  }
}

/// Median of several reductions of 2^28 elements, in 10^9 bytes/s.
template <typename T> double bandwidth(unsigned block) {
  constexpr size_t n = size_t{1} << 28;
  const auto in = allocate<T>(n);
  const auto partial = allocate<T>(blocks_of<T>(n, block));
  const auto next = allocate<T>(blocks_of<T>(n, block));
  expect_success(cudaMemset(in.get(), 0, n * sizeof(T)));
  cudaEvent_t begin, end;
  expect_success(cudaEventCreate(&begin));
  expect_success(cudaEventCreate(&end));
  float milliseconds[21];
  for (float& each : milliseconds) {
    expect_success(cudaEventRecord(begin));
    reduce<T>(in.get(), partial.get(), next.get(), n, block);
    expect_success(cudaEventRecord(end));
    expect_success(cudaEventSynchronize(end));
    expect_success(cudaEventElapsedTime(&each, begin, end));
  }
  std::sort(std::begin(milliseconds), std::end(milliseconds));
  return n * sizeof(T) / (milliseconds[10] * 1e6);
}

/// In one line.
inline std::string line_of(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](unsigned char each) { return each < 32; }, ' ');
  return text;
}

}  // namespace grading

int main(int, char** words) {
  std::FILE* const said = std::fopen(words[1], "w");
  std::setvbuf(said, nullptr, _IOLBF, BUFSIZ);  // a line is there whatever comes behind it
  const std::string type = words[2];
  const auto block = static_cast<unsigned>(std::stoul(words[3]));
  std::set<size_t> sizes;
  for (char** word = words + 4; *word != nullptr; ++word)
    sizes.insert(std::stoull(*word));
  try {
    if (type == "int32") grading::run<std::uint32_t>(said, block, sizes);
    if (type == "int64") grading::run<std::uint64_t>(said, block, sizes);
    if (type == "float32") grading::run<float>(said, block, sizes);
    if (type == "float64") grading::run<double>(said, block, sizes);
    if (type == "complex64") grading::run<grading::Complex<float>, float>(said, block, sizes);
    if (type == "complex128") grading::run<grading::Complex<double>, double>(said, block, sizes);
    if (type == "time")
      std::fprintf(said, "gbps %.0f\n", grading::bandwidth<std::uint32_t>(::traits.default_block));
    std::fputs("done\n", said);
  } catch (const std::exception& error) {
    std::fprintf(said, "refused %s\n", grading::line_of(error.what()).c_str());
  }
  std::fclose(said);
}
