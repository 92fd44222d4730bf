#pragma once

namespace __emulated {

/// The device's counterpart of a kernel, function or variable of the host's. Itself where it has none: in a program that was
/// compiled once, for both.
#ifdef __EMULATED_HOST_PASS
const void* on_device(const void* on_host);
#else
inline const void* on_device(const void* both) { return both; }
#endif

/// The same for a function.
template <typename Function> Function* function_on_device(Function* on_host) {
  return reinterpret_cast<Function*>(const_cast<void*>(on_device(reinterpret_cast<const void*>(on_host))));
}

}  // namespace __emulated
