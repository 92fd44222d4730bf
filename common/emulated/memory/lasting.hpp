#pragma once
#include <memory>

namespace __emulated {

/// The one object of a class, made when it is first asked for. It is there to the very end: what the program destroys then may
/// still use the device.
template <typename T> T& lasting() {
  static T& only = *std::make_unique<T>().release();
  return only;
}

/// The same of what a function returns.
template <auto make> auto& lasting() {
  static auto& only = *std::make_unique<decltype(make())>(make()).release();
  return only;
}

}  // namespace __emulated
