find_package(GTest REQUIRED)
find_package(fmt REQUIRED)
include(GoogleTest)

# How tests are compiled: unit tests, which take two thirds of the time unoptimised, tests with kernels for the emulated
# device, and tests for nvcc. Headers are read once for all tests of the first two kinds, most of which compile in half of
# the time then. A test that misses one of its own fails in the preset `sanitize`, which reads them for each.
file(CONFIGURE OUTPUT empty.cpp CONTENT "")
foreach(kind IN ITEMS unit_test kernel_test cuda_test)
  add_library(${kind} INTERFACE)
  target_link_libraries(${kind} INTERFACE harness GTest::gtest_main fmt::fmt)
endforeach()
target_compile_options(unit_test INTERFACE $<$<CONFIG:Release>:-O0>)
target_compile_options(kernel_test INTERFACE -g1)  # without variables, which take a third of the time, but for trace_test
target_include_directories(unit_test INTERFACE ${CMAKE_CURRENT_SOURCE_DIR})
target_include_directories(kernel_test INTERFACE ${REDUCTION_EMULATED_FOLDER} ${CMAKE_CURRENT_SOURCE_DIR})
foreach(kind IN ITEMS unit_test kernel_test)
  add_library(${kind}_headers OBJECT ${CMAKE_CURRENT_BINARY_DIR}/empty.cpp)
  target_precompile_headers(${kind}_headers PRIVATE <fmt/format.h> <gtest/gtest.h> <algorithm> <filesystem> <fstream>
                            <sstream> <string> <vector>)
endforeach()
compile_kernels(kernel_test_headers)
target_link_libraries(unit_test_headers PRIVATE unit_test)
target_link_libraries(kernel_test_headers PRIVATE kernel_test)

# discover_tests(NAME SOURCE LABELS PREFIX LARGE) makes a CTest test of each of a program's tests. Those that the filter
# LARGE names take gigabytes of a GPU's memory: one of them runs at a time.
function(discover_tests name source labels prefix large)
  get_property(of_others DIRECTORY PROPERTY TEST_INCLUDE_FILES)
  set_property(DIRECTORY PROPERTY TEST_INCLUDE_FILES "")
  gtest_discover_tests(${name} TEST_PREFIX "${prefix}" TEST_FILTER "-${large}" DISCOVERY_TIMEOUT 60
                       PROPERTIES LABELS "${labels}")
  if(large)
    gtest_discover_tests(${name} TEST_FILTER "${large}" DISCOVERY_TIMEOUT 60
                         PROPERTIES LABELS "${labels}" RESOURCE_LOCK gpu_memory)
  endif()
  get_property(discovered DIRECTORY PROPERTY TEST_INCLUDE_FILES)
  cmake_path(ABSOLUTE_PATH source)
  set(file ${CMAKE_CURRENT_BINARY_DIR}/${name}.cmake)
  file(WRITE ${file} "set(program ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/${name})\nset(source ${source})\n"
       "set(labels ${labels})\nset(prefix ${prefix})\nset(discovered \"${discovered}\")\n"
       "include(${CMAKE_CURRENT_FUNCTION_LIST_DIR}/discover_tests.cmake)\n")
  set_property(DIRECTORY PROPERTY TEST_INCLUDE_FILES ${of_others} ${file})
endfunction()

# add_unit_test(NAME [SOURCE...] [TESTS SOURCE] [LABELS LABEL] [PREFIX PREFIX] [LARGE FILTER] [LINKS LIBRARY...]
# [FOLDERS FOLDER...] [DEFINITIONS DEFINITION...] [PROGRAMS PROGRAM...]) makes a GoogleTest executable, of NAME.cpp if no
# source is named, and a CTest test of each of its tests, which are in its first source or in TESTS. PROGRAMS are what they
# run.
#
# add_kernel_test is the same for a source with kernels for the emulated device; if KERNELS are named, these have them.
# add_cuda_test is the same for a source that nvcc compiles.
function(add_unit_test name)
  add_test_of_kind(unit_test ${name} cpp "" ${ARGN})
endfunction()
function(add_kernel_test name)
  add_test_of_kind(kernel_test ${name} cpp once ${ARGN})
endfunction()
function(add_cuda_test name)
  add_test_of_kind(cuda_test ${name} cu gpu ${ARGN})
