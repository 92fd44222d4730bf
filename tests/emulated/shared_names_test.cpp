/// What findings call the words of shared memory: the table is that of the explorer, too (tests/explorer/explorer.test.js).
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "device/cuda_or_emulated.cuh"
#include "emulated/device_array.hpp"
#include "emulated/launches.hpp"

namespace {

using namespace __emulated;

struct Record {
  int parts[3];
};

__device__ const void* row_of_a_function() {
  __shared__ float row[8];
  return row;
}

/// Reads what nothing has written, or what is not there.
template <typename T> __global__ void read_at(std::size_t variable, int position, int width, T* out) {
  alignas(16) extern __shared__ std::byte bytes[];
  T* shared = reinterpret_cast<T*>(bytes);
  __shared__ alignas(16) T acc[32];
  __shared__ T tile[4][33];
  __shared__ double box[2][3][4], sum;
  __shared__ int last;
  __shared__ Record records[8];
  __shared__ char letters[64];
  const void* const begins[] = {acc, tile, box, &last, &sum, records, letters, row_of_a_function(), shared};
  const auto* const at = static_cast<const char*>(begins[variable]) + position;
  if (width == 1) *out = *at;
  if (width == 4) *out = *reinterpret_cast<const T*>(at);
  if (width == 8) *out = static_cast<T>(*reinterpret_cast<const double*>(at));
  if (width == 16) *out = T{float4{*reinterpret_cast<const float4*>(at)}.x};
}

TEST(SharedNames, AreThoseOfTheSource) {
  const std::string variables[] = {"acc",     "tile",    "box", "last",  "sum",
                                   "records", "letters", "row", "shared"};
  DeviceArray<float> out{1};
  std::ifstream file{SOURCE_FOLDER "/tests/emulated/shared_names.json"};
  for (const auto& row : nlohmann::json::parse(file)) {
    const auto* const variable = std::ranges::find(variables, row[0].get<std::string>());
    const auto index = static_cast<std::size_t>(variable - std::begin(variables));
    const std::string text =
        finding_of([&] { read_at<float><<<1, 1, 64>>>(index, row[3].get<int>(), row[4].get<int>(), out); });
    EXPECT_NE(text.find(" reads " + row[5].get<std::string>() + " at "), std::string::npos) << row << text;
  }
}

}  // namespace
