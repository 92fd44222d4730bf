#pragma once
#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace __emulated {

/// What can be wrong with a kernel.
enum class Fault {
  race,           ///< two threads access the same word, one of them writes, and nothing orders them
  missing_fence,  ///< a thread reads what an atomic of another block has told of, without a fence behind its own
  missed_barrier,          ///< threads left the kernel while others of their block wait at a block barrier
  divergent_barrier,       ///< threads of a block wait at different block barriers
  deadlock,                ///< threads wait for each other in any other way
  invalid_mask,            ///< a thread calls a warp's function without being in its mask
  inactive_lane,           ///< a shuffle takes its value from a lane that takes no part
  invalid_width,           ///< a shuffle's width is not a power of two from 1 to 32
  misaligned,              ///< an access at an address that is not a multiple of its size
  out_of_bounds,           ///< an access outside of shared and global memory
  unfinished_copy,         ///< an access to what an asynchronous copy is using
  uninitialised_read,      ///< a read of a word that nobody has written
  endless_loop,            ///< a block goes on and on, with barriers or without
  wait_for_block,          ///< a block waits for others, and none of them can go on
  stack_overflow,          ///< a thread has used up its stack
  undefined_arithmetic,    ///< a quotient, or another value, that C++ does not define
  invalid_call,            ///< a call through a pointer to what is no function of the device
  trap,                    ///< a thread stops the kernel: an assertion that fails, or `__trap()`
  failed_call,             ///< the host's call of the runtime gives an error, which it need not look at
  host_access,             ///< the host accesses what is the device's alone
  missing_synchronisation  ///< the host accesses what it has not waited for
};

/// The fault's name as a reader would write it, such as "uninitialised read".
std::string_view name_of(Fault fault);

/// A pitfall of this kind, by its name in docs/pitfalls, and a pitfall's page, from the project's folder.
std::string_view pitfall_of(Fault fault);
std::string page_of(std::string_view pitfall);

/// A line of a source file; "" and 0 where the program does not know it.
struct SourceLocation {
  std::string file;
  unsigned line = 0;
  unsigned column = 0;  ///< from 1

  auto operator<=>(const SourceLocation&) const = default;
};

/// "directory/file:line", short enough for a sentence.
std::string to_string(const SourceLocation& location);

/// "thread 4", "threads 0-31, 40": ascending numbers of things as ranges, the first of them if there are many.
std::string describe_numbers(std::string_view thing, const std::vector<unsigned>& numbers);

/// Threads of one block that have a part in a fault, what they do, and where. Or the host.
struct Witness {
  std::vector<unsigned> threads;  ///< none: the host
  std::size_t block = 0;
  std::string action;               ///< "reads", "wait at __syncthreads()": as many as there are threads
  const void* call_site = nullptr;  ///< as a return address; nullptr for threads that have left the kernel
  SourceLocation location{};        ///< of the call site, and
  std::vector<SourceLocation>
      callers{};  ///< if it is in a function that has been inlined: of the calls, innermost first
};

/// A fault of a kernel, once for each pair of source lines.
struct Finding {
  Fault fault;
  std::string
      kernel;  ///< its name in the source, without template arguments, or the host's function; "" if not known
  std::string memory;  ///< what the first witness does it to, "shared[16]", or ""
  std::vector<Witness> witnesses;
  std::string help;  ///< what is missing, or wrong; "" where that cannot be known
  std::string page;  ///< that explains it, from the project's folder: "docs/pitfalls/endless_loop.md"
  std::string text;  ///< all of it but help and page on one line
};

/// Thrown by a launch of a faulty kernel: what compute-sanitizer would report on a GPU. what() is the
/// findings' texts, one per line.
class KernelFinding : public std::runtime_error {
 public:
  explicit KernelFinding(std::vector<Finding> findings);
  const std::vector<Finding>& findings() const { return findings_; }

 private:
  std::vector<Finding> findings_;
};

}  // namespace __emulated
