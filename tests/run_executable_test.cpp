// Which ends of a step the tests on a GPU take for a want of memory.
#include "run_executable.hpp"

#include <gtest/gtest.h>

namespace reduction {
namespace {

TEST(LacksMemory, WhenBuffersArePlannedOrTaken) {
  for (const char* error :
       {"01_interleaved: error: 4294967299 int32 need 16.3 GiB, and NVIDIA H100 has 9 GiB free; choose fewer "
        "elements\n",
        "01_interleaved: error: a buffer needs 512 MiB, and NVIDIA H100 has 9 MiB free; choose fewer "
        "elements\n",
        "12_any_operation: error: allocating temporary storage: out of memory\n",
        "01_interleaved: error: starting the device: out of memory\n"}) {
    EXPECT_TRUE(lacks_memory({3, "", error})) << error;
    EXPECT_FALSE(lacks_memory({1, "", error})) << error;
  }
}

TEST(LacksMemory, NotInAnyOtherFault) {
  EXPECT_FALSE(lacks_memory({3, "", "01_interleaved: error: an illegal memory access was encountered\n"}));
  EXPECT_FALSE(
      lacks_memory({3, "",
                    "01_interleaved: error: 8589934592 elements take 268435456 blocks of 32 threads, and a "
                    "grid has at most 2^31 - 1: choose a larger block or fewer elements\n"}));
  EXPECT_FALSE(lacks_memory({0, "", ""}));
}

TEST(LacksMemory, AsAStepSaysIt) {
  EXPECT_TRUE(lacks_memory(run_step_executable("01_interleaved", "-n 2^40 --device emulated")));
}

}  // namespace
}  // namespace reduction
