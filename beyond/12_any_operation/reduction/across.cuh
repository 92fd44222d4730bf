// SPDX-License-Identifier: MIT
#pragma once
/// \file
/// reduce_across(): one result of an input that is spread over GPUs which reach each other's memory, over NVLink or PCIe.
///
/// Every GPU reduces its own chunks in the order of SameBits. The kernel that then combines them stores the GPU's results
/// in the memory of all GPUs, waits until those of the others have come into its own, and combines all of them in the one
/// order. So every GPU has the bits that one GPU alone would have, however many there are, and neither the host nor another
/// launch is in between.

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

/// What a mailbox has, in words: the number of calls so far; then, for calls of even and of odd numbers, a word of each GPU
/// that says it has come, and the chunks' results. Two calls' words are apart because a GPU may begin a call while another
/// still reads what came for the call before; no GPU can be further ahead.
inline constexpr std::size_t first_word = 128 / sizeof(Word);
template <typename A>
inline constexpr std::size_t words_of_call = most_peers + std::size_t{most_chunks} * words_of<A>;

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

  __device__ Word* of_chunk(unsigned chunk) const {
    return words + most_peers + std::size_t{chunk} * words_of<A>;
  }
  __device__ void send(unsigned chunk, const A& value) const {
    std::uint32_t data[words_of<A>] = {};
    std::memcpy(data, __builtin_addressof(value), sizeof(A));  // A may have an operator&
#pragma unroll words_of < A> <= 16 ? words_of < A> : 1
    for (unsigned w = 0; w < words_of<A>; ++w)
      detail::send(of_chunk(chunk) + w, data[w], call);
  }

  /// Waits for the results of chunks `first`, `first + step`, ... and writes them to `to`; of chunk numbers from `end` on
  /// nothing comes, and nothing is written.
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
          const Word word = detail::seen(of_chunk(first + k * step) + w);
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

// ---- the kernel ----

/// One block sends the `own` results at `partial`, of the chunks from `first` on, to all GPUs, waits for those of the others,
/// and combines all `count` results of n elements into *out.
template <unsigned threads, unsigned at_once, typename R, typename Out>
__global__ void __launch_bounds__(threads)
    combine_across_kernel(Peers peers, unsigned first, unsigned own, unsigned count, Out* out, std::size_t n,
                          R reduction, Init<typename R::Accumulator> init) {
  using A = typename R::Accumulator;
  auto* const calls = static_cast<Word*>(peers.mailboxes[peers.rank]);
  const auto* const partial = static_cast<const A*>(peers.partial);
  const auto call = detail::number_after(detail::seen(calls));  // nobody changes it now
#if __CUDA_ARCH__ >= 900
  detail::wait_for_kernel_before();
#endif
  for (unsigned k = threadIdx.x; k < own; k += threads) {
    const A result = partial[k];
    for (unsigned to = 0; to < peers.count; ++to)
      Mailbox<A>(peers.mailboxes[to], call).send(first + k, result);
  }
  if (threadIdx.x < peers.count) Mailbox<A>(peers.mailboxes[threadIdx.x], call).announce(peers.rank);
  __syncthreads();  // all have sent before one waits

  const Mailbox<A> mailbox(peers.mailboxes[peers.rank], call);
  A result = reduction.identity();
  for (unsigned i = threadIdx.x; i < count; i += at_once * threads) {
    A received[at_once];
    mailbox.receive(received, i, threads, count);
#pragma unroll
    for (unsigned k = 0; k < at_once; ++k) {
      if (i + k * threads < count) result = reduction.combined(result, received[k]);
    }
  }
  // A GPU without chunks sends no result, and may not be ahead of the others either.
  if (threadIdx.x < peers.count) mailbox.wait_for(threadIdx.x);
  result = detail::block_reduce<threads>(result, reduction);
  if (threadIdx.x == 0) {
    detail::write_result(result, reduction, init, n, out);
    ::cuda::atomic_ref<Word, ::cuda::thread_scope_system>(*calls).store(call, ::cuda::memory_order_relaxed);
  }
}

template <typename R, typename Out>
inline constexpr auto* combine_chunks_across_kernel =
    combine_across_kernel<chunk_combine_block, chunk_combine_loads<typename R::Accumulator>, R, Out>;

// ---- the launches ----

template <typename A> inline constexpr bool has_index = false;
template <typename T, typename Index> inline constexpr bool has_index<Indexed<T, Index>> = true;

/// Returns the first of the `chunks` chunks that a GPU has.
inline unsigned first_chunk(unsigned chunks, unsigned rank, unsigned count) {
  return static_cast<unsigned>((std::size_t{chunks} * rank + count - 1) / count);
}

template <bool aligned, typename R, typename Out>
cudaError_t run_across(const Peers& peers, const typename R::Element* in, const Part& part, Out* out,
                       std::size_t n, const R& reduction, const Init<typename R::Accumulator>& init,
                       cudaStream_t stream) {
  using T = typename R::Element;
  using A = typename R::Accumulator;
  const std::size_t bytes = std::size_t{most_chunks} * sizeof(A);
  if (peers.count == 1)  // has nothing to exchange
    return detail::run_same_bits<aligned>(peers.partial, &bytes, in, out, n, reduction, init, stream);
  const auto chunks = chunks_of<T>(n);
  const unsigned first = detail::first_chunk(chunks.count, peers.rank, peers.count);
  const unsigned own = detail::first_chunk(chunks.count, peers.rank + 1, peers.count) - first;
  bool launches_ahead = false;
  cudaError_t status = detail::is_for_hopper(launches_ahead, combine_chunks_across_kernel<R, Out>);
  if (own != 0 && status == cudaSuccess) {
    const Chunks own_chunks{own, part.count / IndexedVector<T>::width, chunks.each};
    status = detail::launch_chunks<aligned>(static_cast<A*>(peers.partial), in, part.count, own_chunks,
                                            reduction, stream);
  }
  if (status != cudaSuccess) return status;
  const cudaLaunchAttribute ahead = detail::launched_ahead();
  return detail::launch(combine_chunks_across_kernel<R, Out>, 1, chunk_combine_block, 0, stream,
                        launches_ahead && own != 0 ? &ahead : nullptr, peers, first, own, chunks.count, out,
                        n, reduction, init);
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
    const std::size_t first = elements * detail::first_chunk(chunks.count, of, count);
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
/// A GPU whose peers do not call waits for ever: the host has to see to that.
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
