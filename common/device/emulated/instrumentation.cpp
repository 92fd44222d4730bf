#include "device/emulated/instrumentation.hpp"

#include "device/emulated/device.hpp"
#include "device/emulated/grid.hpp"

namespace reduction::emulated {
namespace {

LoggedAccess logged(const Access& access, std::uintptr_t address, LoggedAccess::Kind kind) {
  const auto place = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(access.call_site));
  return {address, place, static_cast<std::uint8_t>(access.bytes), kind};
}

}  // namespace

Instrumentation::Instrumentation()
    : order_{properties().threads_per_block / warp_size},
      log_{properties().threads_per_block},
      shared_checker_{properties().shared_bytes_per_block},
      fences_{properties().threads_per_block},
      global_checker_{fences_} {}

void Instrumentation::begin_block(Grid& grid, std::size_t block) {
  grid_ = &grid;
  block_ = block;
  order_.begin_block();
  fences_.begin_block();
}

void Instrumentation::shared_access(const Access& access, std::size_t offset, unsigned thread,
                                    CaseFile& findings) {
  using Kind = LoggedAccess::Kind;
  shared_checker_.check(access, offset, thread, block_, order_, findings);
  if (access.operation == Operation::atomic) return;
  const Kind kind = access.operation == Operation::load ? Kind::shared_load : Kind::shared_store;
  log_.add(thread, logged(access, offset, kind));
}

void Instrumentation::global_access(const Access& access, Buffer& buffer, unsigned thread,
                                    CaseFile& findings) {
  using Kind = LoggedAccess::Kind;
  global_checker_.check(access, buffer, thread, block_, order_, findings);
  if (access.operation == Operation::atomic) {
    fences_.atomic(thread);
    return;
  }
  const Kind kind = access.operation == Operation::load ? Kind::global_load : Kind::global_store;
  log_.add(thread, logged(access, reinterpret_cast<std::uintptr_t>(access.address), kind));
}

void Instrumentation::block_barrier(unsigned warps, Counters& counters) {
  for (unsigned warp = 0; warp < warps; ++warp)
    log_.count_warp(warp, counters);
  order_.block_barrier();
  fences_.block_barrier();
}

void Instrumentation::end_block(CaseFile& findings) {
  global_checker_.end_block(block_, findings, grid_->accesses());
}

void Instrumentation::warp_barrier(unsigned warp, unsigned group, unsigned lanes) {
  order_.warp_barrier(warp, group, lanes);
  fences_.warp_barrier(warp, group);
}

}  // namespace reduction::emulated
