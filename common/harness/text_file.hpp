#pragma once

#include <string>

namespace reduction {

/// Returns the whole text of a file that a user has named. Throws std::system_error for one that cannot be read, such as
/// a folder, or that is larger than any which a program here writes.
std::string read_text_file(const std::string& path);

}  // namespace reduction
