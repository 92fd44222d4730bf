#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <string>

#include "device/cuda_or_emulated.cuh"
#include "emulated/launches.hpp"

/// Barriers and fences that a test deletes, one after the other. Kernels in whose namespace these names are call them.
namespace deletable {

struct Place {
  const char* file = nullptr;
  int line = 0;
};
inline constexpr unsigned most_places = 64;
inline Place places[most_places];  ///< that a kernel has come to
inline unsigned place_count = 0;
inline bool is_noting = false;
inline unsigned deleted = most_places;  ///< one of their numbers

/// No access of a kernel: not followed.
__attribute__((noinline, no_sanitize("thread"))) inline bool is_deleted(const char* file, int line) {
  unsigned number = 0;
  while (number < place_count && (places[number].line != line || places[number].file != file))
    ++number;
  if (is_noting && number == place_count && number < most_places) places[place_count++] = {file, line};
  return number == deleted;
}

__EMULATED_INLINE void __syncthreads(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  if (!is_deleted(file, line)) ::__syncthreads();
}
__EMULATED_INLINE int __syncthreads_or(int predicate, const char* file = __builtin_FILE(),
                                       int line = __builtin_LINE()) {
  return is_deleted(file, line) ? predicate : ::__syncthreads_or(predicate);
}
__EMULATED_INLINE void __syncwarp(unsigned mask = 0xffffffff, const char* file = __builtin_FILE(),
                                  int line = __builtin_LINE()) {
  if (!is_deleted(file, line)) ::__syncwarp(mask);
}
__EMULATED_INLINE void __threadfence(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  if (!is_deleted(file, line)) ::__threadfence();
}
__EMULATED_INLINE void __threadfence_block(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  if (!is_deleted(file, line)) ::__threadfence_block();
}

/// The line of the source, where a comment may say that a call "orders nothing".
inline std::string line_of(const Place& place) {
  std::ifstream source{place.file};
  std::string line;
  for (int number = 0; number < place.line; ++number)
    std::getline(source, line);
  return line;
}

/// Expects of a kernel without any finding that it has one without any of its barriers and fences.
inline void expect_all_needed(const std::function<void()>& run) {
  using namespace __emulated;
  set_host_threads(1);
  place_count = 0;
  is_noting = true;
  EXPECT_EQ(finding_of(run), "");
  is_noting = false;
  for (unsigned number = 0; number < place_count; ++number) {
    deleted = number;
    const std::string line = line_of(places[number]);
    const bool is_needed = line.find("orders nothing") == std::string::npos;
    for (const Schedule schedule : {Schedule{}, Schedule{Order::random, 1}}) {
      set_schedule(schedule);
      EXPECT_EQ(finding_of(run) != "", is_needed)
          << places[number].file << ':' << places[number].line << ": without " << line;
    }
  }
  deleted = most_places;
  set_schedule({});
  set_host_threads(0);
}

}  // namespace deletable
