#pragma once
#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "emulated/rewrite/code.hpp"

namespace emulated_rewrite {

/// A kernel's declaration, and that of the function that launches it by its name: its counterpart.
struct Kernel {
  std::string scope;      ///< the namespaces that it is in
  std::string signature;  ///< its parameters' types
  std::size_t template_parameters = 0;
  std::size_t parameters = 0;
  bool has_default = false;
  bool is_function_too = false;  ///< one of the host's has its name
  bool has_body = false;
  std::size_t end;         ///< of the declaration, in the source
  std::string head, body;  ///< of the counterpart
};

/// Each declaration of a name. A launch may leave to the compiler which of several kernels it means, arguments of a
/// template, and arguments that have a default. A function with the same parameters does so, too: its counterpart.
using Kernels = std::map<std::string, std::vector<Kernel>, std::less<>>;

constexpr const char* counterpart_prefix = "__emulated_launch_";

Kernels find_kernels(const Code& code);

/// Where the name of the kernel is if a launch does not say all that a pointer to it takes; else none.
/// \param open  the "<<<". \param arguments  the "(" of the launch's arguments.
std::size_t incomplete_name(const Code& code, const Kernels& kernels, std::size_t open,
                            std::size_t arguments);

/// What follows a declaration. A kernel that has its body elsewhere has its counterpart's there.
std::string counterpart(const Kernel& kernel, const std::vector<Kernel>& declarations);

}  // namespace emulated_rewrite
