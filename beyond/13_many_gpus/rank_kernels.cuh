#pragma once
/// \file
/// What is included after kernel.cuh, to make its table.

#include <algorithm>
#include <cstdint>

#include "device/two_reals.cuh"
#include "rank_kernels.hpp"

namespace reduction {

template <typename T> RankKernel make_rank_kernel() {
  using Two = std::remove_pointer_t<decltype(as_bytes(static_cast<T*>(nullptr)))>;
  return {most_peers,
          mailbox_bytes<Two>(),
          partial_bytes<Two>(),
          [](std::uint64_t n, unsigned rank, unsigned count) {
            const Part part = part_of<Two>(n, rank, count);
            return Shard{part.first, part.count};
          },
          [](std::uint64_t n) { return most_additions<Two>(n); },
          [](const Neighbours& neighbours, const void* in, void* out, std::uint64_t n) {
            Peers peers;
            peers.rank = neighbours.rank;
            peers.count = static_cast<unsigned>(neighbours.mailboxes.size());
            std::copy(neighbours.mailboxes.begin(), neighbours.mailboxes.end(), peers.mailboxes);
            peers.partial = neighbours.partial;
            launch_reduce(peers, static_cast<const Two*>(in), static_cast<Two*>(out), n);
          }};
}

template <typename... Elements> RankKernels make_rank_kernels() {
  static_assert(sizeof...(Elements) == element_types.size(), "one type for each ElementType");
  return {make_rank_kernel<Elements>()...};
}

}  // namespace reduction
