/// When the watch says that threads repeat themselves: what a thread does pass after pass, a turn for each.
#include "emulated/run/loop_watch.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace __emulated {
namespace {

TEST(Rounds, AreSeenSoonAfterASequenceComesBackToAnElement) {
  for (std::uint64_t before = 0; before < 20; ++before) {
    for (std::uint64_t period = 1; period < 20; ++period) {
      Rounds rounds;
      const auto element = [&](std::uint64_t i) { return i < before ? i : before + (i - before) % period; };
      std::uint64_t i = 0;
      for (; !rounds.goes_round(); ++i) {
        ASSERT_LT(i, 4 * (before + period) + 4) << before << ' ' << period;
        rounds.step(element(i));
      }
      EXPECT_GE(i, before + 2 * period) << "one return may be luck";
      for (const std::uint64_t end = i + 100; i < end; ++i) {
        rounds.step(element(i));
        EXPECT_TRUE(rounds.goes_round()) << before << ' ' << period;
      }
      // As long as a round lasts, what follows may be a part of it.
      for (std::uint64_t other = 0; other <= period; ++other)
        rounds.step(1000 + other);
      EXPECT_FALSE(rounds.goes_round()) << before << ' ' << period;
    }
  }
}

/// Threads of a block, and what they have in memory.
class Watched {
 public:
  explicit Watched(unsigned threads = 1) { watch.begin(threads); }

  void access(Operation operation, unsigned word, unsigned site, bool is_shared_by_blocks = false,
              unsigned thread = 0) {
    const auto* const address = reinterpret_cast<const std::byte*>(&words[word]);
    watch.access(thread, {operation, address, 4, &sites[site]}, is_shared_by_blocks);
  }
  void load(unsigned word, unsigned site) { access(Operation::load, word, site); }
  void store(unsigned word, unsigned value, unsigned site) {
    access(Operation::store, word, site);
    words[word] = value;
  }
  void meet(unsigned value) { watch.meet(0, sites.data(), std::as_bytes(std::span{&value, 1})); }
  /// With a number at a place of its stack.
  void turn(unsigned number, unsigned thread = 0, unsigned place = 0) {
    std::array<unsigned, 5> stack{};
    stack[place] = number;
    watch.turn(thread, std::as_bytes(std::span{stack}));
  }

  LoopWatch watch;
  std::array<unsigned, 256> words{};
  std::array<char, 256> sites{};
};

TEST(LoopWatch, TellsHowMuchAlikePassesAre) {
  struct Row {
    std::string name;
    Passes passes;
    std::function<void(Watched&, unsigned)> pass;  ///< number so and so
  };
  const std::vector<Row> rows{
      {"nothing changes", Passes::identical, [](Watched& t, unsigned) { t.load(0, 0), t.turn(7); }},
      {"every third is the same", Passes::identical,
       [](Watched& t, unsigned i) { t.load(i % 3, 0), t.turn(i % 3); }},
      {"a barrier gives the same", Passes::identical, [](Watched& t, unsigned) { t.meet(3), t.turn(7); }},
      {"a register counts", Passes::alike, [](Watched& t, unsigned i) { t.load(0, 0), t.turn(i); }},
      {"another one does", Passes::alike, [](Watched& t, unsigned i) { t.load(0, 0), t.turn(i, 0, 3); }},
      {"the last one does", Passes::alike, [](Watched& t, unsigned i) { t.load(0, 0), t.turn(i, 0, 4); }},
      {"a value is stored that nobody reads", Passes::alike,
       [](Watched& t, unsigned i) { t.store(0, i, 0), t.turn(i); }},
      {"a word is added to", Passes::adding,
       [](Watched& t, unsigned i) { t.load(0, 0), t.load(1, 1), t.store(0, i, 2), t.turn(i); }},
      // Every other turn ends between the load and the store.
      {"a word is added to across turns", Passes::adding,
       [](Watched& t, unsigned i) {
         if (i % 2 != 0) t.store(0, 2 * i, 1);
         t.load(0, 0), t.store(0, 2 * i + 1, 1);
         if (i % 2 == 0) t.load(0, 0);
         t.turn(i);
       }},
      {"what is read changes", Passes::different,
       [](Watched& t, unsigned i) { t.words[0] = i, t.load(0, 0), t.turn(7); }},
      {"what an atomic finds changes", Passes::different,
       [](Watched& t, unsigned i) {
         t.words[0] = i, t.access(Operation::atomic, 0, 0), t.store(0, i, 0), t.turn(7);
       }},
      {"another word is stored than was read", Passes::different,
       [](Watched& t, unsigned i) { t.words[0] = i, t.load(0, 0), t.store(1, i, 1), t.turn(7); }},
      {"another word is read", Passes::different, [](Watched& t, unsigned i) { t.load(i, 0), t.turn(7); }},
      {"another word is stored", Passes::different,
       [](Watched& t, unsigned i) { t.store(i, 0, 0), t.turn(7); }},
      {"a word is read at another place", Passes::different,
       [](Watched& t, unsigned i) { t.load(0, i), t.turn(7); }},
      {"a shuffle gives another value", Passes::different,
       [](Watched& t, unsigned i) { t.meet(i), t.turn(7); }}};
  for (const auto& [name, passes, pass] : rows) {
    Watched thread;
    EXPECT_EQ(thread.watch.passes(), Passes::different) << "of no pass";
    for (unsigned i = 0; i < 200; ++i)
      pass(thread, i);
    EXPECT_EQ(thread.watch.passes(), passes) << name;
  }
}

TEST(LoopWatch, IsOfAllThreadsThatHaveHadATurn) {
  Watched threads{4};
  for (unsigned pass = 0; pass < 100; ++pass) {
    threads.access(Operation::load, 0, 1, false, 1);
    threads.turn(7, 1);
    if (pass % 2 == 0) threads.turn(pass / 2, 3);
  }
  EXPECT_EQ(threads.watch.passes(), Passes::alike) << "the weaker of the two";
  EXPECT_EQ(threads.watch.turns(), 75U);
  EXPECT_EQ(threads.watch.thread_in_loop().thread, 1U);
  EXPECT_EQ(threads.watch.thread_in_loop().call_site, &threads.sites[1]);
  EXPECT_EQ(threads.watch.reader_of_other_blocks(), nullptr);
  threads.access(Operation::store, 0, 0, true);
  EXPECT_EQ(threads.watch.reader_of_other_blocks(), nullptr) << "a store reads nothing";
  threads.access(Operation::load, 0, 2, true, 2);
  threads.access(Operation::load, 0, 3, true, 3);
  ASSERT_NE(threads.watch.reader_of_other_blocks(), nullptr);
  EXPECT_EQ(threads.watch.reader_of_other_blocks()->thread, 2U);
  threads.watch.begin(4);
  EXPECT_EQ(threads.watch.turns(), 0U);
  EXPECT_EQ(threads.watch.reader_of_other_blocks(), nullptr) << "of another block";
}

}  // namespace
}  // namespace __emulated
