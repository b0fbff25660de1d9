# SPDX-License-Identifier: Apache-2.0
# cmake --install: the command, the libraries with their headers, and the files that find_package(warpfold)
# reads. Included by the top folder after all targets are there.
#
# Two components, each a Debian package: what is for programs around the libraries is `development`.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)
set(WARPFOLD_DATA_DIR ${CMAKE_INSTALL_DATADIR}/warpfold)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/warpfold)

# What is for others. The rest of the libraries comes with them, wherever it is defined.
set(public_libraries warpfold_trace warpfold_unit warpfold_unit_library warpfold_lockstep warpfold_model
    warpfold_systemc_face warpfold_systemc_gpu)
set_target_properties(warpfold_systemc PROPERTIES EXPORT_NAME systemc_library)
set_target_properties(warpfold_systemc_face PROPERTIES EXPORT_NAME systemc)

# warpfold_with_links(RESULT TARGET...): these and all libraries of ours that they link.
function(warpfold_with_links result)
  set(found)
  while(ARGN)
    list(POP_FRONT ARGN target)
    if(NOT target IN_LIST found)
      list(APPEND found ${target})
      foreach(property IN ITEMS LINK_LIBRARIES INTERFACE_LINK_LIBRARIES)
        get_target_property(links ${target} ${property})
        list(FILTER links INCLUDE REGEX "^warpfold_")
        list(APPEND ARGN ${links})
      endforeach()
    endif()
  endwhile()
  set(${result} ${found} PARENT_SCOPE)
endfunction()

warpfold_with_links(libraries ${public_libraries})
foreach(library IN LISTS libraries)
  get_target_property(name ${library} EXPORT_NAME)
  if(NOT name)
    string(REGEX REPLACE "^warpfold_" "" name ${library})
    set_target_properties(${library} PROPERTIES EXPORT_NAME ${name})
  endif()
  # Inside the repository they go by the same names.
  add_library(warpfold::${name} ALIAS ${library})
endforeach()

install(TARGETS ${libraries} EXPORT warpfoldTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
install(EXPORT warpfoldTargets NAMESPACE warpfold:: DESTINATION ${package_dir} COMPONENT development)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/warpfoldConfig.cmake.in
  ${PROJECT_BINARY_DIR}/warpfoldConfig.cmake
  INSTALL_DESTINATION ${package_dir} PATH_VARS WARPFOLD_DATA_DIR)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/warpfoldConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/warpfoldConfig.cmake ${PROJECT_BINARY_DIR}/warpfoldConfigVersion.cmake
              ${CMAKE_CURRENT_LIST_DIR}/FindSystemC.cmake ${CMAKE_CURRENT_LIST_DIR}/FindZstd.cmake
        DESTINATION ${package_dir} COMPONENT development)

# The same libraries for pkg-config, in any order, from any place.
set(pc_libraries)
foreach(library IN LISTS libraries)
  get_target_property(type ${library} TYPE)
  if(type STREQUAL STATIC_LIBRARY)
    string(APPEND pc_libraries " -l${library}")
  endif()
endforeach()
get_target_property(definitions SystemC::systemc INTERFACE_COMPILE_DEFINITIONS)
set(pc_definitions)
if(definitions)
  list(JOIN definitions " -D" pc_definitions)
  set(pc_definitions " -D${pc_definitions}")
endif()
file(RELATIVE_PATH pc_to_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" pc_to_prefix ${pc_to_prefix})
configure_file(${CMAKE_CURRENT_LIST_DIR}/warpfold.pc.in ${PROJECT_BINARY_DIR}/warpfold.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/warpfold.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)

# The tree of headers as it is here, so that they include each other as they do here.
install(DIRECTORY model DESTINATION ${WARPFOLD_INCLUDE_DIR} COMPONENT development FILES_MATCHING PATTERN "*.hpp"
        PATTERN cli EXCLUDE PATTERN report EXCLUDE
        # These need the headers of Verilator.
        PATTERN verilated_unit.hpp EXCLUDE PATTERN rtl_coverage.hpp EXCLUDE)
install(DIRECTORY traces/format DESTINATION ${WARPFOLD_INCLUDE_DIR}/traces COMPONENT development FILES_MATCHING PATTERN "*.hpp")

install(TARGETS warpfold RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY model/gpus DESTINATION ${WARPFOLD_DATA_DIR} FILES_MATCHING PATTERN "*.toml" PATTERN "*.json")
install(DIRECTORY rtl synth DESTINATION ${WARPFOLD_DATA_DIR} PATTERN doc EXCLUDE PATTERN "*.md" EXCLUDE)
# What the tools read, laid out as here (python/warpfold/tools/base/places.py).
install(DIRECTORY traces/data traces/calibrate DESTINATION ${WARPFOLD_DATA_DIR}/traces PATTERN "*.md" EXCLUDE)
install(DIRECTORY docs/numbers DESTINATION ${WARPFOLD_DATA_DIR}/docs FILES_MATCHING PATTERN "*.json")
install(FILES docs/yardstick.csv DESTINATION ${WARPFOLD_DATA_DIR}/docs)
install(FILES model/types.hpp DESTINATION ${WARPFOLD_DATA_DIR}/model)
install(DIRECTORY model/base model/unit DESTINATION ${WARPFOLD_DATA_DIR}/model FILES_MATCHING PATTERN "*.hpp")
install(TARGETS warpfold_red_trace RUNTIME DESTINATION lib/warpfold)
# Written by the command when it was built. Debian's zsh looks elsewhere than one's own under /usr/local.
set(WARPFOLD_PAGES ${PROJECT_BINARY_DIR}/pages)
install(DIRECTORY ${WARPFOLD_PAGES}/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 FILES_MATCHING PATTERN "*.1")
install(FILES ${WARPFOLD_PAGES}/warpfold.bash RENAME warpfold OPTIONAL
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(CODE "
  set(folder site-functions)
  if(CMAKE_INSTALL_PREFIX STREQUAL /usr)
    set(folder vendor-completions)
  endif()
  file(INSTALL ${WARPFOLD_PAGES}/_warpfold OPTIONAL
       DESTINATION \${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATADIR}/zsh/\${folder})" COMPONENT runtime)
install(FILES LICENSE CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
