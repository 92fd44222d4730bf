#pragma once

namespace reduction {

/// Opens what is closed of stdin, stdout and stderr, as a shell's `>&-` leaves it: the next file that the program opens
/// would take its place, and its output.
void open_standard_streams();

}  // namespace reduction
