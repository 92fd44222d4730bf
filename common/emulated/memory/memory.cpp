#include "emulated/memory/memory.hpp"

#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <span>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "emulated/findings/source_location.hpp"
#include "emulated/memory/kernel_heap.hpp"
#include "emulated/memory/lasting.hpp"
#include "emulated/memory/symbol_table.hpp"
#include "emulated/run/device.hpp"
#include "emulated/run/host_threads.hpp"
#include "emulated/run/launch.hpp"

namespace __emulated {
namespace {

/// Leaves room for all that is kept beside a buffer of the largest size.
constexpr std::size_t largest_buffer = std::numeric_limits<std::size_t>::max() / 16;

/// Buffers that have been released, and are still known.
constexpr std::size_t most_released = 64;

/// Dynamic shared memory as long as the kernel has not declared it.
constexpr std::array<std::size_t, 1> one_dimension{};
constexpr SharedDeclaration undeclared{"shared memory", 1, one_dimension};

std::size_t words_in(std::size_t bytes) { return bytes / word_bytes + 1; }

/// From an offset to the nearest byte of a range.
std::ptrdiff_t distance(std::ptrdiff_t offset, std::size_t begin, std::size_t bytes) {
  const auto first = static_cast<std::ptrdiff_t>(begin);
  const auto end = static_cast<std::ptrdiff_t>(begin + bytes);
  return offset < first ? first - offset : offset < end ? 0 : offset - end + 1;
}

/// The host has passed something else where no buffer holds these bytes.
void mark(void* begin, std::size_t bytes, bool initialised) {
  const std::lock_guard lock{device_mutex()};
  if (bytes == 0) return;
  const auto* const first = static_cast<const std::byte*>(begin);
  Buffer* const buffer = global_memory().nearest(first);
  if (buffer == nullptr || !buffer->contains(first, bytes))
    throw std::invalid_argument{"these bytes are in no buffer of the emulated device"};
  buffer->mark(static_cast<std::size_t>(first - buffer->begin()), bytes, initialised);
}

}  // namespace
}  // namespace __emulated

// The linker gives the section of all `__constant__` variables these names; a program may have none.
extern "C" {
extern std::byte __start___emulated_constant[] __attribute__((weak, visibility("hidden")));
extern std::byte __stop___emulated_constant[] __attribute__((weak, visibility("hidden")));
}

namespace __emulated {
namespace {

/// The program, which comes first, and the libraries that are loaded now. Thread-local storage is the calling host thread's.
std::vector<dl_phdr_info> loaded_objects() {
  std::vector<dl_phdr_info> objects;
  dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void* found) {
        static_cast<std::vector<dl_phdr_info>*>(found)->push_back(*object);
        return 0;
      },
      &objects);
  return objects;
}

/// What they have of memory.
std::vector<Segment> loaded_segments() {
  std::vector<Segment> segments;
  for (const dl_phdr_info& object : loaded_objects()) {
    for (const auto& header : std::span{object.dlpi_phdr, object.dlpi_phnum}) {
      // Tables of addresses are constants once the program has been loaded, in front of a writable segment.
      const bool is_table = header.p_type == PT_GNU_RELRO;
      if (header.p_type != PT_LOAD && !is_table) continue;
      auto* const begin = reinterpret_cast<std::byte*>(object.dlpi_addr + header.p_vaddr);
      segments.push_back({{begin, header.p_memsz}, (header.p_flags & PF_W) != 0 && !is_table});
    }
  }
  return segments;
}

struct Variable {
  Buffer memory;
  std::string symbol;
  bool is_hosts = false;  ///< in a program that is compiled twice: no kernel's

  const std::byte* begin() const { return memory.begin(); }
};

