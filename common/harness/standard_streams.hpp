#pragma once

#include <cstdio>
#include <string_view>

namespace reduction {

/// Readies stdin, stdout and stderr for a program whose exit code is its verdict. Opens what is closed, as a shell's
/// `>&-` leaves it: the next file that the program opens would take its place, and its output. A reader who has left and
/// a file that may not grow no longer end the program: the write fails.
void prepare_standard_streams();

/// Prints to stdout or stderr, at once. A stream that takes nothing is no error here: a verdict counts for more.
void print(std::FILE* stream, std::string_view text);

/// Says whether stdout has not taken all that was printed, though its reader has not left.
bool stdout_lost_output();

/// Says whether whoever has read stdout has left.
bool stdout_reader_left();

}  // namespace reduction
