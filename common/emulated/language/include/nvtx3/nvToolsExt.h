#pragma once
/// \file
/// Stands in for NVIDIA's header of this name on the emulated device: no profiler looks on, so marks and ranges do nothing.

#include <cstddef>
#include <cstdint>

#define NVTX_VERSION 3
#define NVTX_EVENT_ATTRIB_STRUCT_SIZE sizeof(nvtxEventAttributes_t)

using nvtxRangeId_t = std::uint64_t;
using nvtxDomainHandle_t = struct nvtxDomainRegistration_st*;
using nvtxStringHandle_t = struct nvtxStringRegistration_st*;
enum nvtxColorType_t { NVTX_COLOR_UNKNOWN, NVTX_COLOR_ARGB };
enum nvtxMessageType_t {
  NVTX_MESSAGE_UNKNOWN,
  NVTX_MESSAGE_TYPE_ASCII,
  NVTX_MESSAGE_TYPE_UNICODE,
  NVTX_MESSAGE_TYPE_REGISTERED
};
union nvtxMessageValue_t {
  const char* ascii;
  const wchar_t* unicode;
  nvtxStringHandle_t registered;
};
struct nvtxEventAttributes_v2 {
  std::uint16_t version, size;
  std::uint32_t category;
  std::int32_t colorType;
  std::uint32_t color;
  std::int32_t payloadType, reserved0;
  union {
    std::uint64_t ullValue;
    std::int64_t llValue;
    double dValue;
  } payload;
  std::int32_t messageType;
  nvtxMessageValue_t message;
};
using nvtxEventAttributes_t = nvtxEventAttributes_v2;

// Each returns a number that says nothing, or a null pointer.
#define __EMULATED_MARK(Result, ...) \
  template <typename... Arguments> Result nvtx##__VA_ARGS__(Arguments&&...) { return {}; }
__EMULATED_MARK(int, MarkA)
__EMULATED_MARK(int, MarkW)
__EMULATED_MARK(int, MarkEx)
__EMULATED_MARK(int, RangePushA)
__EMULATED_MARK(int, RangePushW)
__EMULATED_MARK(int, RangePushEx)
__EMULATED_MARK(int, RangePop)
__EMULATED_MARK(nvtxRangeId_t, RangeStartA)
__EMULATED_MARK(nvtxRangeId_t, RangeStartW)
__EMULATED_MARK(nvtxRangeId_t, RangeStartEx)
__EMULATED_MARK(int, RangeEnd)
__EMULATED_MARK(int, NameOsThreadA)
__EMULATED_MARK(int, NameCategoryA)
__EMULATED_MARK(int, NameCudaDeviceA)
__EMULATED_MARK(int, NameCudaStreamA)
__EMULATED_MARK(int, NameCudaEventA)
__EMULATED_MARK(nvtxDomainHandle_t, DomainCreateA)
__EMULATED_MARK(int, DomainDestroy)
__EMULATED_MARK(int, DomainMarkEx)
__EMULATED_MARK(int, DomainRangePushEx)
__EMULATED_MARK(int, DomainRangePop)
__EMULATED_MARK(nvtxRangeId_t, DomainRangeStartEx)
__EMULATED_MARK(int, DomainRangeEnd)
__EMULATED_MARK(nvtxStringHandle_t, DomainRegisterStringA)
#undef __EMULATED_MARK
#define nvtxMark nvtxMarkA
#define nvtxRangePush nvtxRangePushA
#define nvtxRangeStart nvtxRangeStartA
