#pragma once

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace reduction {

/// Readies stdin, stdout and stderr for a program whose exit code is its verdict. Opens what is closed, as a shell's
/// `>&-` leaves it: the next file that the program opens would take its place, and its output. A reader who has left and
/// a file that may not grow no longer end the program: the write fails.
void prepare_standard_streams();

/// Prints to stdout or stderr, at once. What stdout does not take is noted as lost. Says whether all of it was taken.
bool print(std::FILE* stream, std::string_view text);

/// Notes that output is lost, for exit_code_of() to tell at the end: nothing is thrown, because the verdict of the run
/// counts for more. A reader who has left (EPIPE) has what he wanted: that is not noted.
/// \param text  the line that says so.
void note_lost_output(int error, const std::string& text);

/// Returns what has been noted since the last call.
std::vector<std::string> take_lost_output();

/// Says whether whoever has read stdout has left.
bool stdout_reader_left();

}  // namespace reduction
