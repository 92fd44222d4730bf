#pragma once
#include <signal.h>

#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "emulated/memory/memory.hpp"

namespace __emulated {

/// An access that the host must not make, or a call of the runtime that fails, or begins too early.
struct HostAccess {
  const std::byte* address;
  Operation operation;
  std::string memory;              ///< "4-byte word 5 of a global buffer (10 words)"
  bool is_shared;                  ///< with the device, which may be using it
  std::vector<const void*> calls;  ///< that lead there, innermost first, as return addresses
  bool releases = false;           ///< it, as if it were of the host's heap
  const char* function_of_library =
      nullptr;                  ///< the function of a library that makes it on the device, where it must not
  bool is_unwritten = false;    ///< it may access it, but for want of a value
  bool is_failed_call = false;  ///< `memory` is its error
  bool is_between_streams = false;  ///< `memory` says what is not ordered
  bool may_be_meant = false;        ///< so that it is no finding
};

/// Memory that the host must not touch: what is the device's always, and what both share while a launch may be using it. Where
/// `./emulate` asks for it, its pages are closed while the host's code runs, whoever has compiled that. An access tells of itself
/// by a fault, and happens: the page is open for this one instruction.
class ClosedMemory {
 public:
  /// Pages and what the host may still do there (mprotect).
  struct Pages {
    std::byte* begin;
    std::byte* end;
    int protection;
  };

  /// From now on memory is closed, and the host's accesses are reported before they happen.
  void begin(std::function<void(const HostAccess&)> report);
  bool is_on() const { return report_ != nullptr; }

  /// \param what  it is; "" for variables. \param is_shared  whether the host may use it, too. \param has_pages  of its own: else
  /// those at its ends are never closed.
  void add(std::byte* begin, std::size_t bytes, const std::string& what, bool is_shared,
           bool has_pages = true);
  void remove(const std::byte* begin);
  bool is_shared(const std::byte* address);

  /// Reports an access of a library, with the calls that lead to this one.
  void report(HostAccess access) const;

  /// The host's heap is to release memory. Reports and returns whether it is none of its own.
  bool refuse_release(const void* begin, const void* call_site);

  /// What launches may be using of shared memory, until the next call.
  void set_in_use(std::vector<Pages> pages);

  /// While one lives, all is open: the device works, or copies.
  class Open {
   public:
    Open();
    ~Open();
    Open(const Open&) = delete;
    Open& operator=(const Open&) = delete;
  };

 private:
  struct Range {
    std::size_t bytes;
    std::string what;
    bool is_shared, has_pages;
  };
  using Ranges = std::map<const std::byte*, Range>;

  Ranges::const_iterator range_of(const std::byte* address) const;
  void close();
  void close(const Pages& pages);
  bool handle(const std::byte* address, Operation operation, void* context);
  static void on_fault(int signal, siginfo_t* info, void* context);
  static void on_step(int signal, siginfo_t* info, void* context);

  std::function<void(const HostAccess&)> report_;
  std::recursive_mutex mutex_;  ///< what is released of these asks refuse_release()
  Ranges ranges_;
  std::vector<Pages> in_use_;
  std::vector<Pages> closed_;
  std::size_t closed_bytes_ = 0;
  unsigned open_ = 0;   ///< for so many
  unsigned steps_ = 0;  ///< since memory was closed
};

ClosedMemory& closed_memory();

}  // namespace __emulated
