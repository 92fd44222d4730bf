#include "emulated/memory/symbol_table.hpp"

#include <cxxabi.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <span>

#include "emulated/memory/lasting.hpp"

namespace __emulated {
namespace {

const std::byte* mapped(const char* path) {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  struct stat status {};
  if (file < 0 || fstat(file, &status) != 0) return nullptr;
  void* const begin =
      mmap(nullptr, static_cast<std::size_t>(status.st_size), PROT_READ, MAP_PRIVATE, file, 0);
  close(file);
  return begin != MAP_FAILED ? static_cast<const std::byte*>(begin) : nullptr;
}

}  // namespace

std::vector<Symbol> symbols_of(const char* path) {
  const std::byte* const file = mapped(path);
  if (file == nullptr) return {};
  const auto& header = *reinterpret_cast<const ElfW(Ehdr)*>(file);
  const std::span sections{reinterpret_cast<const ElfW(Shdr)*>(file + header.e_shoff), header.e_shnum};
  const auto table = std::ranges::find(sections, ElfW(Word){SHT_SYMTAB}, &ElfW(Shdr)::sh_type);
  if (table == sections.end()) return {};
  const auto string_at = [&](std::size_t section, std::size_t offset) {
    return reinterpret_cast<const char*>(file + sections[section].sh_offset + offset);
  };
  std::vector<Symbol> symbols;
  const auto* const first = reinterpret_cast<const ElfW(Sym)*>(file + table->sh_offset);
  for (const ElfW(Sym) & symbol : std::span{first, table->sh_size / sizeof(ElfW(Sym))}) {
    // A section group's name is of no type; a file's and a section's are no symbols.
    const auto type = ELF64_ST_TYPE(symbol.st_info);
    const bool is_defined = symbol.st_shndx != SHN_UNDEF && symbol.st_shndx < sections.size();
    if (!is_defined || type == STT_FILE || type == STT_SECTION) continue;
    symbols.push_back({string_at(table->sh_link, symbol.st_name), symbol.st_value, symbol.st_size,
                       type == STT_OBJECT, string_at(header.e_shstrndx, sections[symbol.st_shndx].sh_name),
                       sections[symbol.st_shndx].sh_addralign, ELF64_ST_BIND(symbol.st_info) == STB_LOCAL});
  }
  return symbols;
}

const std::vector<Symbol>& symbols_of_the_program() {
  return lasting<[] { return symbols_of("/proc/self/exe"); }>();
}

std::uintptr_t begin_of_the_program() {
  std::uintptr_t begin = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* program, std::size_t, void* found) {
        *static_cast<std::uintptr_t*>(found) = program->dlpi_addr;
        return 1;
      },
      &begin);
  return begin;
}

std::string demangled(const char* name) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text{abi::__cxa_demangle(name, nullptr, nullptr, &status),
                                                         std::free};
  return text != nullptr ? text.get() : name;
}

}  // namespace __emulated
