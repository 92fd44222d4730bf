#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "emulated/count/counters.hpp"
#include "emulated/findings/finding.hpp"
#include "emulated/run/execution_configuration.hpp"
#include "emulated/run/observed.hpp"
#include "emulated/trace/activation.hpp"

/// What one block of a launch did, event by event.
namespace __emulated {

/// Returns its name in JSON, such as "shared_load".
std::string_view name_of(EventKind kind);

/// What one lane had to do with an event.
struct LaneEvent {
  using Bytes = std::array<std::byte, largest_access>;

  std::ptrdiff_t word = 0;   ///< at which its access begins: of shared memory, or of the buffer
  std::size_t buffer = 0;    ///< of a global access, in BlockTrace::buffers
  unsigned source_lane = 0;  ///< of a shuffle
  bool is_known = false;     ///< whether the access has happened: a fault may have ended the block before
  Bytes value{};             ///< read, written, received, or what an atomic left
  Bytes before{};            ///< what an atomic found, or what the lane brought to a shuffle or vote
  Activation activation;     ///< of the function at the call site
};

/// A warp instruction, or a barrier.
struct Event {
  EventKind kind{};
  unsigned warp = 0;
  std::uint32_t lanes = 0;          ///< the active ones, one bit each; 0 for a block barrier
  const void* call_site = nullptr;  ///< the place in the kernel, as a return address; nullptr for an exit
  unsigned bytes = 0;               ///< of each lane's access or value
  unsigned wavefronts = 0;
  unsigned conflicts = 0;
  unsigned sectors = 0;
  unsigned shuffles = 0;
  std::vector<LaneEvent> of_lanes;  ///< of the active lanes, in order
};

/// All that a block did. Between two barriers of the block the warps take turns; each warp's events are in an order in
/// which a GPU could run them.
struct BlockTrace {
  ExecutionConfiguration configuration;
  std::size_t launch = 0;            ///< counted from 1
  std::size_t block = 0;             ///< its number in the grid
  const void* kernel = nullptr;      ///< its entry
  std::vector<std::size_t> buffers;  ///< bytes of each that the block has accessed
  std::vector<SharedVariable> shared_variables;
  std::vector<Event> events;
  Counters counters;              ///< of the block
  bool truncated = false;         ///< the block did more than a trace holds
  std::vector<Finding> findings;  ///< of the launch
};

/// For each witness of a finding, the number of the event in which it took part; none for another block's, or for what
/// never happened, such as a barrier at which threads still wait.
std::vector<std::optional<std::size_t>> events_of(const Finding& finding, const BlockTrace& trace);

/// What a trace holds: accesses, shuffles, votes, barriers and exits of single threads. More are left out.
inline constexpr std::size_t most_traced_actions = std::size_t{1} << 18;

}  // namespace __emulated
