# Kernels for the emulated device: launches and __shared__ variables, which no host compiler reads, become calls.

set(REDUCTION_EMULATED_FOLDER ${PROJECT_BINARY_DIR}/emulated)

# rewrite_kernels(TARGET FILE...) makes TARGET, which writes each FILE's rewritten form to the same place under
# REDUCTION_EMULATED_FOLDER. What includes one of them from there depends on TARGET.
function(rewrite_kernels target)
  set(rewritten_files "")
  foreach(file IN LISTS ARGN)
    cmake_path(ABSOLUTE_PATH file)
    rewritten_path(${file} rewritten)
    cmake_path(GET rewritten PARENT_PATH folder)
    file(MAKE_DIRECTORY ${folder})
    add_custom_command(
      OUTPUT ${rewritten}
      COMMAND kernel_rewriter ${file} ${rewritten}
      DEPENDS ${file} kernel_rewriter
      VERBATIM)
    list(APPEND rewritten_files ${rewritten})
  endforeach()
  add_custom_target(${target} DEPENDS ${rewritten_files})
endfunction()

# compile_kernels(TARGET) says that TARGET has rewritten kernels among its sources. To be called before it is linked to
# anything else: the rewritten headers come first.
function(compile_kernels target)
  set_target_properties(${target} PROPERTIES REDUCTION_HAS_KERNELS ON)
  target_link_libraries(${target} PRIVATE emulated_kernels)
endfunction()

# Where the rewritten form of a file of this project, or of its build, is.
function(rewritten_path file variable)
  cmake_path(ABSOLUTE_PATH file)
  cmake_path(IS_PREFIX PROJECT_BINARY_DIR ${file} is_built)
  if(is_built)
    cmake_path(RELATIVE_PATH file BASE_DIRECTORY ${PROJECT_BINARY_DIR})
  else()
    cmake_path(RELATIVE_PATH file BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
  endif()
  set(${variable} ${REDUCTION_EMULATED_FOLDER}/${file} PARENT_SCOPE)
endfunction()
