/// \file
/// A stand-in for the driver's libcuda.so.1, which the CUDA runtime finds by LD_LIBRARY_PATH. It simulates what cannot be
/// had on a test machine without changing its settings: REDUCTION_FAULT names a function of the driver and the CUresult
/// that it is to return, as cuMemAlloc=2. REDUCTION_DRIVER is the real library, which does all the rest; without it there
/// is a driver of the version REDUCTION_DRIVER_VERSION and nothing else.

#include <dlfcn.h>

#include <cstdlib>
#include <string>
#include <string_view>

namespace {

constexpr int not_found = 500;  // CUDA_ERROR_NOT_FOUND

std::string_view variable(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : "";
}

struct Fault {
  std::string function;
  int result = 0;
};

const Fault& fault() {
  static const Fault named = [] {
    const std::string_view text = variable("REDUCTION_FAULT");
    const auto equals = text.find('=');
    if (equals == std::string_view::npos) return Fault{};
    return Fault{std::string(text.substr(0, equals)), std::atoi(text.substr(equals + 1).data())};
  }();
  return named;
}

/// Takes any arguments: the caller passes them in registers or clears its own stack.
int fail() { return fault().result; }
int absent() { return not_found; }

template <typename Function> Function* real(const char* name) {
  static void* const library =
      variable("REDUCTION_DRIVER").empty() ? nullptr : dlopen(variable("REDUCTION_DRIVER").data(), RTLD_NOW);
  return library != nullptr ? reinterpret_cast<Function*>(dlsym(library, name)) : nullptr;
}

}  // namespace

extern "C" {

int cuDriverGetVersion(int* version) {
  if (auto* const function = real<int(int*)>("cuDriverGetVersion")) return function(version);
  *version = std::atoi(variable("REDUCTION_DRIVER_VERSION").data());
  return 0;
}

int cuInit(unsigned flags) {
  if (fault().function == "cuInit") return fail();
  auto* const function = real<int(unsigned)>("cuInit");
  return function != nullptr ? function(flags) : not_found;
}

int cuGetProcAddress_v2(const char* symbol, void** function, int version, unsigned long long flags,
                        void* status) {
  const std::string_view name = symbol;
  if (name == fault().function) {
    *function = reinterpret_cast<void*>(fail);
    return 0;
  }
  using GetProcAddress = int(const char*, void**, int, unsigned long long, void*);
  if (name == "cuGetProcAddress" || name == "cuGetProcAddress_v2") {
    *function = reinterpret_cast<void*>(cuGetProcAddress_v2);
    return 0;
  }
  if (auto* const get = real<GetProcAddress>("cuGetProcAddress_v2"))
    return get(symbol, function, version, flags, status);
  *function = name == "cuInit"               ? reinterpret_cast<void*>(cuInit)
              : name == "cuDriverGetVersion" ? reinterpret_cast<void*>(cuDriverGetVersion)
                                             : reinterpret_cast<void*>(absent);
  return 0;
}

}  // extern "C"
