#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "device/emulated/counters.hpp"

namespace reduction {

/// A counter and the name that it has in JSON.
struct NamedCounter {
  std::string_view name;
  std::uint64_t emulated::Counters::*counter;
};

/// Every counter, in the order of a report.
inline constexpr std::array counter_names{
    NamedCounter{"blocks", &emulated::Counters::blocks},
    NamedCounter{"threads", &emulated::Counters::threads},
    NamedCounter{"shared_load_requests", &emulated::Counters::shared_load_requests},
    NamedCounter{"shared_load_wavefronts", &emulated::Counters::shared_load_wavefronts},
    NamedCounter{"shared_load_conflicts", &emulated::Counters::shared_load_conflicts},
    NamedCounter{"shared_load_lanes", &emulated::Counters::shared_load_lanes},
    NamedCounter{"shared_store_requests", &emulated::Counters::shared_store_requests},
    NamedCounter{"shared_store_wavefronts", &emulated::Counters::shared_store_wavefronts},
    NamedCounter{"shared_store_conflicts", &emulated::Counters::shared_store_conflicts},
    NamedCounter{"shared_store_lanes", &emulated::Counters::shared_store_lanes},
    NamedCounter{"global_load_requests", &emulated::Counters::global_load_requests},
    NamedCounter{"global_load_sectors", &emulated::Counters::global_load_sectors},
    NamedCounter{"global_load_lanes", &emulated::Counters::global_load_lanes},
    NamedCounter{"global_store_requests", &emulated::Counters::global_store_requests},
    NamedCounter{"global_store_sectors", &emulated::Counters::global_store_sectors},
    NamedCounter{"global_store_lanes", &emulated::Counters::global_store_lanes},
    NamedCounter{"block_barriers", &emulated::Counters::block_barriers},
    NamedCounter{"warp_barriers", &emulated::Counters::warp_barriers},
    NamedCounter{"shuffles", &emulated::Counters::shuffles},
    NamedCounter{"atomics", &emulated::Counters::atomics},
};
static_assert(sizeof(emulated::Counters) == counter_names.size() * sizeof(std::uint64_t),
              "a counter has no name");

}  // namespace reduction
