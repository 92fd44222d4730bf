// Not cuda.hpp, where kernels see the built-in variables as constants.
#include <algorithm>
#include <type_traits>

#include "device/emulated/block.hpp"
#include "device/emulated/lanes.hpp"

using reduction::emulated::Block;
using reduction::emulated::FenceScope;
using reduction::emulated::SourceLine;

// ---- barriers, fences and shuffles ----

void __syncthreads(SourceLine where) { Block::running()->barrier(where, false, __builtin_return_address(0)); }
int __syncthreads_or(int predicate, SourceLine where) {
  return Block::running()->barrier(where, predicate != 0, __builtin_return_address(0)) ? 1 : 0;
}
void __syncwarp(unsigned mask, SourceLine where) {
  Block::running()->warp_barrier(mask, where, __builtin_return_address(0));
}
void __threadfence() { Block::running()->fence(FenceScope::device, __builtin_return_address(0)); }
void __threadfence_block() { Block::running()->fence(FenceScope::block, __builtin_return_address(0)); }

namespace reduction::emulated {

void shuffle(Shuffle kind, unsigned mask, int operand, int width, void* value, std::size_t bytes,
             SourceLine where) {
  Block::running()->shuffle(kind, mask, operand, width, value, bytes, where, __builtin_return_address(0));
}

void refuse_misaligned(const void* address, std::size_t bytes, bool stores) {
  if (Block::running() == nullptr) return;
  const auto* const begin = static_cast<const std::byte*>(address);
  const Operation operation = stores ? Operation::store : Operation::load;
  Block::running()->refuse({operation, begin, bytes, __builtin_return_address(0)});
}

void* dynamic_shared_memory_begin() { return Block::running()->dynamic_shared_memory(); }
void* shared_variable_begin(const void* name, std::size_t bytes) {
  return Block::running()->shared_variable(name, bytes);
}

}  // namespace reduction::emulated

// ---- atomic operations ----

namespace {

/// Replaces *address by update(*address) as one indivisible operation and returns the value before it. One host thread at
/// a time gets past begin_atomic(), so plain accesses are indivisible. \param expected  stored is only where *address is this.
template <typename T, typename Update>
T update_atomically(T* address, const void* call_site, const Update& update, const T* expected = nullptr) {
  Block::running()->begin_atomic(address, sizeof(T), call_site, expected);
  const T before = *address;
  *address = update(before);
  return before;
}

/// The sum, which wraps around where T is an integer.
template <typename T> T sum_of(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    using Unsigned = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<Unsigned>(a) + static_cast<Unsigned>(b));
  } else {
    return a + b;
  }
}

template <typename T> T add(T* address, T value, const void* call_site) {
  return update_atomically(address, call_site, [&](T before) { return sum_of(before, value); });
}
template <typename T> T exchange(T* address, T value, const void* call_site) {
  return update_atomically(address, call_site, [&](T) { return value; });
}
template <typename T> T minimum(T* address, T value, const void* call_site) {
  return update_atomically(address, call_site, [&](T before) { return std::min(before, value); });
}
template <typename T> T maximum(T* address, T value, const void* call_site) {
  return update_atomically(address, call_site, [&](T before) { return std::max(before, value); });
}
template <typename T> T compare_and_swap(T* address, T expected, T value, const void* call_site) {
  return update_atomically(
      address, call_site, [&](T before) { return before == expected ? value : before; }, &expected);
}

}  // namespace

