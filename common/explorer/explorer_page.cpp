#include "explorer_page.hpp"

#include "explorer_page_parts.hpp"

namespace reduction {

std::string explorer_page(std::string_view traces_json) {
  const auto part = [](const unsigned char* bytes, unsigned size) {
    return std::string_view{reinterpret_cast<const char*>(bytes), size};
  };
  std::string page{part(page_before_traces, page_before_traces_size)};
  // In JSON a < stands in strings only. Escaped, none of them can end the element that holds the traces.
  for (const char c : traces_json) {
    if (c == '<')
      page += "\\u003c";
    else
      page += c;
  }
  page += part(page_after_traces, page_after_traces_size);
  return page;
}

}  // namespace reduction
