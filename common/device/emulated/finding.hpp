#pragma once
#include <stdexcept>

namespace reduction::emulated {

/// A fault in a kernel: what compute-sanitizer would report on a GPU. what() is a paragraph for the reader.
class KernelFinding : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace reduction::emulated
