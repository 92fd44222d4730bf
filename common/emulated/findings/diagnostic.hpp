#pragma once
#include <string>
#include <vector>

#include "emulated/findings/finding.hpp"

namespace __emulated {

/// The findings as a compiler would print them: places, what is wrong there, source lines with carets, what is missing.
/// Files below the current directory are named from there.
/// \param styled  whether to use a terminal's bold and colours, which stress what the words say anyway.
std::string diagnostic_of(const std::vector<Finding>& findings, bool styled);

}  // namespace __emulated
