# Looks for NCCL: NCCL_FOUND, and then NCCL_INCLUDE_DIR and NCCL_LIBRARY. A line says which it is, or what to do.
#
# Where NCCL_HOME (or NCCL_ROOT) says, it is there and nowhere else. Without them, pkg-config is asked first, then come
# the CUDA toolkit and the folders of the system.

set(oldest_nccl 2.13)  # the first with ncclGetLastError
set(NCCL_HOME "$ENV{NCCL_HOME}" CACHE PATH "NCCL's folder, which has include and lib in it; empty: it is looked for")
set(NCCL_ROOT "$ENV{NCCL_ROOT}" CACHE PATH "The same, where there is no NCCL_HOME")

set(given NCCL_HOME)
if(NOT NCCL_HOME)
  set(given NCCL_ROOT)
endif()
if(${given})
  find_path(NCCL_INCLUDE_DIR nccl.h PATHS ${${given}} PATH_SUFFIXES include NO_DEFAULT_PATH NO_CACHE)
  find_library(NCCL_LIBRARY NAMES nccl libnccl.so.2 PATHS ${${given}}
               PATH_SUFFIXES lib lib64 lib/${CMAKE_LIBRARY_ARCHITECTURE} NO_DEFAULT_PATH NO_CACHE)
  if(NOT NCCL_INCLUDE_DIR OR NOT NCCL_LIBRARY)
    message(FATAL_ERROR "${given} is '${${given}}', but there are no include/nccl.h and lib/libnccl.so in it")
  endif()
else()
  find_package(PkgConfig QUIET)
  if(PkgConfig_FOUND)
    pkg_check_modules(NCCL_PACKAGE QUIET nccl)
  endif()
  find_path(NCCL_INCLUDE_DIR nccl.h HINTS ${NCCL_PACKAGE_INCLUDEDIR} ${CMAKE_CUDA_TOOLKIT_INCLUDE_DIRECTORIES}
            NO_CACHE)
  find_library(NCCL_LIBRARY NAMES nccl libnccl.so.2
               HINTS ${NCCL_PACKAGE_LIBDIR} ${CMAKE_CUDA_IMPLICIT_LINK_DIRECTORIES} NO_CACHE)
endif()

set(NCCL_FOUND OFF)
if(NOT NCCL_INCLUDE_DIR OR NOT NCCL_LIBRARY)
  message(STATUS "13_many_gpus without NCCL: there is no NCCL; where it is elsewhere, set NCCL_HOME to its folder")
else()
  file(STRINGS ${NCCL_INCLUDE_DIR}/nccl.h nccl_version REGEX "^#define NCCL_(MAJOR|MINOR|PATCH) +[0-9]+")
  list(TRANSFORM nccl_version REPLACE "[^0-9]+([0-9]+).*" "\\1")
  list(JOIN nccl_version . nccl_version)
  if(nccl_version VERSION_LESS oldest_nccl)
    message(STATUS "13_many_gpus without NCCL: NCCL ${nccl_version} (${NCCL_LIBRARY}) is older than ${oldest_nccl}; "
                   "set NCCL_HOME to the folder of a newer one")
  else()
    set(NCCL_FOUND ON)
    message(STATUS "13_many_gpus with NCCL ${nccl_version} (${NCCL_LIBRARY})")
  endif()
endif()