/// The program's own variables in ascending order, by its table of symbols; none if it has been stripped of that.
std::vector<Variable> read_variables_of_the_program() {
  std::vector<Symbol> symbols = symbols_of_the_program();
  std::erase_if(symbols, [](const Symbol& symbol) { return !symbol.is_variable || symbol.bytes == 0; });
  std::ranges::sort(symbols, {}, &Symbol::value);
  auto* const base = reinterpret_cast<std::byte*>(begin_of_the_program());
  std::vector<Variable> variables;
  const bool has_two_sides = std::ranges::any_of(symbols, &Symbol::is_of_device);
  std::uintptr_t end = 0;  // one variable may have several names
  for (const Symbol& symbol : symbols) {
    if (symbol.value + symbol.bytes <= end) continue;
    const std::uintptr_t begin = std::max(symbol.value, end);
    end = symbol.value + symbol.bytes;
    const bool is_hosts = has_two_sides && !symbol.is_of_device() && symbol.section != managed_section;
    variables.push_back({Buffer{base + begin, end - begin}, std::string{symbol.common_name()}, is_hosts});
  }
  return variables;
}

std::vector<Variable>& variables_of_the_program() { return lasting<read_variables_of_the_program>(); }

/// "bins" of "_ZN12_GLOBAL__N_14binsE".
std::string variable_name(const std::string& symbol) {
  if (!symbol.starts_with("_Z")) return symbol;  // else "m" would be a type
  return name_in_source(demangled(symbol.c_str()).c_str());
}

const Variable* variable_near(const std::byte* address, std::size_t bytes) {
  const Variable* nearest = nullptr;
  std::ptrdiff_t least = PTRDIFF_MAX;
  for (const Variable& variable : variables_of_the_program()) {
    const std::ptrdiff_t here = distance(address - variable.begin(), 0, variable.memory.bytes());
    if (here >= least || variable.memory.bytes() < bytes) continue;
    nearest = &variable;
    least = here;
  }
  return nearest;
}

/// The calling host thread's variables, those of the program itself.
std::span<const std::byte> thread_storage() {
  const dl_phdr_info program = loaded_objects().front();
  for (const auto& header : std::span{program.dlpi_phdr, program.dlpi_phnum}) {
    if (header.p_type == PT_TLS && program.dlpi_tls_data != nullptr)
      return {static_cast<const std::byte*>(program.dlpi_tls_data), header.p_memsz};
  }
  return {};
}

}  // namespace

// ---- pages ----

