#pragma once
/// \file
/// Each rank reduces its shard with this kernel, however many ranks there are: on a GPU with step 12's reduce(), on the
/// emulated device with step 07's kernel.

#ifdef __CUDACC__
#include "../12_any_operation/kernel.cuh"
#else
#include "../../07_cascade/kernel.cuh"
#endif
