# Each test that takes 16 GiB of a GPU's memory takes turns with the others: beside each other they need more than a GPU
# has, and would skip or fail.
#   cmake -DCTEST=PROGRAM -DBUILD=FOLDER -P gpu_memory_turns_test.cmake
execute_process(COMMAND ${CTEST} --test-dir ${BUILD} --show-only=json-v1 -R NeedsMoreThan32BitsForAnIndex
                OUTPUT_VARIABLE listed COMMAND_ERROR_IS_FATAL ANY)
string(JSON count LENGTH "${listed}" tests)
if(count EQUAL 0)
  message(FATAL_ERROR "there is none: is gpu_test built?")
endif()
math(EXPR last "${count} - 1")
foreach(k RANGE ${last})
  string(JSON name GET "${listed}" tests ${k} name)
  string(JSON properties GET "${listed}" tests ${k} properties)
  if(NOT properties MATCHES "\"RESOURCE_LOCK\"[^}]*\"gpu_memory\"|\"gpu_memory\"[^}]*\"RESOURCE_LOCK\"")
    message(SEND_ERROR "${name} does not take turns")
  endif()
endforeach()
