#include <gtest/gtest.h>

#include "rank_kernels.hpp"

namespace reduction {

namespace {

TEST(Shard, TheShardsAreTheWholeInputInOrder) {
  for (const std::uint64_t n : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{100},
                                std::uint64_t{101}, std::uint64_t{1} << 48}) {
    for (const int ranks : {1, 2, 3, 7, 4096}) {
      std::uint64_t next = 0;
      for (int rank = 0; rank < ranks; ++rank) {
        const Shard shard = shard_of(n, rank, ranks);
        ASSERT_EQ(shard.first, next) << n << " elements, rank " << rank << " of " << ranks;
        next = shard.first + shard.count;
      }
      EXPECT_EQ(next, n) << ranks << " ranks";
    }
  }
}

TEST(Shard, RankZeroHasTheLongestAndNoneIsShorterByMoreThanOne) {
  for (const std::uint64_t n : {0, 1, 2, 3, 4, 5, 1000003}) {
    const std::uint64_t longest = shard_of(n, 0, 3).count;
    for (int rank = 0; rank < 3; ++rank) {
      EXPECT_LE(shard_of(n, rank, 3).count, longest);
      EXPECT_GE(shard_of(n, rank, 3).count + 1, longest);
    }
  }
}

}  // namespace

}  // namespace reduction
