#pragma once
/// \file
/// The kernels of this folder, for the program that runs them and for the test that holds the pages to what it prints.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "emulated/findings/finding.hpp"
#include "emulated/run/execution_configuration.hpp"

namespace reduction::pitfalls {

using Element = std::uint32_t;

inline constexpr std::size_t input_elements = 300;
inline constexpr std::size_t least_output_elements = 4;

/// Number of blocks, where the launch does not choose it itself, and of threads per block.
struct Shape {
  __emulated::dim3 grid;
  __emulated::dim3 block;
};

/// Launches a kernel over `input_elements` elements.
using Launch = std::function<void(const Shape& shape, const Element* in, Element* out)>;

/// One kernel of the gallery and the launch that its page shows.
struct Pitfall {
  std::string_view name;   ///< of its files, and of the kernel
  std::string_view title;  ///< of its page
  __emulated::Fault fault;
  Shape shape;
  std::vector<Element> expected;  ///< what the fixed kernel leaves
  Launch faulty;
  Launch fixed;
};

/// In the order of the README.
const std::vector<Pitfall>& gallery();

/// No two elements are the same, so a sum over the wrong ones is a different sum.
constexpr Element input_element(std::size_t i) { return static_cast<Element>(i * i + 1); }

/// Launches over an input that the host has written, and returns the output, which it has set to 0: `elements` of them, or
/// the least. Throws KernelFinding.
std::vector<Element> output_of(const Launch& launch, const Shape& shape, std::size_t elements);

/// The sum of a tile in each cell; elements past the input's end count as zero.
std::vector<Element> sums_of(std::size_t cells, std::size_t tile);

}  // namespace reduction::pitfalls
