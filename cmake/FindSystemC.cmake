# SPDX-License-Identifier: Apache-2.0
# The SystemC library as SystemC::systemc. Debian's package has no CMake files; an installation of Accellera's
# build has some (SystemCLanguage), which are taken where they are. SYSTEMC_HOME names others.
include(FindPackageHandleStandardArgs)
if(NOT TARGET SystemC::systemc)
  find_package(SystemCLanguage CONFIG QUIET)
endif()
if(TARGET SystemC::systemc)
  set(SystemC_FOUND TRUE)
  return()
endif()

find_path(SYSTEMC_INCLUDE_DIR systemc HINTS ENV SYSTEMC_HOME PATH_SUFFIXES include)
find_library(SYSTEMC_LIBRARY systemc HINTS ENV SYSTEMC_HOME PATH_SUFFIXES lib lib64 lib-linux64)
find_package_handle_standard_args(SystemC REQUIRED_VARS SYSTEMC_LIBRARY SYSTEMC_INCLUDE_DIR)
if(SystemC_FOUND)
  # Who includes its headers must say for which C++ the library was built: its symbols tell.
  file(STRINGS ${SYSTEMC_LIBRARY} api REGEX "sc_api_version_[0-9_]+_cxx[0-9]+L" LIMIT_COUNT 1)
  string(REGEX REPLACE ".*_cxx([0-9]+L).*" "\\1" cplusplus "${api}")
  add_library(SystemC::systemc INTERFACE IMPORTED GLOBAL)
  target_include_directories(SystemC::systemc SYSTEM INTERFACE ${SYSTEMC_INCLUDE_DIR})
  target_link_libraries(SystemC::systemc INTERFACE ${SYSTEMC_LIBRARY})
  if(cplusplus)
    target_compile_definitions(SystemC::systemc INTERFACE SC_CPLUSPLUS=${cplusplus})
  endif()
endif()
