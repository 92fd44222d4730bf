#include "harness/published_figures.hpp"

#include "harness/published_figures_data.hpp"
#include "harness/table.hpp"

namespace reduction {

std::vector<PublishedTable> published_tables() {
  std::vector<PublishedTable> tables;
  for (const PublishedFigure& figure : published_figures) {
    if (tables.empty() || tables.back() != figure.table) tables.push_back(figure.table);
  }
  return tables;
}

const PublishedFigure* find_published(const PublishedTable& table, std::string_view step) {
  for (const PublishedFigure& figure : published_figures) {
    if (figure.step == step && figure.table == table) return &figure;
  }
  return nullptr;
}

std::string published_text(std::string_view step, const Terminal& terminal) {
  Table text{
      {{"documented", Align::left}, {"GPU", Align::left}, {"input", Align::left}, {"GB/s"}, {"% of peak"}},
      {}};
  for (const PublishedFigure& figure : published_figures) {
    if (figure.step != step) continue;
    text.rows.push_back({std::string(figure.table.label), std::string(figure.table.gpu),
                         std::string(figure.table.input),
                         figure.gbps.empty() ? "–" : std::string(figure.gbps), std::string(figure.percent)});
  }
  return text.rows.empty() ? "" : to_text(text, terminal);
}

}  // namespace reduction
