#pragma once
#include <optional>

#include "emulated/findings/finding.hpp"
#include "emulated/memory/closed_memory.hpp"

namespace __emulated {

/// What is wrong with an access by the host; nothing if it may make it, or has made it from the same place before.
std::optional<Finding> finding_from(const HostAccess& access);

}  // namespace __emulated
