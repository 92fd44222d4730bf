#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/terminal.hpp"

namespace reduction {

/// A published table: one source, one GPU, one input.
struct PublishedTable {
  std::string_view label;  ///< the source in two words: Harris 2007
  std::string_view gpu;
  std::string_view input;  ///< "2^22 int32, block 128"

  bool operator==(const PublishedTable&) const = default;
};

/// What a published table says of a step, as a reader is shown it.
struct PublishedFigure {
  std::string_view step;
  PublishedTable table;
  std::string_view gbps;     ///< empty where the source gives a share of the peak only
  std::string_view percent;  ///< of the card's peak
};

/// Lists every table, the oldest first.
std::vector<PublishedTable> published_tables();

/// Finds the figure of a step in a table; null if there is none.
const PublishedFigure* find_published(const PublishedTable& table, std::string_view step);

/// Returns the published figures of a step as a table; empty if there are none.
std::string published_text(std::string_view step, const Terminal& terminal = {});

}  // namespace reduction
