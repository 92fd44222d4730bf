#pragma once

#include <filesystem>
#include <string>

namespace reduction {

/// A file that appears whole or not at all: it is written beside its place and renamed, so that what was there before
/// stays until then. It keeps the mode and the owner of what it replaces; a link stays one. What is no ordinary file,
/// such as a pipe, a device or a descriptor of the shell, is written as it is. So is stdout, or stderr, by whatever
/// name, and a file that is mounted by itself.
class OutputFile {
 public:
  /// "" writes nothing. Throws UsageError for a place that cannot be written, before anything has run: also for a file of
  /// several names, which would no longer be one, and for one whose owner could not be kept.
  /// \param option  by which the user has named it.
  explicit OutputFile(const std::string& path, std::string option = "--json");

  /// Says whether there is a place to write to.
  bool is_given() const { return place_ != Place::nowhere; }

  /// Says whether it is stdout: "-", or another name of what stdout is.
  bool is_stdout() const;

  /// Writes a document that may not be the last, where a later one can replace it: not to stdout nor a pipe.
  void keep(const std::string& text);

  /// Writes the document, unless keep() has just done so. What its place does not take is noted as lost output, for which
  /// no verdict changes. Says whether all of it is there.
  bool write(const std::string& text) const;

 private:
  bool put(const std::string& text) const;

  enum class Place { nowhere, descriptor, special_file, ordinary_file };

  std::string option_;
  std::string name_;  ///< as the user has it
  Place place_ = Place::nowhere;
  int descriptor_ = -1;         ///< of Place::descriptor
  std::filesystem::path path_;  ///< of a file, of an ordinary one behind all links
  bool kept_ = false;           ///< it has the document already
};

}  // namespace reduction
