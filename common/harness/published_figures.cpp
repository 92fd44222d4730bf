#include "harness/published_figures.hpp"

#include <algorithm>

#include "harness/published_figures_data.hpp"
#include "harness/table.hpp"

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

std::string published_text(std::string_view step, const Terminal& terminal) {
  Table text{
      {{"documented", Align::left}, {"GPU", Align::left}, {"input", Align::left}, {"GB/s"}, {"% of peak"}},
      {}};
  for (const PublishedTable& table : published_tables()) {
    const PublishedFigure* const figure = find_published(table, step);
    if (figure == nullptr) continue;
    text.rows.push_back({std::string(table.label), std::string(table.gpu), std::string(table.input),
                         figure->gbps.empty() ? "–" : std::string(figure->gbps),
                         std::string(figure->percent)});
  }
  return text.rows.empty() ? "" : to_text(text, terminal);
}

}  // namespace reduction
