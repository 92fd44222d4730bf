#pragma once
/// \file
/// Where the host's code is linked with ThreadSanitizer's runtime, the hooks of that name are the sanitizer's: a kernel's
/// accesses go to the emulated device by other names. The assembler renames them, as GCC has no option for it. (Clang, which
/// has other hooks beside these, cannot.)

asm(".set __tsan_read1, emulated_read1");
asm(".set __tsan_read2, emulated_read2");
asm(".set __tsan_read4, emulated_read4");
asm(".set __tsan_read8, emulated_read8");
asm(".set __tsan_read16, emulated_read16");
asm(".set __tsan_read_range, emulated_read_range");
asm(".set __tsan_write1, emulated_write1");
asm(".set __tsan_write2, emulated_write2");
asm(".set __tsan_write4, emulated_write4");
asm(".set __tsan_write8, emulated_write8");
asm(".set __tsan_write16, emulated_write16");
asm(".set __tsan_write_range, emulated_write_range");
asm(".set __tsan_volatile_read1, emulated_volatile_read1");
asm(".set __tsan_volatile_read2, emulated_volatile_read2");
asm(".set __tsan_volatile_read4, emulated_volatile_read4");
asm(".set __tsan_volatile_read8, emulated_volatile_read8");
asm(".set __tsan_volatile_read16, emulated_volatile_read16");
asm(".set __tsan_volatile_write1, emulated_volatile_write1");
asm(".set __tsan_volatile_write2, emulated_volatile_write2");
asm(".set __tsan_volatile_write4, emulated_volatile_write4");
asm(".set __tsan_volatile_write8, emulated_volatile_write8");
asm(".set __tsan_volatile_write16, emulated_volatile_write16");
