#include "emulated/trace/local_variables.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <regex>
#include <set>
#include <string_view>
#include <utility>

#include "emulated/findings/source_location.hpp"

namespace __emulated {
namespace {

using Addresses = std::set<std::uint64_t>;
using Number = std::optional<std::uint64_t>;

/// An entry of the debug information: a type, a function, a scope or a variable.
struct Entry {
  std::string tag;
  std::map<std::string, std::string, std::less<>> attributes;

  std::string text(std::string_view attribute) const {
    const auto found = attributes.find(attribute);
    return found == attributes.end() ? "" : found->second;
  }
  Number number(std::string_view attribute) const { return number_in(text(attribute)); }
};

struct Operator {
  std::string_view name;
  std::uint64_t (*apply)(std::uint64_t, std::uint64_t);
};
/// Those whose low bits are right whatever stands above a narrow operand.
constexpr std::array operators{
    Operator{"plus", [](std::uint64_t a, std::uint64_t b) { return a + b; }},
    Operator{"minus", [](std::uint64_t a, std::uint64_t b) { return a - b; }},
    Operator{"mul", [](std::uint64_t a, std::uint64_t b) { return a * b; }},
    Operator{"and", [](std::uint64_t a, std::uint64_t b) { return a & b; }},
    Operator{"shl", [](std::uint64_t a, std::uint64_t b) { return b < 64 ? a << b : 0; }},
};

/// Of "(DW_OP_breg3 (rbx): 16; DW_OP_stack_value)".
std::vector<DwarfOperation> operations_in(const std::string& expression) {
  static const std::regex operation{R"(DW_OP_([a-zA-Z_]+)(\d*)[us]?( \(\w+\))?(: (-?\d+))?)"};
  std::vector<DwarfOperation> operations;
  for (std::sregex_iterator at{expression.begin(), expression.end(), operation}, end; at != end; ++at)
    operations.push_back({at->str(1), number_in(at->str(2)).value_or(0), number_in(at->str(5)).value_or(0)});
  return operations;
}

/// What the operations leave on top of their stack. Nothing if there is one among them that is none of these.
Number result_of(const std::vector<DwarfOperation>& operations, const std::vector<DwarfOperation>& frame_base,
                 const Activation& activation) {
  std::vector<std::uint64_t> stack;
  for (const auto& [name, number, operand] : operations) {
    if (name == "stack_value") continue;
    const Number base = name == "lit"                                                 ? Number{number}
                        : name.starts_with("const") && number < 8 && name.size() <= 6 ? Number{0}
                        : name == "reg" || name == "breg" ? activation.register_of(number)
                        : name == "fbreg"                 ? result_of(frame_base, {}, activation)
                        : name == "call_frame_cfa"        ? Number{activation.end_of_frame}
                                                          : Number{};
    if (base) {
      stack.push_back(*base + operand);
      continue;
    }
    const auto combine = std::ranges::find(operators, name, &Operator::name);
    if (combine == operators.end() || stack.size() < 2) return std::nullopt;
    const std::uint64_t right = stack.back();
    stack.pop_back();
    stack.back() = combine->apply(stack.back(), right);
  }
  return stack.empty() ? Number{} : Number{stack.back()};
}

/// What readelf prints of a file, of which some addresses matter.
class DebugInformation {
 public:
  DebugInformation(const std::string& file, Addresses wanted) : wanted_{std::move(wanted)} {
    const std::string command = "readelf " + in_quotes(file) + " --debug-dump=";
    for_each_line_of(command + "loc,Ranges", [this](const std::string& line) { take_part_of_list(line); });
    for_each_line_of(command + "info", [this](const std::string& line) { take_entry(line); });
  }

  std::vector<LocalVariable> variables_at(std::uint64_t address) const {
    std::vector<LocalVariable> variables;
    for (auto [seen, end] = seen_.equal_range(address); seen != end; ++seen)
      add_variable(entries_.at(seen->second), address, variables);
    return variables;
  }

 private:
  using Lists = std::map<std::pair<std::uint64_t, std::uint64_t>, std::string>;  // by offset and address

  /// "    00000213 00000000000000c4 00000000000000ea (DW_OP_reg3 (rbx))": from where to where what holds. A list goes by the
  /// offset of its first part.
  void take_part_of_list(const std::string& line) {
    if (line.starts_with("Contents of the ")) {
      lists_ = line.find(".debug_loc ") != line.npos      ? &locations_
               : line.find(".debug_ranges ") != line.npos ? &ranges_
                                                          : nullptr;
    }
    if (line.ends_with("<End of list>")) list_.reset();
    std::uint64_t offset = 0, begin = 0, end = 0;
    int length = 0;
    const int found = std::sscanf(line.c_str(), "%lx %16lx %16lx %n", &offset, &begin, &end, &length);
    if (found != 3 || lists_ == nullptr) return;
    if (!list_) list_ = offset;
    for (auto address = wanted_.lower_bound(begin); address != wanted_.end() && *address < end; ++address)
      (*lists_)[{*list_, *address}] = line.substr(static_cast<std::size_t>(length));
  }

  /// " <2><11c59>: Abbrev Number: 77 (DW_TAG_variable)", then "    <11c5a>   DW_AT_name        : tid" and the like. Number 0 ends
  /// what is in an entry.
  void take_entry(const std::string& line) {
    if (line.starts_with("   Version: ")) is_known_version_ = line.ends_with(" 4");
    const auto attribute = line.find("DW_AT_");
    if (line.starts_with(" <")) {
      if (is_known_version_) end_entry();
      const auto tag = line.find("DW_TAG_");
      entry_ = {tag == line.npos ? "" : line.substr(tag + 7, line.find(')', tag) - tag - 7), {}};
      std::sscanf(line.c_str(), " <%zu><%lx>", &depth_, &offset_);
    } else if (attribute != line.npos) {
      const bool is_text = line.find(": (indirect string", attribute) != line.npos;
      const auto value = is_text ? line.find("): ", attribute) + 3 : line.find(": ", attribute) + 2;
      entry_.attributes.emplace(line.substr(attribute + 6, line.find(' ', attribute) - attribute - 6),
                                line.substr(value));
    }
  }

