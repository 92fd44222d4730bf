#pragma once
/// \file
/// Where the host's code is linked with ThreadSanitizer's runtime, the hooks of that name are the sanitizer's: a kernel's
/// accesses go to the emulated device by other names. The assembler renames them, as GCC has no option for it. (Clang, which
/// has other hooks beside these, cannot.)

asm(R"(
.irp access, read, write
.irp bytes, 1, 2, 4, 8, 16
.set __tsan_\access\bytes, __emulated_\access\bytes
.set __tsan_volatile_\access\bytes, __emulated_volatile_\access\bytes
.endr
.set __tsan_\access\()_range, __emulated_\access\()_range
.endr
)");
