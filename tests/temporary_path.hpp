#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

namespace reduction {

/// A path for this process alone, because CTest runs the tests of one file side by side.
inline std::filesystem::path temporary_path(const std::string& name) {
  return std::filesystem::path(testing::TempDir()) / (name + "." + std::to_string(getpid()));
}

}  // namespace reduction
