#include "emulated/memory/shared_variable.hpp"

namespace __emulated {
namespace {

std::string in_brackets(std::ptrdiff_t index) {
  return std::string{"["}.append(std::to_string(index)).append("]");
}

std::ptrdiff_t floor_of_quotient(std::ptrdiff_t number, std::ptrdiff_t divisor) {
  return number / divisor - (number % divisor < 0 ? 1 : 0);
}

/// "tile[1][0]"; `last` has no index, but what is beside it has. \param element  counted over all dimensions.
std::string element_name(const SharedDeclaration& declaration, std::ptrdiff_t element) {
  std::string indices;
  for (std::size_t d = declaration.extents.size(); d-- > 1;) {
    const auto extent = static_cast<std::ptrdiff_t>(declaration.extents[d]);
    const std::ptrdiff_t row = floor_of_quotient(element, extent);
    indices = in_brackets(element - row * extent) + indices;
    element = row;
  }
  if (!declaration.extents.empty() || element != 0) indices = in_brackets(element) + indices;
  return declaration.name + indices;
}

}  // namespace

std::vector<std::size_t> SharedVariable::extents() const {
  std::vector<std::size_t> extents{declaration->extents.begin(), declaration->extents.end()};
  std::size_t row_bytes = declaration->element_bytes;
  for (std::size_t d = extents.size(); d-- > 1;)
    row_bytes *= extents[d];
  if (!extents.empty()) extents[0] = bytes / row_bytes;
  return extents;
}

// common/explorer/words.js has the same rule; tests/emulated/shared_names.json holds both to it.
std::string SharedVariable::name_of(std::ptrdiff_t position, std::size_t count) const {
  const auto width = static_cast<std::ptrdiff_t>(declaration->element_bytes);
  const std::ptrdiff_t begin = position - static_cast<std::ptrdiff_t>(offset);
  const std::ptrdiff_t last = begin + static_cast<std::ptrdiff_t>(count) - 1;
  const std::ptrdiff_t element = floor_of_quotient(begin, width);
  const std::string name = element_name(*declaration, element);
  if (floor_of_quotient(last, width) != element)
    return name + " to " + element_name(*declaration, floor_of_quotient(last, width));
  if (count == declaration->element_bytes) return name;
  const std::string first_byte = std::to_string(begin - element * width);
  if (count == 1) return "byte " + first_byte + " of " + name;
  return "bytes " + first_byte + " to " + std::to_string(last - element * width) + " of " + name;
}

std::string SharedVariable::size_text() const {
  const std::string has = std::string{"("} + declaration->name + " has ";
  std::string size;
  for (const std::size_t extent : extents())
    size += (size.empty() ? "" : " x ") + std::to_string(extent);
  return has + (size.empty() || size == "1" ? "1 element)" : size + " elements)");
}

}  // namespace __emulated
