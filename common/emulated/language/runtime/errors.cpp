#include "emulated/language/runtime/errors.hpp"

#include <string>
#include <utility>

#include "emulated/memory/closed_memory.hpp"

namespace {

thread_local cudaError_t last_error = cudaSuccess;

}  // namespace

void __emulated::keep(cudaError_t status) { last_error = status; }
cudaError_t __emulated::noted(cudaError_t status) {
  if (status == cudaSuccess) return status;
  keep(status);
  HostAccess failure{};
  failure.memory = std::string{cudaGetErrorName(status)} + ": " + cudaGetErrorString(status);
  failure.is_failed_call = true;
  closed_memory().report(failure);
  return status;
}

cudaError_t cudaPeekAtLastError() { return last_error; }
cudaError_t cudaGetLastError() { return std::exchange(last_error, cudaSuccess); }

const char* cudaGetErrorString(cudaError_t status) {
#define __EMULATED_ERROR(name, number, text) \
  if (status == name) return text;
  __EMULATED_ERRORS(__EMULATED_ERROR)
#undef __EMULATED_ERROR
  return "unrecognized error code";
}
const char* cudaGetErrorName(cudaError_t status) {
#define __EMULATED_ERROR(name, number, text) \
  if (status == name) return #name;
  __EMULATED_ERRORS(__EMULATED_ERROR)
#undef __EMULATED_ERROR
  return "unrecognized error code";
}