int atomicAdd(int* address, int value) { return add(address, value, __builtin_return_address(0)); }
unsigned atomicAdd(unsigned* address, unsigned value) {
  return add(address, value, __builtin_return_address(0));
}
unsigned long long atomicAdd(unsigned long long* address, unsigned long long value) {
  return add(address, value, __builtin_return_address(0));
}
float atomicAdd(float* address, float value) { return add(address, value, __builtin_return_address(0)); }
double atomicAdd(double* address, double value) { return add(address, value, __builtin_return_address(0)); }
int atomicSub(int* address, int value) {
  return add(address, sum_of(~value, 1), __builtin_return_address(0));
}
unsigned atomicSub(unsigned* address, unsigned value) {
  return add(address, ~value + 1, __builtin_return_address(0));
}
int atomicExch(int* address, int value) { return exchange(address, value, __builtin_return_address(0)); }
unsigned atomicExch(unsigned* address, unsigned value) {
  return exchange(address, value, __builtin_return_address(0));
}
unsigned long long atomicExch(unsigned long long* address, unsigned long long value) {
  return exchange(address, value, __builtin_return_address(0));
}
float atomicExch(float* address, float value) {
  return exchange(address, value, __builtin_return_address(0));
}
int atomicMin(int* address, int value) { return minimum(address, value, __builtin_return_address(0)); }
unsigned atomicMin(unsigned* address, unsigned value) {
  return minimum(address, value, __builtin_return_address(0));
}
long long atomicMin(long long* address, long long value) {
  return minimum(address, value, __builtin_return_address(0));
}
unsigned long long atomicMin(unsigned long long* address, unsigned long long value) {
  return minimum(address, value, __builtin_return_address(0));
}
int atomicMax(int* address, int value) { return maximum(address, value, __builtin_return_address(0)); }
unsigned atomicMax(unsigned* address, unsigned value) {
  return maximum(address, value, __builtin_return_address(0));
}
long long atomicMax(long long* address, long long value) {
  return maximum(address, value, __builtin_return_address(0));
}
unsigned long long atomicMax(unsigned long long* address, unsigned long long value) {
  return maximum(address, value, __builtin_return_address(0));
}
unsigned atomicInc(unsigned* address, unsigned last) {
  return update_atomically(address, __builtin_return_address(0),
                           [&](unsigned before) { return before >= last ? 0 : before + 1; });
}
unsigned atomicDec(unsigned* address, unsigned last) {
  return update_atomically(address, __builtin_return_address(0),
                           [&](unsigned before) { return before == 0 || before > last ? last : before - 1; });
}
int atomicCAS(int* address, int expected, int value) {
  return compare_and_swap(address, expected, value, __builtin_return_address(0));
}
unsigned atomicCAS(unsigned* address, unsigned expected, unsigned value) {
  return compare_and_swap(address, expected, value, __builtin_return_address(0));
}
unsigned long long atomicCAS(unsigned long long* address, unsigned long long expected,
                             unsigned long long value) {
  return compare_and_swap(address, expected, value, __builtin_return_address(0));
}
int atomicAnd(int* address, int value) {
  return update_atomically(address, __builtin_return_address(0), [&](int before) { return before & value; });
}
unsigned atomicAnd(unsigned* address, unsigned value) {
  return update_atomically(address, __builtin_return_address(0),
                           [&](unsigned before) { return before & value; });
}
unsigned long long atomicAnd(unsigned long long* address, unsigned long long value) {
  return update_atomically(address, __builtin_return_address(0),
                           [&](unsigned long long before) { return before & value; });
}
int atomicOr(int* address, int value) {
  return update_atomically(address, __builtin_return_address(0), [&](int before) { return before | value; });
}
unsigned atomicOr(unsigned* address, unsigned value) {
  return update_atomically(address, __builtin_return_address(0),
                           [&](unsigned before) { return before | value; });
}
unsigned long long atomicOr(unsigned long long* address, unsigned long long value) {
  return update_atomically(address, __builtin_return_address(0),
                           [&](unsigned long long before) { return before | value; });
}
int atomicXor(int* address, int value) {
  return update_atomically(address, __builtin_return_address(0), [&](int before) { return before ^ value; });
}
unsigned atomicXor(unsigned* address, unsigned value) {
  return update_atomically(address, __builtin_return_address(0),
                           [&](unsigned before) { return before ^ value; });
}
unsigned long long atomicXor(unsigned long long* address, unsigned long long value) {
  return update_atomically(address, __builtin_return_address(0),
                           [&](unsigned long long before) { return before ^ value; });
}
