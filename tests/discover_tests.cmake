# What CTest reads of a GoogleTest program: its tests, or, as long as it is not built or older than its source, those that
# the source names. So run_tests.sh knows which programs the tests take that it is to run, and builds these.

if(EXISTS ${program} AND NOT ${source} IS_NEWER_THAN ${program})
  foreach(file IN LISTS discovered)
    include("${file}")
  endforeach()
  return()
endif()

file(STRINGS ${source} lines REGEX "^(TYPED_)?TEST(_F|_P)?\\(")
foreach(line IN LISTS lines)
  if(line MATCHES "^[A-Z_]+\\(([A-Za-z0-9_]+), ([A-Za-z0-9_]+)\\)")
    set(name ${prefix}${CMAKE_MATCH_1}.${CMAKE_MATCH_2})
    add_test(${name} ${program})
    set_tests_properties(${name} PROPERTIES LABELS "${labels}" REQUIRED_FILES ${program})
  endif()
endforeach()
