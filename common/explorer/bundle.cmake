# Puts the page together: cmake -DFOLDER=common/explorer -DCODE=x.hpp -P bundle.cmake, or -DPAGE=x.html for the page
# with @explorer_traces@ in the place of the traces. A script inside a page cannot import from file://, so the modules
# become one: each import stands on a line of its own, and no two modules share a name.

set(modules trace.js svg.js words.js views.js explorer.js)

set(script "")
foreach(module IN LISTS modules)
  file(READ "${FOLDER}/${module}" text)
  string(REGEX REPLACE "(^|\n)import [^\n]*;" "\\1" text "${text}")
  string(REGEX REPLACE "(^|\n)export " "\\1" text "${text}")
  # A page has a copy of this each time: without indentation and comments it is a sixth smaller.
  string(REGEX REPLACE "\n +" "\n" text "${text}")
  string(REGEX REPLACE "\n(// [^\n]*|/[*][*]?( [^\n]*)?|[*] [^\n]*|[*]/)" "" text "${text}")
  string(APPEND script "${text}")
endforeach()
file(READ "${FOLDER}/explorer.css" style)
file(READ "${FOLDER}/page.html" page)
string(REPLACE "@explorer_style@" "${style}" page "${page}")
string(REPLACE "@explorer_script@" "${script}" page "${page}")
if(PAGE)
  file(WRITE "${PAGE}" "${page}")
endif()
if(NOT CODE)
  return()
endif()
string(FIND "${page}" "@explorer_traces@" place)
string(SUBSTRING "${page}" 0 ${place} before)
string(LENGTH "@explorer_traces@" length)
math(EXPR place "${place} + ${length}")
string(SUBSTRING "${page}" ${place} -1 after)

# Bytes, because a string literal has a limit and a delimiter.
set(code "// Written by common/explorer/bundle.cmake.\nnamespace reduction {\n")
foreach(part IN ITEMS before after)
  file(WRITE "${CODE}.${part}" "${${part}}")
  file(READ "${CODE}.${part}" bytes HEX)
  string(REGEX REPLACE "(................................................................)" "\\1\n" bytes "${bytes}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  string(APPEND code "constexpr unsigned char page_${part}_traces[] = {\n${bytes}};\n")
endforeach()
string(APPEND code "}  // namespace reduction\n")
file(WRITE "${CODE}" "${code}")
