#define __EMULATED_HOST_PASS
#include "emulated/language/counterparts.hpp"

#include <link.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "emulated/memory/symbol_table.hpp"

namespace __emulated {
namespace {

using Counterparts = std::unordered_map<const void*, const void*>;

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

/// Two files may each have a static kernel of one name: the host's parts are linked in the same order as the device's.
Counterparts find_counterparts() {
  const std::uintptr_t base = begin_of_the_program();
  std::map<std::string_view, std::vector<const void*>> on_host, on_device;
  for (const Symbol& symbol : symbols_of("/proc/self/exe")) {
    std::string_view name = symbol.name;
    const bool is_on_device = name.ends_with(device_suffix);
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
  static const Counterparts counterparts = find_counterparts();
  const auto found = counterparts.find(on_host);
  return found != counterparts.end() ? found->second : on_host;
}

}  // namespace __emulated
