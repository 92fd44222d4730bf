#pragma once
#include <filesystem>

#include "emulated/program/command_line.hpp"

namespace emulated_program {

/// Runs the program that was built, as often as it takes. Returns its exit code. \param folder  for files in between
int run_as_asked(const CommandLine& asked, const std::filesystem::path& folder,
                 const std::filesystem::path& program);

}  // namespace emulated_program
