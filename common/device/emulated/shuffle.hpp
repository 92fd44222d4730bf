#pragma once

namespace reduction::emulated {

/// From which lane a shuffle takes its value, relative to its operand.
enum class Shuffle : unsigned char { indexed, up, down, exclusive_or };

}  // namespace reduction::emulated
