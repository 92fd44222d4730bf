#pragma once

#include <functional>

namespace __emulated {

/// How a launch is repeated.
enum class Runs { many_schedules, once };

/// Expects of a launch what the comment above this call says, in every schedule and on one and several host threads:
///
///     // race in scan: block 0, thread ... writes ... at one; block 0, thread ... reads it at two; help: put ...
///     // and uninitialised read in scan
///
/// Without such a comment in the same function, or with `// no finding`, there is none. A line is called by the comment
/// at its end, such as `// one`. `...` is anything, and so is what follows the last word.
void expect_finding(const std::function<void()>& launch, Runs runs = Runs::many_schedules,
                    const char* file = __builtin_FILE(), int line = __builtin_LINE());

}  // namespace __emulated
