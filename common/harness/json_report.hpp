#pragma once

#include <filesystem>
#include <fstream>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "harness/result.hpp"

namespace reduction {

/// A result under the keys that the README of common/ lists.
nlohmann::ordered_json to_json(const Result& result);

/// A file that appears whole or not at all: it is written beside its place and renamed at the end, and what was there
/// before stays until then.
class JsonFile {
 public:
  /// Opens the file for writing, or throws UsageError before anything has run. "" writes nothing, "-" to stdout.
  explicit JsonFile(std::string path);
  ~JsonFile();
  JsonFile(const JsonFile&) = delete;
  JsonFile& operator=(const JsonFile&) = delete;

  /// Writes `document`. Throws UsageError when the disk does not take it.
  void write(const nlohmann::ordered_json& document);

 private:
  std::filesystem::path path_;
  std::filesystem::path partial_;  ///< where it is written until it is whole; empty: nothing to rename
  std::ofstream stream_;
};

}  // namespace reduction
