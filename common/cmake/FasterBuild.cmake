# A first build spends most of its time in the harness: reading the headers of three libraries, once a file, and
# optimising what they make of a command line and of a JSON file. Here files are compiled together (a unity build), and
# only those that handle every element are optimised as the build type says. A file that is not named is compiled by
# itself.
#
# REDUCTION_FASTER_BUILD=OFF compiles every file by itself, so that none relies on what another one includes.

option(REDUCTION_FASTER_BUILD "Compile files of the harness together, and optimise its text less" ON)
if(NOT REDUCTION_FASTER_BUILD)
  return()
endif()

# compile_together(GROUP NAME...) is for files NAME.cpp of the harness that do not use one name for two things.
function(compile_together group)
  list(TRANSFORM ARGN REPLACE ".+" "${PROJECT_SOURCE_DIR}/common/harness/\\0.cpp")
  set_source_files_properties(${ARGN} TARGET_DIRECTORY harness PROPERTIES UNITY_GROUP ${group})
endfunction()

set_target_properties(harness PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
compile_together(command_line options text_options)
compile_together(runs measure run_configurations run_cpu_step step report json_report)
compile_together(basics configuration cuda_device_absent device_selection emulated_device exit_code host_memory
                 interruption passes sampling statistics units value verification)

foreach(target IN ITEMS harness ladder_table)
  target_compile_options(${target} PRIVATE "$<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CONFIG:Release>>:-O1>")
endforeach()
set_source_files_properties(
  ${PROJECT_SOURCE_DIR}/common/harness/host_fill.cpp ${PROJECT_SOURCE_DIR}/common/harness/reference.cpp
  TARGET_DIRECTORY harness PROPERTIES COMPILE_OPTIONS "$<$<CONFIG:Release>:-O3>")