std::size_t page_bytes() {
  static const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

Mapping::Mapping(std::size_t bytes, Backing backing) : bytes_{bytes} {
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | (backing == Backing::as_touched ? MAP_NORESERVE : 0);
  void* const pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
  if (pages == MAP_FAILED) throw std::bad_alloc{};
  begin_ = static_cast<std::byte*>(pages);
}

Mapping::~Mapping() {
  if (begin_ != nullptr) munmap(begin_, bytes_);
}

void Mapping::close() {
  constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
  mmap(begin_, bytes_, PROT_NONE, flags, -1, 0);
}

// ---- global memory ----

std::string word_text(std::ptrdiff_t offset, std::size_t bytes, const std::string& what, std::size_t size) {
  const auto width = static_cast<std::ptrdiff_t>(bytes);
  return std::to_string(bytes) + "-byte word " +
         std::to_string(offset < 0 ? (offset - width + 1) / width : offset / width) + " of " + what + " (" +
         std::to_string(size / bytes) + " words)";
}

Buffer::Buffer(std::size_t bytes)
    : pages_{bytes + 2 * margin},
      initialised_{(words_in(bytes) / words_in_entry + 1) * sizeof(std::uint64_t), Backing::as_touched},
      begin_{pages_.begin() + margin},
      bytes_{bytes} {}

void Buffer::mark(std::size_t offset, std::size_t count, bool initialised) {
  if (is_static()) return;
  // A word of which one byte is written counts as written.
  const std::size_t begin = (initialised ? offset : offset + word_bytes - 1) / word_bytes;
  const bool to_the_end = initialised || offset + count == bytes_;
  const std::size_t end = (offset + count + (to_the_end ? word_bytes - 1 : 0)) / word_bytes;
  for (std::size_t word = begin; word < end;) {
    // As many words as one word of bits has, or what is left of them.
    const std::size_t next = std::min(end, (word / words_in_entry + 1) * words_in_entry);
    const std::uint64_t ones = ~std::uint64_t{0} >> (words_in_entry - (next - word));
    const std::uint64_t mask = ones << (word % words_in_entry);
    const std::atomic_ref bits{entry(initialised_, word)};
    if (!initialised) {
      bits.fetch_and(~mask, std::memory_order_relaxed);
    } else if ((bits.load(std::memory_order_relaxed) & mask) != mask) {
      bits.fetch_or(mask, std::memory_order_relaxed);
    }
    word = next;
  }
}

Buffer Buffer::for_heap(std::size_t bytes) {
  Buffer buffer{bytes};
  buffer.bytes_ = 0;
  buffer.is_heap_ = true;
  return buffer;
}

std::size_t Buffer::followed_bytes() const { return is_heap_ ? pages_.bytes() - 2 * margin : bytes_; }

std::string Buffer::describe(const std::byte* address, std::size_t bytes) const {
  if (is_heap_) return kernel_heap().describe(address, bytes);
  if (is_static() && !is_shared_with_host_) return std::to_string(bytes) + " bytes of a __device__ variable";
  return word_text(address - begin_, bytes, is_static() ? "registered memory" : "a global buffer", bytes_);
}

void GlobalMemory::begin_launch() {
  loaded_ = loaded_segments();
  static_storage_.clear();
  for (auto [bytes, is_writable] : loaded_) {
    if (!is_writable) continue;
    for (const Segment& table : loaded_) {
      if (!table.is_writable && table.bytes.data() == bytes.data())
        bytes = bytes.subspan(std::min(bytes.size(), table.bytes.size()));
    }
    std::byte* const constants = __start___emulated_constant;
    if (constants != nullptr && contains(bytes, constants)) {
      const auto before = static_cast<std::size_t>(constants - bytes.data());
      static_storage_.emplace_back(bytes.data(), before);
      bytes = bytes.subspan(static_cast<std::size_t>(__stop___emulated_constant - bytes.data()));
    }
    static_storage_.emplace_back(bytes.data(), bytes.size());
  }
}

std::byte* GlobalMemory::allocate(std::size_t bytes) {
  if (bytes > largest_buffer) throw std::bad_alloc{};
  Buffer buffer{bytes};
  std::byte* const begin = buffer.begin();
  buffers_.emplace(begin, std::move(buffer));
  held_bytes_ += bytes;
  return begin;
}

bool GlobalMemory::add_registered(std::byte* begin, std::size_t bytes) {
  const auto last = last_until(buffers_, begin + bytes - 1);
  if (last != buffers_.end() && last->second.begin() + last->second.bytes() > begin) return false;
  buffers_.emplace(begin, Buffer{begin, bytes}).first->second.share_with_host();
  return true;
}

void GlobalMemory::release(std::byte* begin) noexcept {
  const auto buffer = buffers_.find(begin);
  if (buffer == buffers_.end()) return;
  if (buffer->second.is_static()) {
    buffers_.erase(buffer);
    return;
  }
  if (buffer->second.has_taint(0, buffer->second.bytes())) lose_taint();
  held_bytes_ -= buffer->second.bytes();
  buffer->second.close();
  if (released_.size() == most_released) released_.erase(released_.begin());
  // `ulimit -v` counts addresses, too.
  if (available_address_space() == std::numeric_limits<std::size_t>::max())
    released_.push_back(std::move(buffer->second));
  buffers_.erase(buffer);
}

Buffer* GlobalMemory::nearest(const std::byte* address) {
  // Registered memory has no margins: its neighbour may begin in them.
  const auto own = last_until(buffers_, address);
  if (own != buffers_.end() && own->second.contains(address, 1)) return &own->second;
  const auto near = last_until(buffers_, address + margin);
  if (near == buffers_.end()) return nullptr;
  Buffer& buffer = near->second;
  return address < buffer.begin() + buffer.bytes() + margin ? &buffer : nullptr;
}

Buffer* GlobalMemory::find(const std::byte* address, std::size_t bytes) {
  Buffer* const buffer = nearest(address);
  if (buffer != nullptr) return buffer->contains(address, bytes) ? buffer : nullptr;
  const auto storage = std::ranges::find_if(
      static_storage_, [&](const Buffer& candidate) { return candidate.contains(address, bytes); });
  if (storage != static_storage_.end()) {
    std::vector<Variable>& variables = variables_of_the_program();
    const auto after = std::ranges::upper_bound(variables, address, {}, &Variable::begin);
    if (after == variables.begin() || after == variables.end()) return &*storage;  // a library's
    Variable& variable = *std::prev(after);
    return !variable.is_hosts && variable.memory.contains(address, bytes) ? &variable.memory : nullptr;
  }
  KernelHeap& heap = kernel_heap();
  return heap.is_near(address) && heap.contains(address, bytes) ? &heap.words() : nullptr;
}

std::string GlobalMemory::describe_released(const std::byte* address, std::size_t bytes) const {
  const auto buffer =
      std::ranges::find_if(released_, [&](const Buffer& each) { return each.contains(address, 1); });
  if (buffer == released_.end()) return "";
  return word_text(address - buffer->begin(), bytes, "a global buffer that has been released",
                   buffer->bytes());
}

std::string GlobalMemory::describe_beside_variable(const std::byte* address, std::size_t bytes) const {
  const auto is_here = [&](const Buffer& storage) { return storage.contains(address, 1); };
  if (std::ranges::none_of(static_storage_, is_here)) return "";
  const Variable* const nearest = variable_near(address, bytes);
  if (nearest == nullptr) return "";
  return word_text(
      address - nearest->begin(), bytes,
      (nearest->is_hosts ? "the host's variable " : "the variable ") + variable_name(nearest->symbol),
      nearest->memory.bytes());
}

std::string describe_variable(const std::byte* address, std::size_t bytes) {
  const Variable* const nearest = variable_near(address, bytes);
  if (nearest == nullptr) return "";
  return word_text(address - nearest->begin(), bytes, "the variable " + variable_name(nearest->symbol),
                   nearest->memory.bytes());
}

bool GlobalMemory::is_constant(const std::byte* address, std::size_t bytes) const {
  static thread_local const std::span own = thread_storage();
  if (contains(own, address, bytes) || is_constant_memory(address)) return true;
  return std::ranges::any_of(loaded_, [&](const Segment& segment) {
    return !segment.is_writable && contains(segment.bytes, address, bytes);
  });
}

std::span<const std::byte> GlobalMemory::loaded_with(const void* address) const {
  for (const Segment& segment : loaded_)
    if (contains(segment.bytes, static_cast<const std::byte*>(address))) return segment.bytes;
  return {};
}

GlobalMemory& global_memory() { return lasting<GlobalMemory>(); }

std::mutex& device_mutex() {
  static std::mutex& mutex = *std::make_unique<std::mutex>().release();
  return mutex;
}

bool is_mapped(const std::byte* address) {
  const std::uintptr_t page = page_bytes();
  void* const begin = reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(address) / page * page);
  unsigned char is_resident = 0;
  return mincore(begin, 1, &is_resident) == 0;
}

