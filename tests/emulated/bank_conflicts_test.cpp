/// The emulated device's wavefronts and bank conflicts beside those of a GPU, for one load and one store of a warp each, by
/// width, active lanes and addresses: docs/counters/bank_conflicts.
#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "emulated/count/warp_instructions.hpp"
#include "emulated/run/lanes.hpp"

namespace __emulated {
namespace {

/// A line of the file.
struct Row {
  unsigned bytes = 0, lanes = 0;
  unsigned share = 1, multiplier = 0, modulus = 1;  // as bank_conflicts.cu says
  RequestCost load, store;
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
        row.multiplier >> comma >> row.modulus >> comma >> row.load.wavefronts >> comma >>
        row.load.conflicts >> comma >> row.store.wavefronts >> comma >> row.store.conflicts;
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

std::string text_of(const Row& row) {
  std::ostringstream text;
  text << row.bytes << " bytes, lanes " << std::hex << row.lanes << std::dec << ", share " << row.share
       << ", multiplier " << row.multiplier << ", modulus " << row.modulus;
  return std::move(text).str();
}

void expect_as_measured(EventKind kind, RequestCost Row::*measured_of) {
  const std::vector<Row> rows = measured();
  EXPECT_EQ(rows.size(), 3348U) << "36 sets of lanes, 31 patterns of addresses, 3 widths";
  for (const Row& row : rows) {
    const RequestCost counted = cost_of(kind, addresses_of(row), row.lanes, row.bytes);
    EXPECT_EQ(counted.wavefronts, (row.*measured_of).wavefronts) << text_of(row);
    EXPECT_EQ(counted.conflicts, (row.*measured_of).conflicts) << text_of(row);
  }
}

TEST(BankConflicts, OfLoadsAreThoseOfAnH200) { expect_as_measured(EventKind::shared_load, &Row::load); }

TEST(BankConflicts, OfStoresAreThoseOfAnH200) { expect_as_measured(EventKind::shared_store, &Row::store); }

}  // namespace
}  // namespace __emulated
