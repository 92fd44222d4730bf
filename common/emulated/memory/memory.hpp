#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "emulated/memory/shared_variable.hpp"
#include "emulated/run/call_chain.hpp"

namespace __emulated {

/// Of a page of the operating system.
std::size_t page_bytes();

/// Whether the system promises memory for all pages of a mapping, or only finds it for those that are
/// touched.
enum class Backing { promised, as_touched };

/// Pages from the operating system, zero until written and not taken from memory until touched.
class Mapping {
 public:
  Mapping() = default;
  explicit Mapping(std::size_t bytes,
                   Backing backing = Backing::promised);  ///< throws std::bad_alloc
  ~Mapping();
  Mapping(Mapping&& other) noexcept
      : begin_{std::exchange(other.begin_, nullptr)}, bytes_{std::exchange(other.bytes_, 0)} {}
  Mapping& operator=(Mapping&& other) noexcept {
    std::swap(begin_, other.begin_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }

  std::byte* begin() const { return begin_; }
  std::size_t bytes() const { return bytes_; }

  /// Gives the pages back, but not their addresses.
  void close();

 private:
  std::byte* begin_ = nullptr;
  std::size_t bytes_ = 0;
};

inline constexpr std::size_t word_bytes = 4;       ///< memory is followed in words of so many bytes
inline constexpr std::size_t largest_access = 16;  ///< bytes of the widest access of one lane

/// Bytes on either side of a buffer, or of shared memory, that are nobody's: an access there is known to be a stray one.
inline constexpr std::size_t margin = std::size_t{64} << 10;

/// Whether all of these bytes are in a range.
inline bool contains(std::span<const std::byte> range, const std::byte* address, std::size_t count = 1) {
  const auto offset = static_cast<std::size_t>(address - range.data());
  return offset < range.size() && count <= range.size() - offset;
}

/// What begins last of what a map has by its addresses, at this one or before it; the map's end where nothing does.
template <typename Map> auto last_until(Map& map, const std::byte* address) {
  const auto after = map.upper_bound(address);
  return after == map.begin() ? map.end() : std::prev(after);
}

/// What an access does to memory.
enum class Operation : unsigned char { load, store, atomic };

constexpr const char* verb_of(Operation operation) {
  switch (operation) {
    case Operation::load: return "reads";
    case Operation::store: return "writes";
    case Operation::atomic: return "atomically updates";
  }
  return "accesses";
}

/// Whether two accesses to the same bytes can be a race, if nothing orders them.
constexpr bool can_race(Operation one, Operation other) { return one != other || one == Operation::store; }

/// One access of one thread.
struct Access {
  Operation operation;
  const std::byte* address;
  std::size_t bytes;
  const void* call_site;  ///< the place in the kernel, as a return address
  bool goes_on =
      false;  ///< one more part of what the kernel accesses as a whole: none of it has happened yet
  const Frame* function =
      nullptr;                    ///< the frame of the function there; of an atomic operation it is not known
  bool may_have_padding = false;  ///< a struct's: bytes after the first member may be nobody's
  bool is_volatile = false;
  bool is_copied = false;     ///< an asynchronous copy stores
  bool only_stores = false;   ///< what orders as an atomic operation
  bool is_for_block = false;  ///< an atomic operation that is one to the own block only

  /// Whether so many bytes from its beginning on may be padding, which a copy reads though nothing writes it, or are not read.
  bool may_be_padding(std::size_t offset) const {
    return goes_on || only_stores || (may_have_padding && offset >= word_bytes);
  }
};

/// A thread that has accessed memory, and where in the source; nullptr if there is none, or it is not known.
struct Accessor {
  unsigned thread = 0;
  const void* call_site = nullptr;
};

/// "4-byte word 3 of a global buffer (10 words)": words as wide as the access. \param size  bytes of all of it.
std::string word_text(std::ptrdiff_t offset, std::size_t bytes, const std::string& what, std::size_t size);

/// A buffer in global memory, and which of its 4-byte words have been written. Or the program's variables with static
/// storage, which is what `__device__` variables are here: these have been written when the program starts.
class Buffer {
 public:
  /// Pages of its own, between two margins.
  explicit Buffer(std::size_t bytes);
  /// Of the heap that kernels take memory from: it contains no address, as the heap knows which of its bytes are whose.
  static Buffer for_heap(std::size_t bytes);
  /// Static storage of the program, or memory that it has registered.
  Buffer(std::byte* begin, std::size_t bytes) : begin_{begin}, bytes_{bytes} {}

