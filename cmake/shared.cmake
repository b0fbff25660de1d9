# SPDX-License-Identifier: Apache-2.0
# BUILD_SHARED_LIBS: one shared library, libwarpfold, of all static ones. It exports the namespace warpfold; what else is in
# it, of Verilator or of the FST library, is seen by nobody. The SystemC library that it needs asks for an sc_main(): it has
# one, behind that of the program. Included by install.cmake.
set(symbols ${PROJECT_BINARY_DIR}/warpfold.symbols)
file(WRITE ${symbols} [[
{
  global:
    sc_main;
    extern "C++" {
      warpfold::*;
      typeinfo?for?warpfold::*;
      typeinfo?name?for?warpfold::*;
      vtable?for?warpfold::*;
      VTT?for?warpfold::*;
      non-virtual?thunk?to?warpfold::*;
      virtual?thunk?to?warpfold::*;
    };
  local:
    *;
};
]])
set(archives)
foreach(library IN LISTS libraries)
  get_target_property(type ${library} TYPE)
  if(type STREQUAL STATIC_LIBRARY)
    list(APPEND archives ${library})
  endif()
endforeach()
file(WRITE ${PROJECT_BINARY_DIR}/shared.cpp "// All that it has comes from the archives.\n")
add_library(warpfold_shared SHARED ${PROJECT_BINARY_DIR}/shared.cpp)
set_target_properties(warpfold_shared PROPERTIES OUTPUT_NAME warpfold VERSION ${PROJECT_VERSION} EXPORT_NAME shared
                      SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR} LINK_DEPENDS ${symbols})
target_link_libraries(warpfold_shared PRIVATE -Wl,--whole-archive ${archives} -Wl,--no-whole-archive)
target_link_options(warpfold_shared PRIVATE -Wl,--version-script=${symbols})
install(TARGETS warpfold_shared EXPORT warpfoldTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)

# The same names for others, in front of it.
set(seen)
foreach(library IN LISTS public_libraries)
  get_target_property(name ${library} EXPORT_NAME)
  add_library(warpfold_seen_${name} INTERFACE)
  set_target_properties(warpfold_seen_${name} PROPERTIES EXPORT_NAME ${name})
  target_link_libraries(warpfold_seen_${name} INTERFACE warpfold_shared warpfold_headers)
  if(name MATCHES "^systemc")
    target_link_libraries(warpfold_seen_${name} INTERFACE warpfold_systemc)
  else()
    target_compile_features(warpfold_seen_${name} INTERFACE cxx_std_20)
  endif()
  list(APPEND seen warpfold_seen_${name})
endforeach()
install(TARGETS ${seen} warpfold_headers warpfold_systemc EXPORT warpfoldTargets COMPONENT development)