endfunction()
function(add_test_of_kind kind name extension labels)
  cmake_parse_arguments(PARSE_ARGV 4 test "" "TESTS;LABELS;PREFIX;LARGE" "KERNELS;LINKS;FOLDERS;DEFINITIONS;PROGRAMS")
  set(sources ${test_UNPARSED_ARGUMENTS})
  if(NOT sources)
    set(sources ${name}.${extension})
  endif()
  list(GET sources 0 source)
  if(kind STREQUAL kernel_test)
    if(NOT test_KERNELS)
      set(test_KERNELS ${source})
      rewritten_path(${source} sources)
      set_source_files_properties(${sources} PROPERTIES LANGUAGE CXX)  # of a .cu file, too
    endif()
    rewrite_kernels(${name}_rewritten ${test_KERNELS})
    list(APPEND test_PROGRAMS ${name}_rewritten)
  endif()
  add_executable(${name} ${sources})
  if(kind STREQUAL kernel_test)
    compile_kernels(${name})
  endif()
  if(NOT kind STREQUAL cuda_test)
    target_precompile_headers(${name} REUSE_FROM ${kind}_headers)
  endif()
  target_include_directories(${name} PRIVATE ${test_FOLDERS})
  target_compile_definitions(${name} PRIVATE ${test_DEFINITIONS})
  target_link_libraries(${name} PRIVATE ${kind} ${test_LINKS})
  if(test_PROGRAMS)
    add_dependencies(${name} ${test_PROGRAMS})
  endif()
  if(test_LABELS)
    set(labels ${test_LABELS})
  endif()
  if(test_TESTS)
    set(source ${test_TESTS})
  endif()
  discover_tests(${name} ${source} "${labels}" "${test_PREFIX}" "${test_LARGE}")
endfunction()

# Python is looked for when a test runs, so that what is installed later is found. Debian's packages belong to
# /usr/bin/python3, whichever is first on PATH.
set(run_python [[
for python in /usr/bin/python3 python3; do
  if "$python" -c "import sys, $1; sys.exit(sys.version_info < (3, 11))" 2>/dev/null; then exec "$python" -m "$@"; fi
done
echo "skipped: there is no Python 3.11 with $1"
exit 77
]])
function(add_python_test name)
  cmake_parse_arguments(PARSE_ARGV 1 test "" "" "NEEDS;PROPERTIES")
  add_test(NAME ${name} COMMAND sh -c "${run_python}" sh ${test_UNPARSED_ARGUMENTS}
           WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  list(TRANSFORM test_NEEDS PREPEND ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/)
  set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77 LABELS once REQUIRED_FILES "${test_NEEDS}" ${test_PROPERTIES})
  if(REDUCTION_SANITIZE STREQUAL "ADDRESS")
    set_tests_properties(${name} PROPERTIES ENVIRONMENT
                         LSAN_OPTIONS=suppressions=${CMAKE_CURRENT_SOURCE_DIR}/leaks_of_libraries.txt)
  endif()
endfunction()

# add_pytest(NAME [FILE] [OPTION...] [LONG EXPRESSION] [NEEDS PROGRAM...] [PROPERTIES PROPERTY VALUE...]) makes one CTest test
# of the tests of NAME_test.py or of FILE, or of one of them, FILE::test. Those that pytest selects by the EXPRESSION become
# another one, NAME_long, with the label `long`. A test is skipped, visibly, where they all are; each says what it needs. A
# file that asks for the folder of the programs or of the build needs all, if none are named; run_tests.sh builds them.
function(add_pytest name)
  cmake_parse_arguments(PARSE_ARGV 1 test "" "LONG" "NEEDS;PROPERTIES")
  set(tests ${test_UNPARSED_ARGUMENTS})
  if(NOT tests MATCHES "^[a-z_/]+\\.py")
    list(PREPEND tests ${name}_test.py)
  endif()
  string(REGEX MATCH "^[a-z_/]+\\.py" file "${tests}")
  file(STRINGS ${file} asking REGEX "(bin|build)_folder: Path" LIMIT_COUNT 1)
  if(asking AND NOT test_NEEDS)
    set(test_NEEDS ${all_programs})
  endif()
  set(pytest pytest -q -rs -p no:cacheprovider tests/${tests} --bin ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
  if(test_LONG)
    add_python_test(${name} ${pytest} -k "not (${test_LONG})" NEEDS ${test_NEEDS} PROPERTIES ${test_PROPERTIES})
    add_python_test(${name}_long ${pytest} -k "${test_LONG}" NEEDS ${test_NEEDS} PROPERTIES ${test_PROPERTIES} LABELS long)
  else()
    add_python_test(${name} ${pytest} NEEDS ${test_NEEDS} PROPERTIES ${test_PROPERTIES})
  endif()
endfunction()
