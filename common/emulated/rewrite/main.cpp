/// \file
/// kernel_rewriter INPUT OUTPUT: makes C++ for the emulated device of a source with kernels.

#include <unistd.h>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <stdexcept>
#include <string>

#include "emulated/rewrite/rewrite.hpp"

namespace {

std::string read(const std::string& path) {
  std::ifstream file{path, std::ios::binary};
  if (!file || std::filesystem::is_directory(path)) throw std::runtime_error{"cannot read " + path};
  return {std::istreambuf_iterator<char>{file}, {}};
}

/// The file appears, or changes, all at once: an interrupted build leaves nothing that looks finished.
void write(const std::string& path, const std::string& text) {
  const std::string temporary = path + "." + std::to_string(getpid());
  std::ofstream file{temporary, std::ios::binary};
  file << text;
  file.close();
  if (!file || std::rename(temporary.c_str(), path.c_str()) != 0) {
    std::remove(temporary.c_str());
    throw std::runtime_error{"cannot write " + path};
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: kernel_rewriter INPUT OUTPUT\n";
    return 2;
  }
  const std::string input = argv[1];
  try {
    const std::string original = std::filesystem::absolute(input).lexically_normal();
    write(argv[2], emulated_rewrite::line_directive(original) + emulated_rewrite::rewrite(read(input)));
    return 0;
  } catch (const emulated_rewrite::RewriteError& error) {
    std::cerr << input << ":" << error.line << ": error: " << error.what() << "\n";
  } catch (const std::exception& error) {
    std::cerr << "kernel_rewriter: error: " << error.what() << "\n";
  }
  return 1;
}
