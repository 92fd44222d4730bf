// SPDX-License-Identifier: MIT
#pragma once
/// \file
/// reduce_across(): one result of an input that is spread over GPUs which reach each other's memory, over NVLink or PCIe.
///
/// Every GPU reduces its own chunks in the order of SameBits. In the kernel that then combines them each warp has neighbouring
/// chunks, usually of one GPU. That GPU combines their results, and its warp stores one value in the memory of all GPUs; of a
/// warp whose chunks belong to several, these store the result of each chunk. Then the warps wait until the values of all have
/// come, and combine them in the one order. So every GPU has the bits that one GPU alone would have, however many there are,
/// and neither the host nor another launch is in between.

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <cuda/atomic>

#include "reduce.cuh"

namespace reduction {

inline namespace REDUCTION_NAMESPACE {

/// The most GPUs that reduce together: no more are connected by NVLink.
inline constexpr unsigned most_peers = 72;

/// GPUs that reach each other's memory, as one of them sees them.
struct Peers {
  unsigned rank = 0;   ///< number of this GPU among them
  unsigned count = 1;  ///< number of GPUs
  /// The memory of each GPU, its own too, for what the others send: mailbox_bytes<A>() bytes, aligned to 8, where this process
  /// reaches them (cudaIpcOpenMemHandle). All of them are zero before the first call.
  void* mailboxes[most_peers] = {};
  /// This GPU's own memory for its results: partial_bytes<A>() bytes, aligned for an A.
  void* partial = nullptr;
};

/// Neighbouring elements of an input: `first` to `first + count - 1`.
struct Part {
  std::size_t first;
  std::size_t count;
};

namespace detail {

// ---- mailboxes ----

/// Four bytes of a result and the number of the call that sends them: both are there, or neither, since eight bytes travel
/// in one store. So no fence has to come between a result and the news of it, as in NCCL's protocol LL.
using Word = std::uint64_t;

template <typename A> inline constexpr unsigned words_of = (sizeof(A) + 3) / 4;

/// The values that GPUs send each other, by number: the result of each chunk, and that of each warp's chunks.
inline constexpr unsigned first_warp = most_chunks;
inline constexpr unsigned most_values = most_chunks + chunk_combine_block / 32;

/// What a mailbox has, in words: the number of calls so far; then, for calls of even and of odd numbers, a word of each GPU
/// that says it has come, where there are fewer chunks than GPUs, and the values. Two calls' words are apart because a GPU may
/// begin a call while another still reads what came for the call before; no GPU can be further ahead.
inline constexpr std::size_t first_word = 128 / sizeof(Word);
template <typename A>
inline constexpr std::size_t words_of_call = most_peers + std::size_t{most_values} * words_of<A>;

__device__ inline void send(Word* to, std::uint32_t data, std::uint32_t call) {
  ::cuda::atomic_ref<Word, ::cuda::thread_scope_system> word(*to);
  word.store(Word{call} << 32 | data, ::cuda::memory_order_relaxed);
}
__device__ inline Word seen(Word* at) {
  ::cuda::atomic_ref<Word, ::cuda::thread_scope_system> word(*at);
  return word.load(::cuda::memory_order_relaxed);
}
/// Returns the number of the call after call `number`. None is 0, which words have that were never written; even and odd
/// numbers take turns.
__device__ inline std::uint32_t number_after(Word number) {
  const std::uint32_t next = static_cast<std::uint32_t>(number) + 1;
  return next == 0 ? 2 : next;
}
__device__ inline bool is_of(Word word, std::uint32_t call) {
  return static_cast<std::uint32_t>(word >> 32) == call;
}

/// One GPU's mailbox in one call.
template <typename A> struct Mailbox {
  Word* words;
  std::uint32_t call;

  __device__ Mailbox(void* mailbox, std::uint32_t number)
      : words(static_cast<Word*>(mailbox) + first_word + number % 2 * words_of_call<A>), call(number) {}

  __device__ void announce(unsigned rank) const { detail::send(words + rank, 0, call); }
  __device__ void wait_for(unsigned rank) const {
    while (!detail::is_of(detail::seen(words + rank), call)) {
    }
  }

  __device__ Word* place_of(unsigned number) const {
    return words + most_peers + std::size_t{number} * words_of<A>;
  }
  __device__ void send(unsigned number, const A& value) const {
    std::uint32_t data[words_of<A>] = {};
    std::memcpy(data, __builtin_addressof(value), sizeof(A));  // A may have an operator&
#pragma unroll words_of < A> <= 16 ? words_of < A> : 1
    for (unsigned w = 0; w < words_of<A>; ++w)
      detail::send(place_of(number) + w, data[w], call);
  }

  /// Waits for values number `first`, `first + step`, ... and writes them to `to`; for numbers from `end` on nothing comes, and
  /// nothing is written.
  template <unsigned at_once>
  __device__ void receive(A (&to)[at_once], unsigned first, unsigned step, unsigned end) const {
    std::uint32_t data[at_once][words_of<A>];
    bool all_came = false;
    while (!all_came) {
      all_came = true;
#pragma unroll
      for (unsigned k = 0; k < at_once; ++k) {  // all are under way before the first is looked at
        if (first + k * step >= end) continue;
#pragma unroll words_of < A> <= 16 ? words_of < A> : 1
        for (unsigned w = 0; w < words_of<A>; ++w) {
          const Word word = detail::seen(place_of(first + k * step) + w);
          data[k][w] = static_cast<std::uint32_t>(word);
          all_came = all_came && detail::is_of(word, call);
        }
      }
    }
#pragma unroll
    for (unsigned k = 0; k < at_once; ++k) {
      if (first + k * step < end)
        std::memcpy(static_cast<void*>(__builtin_addressof(to[k])), data[k], sizeof(A));
    }
  }
};

// ---- whose chunks ----

/// How `count` chunks are divided among GPUs.
struct Owners {
  unsigned count;
  unsigned gpus;

  /// Returns the first chunk of a GPU.
  __host__ __device__ unsigned first_of(unsigned rank) const {
    return static_cast<unsigned>((std::size_t{count} * rank + gpus - 1) / gpus);
  }
  __host__ __device__ ChunkRange of(unsigned rank) const { return {first_of(rank), first_of(rank + 1)}; }
  /// Says whether one GPU has all of them, and there are some.
  __device__ bool is_one(const ChunkRange& chunks) const {
    return chunks.first < chunks.end && chunks.first * gpus / count == (chunks.end - 1) * gpus / count;
  }
};

// ---- the kernel ----

/// Sends what this GPU has of the warp's chunks to all GPUs.
template <typename R>
__device__ void send_results(const Peers& peers, std::uint32_t call, const Owners& owners,
                             const ChunkRange& chunks, const R& reduction) {
  using A = typename R::Accumulator;
  const ChunkRange own = owners.of(peers.rank);
  const unsigned lane = threadIdx.x % 32;
  const unsigned first = (::max)(chunks.first, own.first);
  const unsigned end = (::min)(chunks.end, own.end);
  if (first >= end) return;
  const A* const partial = static_cast<const A*>(peers.partial);
  const auto send_to_all = [&](unsigned number, const A& value) {
    for (unsigned to = 0; to < peers.count; ++to)
      Mailbox<A>(peers.mailboxes[to], call).send(number, value);
  };
  if (owners.is_one(chunks)) {
    auto result = detail::combine_results<32>(partial, first - own.first + lane, end - own.first, reduction);
    result = detail::warp_reduce<32>(result, reduction);
    if (lane == 0) send_to_all(first_warp + threadIdx.x / 32, result);
  } else {
    for (unsigned k = first + lane; k < end; k += 32)
      send_to_all(k, partial[k - own.first]);
  }
}

/// Waits for what all GPUs have of the warp's chunks, and returns it combined, in lane 0.
template <typename R>
__device__ typename R::Accumulator receive_results(const Mailbox<typename R::Accumulator>& mailbox,
                                                   const Owners& owners, const ChunkRange& chunks,
                                                   const R& reduction) {
  using A = typename R::Accumulator;
  constexpr unsigned at_once = combine_loads<A>;
  const unsigned lane = threadIdx.x % 32;
  if (owners.is_one(chunks)) {
    A of_warp[1] = {reduction.identity()};
    const unsigned number = first_warp + threadIdx.x / 32;
    if (lane == 0) mailbox.receive(of_warp, number, 1, number + 1);
    return of_warp[0];
  }
  A result = reduction.identity();
  for (unsigned i = chunks.first + lane; i < chunks.end; i += at_once * 32) {
    A received[at_once];
#pragma unroll
    for (unsigned k = 0; k < at_once; ++k)
      received[k] = reduction.identity();
    mailbox.receive(received, i, 32, chunks.end);
#pragma unroll
    for (unsigned k = 0; k < at_once; ++k)
      result = reduction.combined(result, received[k]);
  }
  return detail::warp_reduce<32>(result, reduction);
}

/// One block combines the results that each GPU has of its own chunks, at peers.partial, into *out, of n elements.
template <typename R, typename Out>
__global__ void __launch_bounds__(chunk_combine_block)
    combine_across_kernel(Peers peers, Owners owners, Out* out, std::size_t n, R reduction,
                          Init<typename R::Accumulator> init) {
  auto* const calls = static_cast<Word*>(peers.mailboxes[peers.rank]);
  const auto call = detail::number_after(detail::seen(calls));  // nobody changes it now
  const ChunkRange chunks = detail::chunks_of_warp(owners.count);
#if __CUDA_ARCH__ >= 900
  detail::wait_for_kernel_before();
#endif
  detail::send_results(peers, call, owners, chunks, reduction);
  // A GPU without chunks sends no result, and may not be ahead of the others either.
  const bool announces = owners.count < peers.count && threadIdx.x < peers.count;
  if (announces) Mailbox<typename R::Accumulator>(peers.mailboxes[threadIdx.x], call).announce(peers.rank);

  const Mailbox<typename R::Accumulator> mailbox(peers.mailboxes[peers.rank], call);
  auto result = detail::receive_results(mailbox, owners, chunks, reduction);
  if (announces) mailbox.wait_for(threadIdx.x);
  result = detail::combine_warps<chunk_combine_block>(result, reduction);
  if (threadIdx.x == 0) {
    detail::write_result(result, n == 0, reduction, init, out);
    ::cuda::atomic_ref<Word, ::cuda::thread_scope_system>(*calls).store(call, ::cuda::memory_order_relaxed);
  }
}

// ---- the launches ----

template <typename A> inline constexpr bool has_index = false;
template <typename T, typename Index> inline constexpr bool has_index<Indexed<T, Index>> = true;

template <bool aligned, typename R, typename Out>
cudaError_t run_across(const Peers& peers, const typename R::Element* in, const Part& part, Out* out,
                       std::size_t n, const R& reduction, const Init<typename R::Accumulator>& init,
                       cudaStream_t stream) {
  using T = typename R::Element;
  using A = typename R::Accumulator;
  const std::size_t bytes = std::size_t{most_chunks} * sizeof(A);
  if (peers.count == 1)  // has nothing to exchange
    return detail::run_same_bits<aligned>(peers.partial, &bytes, in, chunks_of<T>(n), n, out, reduction, init,
                                          stream);
  const Chunks chunks = chunks_of<T>(n);
  const Owners owners{chunks.count, peers.count};
  const ChunkRange own = owners.of(peers.rank);
  const bool has_chunks = own.first < own.end;
  bool launches_ahead = false;
  cudaError_t status = detail::is_for_hopper(launches_ahead, combine_across_kernel<R, Out>);
  if (has_chunks && status == cudaSuccess) {
    const Chunks own_chunks{part.count, own.end - own.first, part.count / IndexedVector<T>::width,
                            chunks.each};
    status = detail::launch_chunks<aligned>(static_cast<A*>(peers.partial), in, part.count, own_chunks,
                                            reduction, stream);
  }
  if (status != cudaSuccess) return status;
  const cudaLaunchAttribute ahead = detail::launched_ahead();
  return detail::launch(combine_across_kernel<R, Out>, 1, chunk_combine_block, 0, stream,
                        launches_ahead && has_chunks ? &ahead : nullptr, peers, owners, out, n, reduction,
                        init);
}

}  // namespace detail

/// Returns how much memory each GPU needs for what the others send, in bytes, for results of type A.
template <typename A> constexpr std::size_t mailbox_bytes() {
  return (detail::first_word + 2 * detail::words_of_call<A>)*sizeof(detail::Word);
}

/// Returns how much memory each GPU needs for its own results, in bytes.
template <typename A> constexpr std::size_t partial_bytes() {
  return std::size_t{detail::most_chunks} * sizeof(A);
}

/// Returns the part of n elements of type T that GPU `rank` of `count` reduces: whole chunks, so that parts differ by one
/// chunk at most, and by the elements that the last chunk lacks. Of a small input, some GPUs have nothing.
template <typename T> Part part_of(std::size_t n, unsigned rank, unsigned count) {
  const auto chunks = detail::chunks_of<T>(n);
  const std::size_t elements = std::size_t{chunks.each} * detail::IndexedVector<T>::width;
  const auto begin = [&](unsigned of) {
    const std::size_t first = elements * detail::Owners{chunks.count, count}.first_of(of);
    return first < n ? first : n;
  };
  return {begin(rank), begin(rank + 1) - begin(rank)};
}

/// Combines n elements that are spread over the memory of several GPUs, and writes the result to each GPU's `out`. Every GPU
/// calls it, with the same n, operation and init, and as its calls are ordered on its stream, so are those of all others:
/// the k-th calls of all GPUs belong together.
///
/// - Accumulator, operation, rest: as reduce()'s. The bits are those of reduce() in SameBits with all elements on one GPU.
///   ArgMin and ArgMax are left out.
/// - in: this GPU's elements of the n: part_of<T>(n, peers.rank, peers.count).
/// - peers: the memory is that of this one chain of calls, which all have the same accumulator. After 2^32 calls a word of
///   the first may be taken for a new one: clear the mailboxes before, if n is not always the same.
///
/// A GPU whose peers do not call waits for ever: the host has to see to that. Where one process calls it for several GPUs, nothing
/// that may wait for a GPU comes between the calls that belong together: no allocation, and no kernel that is still to be loaded
/// (CUDA_MODULE_LOADING=EAGER).
///
/// Returns what reduce() does, and cudaErrorInvalidValue for a rank or a number of GPUs that cannot be, for mailboxes that
/// are misaligned, and for 2^46 elements or more.
template <typename Accumulator = detail::Default, typename T, typename Out, typename Operation,
          typename... Rest>
cudaError_t reduce_across(const Peers& peers, const T* in, Out* out, std::size_t n,
                          const SameBits<Operation>& same, const Rest&... rest) {
  using A = detail::AccumulatorOf<Accumulator, Operation, Out>;
  if constexpr (!detail::is_right<A, T, Out, std::size_t, Operation, detail::Itself, Rest...>()) {
    return cudaErrorInvalidValue;
  } else {
    static_assert(!detail::has_index<A>,
                  "reduction::reduce_across: ArgMin and ArgMax are left out: no GPU knows the index that its "
                  "elements have among all");
    if (peers.count < 1 || peers.count > most_peers || peers.rank >= peers.count || n > SIZE_MAX / sizeof(T))
      return cudaErrorInvalidValue;
    if (n >> 46 != 0) return cudaErrorInvalidValue;  // a chunk's vectors are counted in 32 bits
    for (unsigned k = 0; peers.count > 1 && k < peers.count; ++k) {
      if (reinterpret_cast<std::uintptr_t>(peers.mailboxes[k]) % alignof(detail::Word) != 0)
        return cudaErrorInvalidValue;
    }
    const auto address = reinterpret_cast<std::uintptr_t>(in);
    if (address % alignof(T) != 0 || reinterpret_cast<std::uintptr_t>(out) % alignof(Out) != 0 ||
        reinterpret_cast<std::uintptr_t>(peers.partial) % alignof(A) != 0)
      return cudaErrorInvalidValue;
    const detail::Options<A> options(rest...);
    const auto reduction = detail::reduction_of<T, A>(same.operation, detail::Itself{});
    const Part part = part_of<T>(n, peers.rank, peers.count);
    if constexpr (16 % sizeof(T) == 0) {
      if (address % 16 != 0)
        return detail::run_across<false>(peers, in, part, out, n, reduction, options.init, options.stream);
    }
    return detail::run_across<true>(peers, in, part, out, n, reduction, options.init, options.stream);
  }
}

/// There is no other order.
template <typename Accumulator = detail::Default, typename T, typename Out, typename Operation,
          typename... Rest>
cudaError_t reduce_across(const Peers&, const T*, Out*, std::size_t, const Operation&, const Rest&...) {
  static_assert(
      detail::never<Operation>,
      "reduction::reduce_across: several GPUs share the order of SameBits: pass SameBits{operation}");
  return cudaErrorInvalidValue;
}

}  // namespace REDUCTION_NAMESPACE

}  // namespace reduction
