#pragma once
/// \file
/// CUDA's runtime as far as ordinary programs and reduce.cuh need it, on the emulated device, so that one source compiles for
/// both. All that a call would leave for later is done at once, and a faulty kernel ends the program at its launch: what a
/// GPU's calls report late, or not at all, is said at once. What is not here is named by `unsupported.txt`.

// Those of C, which nvcc's has, too.
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "emulated/language/runtime/device.hpp"
#include "emulated/language/runtime/errors.hpp"
#include "emulated/language/runtime/graphs.hpp"
#include "emulated/language/runtime/kernels.hpp"
#include "emulated/language/runtime/memory.hpp"
#include "emulated/language/runtime/memory_pools.hpp"
#include "emulated/language/runtime/streams.hpp"
