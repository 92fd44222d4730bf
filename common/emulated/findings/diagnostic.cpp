#include "emulated/findings/diagnostic.hpp"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <sstream>
#include <system_error>
#include <utility>

#include "emulated/findings/source_text.hpp"
#include "emulated/memory/memory.hpp"

namespace __emulated {
namespace {

constexpr std::size_t tab_stop = 8;
constexpr std::size_t number_width = 5;

/// How a terminal stresses a text (ECMA-48, "Select Graphic Rendition").
namespace style {
constexpr const char* bold = "1";
constexpr const char* error = "1;31";
constexpr const char* help = "1;36";
constexpr const char* caret = "1;32";
}  // namespace style

/// Colours and the like, where they are wanted.
struct Styled {
  bool is_on;
  std::string in(const char* style, const std::string& text) const {
    return is_on ? std::string{"\x1b["} + style + 'm' + text + "\x1b[0m" : text;
  }
};

/// As a shell in the current directory would take it.
std::string path_from_here(const std::string& file) {
  std::error_code error;
  const std::filesystem::path here = std::filesystem::current_path(error);
  if (error) return file;
  const std::filesystem::path path = std::filesystem::path{file}.lexically_normal().lexically_relative(here);
  return path.empty() || *path.begin() == ".." ? file : path.string();
}

/// "directory/file:17:44".
std::string place_text(const SourceLocation& location) {
  const std::string line = path_from_here(location.file) + ':' + std::to_string(location.line);
  return location.column != 0 ? line + ':' + std::to_string(location.column) : line;
}

/// "thread 0 of block 2 reads shared[32]".
std::string sentence(const Finding& finding, const Witness& witness, bool is_first) {
  std::ostringstream text;
  if (witness.threads.empty()) {
    text << "the host";
  } else {
    text << describe_numbers("thread", witness.threads);
    if (is_first || witness.block != finding.witnesses.front().block) text << " of block " << witness.block;
  }
  text << ' ' << witness.action;
  if (!finding.memory.empty()) text << ' ' << (is_first ? finding.memory : "it");
  if (finding.fault == Fault::uninitialised_read) text << ", which nothing has written";
  if (finding.fault == Fault::race && !is_first) text << ", and nothing orders the two";
  return std::move(text).str();
}

bool is_known(const Witness& witness) { return witness.location.line != 0; }

/// The line, with tabs as spaces, and below it what the location means.
void add_source(std::ostream& text, const SourceLocation& location, Styled styled, bool reads) {
  const std::optional<std::string> line = source_line(location);
  if (!line) return;
  const Span span = span_at(*line, location.column, reads);
  std::string shown;
  std::string marks;
  for (std::size_t i = 0; i < line->size(); ++i) {
    const char c = (*line)[i];
    if ((static_cast<unsigned char>(c) & 0xC0) == 0x80) {  // more of a character of UTF-8
      shown += c;
      continue;
    }
    const bool is_marked = i >= span.begin && i < span.end;
    const char mark = i + 1 == location.column && is_marked ? '^' : is_marked ? '~' : ' ';
    if (c == '\t') {
      const std::size_t width = tab_stop - marks.size() % tab_stop;
      shown.append(width, ' ');
      marks.append(width, mark);
    } else if (c != '\r') {
      shown += c;
      marks += mark;
    }
  }
  marks.erase(marks.find_last_not_of(' ') + 1);
  const auto first = std::min(marks.find_first_not_of(' '), marks.size());
  std::string number = std::to_string(location.line);
  number.insert(0, number_width - std::min(number.size(), number_width), ' ');
  text << number << " | " << shown << '\n'
       << std::string(number.size(), ' ') << " | " << marks.substr(0, first)
       << styled.in(style::caret, marks.substr(first)) << '\n';
}

void add(std::ostream& text, const Finding& finding, Styled styled) {
  // First those that are at a line: it is the one to go to.
  std::vector<Witness> witnesses = finding.witnesses;
  std::stable_partition(witnesses.begin(), witnesses.end(), is_known);
  for (const Witness& witness : witnesses) {
    const bool is_first = &witness == &witnesses.front();
    if (is_known(witness)) text << styled.in(style::bold, place_text(witness.location) + ':') << ' ';
    if (is_first) {
      text << styled.in(style::error, std::string{name_of(finding.fault)}) << " in "
           << styled.in(style::bold, finding.kernel.empty() ? "a kernel" : finding.kernel) << ": ";
    }
    text << sentence(finding, witness, is_first) << '\n';
    add_source(text, witness.location, styled, witness.action == verb_of(Operation::load));
    for (const SourceLocation& caller : witness.callers) {
      text << std::string(number_width, ' ') << " = in the call at " << place_text(caller) << '\n';
    }
  }
  const auto stale = std::ranges::find_if(
      witnesses, [](const Witness& w) { return is_known(w) && is_newer_than_the_program(w.location.file); });
  if (stale != witnesses.end()) {
    text << styled.in(style::help, "note:") << ' ' << path_from_here(stale->location.file)
         << " has changed since this program was built, so its lines are not shown: build again\n";
  }
  if (!finding.help.empty()) text << styled.in(style::help, "help:") << ' ' << finding.help << '\n';
  if (!finding.page.empty()) {
    text << (finding.help.empty() ? styled.in(style::help, "help:") + ' ' : "      ") << "see "
         << finding.page << '\n';
  }
}

}  // namespace

std::string diagnostic_of(const std::vector<Finding>& findings, bool styled) {
  std::ostringstream text;
  for (const Finding& finding : findings)
    add(text, finding, {styled});
  return std::move(text).str();
}

}  // namespace __emulated
