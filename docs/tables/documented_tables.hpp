#pragma once
/// \file
/// What has been published about the steps, by others and by this repository: docs/tables/*.json.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace reduction {

/// One line of a published table.
struct DocumentedFigure {
  std::string name;            ///< a step's folder, or what else was measured
  std::optional<double> gbps;  ///< none where the source gives a share of the peak only
  double percent;  ///< of the card's peak: that of the GB/s, or what the source states without GB/s
  std::optional<double> ms;
  std::string note;
};

/// A published table: one source, one GPU, one input.
struct DocumentedTable {
  std::string name;   ///< of its file, without .json
  std::string label;  ///< the source in two words: Harris 2007
  std::string data;   ///< the file with the figures, from docs/tables
  std::string author;
  std::string title;
  std::string publisher;
  int year;
  std::string quotes;  ///< the table whose figures it repeats; empty where they are its own
  std::string gpu;
  double peak_gbps;
  std::string peak_from;  ///< how the peak follows from the hardware; may be empty
  std::uint64_t elements;
  std::string type;
  std::optional<unsigned> block;
  std::string method;
  std::vector<DocumentedFigure> steps;
  std::vector<DocumentedFigure> others;  ///< what is no step here, such as atomics and libraries
  std::vector<std::string> remarks;

  /// The figure of a step; null where there is none.
  const DocumentedFigure* find(std::string_view step) const;
};

/// Reads a table. Throws std::runtime_error, with the table's name, for JSON of another shape, for a figure without
/// GB/s and without percent, and for a stated percent that is not that of the GB/s.
DocumentedTable parse_documented_table(const std::string& name, std::string_view json);

/// The table of what measure.sh found on a GPU: `measured` and `ladder` are its measured.json and ladder.json, `json` is
/// the table's file, which has a label and names their folder. Throws as parse_documented_table does.
DocumentedTable parse_measured_table(const std::string& name, std::string_view json,
                                     std::string_view measured, std::string_view ladder);

/// Reads all tables of a checkout of this repository, the oldest first. Throws as above, and where a file is missing.
std::vector<DocumentedTable> read_documented_tables(const std::filesystem::path& repository);

/// Those with figures of their own, which a result is compared with.
std::vector<DocumentedTable> originals_of(const std::vector<DocumentedTable>& tables);

/// "2^22 int32, block 128"
std::string input_text(const DocumentedTable& table);

/// The share of the peak, with no more digits than the source gives: "11.3", but "92" where that is all it states.
std::string percent_text(const DocumentedFigure& figure);

}  // namespace reduction
