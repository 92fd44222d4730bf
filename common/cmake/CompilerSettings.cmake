# How everything here is compiled: the interface target `compiler_settings`.

add_library(compiler_settings INTERFACE)

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
# CMake 3.25.1 does not know nvcc's flag for C++20; what device code includes keeps to C++17.
set(CMAKE_CUDA_STANDARD 17)
set(CMAKE_CUDA_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CUDA_EXTENSIONS OFF)

set(REDUCTION_WARNINGS -Wall -Wextra -Wshadow -Wconversion)
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  list(APPEND REDUCTION_WARNINGS -Wno-sign-conversion)  # which GCC's -Wconversion leaves out
endif()
set(REDUCTION_CUDA_FLAGS -lineinfo --expt-relaxed-constexpr)
if(REDUCTION_WARNINGS_AS_ERRORS)
  list(APPEND REDUCTION_WARNINGS -Werror)
  list(APPEND REDUCTION_CUDA_FLAGS --Werror=all-warnings)
endif()
list(JOIN REDUCTION_WARNINGS "," REDUCTION_HOST_WARNINGS)
target_compile_options(
  compiler_settings
  INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:${REDUCTION_WARNINGS}>"
            "$<$<COMPILE_LANGUAGE:CUDA>:${REDUCTION_CUDA_FLAGS};-Xcompiler=${REDUCTION_HOST_WARNINGS}>")

# Sanitizers are for the host's code: files with kernels are compiled with the emulated device's own instrumentation.
if(REDUCTION_SANITIZE STREQUAL "ADDRESS")
  set(REDUCTION_SANITIZERS -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
elseif(REDUCTION_SANITIZE STREQUAL "THREAD")
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    message(FATAL_ERROR "REDUCTION_SANITIZE=THREAD takes GCC: kernels need hooks beside the sanitizer's (own_hooks.hpp)")
  endif()
  # It does not know fibers: function entries and exits would not match.
  set(REDUCTION_SANITIZERS -fsanitize=thread "SHELL:--param tsan-instrument-func-entry-exit=0")
elseif(REDUCTION_SANITIZE)
  message(FATAL_ERROR "REDUCTION_SANITIZE is '${REDUCTION_SANITIZE}'; it can be OFF, ADDRESS or THREAD")
endif()
if(REDUCTION_SANITIZE)
  target_compile_options(
    compiler_settings
    INTERFACE
      "$<$<AND:$<COMPILE_LANGUAGE:CXX>,$<NOT:$<BOOL:$<TARGET_PROPERTY:REDUCTION_HAS_KERNELS>>>>:${REDUCTION_SANITIZERS}>")
  target_link_options(compiler_settings INTERFACE ${REDUCTION_SANITIZERS})
endif()