  std::byte* begin() const { return begin_; }
  std::size_t bytes() const { return bytes_; }
  /// The same, but for the heap those that kernels may be given.
  std::size_t followed_bytes() const;
  bool contains(const std::byte* address, std::size_t count) const {
    return __emulated::contains({begin_, bytes_}, address, count);
  }

  /// The number of the 4-byte word that holds the address.
  std::ptrdiff_t word_of(const std::byte* address) const {
    return (address - begin_) / static_cast<std::ptrdiff_t>(word_bytes);
  }

  /// Marks the words that hold these bytes, on behalf of any number of host threads at once.
  void mark(std::size_t offset, std::size_t count, bool initialised);
  void mark_written(const std::byte* address, std::size_t count) {
    mark(static_cast<std::size_t>(address - begin_), count, true);
  }
  bool is_initialised(std::size_t offset, std::size_t count) const {
    if (is_static()) return true;
    for (std::size_t word = offset / word_bytes; word * word_bytes < offset + count; ++word) {
      const std::uint64_t bits = std::atomic_ref{entry(initialised_, word)}.load(std::memory_order_relaxed);
      if ((bits >> (word % words_in_entry) & 1) == 0) return false;
    }
    return true;
  }

  // Words that a launch has made of what nobody had written. Until somebody writes them, they are tainted.
  void taint(std::size_t offset, std::size_t count);
  bool has_taint(std::size_t offset, std::size_t count) const;
  void end_taint();  ///< they count as written
  /// Whether no read of it goes unseen, so that it can be tainted.
  bool can_be_tainted() const { return !is_static() && !is_heap_ && !is_shared_with_host_; }
  void share_with_host() { is_shared_with_host_ = true; }

  /// Its memory is given back, and its addresses are kept.
  void close() {
    pages_.close();
    initialised_ = {};
    tainted_ = {};
  }

  /// Whether this is the program's static storage.
  bool is_static() const { return pages_.begin() == nullptr; }

  bool is_heap() const { return is_heap_; }

  /// "4-byte word 10 of a global buffer (10 words)": words as wide as the access, counted from the buffer's beginning.
  std::string describe(const std::byte* address, std::size_t bytes) const;

 private:
  static constexpr std::size_t words_in_entry = 64;
  /// A bit for each word: those that this one's is among.
  static std::uint64_t& entry(const Mapping& bits, std::size_t word) {
    return reinterpret_cast<std::uint64_t*>(bits.begin())[word / words_in_entry];
  }

  Mapping pages_;
  Mapping initialised_;
  Mapping tainted_;
  std::byte* begin_;
  std::size_t bytes_;
  bool is_heap_ = false;
  bool is_shared_with_host_ = false;
};

/// A part of a file that the program, or one of its libraries, was loaded from.
struct Segment {
  std::span<std::byte> bytes;
  bool is_writable;
};

/// The emulated device's global memory: every buffer that has been allocated and not yet released, and the program's
/// static storage.
class GlobalMemory {
 public:
  /// Looks at what is loaded now: the program may have loaded a library since the last launch.
  void begin_launch();

  std::byte* allocate(std::size_t bytes);
  /// Makes memory of the host's own a buffer. Returns whether none of it was one.
  bool add_registered(std::byte* begin, std::size_t bytes);
  void release(std::byte* begin) noexcept;
  /// All buffers' together.
  std::size_t held_bytes() const { return held_bytes_; }

  /// The buffer that holds the address, or one that ends shortly before it or begins shortly after; or nullptr.
  Buffer* nearest(const std::byte* address);
  /// The buffer, or static storage, that holds all these bytes, or nullptr.
  Buffer* find(const std::byte* address, std::size_t bytes);

  /// "4-byte word 3 of a global buffer that has been released (10 words)", of one of the last ones; else "".
  std::string describe_released(const std::byte* address, std::size_t bytes) const;

  /// "4-byte word 10 of the variable bins (10 words)", of the one nearest to an address that is in static storage but in no
  /// variable, and that has room for such a word; else "".
  std::string describe_beside_variable(const std::byte* address, std::size_t bytes) const;

