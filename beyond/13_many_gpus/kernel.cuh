#pragma once
/// \file
/// What a rank reduces its shard with: nothing about it changes when there are more ranks. On a GPU it is the reduce() of
/// step 12, on the emulated device the kernel of step 07.

#ifdef __CUDACC__
#include "../12_any_operation/kernel.cuh"
#else
#include "../../07_cascade/kernel.cuh"
#endif
