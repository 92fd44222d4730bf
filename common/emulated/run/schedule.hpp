#pragma once
#include <cstdint>

namespace __emulated {

/// The order in which the threads of a block that can run take their turns.
enum class Order {
  ascending,   ///< each thread runs until it has to wait, then the next higher one
  descending,  ///< the same from the highest down
  random       ///< any thread that can run, which may lose its turn to another before any access
};

/// An order and, where it is random, the seed: with a block's number it decides that block's order.
struct Schedule {
  Order order = Order::ascending;
  std::uint64_t seed = 0;
};

}  // namespace __emulated
