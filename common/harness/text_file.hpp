#pragma once

#include <filesystem>
#include <string>
#include <system_error>

namespace reduction {

/// Returns the whole text of a file that a user has named. Throws std::system_error for one that cannot be read, such as
/// a folder, or that is larger than any which a program here writes.
std::string read_text_file(const std::string& path);

/// A file that appears whole or not at all: it is written beside its place and renamed, so that what was there before
/// stays until then. A link to a file stays one. A pipe, a device and stdout are written as they are.
class OutputFile {
 public:
  /// "" writes nothing, "-" to stdout. Throws UsageError for a place that cannot be written, before anything has run.
  /// \param option  by which the user has named it.
  explicit OutputFile(const std::string& path, std::string option = "--json");

  bool is_given() const { return !name_.empty(); }

  bool is_stdout() const { return name_ == "-" || name_ == "/dev/stdout"; }

  /// Writes a document that may not be the last, where a later one can replace it: not to stdout nor a pipe.
  void keep(const std::string& text) const;

  /// Writes the document. What its place does not take is noted as lost output, for which no verdict changes. Says whether
  /// all of it is there.
  bool write(const std::string& text) const;

 private:
  std::error_code put(const std::string& text) const;

  std::string option_;
  std::string name_;              ///< as the user has it
  std::filesystem::path target_;  ///< an ordinary file, behind all links; empty: none, so written as it is
};

}  // namespace reduction
