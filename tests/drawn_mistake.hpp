#pragma once
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <type_traits>

/// What drawn_mistakes.py puts into lines of code: each does what the line did, unless its mistake is made.
namespace drawn {

inline const int made = std::getenv("DRAWN_MISTAKE") ? std::atoi(std::getenv("DRAWN_MISTAKE")) : -1;

/// A byte of a file for each mistake that a test comes to, in whichever of its processes.
inline volatile char* const reached = [] {
  const char* const name = std::getenv("DRAWN_REACHED");
  const int file = name ? open(name, O_RDWR) : -1;
  void* const bytes = mmap(nullptr, 4096, PROT_WRITE, MAP_SHARED, file, 0);
  close(file);  // a program that was started without stdout would have it there
  return bytes == MAP_FAILED ? nullptr : static_cast<char*>(bytes);
}();

/// No access of a kernel: not followed.
[[gnu::noinline, gnu::no_sanitize("thread")]] inline bool reach(int number) {
  if (reached) reached[number] = 1;
  return made == number;
}

template <int number> constexpr bool is_made() { return !std::is_constant_evaluated() && reach(number); }

template <int number, int step> int off() { return reach(number) ? step : 0; }

template <int operation, typename A, typename B> constexpr bool compare(const A& a, const B& b) {
  if constexpr (operation == 0) return a < b;
  if constexpr (operation == 1) return a <= b;
  if constexpr (operation == 2) return a > b;
  if constexpr (operation == 3) return a >= b;
  if constexpr (operation == 4) return a == b;
  if constexpr (operation == 5) return a != b;
}

/// `a < relation<...> > b`, or `a == relation<...> == b`, is the comparison that it was, or another one.
template <int number, int was, int becomes> struct Relation {};
template <int number, int was, int becomes> inline constexpr Relation<number, was, becomes> relation;
template <typename A, typename Of> struct Left { const A& a; };
template <typename A, int... of> constexpr Left<A, Relation<of...>> operator<(const A& a, Relation<of...>) {
  return {a};
}
template <typename A, int... of> constexpr Left<A, Relation<of...>> operator==(const A& a, Relation<of...>) {
  return {a};
}
template <typename A, int number, int was, int becomes, typename B>
constexpr bool operator>(Left<A, Relation<number, was, becomes>> left, const B& b) {
  return is_made<number>() ? compare<becomes>(left.a, b) : compare<was>(left.a, b);
}
template <typename A, int number, int was, int becomes, typename B>
constexpr bool operator==(Left<A, Relation<number, was, becomes>> left, const B& b) {
  return left > b;
}

}  // namespace drawn
