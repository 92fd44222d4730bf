/// \file
/// first_program without a GPU: runs the main() of main.cu, which the build has renamed, and prints what the emulated device
/// finds in its kernel.

#include <exception>
#include <iostream>

#include "emulated/findings/diagnostic.hpp"
#include "emulated/findings/finding.hpp"

int first_program();

int main() {
  try {
    return first_program();
  } catch (const __emulated::KernelFinding& finding) {
    std::cerr << "first_program: error: " << __emulated::diagnostic_of(finding.findings(), false);
  } catch (const std::exception& error) {
    std::cerr << "first_program: error: " << error.what() << '\n';
  }
  return 1;
}