  /// Whether the program itself has these bytes for reading: constants and tables in the files that it was loaded from, or
  /// variables of the calling host thread. Such reads say nothing about a kernel.
  bool is_constant(const std::byte* address, std::size_t bytes) const;

  /// What was loaded into memory as a whole with this address: the code of the program, or of one of its libraries.
  std::span<const std::byte> loaded_with(const void* address) const;

  /// Whether there are tainted words.
  bool has_taint() const;
  /// Some are where no read of them is seen.
  void lose_taint() { taint_is_lost_ = true; }
  /// From now on there are none.
  void end_taint();

 private:
  std::map<const std::byte*, Buffer> buffers_;
  std::size_t held_bytes_ = 0;
  std::vector<Buffer> released_;  ///< the last ones, whose addresses nobody else is given
  std::vector<Segment> loaded_;
  std::vector<Buffer> static_storage_;
  bool taint_is_lost_ = false;
};

/// The one device, and the lock that a launch, or a change to its memory, holds.
GlobalMemory& global_memory();
std::mutex& device_mutex();

/// "4-byte word 10 of the variable bins (10 words)", of the one nearest to an address that has room for such a word; "" if the
/// program has none.
std::string describe_variable(const std::byte* address, std::size_t bytes);

/// Whether the process has memory there.
bool is_mapped(const std::byte* address);

/// Whether the address is that of a `__constant__` variable, which kernels may only read.
bool is_constant_memory(const std::byte* address);

/// A block's shared memory: the dynamic part, whose size the launch gives, then each static variable that a thread of the
/// kernel has come by. None borders on another, so that an access past the end of one is seen.
class SharedMemory {
 public:
  SharedMemory();

  /// Begins a launch, with no static variables. \param most_bytes  that a block may have, static and dynamic ones.
  void begin_launch(std::size_t dynamic_bytes, std::size_t most_bytes);

  std::byte* dynamic() const { return begin(); }
  /// The same for a kernel, which means to use it and declares it so.
  std::byte* use_dynamic(const SharedDeclaration& declaration) {
    variables_.front().declaration = &declaration;
    return begin();
  }
  bool uses_dynamic() const;
  std::size_t dynamic_bytes() const { return dynamic_bytes_; }
  bool has_static_variables() const { return variables_.size() > 1; }

  /// The static variable of that declaration. Throws std::invalid_argument where a block would have more shared memory than
  /// it may.
  void* static_variable(const SharedDeclaration& declaration, std::size_t bytes);

  /// What the block's threads have declared, in ascending order.
  std::span<const SharedVariable> declared() const {
    return std::span{variables_}.subspan(uses_dynamic() ? 0 : 1);
  }

  /// From the beginning of shared memory to the address.
  std::size_t offset_of(const std::byte* address) const {
    return static_cast<std::size_t>(address - begin());
  }
  bool contains(const std::byte* address, std::size_t bytes) const {
    const std::size_t offset = offset_of(address);
    return offset / alignment < ends_.size() && offset + bytes <= ends_[offset / alignment];
  }
  /// Whether the address is in shared memory or near to it.
  bool is_near(const std::byte* address) const {
    return __emulated::contains({pages_.begin(), pages_.bytes()}, address);
  }

  /// "shared[32] (shared has 32 elements)", of the variable nearest to a stray access.
  std::string describe_with_size(const std::byte* address, std::size_t bytes) const;
  /// "shared[16]".
  std::string describe(std::size_t offset, std::size_t bytes) const;

  /// Bytes that all of it can take.
  static std::size_t capacity();

 private:
  /// Each variable begins at the first bank, with at least so many bytes that are nobody's before the next.
  static constexpr std::size_t alignment = 128;

  std::byte* begin() const { return pages_.begin() + margin; }
  void set_end(std::size_t begin, std::size_t bytes);
  /// The variable at the offset, or the last one before it.
  const SharedVariable& variable_near(std::size_t offset) const;

  Mapping pages_;
  std::size_t dynamic_bytes_ = 0;
  std::size_t static_bytes_ = 0;
  std::size_t most_bytes_ = 0;
  std::size_t end_ = 0;
  std::vector<SharedVariable> variables_;  ///< the dynamic part, then the static ones
  std::vector<std::uint32_t> ends_;  ///< of the variable that has these bytes, for each piece of `alignment`
};

}  // namespace __emulated
