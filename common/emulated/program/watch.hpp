#pragma once
#include <functional>
#include <string>

namespace emulated_program {

/// Why a program ends before its time.
enum class Cut { by_limit, by_interruption };

/// Starts a thread that looks after the program: `cut` is called after `limit` seconds, if that is not 0, or at a Ctrl-C
/// that the program does not handle. A launch that goes on for two seconds says on a terminal how far it is.
/// \param name_of  a kernel's name.
void watch(unsigned limit, std::function<void(Cut)> cut, std::function<std::string(const void*)> name_of);

/// Takes away what is shown, so that something can be said in its place.
void clear_progress();
/// So it does, and nothing is shown any more.
void end_progress();

}  // namespace emulated_program