bool is_constant_memory(const std::byte* address) {
  return address >= __start___emulated_constant && address < __stop___emulated_constant;
}

void* allocate(std::size_t bytes) {
  const std::lock_guard lock{device_mutex()};
  return global_memory().allocate(bytes);
}

void release(void* buffer) noexcept {
  const std::lock_guard lock{device_mutex()};
  global_memory().release(static_cast<std::byte*>(buffer));
}

void mark_initialised(void* begin, std::size_t bytes) { mark(begin, bytes, true); }

void mark_uninitialised(void* begin, std::size_t bytes) { mark(begin, bytes, false); }

// ---- taint ----

// Words that a launch has made of what nobody had written. They count as unwritten, and are marked beside that, so that any
// store ends it, and whoever reads one is known.

void Buffer::taint(std::size_t offset, std::size_t count) {
  if (tainted_.begin() == nullptr) tainted_ = Mapping{initialised_.bytes(), Backing::as_touched};
  const std::size_t end = std::min(offset + count, bytes_);
  mark(offset, end - offset, false);
  for (std::size_t word = offset / word_bytes; word * word_bytes < end; ++word)
    entry(tainted_, word) |= std::uint64_t{1} << (word % words_in_entry);
}

bool Buffer::has_taint(std::size_t offset, std::size_t count) const {
  if (tainted_.begin() == nullptr) return false;
  for (std::size_t word = offset / word_bytes; word * word_bytes < offset + count;) {
    const std::uint64_t of_entry = entry(tainted_, word) & ~entry(initialised_, word);
    if (of_entry == 0) {
      word = (word / words_in_entry + 1) * words_in_entry;
    } else if ((of_entry >> (word++ % words_in_entry) & 1) != 0) {
      return true;
    }
  }
  return false;
}

