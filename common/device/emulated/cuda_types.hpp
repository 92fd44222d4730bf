#pragma once
/// \file
/// CUDA's built-in types.

struct uint3 {
  unsigned x, y, z;
};

struct dim3 {
  unsigned x, y, z;

  constexpr dim3(unsigned of_x = 1, unsigned of_y = 1, unsigned of_z = 1) : x{of_x}, y{of_y}, z{of_z} {}
  constexpr dim3(const uint3& of) : x{of.x}, y{of.y}, z{of.z} {}
};
