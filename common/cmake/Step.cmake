# add_step(FOLDER) makes the executable of the step in FOLDER, which has the folder's own name, and NAME_emulated, its
# kernels for the emulated device, which the step's tests link too.
#
# The folder's kernel.cuh is compiled by the host compiler for the emulated device and, where there is nvcc, by nvcc
# as part of main.cu.
function(add_step folder)
  cmake_path(GET folder FILENAME name)
  cmake_path(ABSOLUTE_PATH folder)

  add_library(${name}_emulated OBJECT ${PROJECT_SOURCE_DIR}/common/harness/emulated_step.cpp)
  target_include_directories(${name}_emulated PRIVATE ${folder})
  target_link_libraries(${name}_emulated PUBLIC harness PRIVATE emulated_kernel_settings)

  add_step_executable(${name} ${folder})
  target_link_libraries(${name} PRIVATE ${name}_emulated)
endfunction()

# The same for a step that runs on CUDA devices only: a build without CUDA has an executable that says so.
function(add_cuda_step folder)
  cmake_path(GET folder FILENAME name)
  cmake_path(ABSOLUTE_PATH folder)
  add_step_executable(${name} ${folder})
  target_link_libraries(${name} PRIVATE harness)
endfunction()

function(add_step_executable name folder)
  add_executable(${name} ${folder}/main.cu)
  if(NOT REDUCTION_CUDA_ENABLED)
    set_source_files_properties(${folder}/main.cu PROPERTIES LANGUAGE CXX)
    target_compile_options(${name} PRIVATE -Wno-unknown-pragmas)
  endif()
endfunction()