void Buffer::end_taint() {
  if (tainted_.begin() == nullptr) return;
  for (std::size_t word = 0; word * word_bytes < bytes_; word += words_in_entry)
    entry(initialised_, word) |= entry(tainted_, word);
  tainted_ = {};
}

bool GlobalMemory::has_taint() const {
  return taint_is_lost_ || std::ranges::any_of(buffers_, [](const auto& entry) {
           return entry.second.has_taint(0, entry.second.bytes());
         });
}

void GlobalMemory::end_taint() {
  taint_is_lost_ = false;
  for (auto& [begin, buffer] : buffers_)
    buffer.end_taint();
}

// ---- shared memory ----

std::size_t SharedMemory::capacity() {
  // Static variables take more than their own size, for what separates them.
  return properties().shared_bytes_per_block + 4 * properties().default_shared_bytes;
}

SharedMemory::SharedMemory()
    : pages_{capacity() + 2 * margin, Backing::as_touched}, ends_(capacity() / alignment + 1) {}

void SharedMemory::begin_launch(std::size_t dynamic_bytes, std::size_t most_bytes) {
  most_bytes_ = most_bytes;
  dynamic_bytes_ = end_ = dynamic_bytes;
  static_bytes_ = 0;
  variables_.assign({{&undeclared, 0, dynamic_bytes}});
  std::ranges::fill(ends_, 0);
  set_end(0, dynamic_bytes);
}

bool SharedMemory::uses_dynamic() const { return variables_.front().declaration != &undeclared; }

void* SharedMemory::static_variable(const SharedDeclaration& declaration, std::size_t bytes) {
  const auto known = std::ranges::find(variables_, &declaration, &SharedVariable::declaration);
  if (known != variables_.end()) return begin() + known->offset;
  static_bytes_ += bytes;
  if (static_bytes_ > properties().default_shared_bytes) {
    throw std::invalid_argument{"a kernel has at most " + std::to_string(properties().default_shared_bytes) +
                                " bytes of static shared memory"};
  }
  require_shared_memory(
      most_bytes_, dynamic_bytes_ + static_bytes_, "a block has bytes of shared memory, static and dynamic,",
      most_bytes_ < properties().shared_bytes_per_block ? how_to_ask_for_shared_memory : "");
  const std::size_t offset = (end_ + 2 * alignment - 1) / alignment * alignment;
  if (offset + bytes > capacity()) {
    throw std::invalid_argument{
        "a kernel has more static shared variables here than the emulated device can keep apart"};
  }
  variables_.push_back({&declaration, offset, bytes});
  end_ = offset + bytes;
  set_end(offset, bytes);
  return begin() + offset;
}

const SharedVariable& SharedMemory::variable_near(std::size_t offset) const {
  return *std::prev(std::ranges::upper_bound(variables_, offset, {}, &SharedVariable::offset));
}

void SharedMemory::set_end(std::size_t begin, std::size_t bytes) {
  for (std::size_t at = begin; at < begin + bytes; at += alignment)
    ends_[at / alignment] = static_cast<std::uint32_t>(begin + bytes);
}

std::string SharedMemory::describe_with_size(const std::byte* address, std::size_t bytes) const {
  const std::ptrdiff_t offset = address - begin();
  // What lies between two of them is past the end of one or before the other, whichever is nearer.
  const SharedVariable nearest = std::ranges::min(variables_, {}, [&](const SharedVariable& variable) {
    const bool is_there = variable.bytes > 0 || variable.declaration != &undeclared;
    return is_there ? distance(offset, variable.offset, variable.bytes) : PTRDIFF_MAX;
  });
  return nearest.name_of(offset, bytes) + " " + nearest.size_text();
}

std::string SharedMemory::describe(std::size_t offset, std::size_t bytes) const {
  return variable_near(offset).name_of(static_cast<std::ptrdiff_t>(offset), bytes);
}

}  // namespace __emulated
