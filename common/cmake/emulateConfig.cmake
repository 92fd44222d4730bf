# add_emulated_executable(NAME SOURCE... [OPTIONS OPTION...]) makes a program that runs without a GPU, of the sources that nvcc
# makes another one of. OPTIONS are those of the command `emulate`, which takes nvcc's: -I include -DN=3. Whatever a source
# includes makes it anew. The program says what its kernels did, and ends with exit code 1 where there is a finding.
cmake_path(GET CMAKE_CURRENT_LIST_DIR PARENT_PATH share_cmake)
find_program(EMULATE emulate HINTS ${share_cmake}/../../bin REQUIRED)

function(add_emulated_executable name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" OPTIONS)
  set(program ${CMAKE_CURRENT_BINARY_DIR}/${name}.emulated)
  add_custom_command(
    OUTPUT ${program}
    COMMAND ${EMULATE} ${arg_UNPARSED_ARGUMENTS} ${arg_OPTIONS} -o ${program} -MF ${program}.d
    DEPENDS ${arg_UNPARSED_ARGUMENTS} ${EMULATE}
    DEPFILE ${program}.d
    WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}
    COMMENT "Building ${name} for the emulated device"
    VERBATIM)
  add_custom_target(${name}_built ALL DEPENDS ${program})
  add_executable(${name} IMPORTED GLOBAL)
  set_target_properties(${name} PROPERTIES IMPORTED_LOCATION ${program})
  add_dependencies(${name} ${name}_built)
endfunction()
