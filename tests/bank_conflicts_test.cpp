/// The emulated device's wavefronts and bank conflicts beside those of a GPU, for one store of a warp each, by width, active
/// lanes and addresses: docs/counters/bank_conflicts.
#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "device/emulated/lanes.hpp"
#include "device/emulated/warp_instructions.hpp"

namespace reduction::emulated {
namespace {

/// A line of the file.
struct Row {
  unsigned bytes = 0, lanes = 0;
  unsigned share = 1, multiplier = 0, modulus = 1;  // as bank_conflicts.cu says
  SharedTransactions store;
};

std::vector<Row> measured() {
  std::ifstream file(SOURCE_FOLDER "/docs/counters/bank_conflicts/nvidia_h200.csv");
  std::vector<Row> rows;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line.front() == '#' || line.starts_with("bytes")) continue;
    std::istringstream fields(line);
    Row row;
    char comma = ',';
    fields >> row.bytes >> comma >> std::hex >> row.lanes >> std::dec >> comma >> row.share >> comma >>
        row.multiplier >> comma >> row.modulus >> comma >> row.store.wavefronts >> comma >>
        row.store.conflicts;
    EXPECT_TRUE(fields) << line;
    rows.push_back(row);
  }
  return rows;
}

std::vector<std::uintptr_t> addresses_of(const Row& row) {
  std::vector<std::uintptr_t> addresses;
  for (const unsigned lane : lanes_of(row.lanes))
    addresses.push_back(std::uintptr_t{lane / row.share * row.multiplier % row.modulus} * row.bytes);
  return addresses;
}

TEST(BankConflicts, AreThoseOfAnH200) {
  const std::vector<Row> rows = measured();
  EXPECT_GT(rows.size(), 1000U);
  for (const Row& row : rows) {
    const SharedTransactions counted = shared_transactions(addresses_of(row), row.lanes, row.bytes);
    const auto what = [&] {
      std::ostringstream text;
      text << row.bytes << " bytes, lanes " << std::hex << row.lanes << std::dec << ", share " << row.share
           << ", multiplier " << row.multiplier << ", modulus " << row.modulus;
      return std::move(text).str();
    };
    EXPECT_EQ(counted.wavefronts, row.store.wavefronts) << what();
    EXPECT_EQ(counted.conflicts, row.store.conflicts) << what();
  }
}

}  // namespace
}  // namespace reduction::emulated