  void end_entry() {
    static const std::set<std::string_view> types{"base_type", "typedef", "const_type", "volatile_type"};
    static const std::set<std::string_view> variables{"variable", "formal_parameter", "template_value_param",
                                                      "enumerator"};
    scopes_.resize(std::max(scopes_.size(), depth_ + 2));
    const Addresses& of_parent = scopes_[depth_];
    Addresses& scope = scopes_[depth_ + 1];
    scope.clear();
    if (entry_.tag == "subprogram") {
      scope = within(wanted_);
      for (const std::uint64_t address : scope)
        frame_bases_[address] = entry_.text("frame_base");
    }
    if (entry_.tag == "lexical_block") scope = within(of_parent);
    if (entry_.tag == "enumeration_type") scope = of_parent;
    if (variables.contains(entry_.tag)) {
      for (const std::uint64_t address : of_parent)
        seen_.emplace(address, offset_);
    }
    if (variables.contains(entry_.tag) || types.contains(entry_.tag)) entries_.emplace(offset_, entry_);
  }

  /// Those of the addresses that are in the function or block.
  Addresses within(const Addresses& addresses) const {
    Addresses found;
    const Number begin = entry_.number("low_pc"), bytes = entry_.number("high_pc"),
                 list = entry_.number("ranges");
    for (const std::uint64_t address : addresses) {
      const bool is_in_range = begin && bytes && address - *begin < *bytes;
      if (is_in_range || (list && ranges_.contains({*list, address}))) found.insert(address);
    }
    return found;
  }

  /// What the attribute refers to.
  Entry referred(const Entry& entry, std::string_view attribute) const {
    const auto found = entries_.find(entry.number(attribute).value_or(0));
    return found == entries_.end() ? Entry{} : found->second;
  }

  /// One that is no number has no location, but hides those of its name.
  void add_variable(const Entry& entry, std::uint64_t address, std::vector<LocalVariable>& variables) const {
    const Entry origin = referred(entry, "abstract_origin");
    const Entry& declared = origin.tag.empty() ? entry : origin;
    Entry type = referred(declared, "type");
    while (!type.tag.empty() && type.tag != "base_type")
      type = referred(type, "type");
    const std::uint64_t encoding = type.number("encoding").value_or(0);
    LocalVariable variable;
    variable.name = declared.text("name");
    if (variable.name.empty()) return;
    variable.line = static_cast<unsigned>(declared.number("decl_line").value_or(0));
    variable.encoding = LocalVariable::Encoding{encoding};
    variable.bytes = type.number("byte_size").value_or(0);
    const bool is_real =
        encoding == 4 && (variable.bytes == sizeof(float) || variable.bytes == sizeof(double));
    const bool is_number = is_real || encoding == 2 || encoding == 5 || encoding == 7;
    const std::string location = entry.text("location");
    const std::string constant = declared.text("const_value");
    variable.may_be_unset = entry.tag == "variable" && !location.ends_with("(location list)");
    if (!is_number || variable.bytes > sizeof(std::uint64_t)) {
      variable.may_be_unset = false;
    } else if (!constant.empty() && constant.find("block") == constant.npos) {
      variable.location = {{"lit", declared.number("const_value").value_or(0)}, {"stack_value"}};
    } else if (location.ends_with("(location list)")) {
      const auto part = locations_.find({entry.number("location").value_or(0), address});
      variable.location = operations_in(part == locations_.end() ? "" : part->second);
    } else {
      variable.location = operations_in(location);
    }
    variable.frame_base = operations_in(frame_bases_.at(address));
    variables.push_back(std::move(variable));
  }

  const Addresses wanted_;
  Lists locations_;
  Lists ranges_;
  std::map<std::uint64_t, Entry> entries_;            ///< of types and variables, by their offsets
  std::multimap<std::uint64_t, std::uint64_t> seen_;  ///< the offsets of variables, by addresses
  std::map<std::uint64_t, std::string> frame_bases_;

  // What is being read.
  Lists* lists_ = nullptr;
  Number list_;
  bool is_known_version_ = false;
  std::size_t depth_ = 0;
  std::uint64_t offset_ = 0;
  Entry entry_;
  std::vector<Addresses> scopes_;  ///< the addresses that see what is in each parent of the entry
};

}  // namespace

Number LocalVariable::value_in(const Activation& activation) const {
  const Number result = result_of(location, frame_base, activation);
  if (!result || activation.end_of_frame == 0) return std::nullopt;
  const bool is_value = location.front().name == "reg" || location.back().name == "stack_value";
  return is_value ? result : activation.memory_at(*result, bytes);
}

std::vector<std::vector<LocalVariable>> local_variables(std::span<const void* const> instructions) {
  std::map<std::string, Addresses> wanted;
  for (const void* const instruction : instructions) {
    const AddressInFile place = address_in_file(instruction);
    wanted[place.file].insert(place.address);
  }
  std::map<std::string, DebugInformation> files;
  for (const auto& [file, addresses] : wanted)
    files.try_emplace(file, file, addresses);
  std::vector<std::vector<LocalVariable>> variables;
  for (const void* const instruction : instructions) {
    const AddressInFile place = address_in_file(instruction);
    variables.push_back(files.at(place.file).variables_at(place.address));
  }
  return variables;
}

}  // namespace __emulated
