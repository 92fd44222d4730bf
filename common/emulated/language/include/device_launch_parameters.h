#pragma once
// Stands in for CUDA's header of this name on the emulated device.
#include <cuda_runtime.h>
