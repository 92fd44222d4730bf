#define __EMULATED_HOST_PASS
#include "emulated/language/counterparts.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "emulated/memory/symbol_table.hpp"

namespace __emulated {
namespace {

using Counterparts = std::unordered_map<const void*, const void*>;

/// Two files may each have a static kernel of one name: the host's parts are linked in the same order as the device's.
Counterparts find_counterparts() {
  const std::uintptr_t base = begin_of_the_program();
  const std::vector<Symbol> symbols = symbols_of("/proc/self/exe");
  const auto is_of_device = [](const Symbol& symbol) {
    return std::string_view{symbol.name}.ends_with(device_suffix);
  };
  if (std::ranges::none_of(symbols, is_of_device)) return {};
  std::map<std::string_view, std::vector<const void*>> on_host, on_device;
  for (const Symbol& symbol : symbols) {
    std::string_view name = symbol.name;
    const bool is_on_device = is_of_device(symbol);
    if (is_on_device) name.remove_suffix(device_suffix.size());
    (is_on_device ? on_device : on_host)[name].push_back(reinterpret_cast<const void*>(base + symbol.value));
  }
  Counterparts counterparts;
  for (const auto& [name, places] : on_device) {
    const std::vector<const void*>& hosts = on_host[name];
    for (std::size_t i = 0; i < std::min(places.size(), hosts.size()); ++i)
      counterparts.emplace(hosts[i], places[i]);
  }
  return counterparts;
}

}  // namespace

const void* on_device(const void* on_host) {
  static const auto& counterparts =
      *std::make_unique<Counterparts>(find_counterparts()).release();  // to the very end
  const auto found = counterparts.find(on_host);
  return found != counterparts.end() ? found->second : on_host;
}

}  // namespace __emulated
