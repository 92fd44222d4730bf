#include "harness/configuration.hpp"

#include <gtest/gtest.h>

#include "harness/device_selection.hpp"

namespace reduction {
namespace {

TEST(PlanConfigurations, OneWithoutASweep) {
  Options options;
  const auto device = open_emulated_device();
  const auto plan = plan_configurations(options, room_of(*device));
  ASSERT_EQ(plan.size(), 1u);
  EXPECT_EQ(plan[0].elements, 1u << 20);
  EXPECT_EQ(plan[0].block, 256u);
}

TEST(PlanConfigurations, ASweepVariesOneThing) {
  Options options;
  options.elements = 5000;
  const auto device = open_emulated_device();
  options.sweep = Sweep::block;
  EXPECT_EQ(plan_configurations(options, room_of(*device)).size(), 6u);
  options.sweep = Sweep::type;
  EXPECT_EQ(plan_configurations(options, room_of(*device)).size(), 6u);
  options.sweep = Sweep::size;
  const auto sizes = plan_configurations(options, room_of(*device));
  ASSERT_EQ(sizes.size(), 3u);
  EXPECT_EQ(sizes[0].elements, 1024u);
  EXPECT_EQ(sizes[2].elements, 4096u);
  options.elements.reset();
  EXPECT_EQ(plan_configurations(options, room_of(*device)).back().elements, 1u << 20);
}

TEST(PlanConfigurations, RefusesAnEmptySweep) {
  Options options;
  options.elements = 1000;
  options.sweep = Sweep::size;
  const auto device = open_emulated_device();
  EXPECT_THROW(plan_configurations(options, room_of(*device)), UsageError);
}

}  // namespace
}  // namespace reduction
