#pragma once
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace emulated_program {

/// A program's sources as the host's compiler reads them. Whatever of its own headers has kernels or launches is rewritten,
/// too. Originals stay as they are: copies are in a folder of their own and include each other there.
class Sources {
 public:
  /// \param folder  for the copies; \param include_folders  of -I; \param reserved  the emulated device's headers: what has one
  /// of their names is theirs.
  Sources(std::filesystem::path folder, std::vector<std::string> include_folders,
          std::vector<std::filesystem::path> reserved);

  /// Returns the copy of a file. Throws std::runtime_error, "FILE:LINE: error: …", for what cannot be read or rewritten.
  std::filesystem::path rewritten(const std::filesystem::path& file);

  /// Whether it is one of them, or a header of theirs.
  bool has(const std::filesystem::path& file) const { return copies_.contains(file); }

 private:
  /// Returns where the copy of a file is, or the file itself if it can stay as it is.
  std::filesystem::path copy(const std::filesystem::path& file, bool in_any_case);
  std::optional<std::filesystem::path> find(std::string_view name, bool quoted,
                                            const std::filesystem::path& includer) const;
  std::filesystem::path write(const std::filesystem::path& file, const std::string& text);

  std::filesystem::path folder_;
  std::vector<std::string> include_folders_;
  std::vector<std::filesystem::path> reserved_;
  std::map<std::filesystem::path, std::filesystem::path> copies_;
};

}  // namespace emulated_program
