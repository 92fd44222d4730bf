#include "harness/input.hpp"

#include <algorithm>

#include "emulated/run/host_threads.hpp"

namespace reduction {

void fill_host(void* data, const Input& input, ElementType type, std::uint64_t first, std::uint64_t count) {
  constexpr std::uint64_t chunk = std::uint64_t{1} << 18;
  const std::uint64_t parts = parts_of(type);
  visit_real(type, [&]<typename Real>(Real) {
    Real* const out = static_cast<Real*>(data);
    __emulated::parallel_for((count + chunk - 1) / chunk, [&](std::size_t k) {
      const std::uint64_t last = std::min(count, (k + 1) * chunk);
      for (std::uint64_t i = k * chunk; i < last; ++i) {
        for (std::uint64_t part = 0; part < parts; ++part) {
          out[i * parts + part] = real_at<Real>(input, first + i, part, parts);
        }
      }
    });
  });
}

}  // namespace reduction
