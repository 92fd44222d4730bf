#pragma once

#include <filesystem>
#include <string>

namespace reduction {

/// A file that appears whole or not at all: it is written beside its place and renamed, so that what was there before
/// stays until then.
class OutputFile {
 public:
  /// "" writes nothing, "-" to stdout. Throws UsageError for a place that cannot be written, before anything has run.
  /// \param option  by which the user has named it.
  explicit OutputFile(const std::string& path, std::string option = "--json");

  /// Writes the text of a document. Throws std::runtime_error if the disk does not take it.
  void write(const std::string& text) const;

  /// Writes it where a later call can replace it: not to stdout, nor to a pipe.
  void keep(const std::string& text) const;

 private:
  std::string option_;
  std::filesystem::path path_;
  bool replaced_ = false;  ///< written beside and renamed
};

}  // namespace reduction
