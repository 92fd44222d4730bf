#pragma once
#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <vector>

namespace emulated_program {

/// A source's object file, compiled with __EMULATED_SPACES and without optimisation, each function and variable in a section of
/// its own; and its code, as `objdump -dlr` writes it.
struct Listed {
  std::filesystem::path object, listing;
};

/// What is known of the program that they are of.
struct Program {
  std::function<bool(const std::filesystem::path&)> is_source;  ///< or a header of its own
  std::set<std::string> of_host;                                ///< what its host code defines, by symbols
  bool relaxed_constexpr = false;                               ///< functions that are constexpr are for both
};

/// What nvcc refuses and a compiler without execution spaces takes: a function or a variable that is used on the wrong side, a
/// kernel that is called, a launch of what is no kernel, one extern __shared__ name of two types.
/// Returns lines "FILE:LINE: error: …".
std::vector<std::string> misplaced_uses(const std::vector<Listed>& sources, const Program& program);

}  // namespace emulated_program
