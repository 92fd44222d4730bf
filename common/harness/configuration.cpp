#include "harness/configuration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "device/emulated/device.hpp"
#include "harness/host_memory.hpp"
#include "harness/units.hpp"

namespace reduction {

DeviceRoom room_of(const Device& device) {
  if (device.info().kind == DeviceKind::emulated) return room_of_emulated_device();
  return {device.info().kind, device.info().name, device.available_bytes(), device.own_bytes(), ""};
}

DeviceRoom room_of_emulated_device() {
  const HostMemory memory = available_host_memory();
  const std::size_t own =
      memory.bound == address_space_limit ? emulated::reserved_bytes : emulated::touched_bytes;
  return {DeviceKind::emulated, std::string(emulated::device_name), memory.bytes, own, memory.bound};
}

std::uint64_t default_elements(const DeviceRoom& room, ElementType type) {
  if (room.kind == DeviceKind::emulated) return std::uint64_t{1} << 20;
  std::uint64_t n = std::uint64_t{1} << 28;
  while (n > 1 && n * size_of(type) > room.available_bytes / 2)
    n /= 2;
  return n;
}

namespace {

/// Returns where a size sweep ends if the user does not say: on a GPU at the largest power of two of elements that fits
/// beside its partial sums, which take less than a sixteenth of it.
std::uint64_t largest_elements(const DeviceRoom& room, ElementType type) {
  if (room.kind == DeviceKind::emulated) return default_elements(room, type);
  const std::size_t available = room.available_bytes - std::min(room.available_bytes, room.own_bytes);
  return std::bit_floor(available / 17 * 16 / size_of(type));
}

}  // namespace

std::vector<Configuration> plan_configurations(const Options& options, const DeviceRoom& room) {
  const auto elements_of = [&](ElementType type) {
    return options.elements ? *options.elements : default_elements(room, type);
  };
  const Configuration base{options.type, elements_of(options.type), options.block};
  if (!options.sweep) return {base};

  const std::uint64_t largest = options.elements ? *options.elements : largest_elements(room, options.type);
  std::vector<Configuration> list;
  switch (*options.sweep) {
    case Sweep::block:
      for (const unsigned block : block_sizes)
        list.push_back({base.type, base.elements, block});
      break;
    case Sweep::size:
      for (std::uint64_t n = 1024; n <= largest; n *= 2)
        list.push_back({base.type, n, base.block});
      break;
    case Sweep::type:
      for (const ElementType type : element_types)
        list.push_back({type, elements_of(type), base.block});
      break;
  }
  if (list.empty()) throw UsageError("--sweep size goes from 2^10 to --elements: give 1024 elements or more");
  return list;
}

DeviceError out_of_memory(const Configuration& configuration, std::size_t needed, const DeviceRoom& room) {
  return DeviceError(fmt::format("{} {} need {}, and {} has {} free{}; choose fewer elements",
                                 count_text(configuration.elements), to_string(configuration.type),
                                 bytes_text(static_cast<double>(needed)), room.name,
                                 bytes_text(static_cast<double>(room.available_bytes)),
                                 room.bound.empty() ? "" : fmt::format(" ({})", room.bound)));
}

}  // namespace reduction
