#pragma once
/// \file
/// The page that draws traces.

#include <string>
#include <string_view>

namespace reduction {

/// Returns a page of its own that draws the traces in a JSON array of one or two of them
/// (common/explorer/README.md). It loads nothing: a browser can open it from a file.
std::string explorer_page(std::string_view traces_json);

}  // namespace reduction
