#include "explorer_page.hpp"

#include "explorer_page_parts.hpp"  // which bundle.cmake writes

namespace reduction {

std::string explorer_page(std::string_view traces_json) {
  const auto part = [](const auto& bytes) {
    return std::string_view{reinterpret_cast<const char*>(bytes), sizeof bytes};
  };
  std::string page{part(page_before_traces)};
  // In JSON a < stands in strings only. Escaped, none of them can end the element that holds the traces.
  for (const char c : traces_json) {
    if (c == '<')
      page += "\\u003c";
    else
      page += c;
  }
  page += part(page_after_traces);
  return page;
}

}  // namespace reduction
