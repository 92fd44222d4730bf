#pragma once
// Stands in for CUDA's header of this name on the emulated device.
#include "emulated/language/vectors.hpp"
