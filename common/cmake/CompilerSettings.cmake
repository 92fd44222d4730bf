# How everything here is compiled: the interface target `compiler_settings`.

add_library(compiler_settings INTERFACE)

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
# CMake 3.25.1 does not know nvcc's flag for C++20; what device code includes keeps to C++17.
set(CMAKE_CUDA_STANDARD 17)
set(CMAKE_CUDA_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CUDA_EXTENSIONS OFF)

# Line numbers, so that the emulated device can name the line of a kernel's fault.
set(REDUCTION_HOST_FLAGS -g1)
set(REDUCTION_WARNINGS -Wall -Wextra -Wshadow -Wconversion)
set(REDUCTION_CUDA_FLAGS -lineinfo --expt-relaxed-constexpr)
if(REDUCTION_WARNINGS_AS_ERRORS)
  list(APPEND REDUCTION_WARNINGS -Werror)
  list(APPEND REDUCTION_CUDA_FLAGS --Werror=all-warnings)
endif()
list(JOIN REDUCTION_WARNINGS "," REDUCTION_HOST_WARNINGS)
target_compile_options(
  compiler_settings
  INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:${REDUCTION_HOST_FLAGS};${REDUCTION_WARNINGS}>"
            "$<$<COMPILE_LANGUAGE:CUDA>:${REDUCTION_CUDA_FLAGS};-Xcompiler=${REDUCTION_HOST_WARNINGS}>")

if(REDUCTION_SANITIZE)
  set(REDUCTION_SANITIZERS -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_compile_options(compiler_settings INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:${REDUCTION_SANITIZERS}>")
  target_link_options(compiler_settings INTERFACE ${REDUCTION_SANITIZERS})
endif()
