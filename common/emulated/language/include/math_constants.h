#pragma once
/// \file
/// Stands in for CUDA's header of this name on the emulated device.

#include <cuda_runtime.h>

#include <numbers>

#define __MATH_CONSTANTS_H__

// Macros, as those of CUDA are.
#define CUDART_INF_F __builtin_inff()
#define CUDART_NAN_F __builtin_nanf("")
#define CUDART_MIN_DENORM_F __FLT_DENORM_MIN__
#define CUDART_MAX_NORMAL_F __FLT_MAX__
#define CUDART_NEG_ZERO_F -0.0F
#define CUDART_ZERO_F 0.0F
#define CUDART_ONE_F 1.0F
#define CUDART_PI_F std::numbers::pi_v<float>
#define CUDART_PIO2_F (std::numbers::pi_v<float> / 2)
#define CUDART_PIO4_F (std::numbers::pi_v<float> / 4)
#define CUDART_SQRT_TWO_F std::numbers::sqrt2_v<float>
#define CUDART_L2E_F std::numbers::log2e_v<float>
#define CUDART_LN2_F std::numbers::ln2_v<float>
#define CUDART_LG2_F 0.30102999566398119521F
#define CUDART_LGE_F std::numbers::log10e_v<float>
#define CUDART_L2T_F 3.3219280948873623478F
#define CUDART_LNT_F std::numbers::ln10_v<float>
#define CUDART_SQRT_HALF_F (std::numbers::sqrt2_v<float> / 2)
#define CUDART_THIRD_F (1.0F / 3.0F)
#define CUDART_3PIO4_F (std::numbers::pi_v<float> * 3 / 4)
#define CUDART_2_OVER_PI_F (2 * std::numbers::inv_pi_v<float>)
#define CUDART_SQRT_2OVERPI_F 0.79788456080286535588F
#define CUDART_TWO_TO_23_F 8388608.0F
#define CUDART_INF __builtin_inf()
#define CUDART_NAN __builtin_nan("")
#define CUDART_NEG_ZERO -0.0
#define CUDART_ZERO 0.0
#define CUDART_ONE 1.0
#define CUDART_PI std::numbers::pi
#define CUDART_PIO2 (std::numbers::pi / 2)
#define CUDART_PIO4 (std::numbers::pi / 4)
#define CUDART_SQRT_TWO std::numbers::sqrt2
#define CUDART_L2E std::numbers::log2e
#define CUDART_LN2 std::numbers::ln2
#define CUDART_LG2 0.30102999566398119521
#define CUDART_LGE std::numbers::log10e
#define CUDART_L2T 3.3219280948873623478
#define CUDART_LNT std::numbers::ln10
#define CUDART_SQRT_HALF (std::numbers::sqrt2 / 2)
#define CUDART_THIRD (1.0 / 3.0)
#define CUDART_3PIO4 (std::numbers::pi * 3 / 4)
#define CUDART_2_OVER_PI (2 * std::numbers::inv_pi)
#define CUDART_SQRT_2OVERPI 0.79788456080286535588
