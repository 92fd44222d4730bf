#define __EMULATED_HOST_PASS
#include "emulated/language/counterparts.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "emulated/memory/lasting.hpp"
#include "emulated/memory/symbol_table.hpp"

namespace __emulated {
namespace {

using Counterparts = std::unordered_map<const void*, const void*>;

/// Two files may each have a static kernel of one name: the host's parts are linked in the same order as the device's.
Counterparts find_counterparts() {
  const std::uintptr_t base = begin_of_the_program();
  const std::vector<Symbol>& symbols = symbols_of_the_program();
  if (std::ranges::none_of(symbols, &Symbol::is_of_device)) return {};
  std::map<std::string_view, std::vector<const void*>> on_host, on_device;
  for (const Symbol& symbol : symbols) {
    (symbol.is_of_device() ? on_device : on_host)[symbol.common_name()].push_back(
        reinterpret_cast<const void*>(base + symbol.value));
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
  const Counterparts& counterparts = lasting<find_counterparts>();
  const auto found = counterparts.find(on_host);
  return found != counterparts.end() ? found->second : on_host;
}

}  // namespace __emulated
