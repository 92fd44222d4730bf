/// \file
/// How 12_against_cub measures, with libraries and a device that are made up.

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>

#include "against_cub.hpp"
#include "fake_device.hpp"
#include "harness/exit_code.hpp"

namespace reduction {
namespace {

/// A library that sums bytes on the host. Its launches after the first `right` ones leave the result alone, and each is
/// noted by its letter.
Call fake_library(char letter, int right, std::string& launches) {
  return [letter, right, &launches, count = 0](void* storage, std::size_t& bytes, const void* in, void* out,
                                               std::size_t n) mutable {
    if (storage == nullptr) {
      bytes = 1;
      return;
    }
    launches += letter;
    if (++count > right) return;
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i)
      sum += static_cast<const unsigned char*>(in)[i];
    std::memcpy(out, &sum, sizeof(sum));
  };
}

struct Fixture {
  explicit Fixture(int ours_right = 1000, int cub_right = 1000) {
    fake.element_bytes = 1;
    fake.result_bytes = sizeof(double);
    fake.fill = [](void* in, std::size_t n, std::uint64_t seed) {
      std::memset(in, static_cast<int>(seed), n);
    };
    fake.ours = fake_library('o', ours_right, launches);
    fake.cub = fake_library('c', cub_right, launches);
    fake.numbers = [](const void* result) {
      Numbers numbers(1);
      std::memcpy(numbers.data(), result, sizeof(double));
      return numbers;
    };
  }

  /// Two samples of each.
  Comparison run() { return compare(fake, device, *device.make_timer(TimingMethod{}), 1000, 3, 2); }

  std::string launches;
  Case fake;
  FakeDevice device;
};

TEST(AgainstCub, TakesSamplesInTurn) {
  Fixture fixture;
  fixture.device.sample_ms = {1.0, 2.0, 3.0, 6.0};
  const Comparison found = fixture.run();
  EXPECT_EQ(fixture.launches, "ocococococ");  // three runs of each that warm up, and two samples
  EXPECT_TRUE(found.verified());
  EXPECT_EQ(found.ours.result, Numbers{3000});
  EXPECT_DOUBLE_EQ(found.ours.ms->median, 2.0);
  EXPECT_DOUBLE_EQ(found.cub.ms->median, 4.0);
  EXPECT_DOUBLE_EQ(*found.ours.gbps, 1000 / 2.0 / 1e6);
}

TEST(AgainstCub, TakesNoTimesOfAWrongResult) {
  Fixture fixture(0);
  const Comparison found = fixture.run();
  EXPECT_FALSE(found.verified());
  EXPECT_FALSE(found.ours.ms || found.cub.ms);
  EXPECT_EQ(fixture.launches, "ocococ");
}

TEST(AgainstCub, VerifiesWhatTheLastSampleLeft) {
  EXPECT_TRUE(Fixture(5, 5).run().verified());
  EXPECT_FALSE(Fixture(4, 5).run().verified());
  // Two results that nobody has written are no equal ones.
  EXPECT_FALSE(Fixture(4, 4).run().verified());
}

TEST(AgainstCub, RefusesTimesThatCannotBe) {
  Fixture fixture;
  fixture.device.unqueued = 2;
  EXPECT_THROW(fixture.run(), SampleNotQueued);
  fixture.device.unqueued = 0;
  fixture.device.sample_ms = {1.0, 1000 / 100.1e6};
  EXPECT_THROW(fixture.run(), MeasurementError);
}

}  // namespace
}  // namespace reduction
