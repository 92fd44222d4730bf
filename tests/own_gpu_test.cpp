#include "own_gpu.hpp"

#include <gtest/gtest.h>

namespace reduction {

namespace {

TEST(OwnGpu, RanksTakeTurnsAmongTheGpusThatTheySee) {
  for (const int rank : {0, 1, 2, 3})
    EXPECT_EQ(gpu_of(rank, 4), rank);
  for (const int rank : {0, 1, 2, 3})
    EXPECT_EQ(gpu_of(rank, 1), 0);  // each sees its own only
  EXPECT_EQ(gpu_of(5, 4), 1);
  EXPECT_EQ(gpu_of(3, 0), 0);  // there is none, as opening it will say
}

TEST(OwnGpu, NoTwoRanksShareOneUnawares) {
  EXPECT_FALSE(find_sharers({}));
  EXPECT_FALSE(find_sharers({"GPU-a"}));
  EXPECT_FALSE(find_sharers({"GPU-a", "GPU-b", "MIG-a", "MIG-b"}));
  const auto sharers = find_sharers({"GPU-a", "GPU-b", "GPU-c", "GPU-b", "GPU-a"});
  ASSERT_TRUE(sharers);
  EXPECT_EQ(sharers->first, 1u);
  EXPECT_EQ(sharers->second, 3u);
}

}  // namespace

}  // namespace reduction
