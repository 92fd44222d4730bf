// Runs the kernels of docs/amd/kernels.hip on 999 numbers, and prints the names of those with a wrong result.
#include KERNELS

#include <algorithm>
#include <cstdio>
#include <numeric>

int main() {
  std::vector<int> in(999);
  for (size_t i = 0; i < in.size(); ++i)
    in[i] = static_cast<int>(i * 2654435761u >> 8) - (1 << 23);
  const int sum = std::accumulate(in.begin(), in.end(), 0);

  for (const unsigned threads : {64u, 128u, 256u}) {
    std::vector<int> sums(16);
    const auto check = [&](const char* name, void (*kernel)(const int*, int*, size_t), unsigned grid) {
      launch(kernel, grid, threads, in.data(), sums.data(), in.size());
      if (std::accumulate(sums.begin(), sums.begin() + grid, 0) != sum) std::printf("%s ", name);
    };
    check("last_warp_unrolled", last_warp_unrolled, (999 + 2 * threads - 1) / (2 * threads));
    check("by_shuffles", by_shuffles, 3);

    std::vector<int> expected, kept(999);
    std::copy_if(in.begin(), in.end(), std::back_inserter(expected), [](int x) { return x > 0; });
    unsigned count = 0;
    launch(keep_positive, (999 + threads - 1) / threads, threads, in.data(), kept.data(), &count, in.size());
    kept.resize(std::min(count, 999u));
    std::ranges::sort(kept);
    std::ranges::sort(expected);
    if (kept != expected) std::printf("keep_positive ");
  }
}
