#include "harness/published_figures.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "harness/published_figures_data.hpp"

namespace reduction {

namespace {

bool same(const PublishedTable& a, const PublishedTable& b) {
  return a.label == b.label && a.gpu == b.gpu && a.input == b.input;
}

}  // namespace

std::vector<PublishedTable> published_tables() {
  std::vector<PublishedTable> tables;
  for (const PublishedFigure& figure : published_figures) {
    if (tables.empty() || !same(tables.back(), figure.table)) tables.push_back(figure.table);
  }
  return tables;
}

const PublishedFigure* find_published(const PublishedTable& table, std::string_view step) {
  const auto* const found = std::find_if(
      published_figures.begin(), published_figures.end(),
      [&](const PublishedFigure& figure) { return figure.step == step && same(figure.table, table); });
  return found != published_figures.end() ? found : nullptr;
}

std::string published_text(std::string_view step) {
  std::string text;
  for (const PublishedTable& table : published_tables()) {
    const PublishedFigure* const figure = find_published(table, step);
    if (figure == nullptr) continue;
    if (text.empty()) text = "| documented | GPU | input | GB/s | % of peak |\n|:--|:--|:--|--:|--:|\n";
    text += fmt::format("| {} | {} | {} | {} | {} |\n", table.label, table.gpu, table.input,
                        figure->gbps.empty() ? "–" : figure->gbps, figure->percent);
  }
  return text;
}

}  // namespace reduction
