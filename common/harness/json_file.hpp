#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace reduction {

/// A file that appears whole or not at all: it is written beside its place and renamed, so that what was there before
/// stays until then.
class JsonFile {
 public:
  /// "" writes nothing, "-" to stdout. Throws UsageError for a place that cannot be written, before anything has run.
  explicit JsonFile(const std::string& path);

  /// Writes `document`. Throws std::runtime_error if the disk does not take it.
  void write(const nlohmann::ordered_json& document) const;

  /// Writes `document` where a later call can replace it: not to stdout, nor to a pipe.
  void keep(const nlohmann::ordered_json& document) const;

 private:
  std::filesystem::path path_;
  bool replaced_ = false;  ///< written beside and renamed
};

}  // namespace reduction
