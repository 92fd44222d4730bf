/// What findings, and by the same rule the explorer, call the words of shared memory.
#include <gtest/gtest.h>

#include <cstddef>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "device/cuda_or_emulated.cuh"
#include "emulated/device_array.hpp"
#include "emulated/memory/shared_variable.hpp"

namespace {

using namespace __emulated;

struct Pair {
  int key;
  float value;
};

__device__ float read_row(int i) {
  __shared__ float row[8];
  return row[i];
}

__device__ float sum_of(float4 four) { return four.x + four.y + four.z + four.w; }

/// Reads one word, which nothing has written or which is not there.
template <typename T> __global__ void read_one(int which, int i, T* out) {
  alignas(16) extern __shared__ std::byte bytes[];
  T* shared = reinterpret_cast<T*>(bytes);
  __shared__ alignas(16) T acc[32];
  __shared__ T tile[4][33], box[2][3][4];
  __shared__ int last;
  __shared__ Pair pairs[8];
  switch (which) {
    case 0: *out = acc[i]; break;
    case 1: *out = sum_of(reinterpret_cast<float4*>(acc)[i]); break;
    case 2: *out = tile[1][i]; break;
    case 3: *out = box[1][0][i]; break;
    case 4: *out = static_cast<T>(*(&last + i)); break;
    case 5: *out = reinterpret_cast<unsigned char*>(&last)[i]; break;
    case 6: *out = pairs[i].value; break;
    case 7: *out = read_row(i); break;
    default: *out = shared[i]; break;
  }
}

/// What the first finding says is read.
std::string read_by(const auto& launch) {
  try {
    launch();
  } catch (const KernelFinding& finding) {
    const std::string text = finding.what();
    const std::size_t begin = text.find(" reads ") + 7;
    return text.substr(begin, text.find(" at ", begin) - begin);
  }
  return "";
}

TEST(SharedNames, AreThoseOfTheSource) {
  DeviceArray<float> out{1};
  DeviceArray<double> wide{1};
  const struct {
    int which, index;
    const char* text;
  } rows[] = {
      {0, 3, "acc[3]"},
      {0, 32, "acc[32] (acc has 32 elements)"},
      {1, 1, "acc[4] to acc[7]"},
      {2, 0, "tile[1][0]"},
      {2, 99, "tile[4][0] (tile has 4 x 33 elements)"},
      {2, -34, "tile[-1][32] (tile has 4 x 33 elements)"},
      {3, 1, "box[1][0][1]"},
      {4, 0, "last"},
      {4, 1, "last[1] (last has 1 element)"},
      {5, 2, "byte 2 of last"},
      {6, 3, "bytes 4 to 7 of pairs[3]"},
      {7, 5, "row[5]"},
      {8, 2, "shared[2]"},
      {8, 16, "shared[16] (shared has 16 elements)"},
  };
  for (const auto& row : rows)
    EXPECT_EQ(read_by([&] { read_one<float><<<1, 1, 64>>>(row.which, row.index, out); }), row.text);
  EXPECT_EQ(read_by([&] { read_one<double><<<1, 1, 64>>>(2, 32, wide); }), "tile[1][32]");
}

/// tests/explorer/explorer.test.js holds the explorer to the same table.
TEST(SharedNames, AreThoseOfTheExplorer) {
  std::ifstream file{SOURCE_FOLDER "/tests/emulated/shared_names.json"};
  for (const auto& row : nlohmann::json::parse(file)) {
    const std::string name = row[0];
    const std::vector<std::size_t> extents = row[2];
    const SharedDeclaration declaration{name.c_str(), row[1], extents};
    EXPECT_EQ((SharedVariable{&declaration, 128, 4096}.name_of(128 + row[3].get<int>(), row[4])), row[5]);
  }
}

}  // namespace
