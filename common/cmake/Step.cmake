# add_step(FOLDER) makes the executable of the step in FOLDER, which has the folder's own name, and NAME_emulated, its
# kernels for the emulated device, which the step's tests link too; a test that also links kernels compiled by nvcc links
# NAME_emulated_apart.
#
# The folder's kernel.cuh is compiled by the host compiler for the emulated device and, where there is nvcc, by nvcc
# as part of main.cu.
#
# add_step(FOLDER SOURCE FUNCTION): SOURCE, of the folder too, includes kernel.cuh for the emulated device, instead of the
# harness's emulated_step.cpp; FUNCTION, as the linker calls it, is what the executable takes from there.
function(add_step folder)
  cmake_path(GET folder FILENAME name)
  cmake_path(ABSOLUTE_PATH folder)
  rewritten_path(${folder} rewritten_folder)
  set(rewritten kernel.cuh main.cu)
  set(source ${PROJECT_SOURCE_DIR}/common/harness/emulated_step.cpp)
  set(function _ZN9reduction21emulated_step_kernelsEv)
  if(ARGC EQUAL 3)
    list(APPEND rewritten ${ARGV1})
    set(source ${rewritten_folder}/${ARGV1})
    set(function ${ARGV2})
  endif()

  list(TRANSFORM rewritten PREPEND ${folder}/)
  rewrite_kernels(${name}_rewritten ${rewritten})
  add_library(${name}_emulated OBJECT ${source})
  target_include_directories(${name}_emulated PRIVATE ${rewritten_folder})
  compile_kernels(${name}_emulated)
  # A variable in a template would be a unique symbol, which no linker keeps to its own object.
  target_compile_options(${name}_emulated PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fno-gnu-unique>)
  target_link_libraries(${name}_emulated PUBLIC harness)
  add_dependencies(${name}_emulated ${name}_rewritten)

  if(REDUCTION_CUDA_ENABLED)
    add_step_executable(${name} ${folder}/main.cu)
    # nvcc compiles templates of the same names, of which a linker would keep one each: those for the emulated device stay
    # in their own object.
    set(object ${CMAKE_CURRENT_BINARY_DIR}/${name}_emulated.o)
    add_custom_command(
      OUTPUT ${object}
      COMMAND ${CMAKE_LINKER} -r --force-group-allocation -o ${object} $<TARGET_OBJECTS:${name}_emulated>
      COMMAND ${CMAKE_OBJCOPY} --keep-global-symbol=${function} ${object}
      DEPENDS $<TARGET_OBJECTS:${name}_emulated>
      VERBATIM)
    add_custom_target(${name}_object DEPENDS ${object})
    add_dependencies(${name}_object ${name}_emulated)  # make does not follow an object into another target
    add_library(${name}_emulated_apart OBJECT IMPORTED GLOBAL)
    set_target_properties(${name}_emulated_apart PROPERTIES IMPORTED_OBJECTS ${object})
    add_dependencies(${name}_emulated_apart ${name}_object)
    target_link_libraries(${name} PRIVATE ${name}_emulated_apart harness)
  else()
    # The host compiler reads main.cu beside the rewritten kernel.
    add_step_executable(${name} ${rewritten_folder}/main.cu)
    compile_kernels(${name})
    add_dependencies(${name} ${name}_rewritten)
    add_library(${name}_emulated_apart ALIAS ${name}_emulated)
    target_link_libraries(${name} PRIVATE ${name}_emulated_apart)
  endif()
endfunction()

# The same for a step that runs on CUDA devices only: a build without CUDA has an executable that says so.
function(add_cuda_step folder)
  cmake_path(GET folder FILENAME name)
  cmake_path(ABSOLUTE_PATH folder)
  add_step_executable(${name} ${folder}/main.cu)
  target_link_libraries(${name} PRIVATE harness)
endfunction()

# add_solution(FOLDER) makes solution_NAME of the step in FOLDER: its main with the kernel in which the exercise of the
# step's page is done, as the page's diff says. It runs on the CPU and on the emulated device only.
function(add_solution folder)
  cmake_path(GET folder FILENAME name)
  set(solution ${PROJECT_BINARY_DIR}/docs/solutions/${name})
  make_solution(${folder} ${solution})
  set(main ${PROJECT_BINARY_DIR}/solutions/${name}.cpp)  # elsewhere: a kernel beside it would be found first
  if(EXISTS ${solution}/kernel.hpp)
    configure_file(${folder}/main.cpp ${main} COPYONLY)
    add_executable(solution_${name} ${main})
    target_include_directories(solution_${name} PRIVATE ${solution})
    target_link_libraries(solution_${name} PRIVATE host_harness)
    return()
  endif()
  configure_file(${folder}/main.cu ${main} COPYONLY)
  rewrite_kernels(solution_${name}_rewritten ${solution}/kernel.cuh)
  rewritten_path(${solution} rewritten_folder)
  add_executable(solution_${name} ${main} ${PROJECT_SOURCE_DIR}/common/harness/emulated_step.cpp)
  target_include_directories(solution_${name} PRIVATE ${rewritten_folder})
  compile_kernels(solution_${name})
  target_link_libraries(solution_${name} PRIVATE harness)
  add_dependencies(solution_${name} solution_${name}_rewritten)
endfunction()

# Writes into the folder SOLUTION what the diff in README.md makes of the kernel in FOLDER.
function(make_solution folder solution)
  file(GLOB kernel ${folder}/kernel.*)
  cmake_path(GET kernel FILENAME name)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${kernel} ${folder}/README.md)
  file(READ ${folder}/README.md page)
  string(REGEX REPLACE ".*<!-- solution:begin -->\n```diff\n(.*)```\n<!-- solution:end -->.*" "\\1" diff "${page}")
  # Both lines of its head name the file that is changed.
  string(REGEX REPLACE "(---|\\+\\+\\+) [^\n]*/kernel" "\\1 x/kernel" diff "${diff}")
  file(COPY ${kernel} DESTINATION ${solution}/made)
  file(WRITE ${solution}/made/diff "${diff}")
  find_program(REDUCTION_GIT git REQUIRED)
  execute_process(COMMAND ${REDUCTION_GIT} apply diff WORKING_DIRECTORY ${solution}/made COMMAND_ERROR_IS_FATAL ANY)
  file(COPY_FILE ${solution}/made/${name} ${solution}/${name} ONLY_IF_DIFFERENT)
endfunction()

function(add_step_executable name main)
  add_executable(${name} ${main})
  if(NOT REDUCTION_CUDA_ENABLED)
    set_source_files_properties(${main} PROPERTIES LANGUAGE CXX)
    target_compile_options(${name} PRIVATE -Wno-unknown-pragmas)
  endif()
endfunction()

# announced_programs(TARGET PROGRAM...) makes TARGET, which builds the programs and says `ready: PROGRAM` of each as soon
# as it is up to date (common/scripts/set_up.sh).
function(announced_programs target)
  add_custom_target(${target})
  foreach(program IN LISTS ARGN)
    add_custom_target(${program}_ready COMMAND ${CMAKE_COMMAND} -E true COMMENT "ready: ${program}")
    add_dependencies(${program}_ready ${program})
    add_dependencies(${target} ${program}_ready)
  endforeach()
endfunction()
