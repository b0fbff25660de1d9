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
    warpfold_systemc_face warpfold_systemc_gpu warpfold_no_sc_main)
set_target_properties(warpfold_systemc PROPERTIES EXPORT_NAME systemc_library)
set_target_properties(warpfold_systemc_face PROPERTIES EXPORT_NAME systemc)

# warpfold_with_links(LIBRARIES PACKAGES TARGET...): these and all libraries of ours that they link, and the packages whose
# libraries they do.
function(warpfold_with_links libraries packages)
  set(found)
  set(needed)
  while(ARGN)
    list(POP_FRONT ARGN target)
    if(NOT target IN_LIST found)
      list(APPEND found ${target})
      foreach(property IN ITEMS LINK_LIBRARIES INTERFACE_LINK_LIBRARIES)
        get_target_property(links ${target} ${property})
        foreach(link IN LISTS links)
          if(link MATCHES "^(\\$<LINK_ONLY:)?(warpfold_[a-z0-9_]+)")
            list(APPEND ARGN ${CMAKE_MATCH_2})
          elseif(link MATCHES "^(\\$<LINK_ONLY:)?([A-Za-z_]+)::")
            list(APPEND needed ${CMAKE_MATCH_2})
          endif()
        endforeach()
      endforeach()
    endif()
  endwhile()
  list(REMOVE_DUPLICATES needed)
  list(SORT needed)
  set(${libraries} ${found} PARENT_SCOPE)
  set(${packages} ${needed} PARENT_SCOPE)
endfunction()

warpfold_with_links(libraries packages ${public_libraries})
foreach(library IN LISTS libraries)
  get_target_property(name ${library} EXPORT_NAME)
  if(NOT name)
    string(REGEX REPLACE "^warpfold_" "" name ${library})
    set_target_properties(${library} PROPERTIES EXPORT_NAME ${name})
  endif()
  # Inside the repository they go by the same names.
  add_library(warpfold::${name} ALIAS ${library})
endforeach()

set(WARPFOLD_COMPONENTS)
set(WARPFOLD_NEEDS)
foreach(library IN LISTS public_libraries)
  get_target_property(name ${library} EXPORT_NAME)
  list(APPEND WARPFOLD_COMPONENTS ${name})
  warpfold_with_links(ignored packages ${library})
  if(BUILD_SHARED_LIBS)
    list(FILTER packages INCLUDE REGEX "^SystemC$")
    if(NOT name MATCHES "^systemc")
      set(packages)
    endif()
  endif()
  list(JOIN packages " " packages)
  string(APPEND WARPFOLD_NEEDS "set(warpfold_needs_${name} ${packages})\n")
endforeach()
list(JOIN WARPFOLD_COMPONENTS " " WARPFOLD_COMPONENTS)

if(BUILD_SHARED_LIBS)
  include(${CMAKE_CURRENT_LIST_DIR}/shared.cmake)
else()
  install(TARGETS ${libraries} EXPORT warpfoldTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
  # What Verilator and the FST library define gets names that are ours: a program may have another version of them.
  set(foreign_archives)
  foreach(library IN LISTS libraries)
    if(library MATCHES "^warpfold_(verilat|fst)")
      list(APPEND foreign_archives lib${library}.a)
    endif()
  endforeach()
  install(CODE "
    set(lib \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}\")
    set(foreign ${foreign_archives})
    set(nm ${CMAKE_NM})
    set(objcopy ${CMAKE_OBJCOPY})
    include(${CMAKE_CURRENT_LIST_DIR}/own_names.cmake)" COMPONENT development)
endif()
install(EXPORT warpfoldTargets NAMESPACE warpfold:: DESTINATION ${package_dir} COMPONENT development)
# In the scope of this folder, too: Accellera's target is one of the folder that has found it.
find_package(SystemC REQUIRED)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/warpfoldConfig.cmake.in
  ${PROJECT_BINARY_DIR}/warpfoldConfig.cmake
  INSTALL_DESTINATION ${package_dir} PATH_VARS WARPFOLD_DATA_DIR)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/warpfoldConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/warpfoldConfig.cmake ${PROJECT_BINARY_DIR}/warpfoldConfigVersion.cmake
              ${CMAKE_CURRENT_LIST_DIR}/FindSystemC.cmake ${CMAKE_CURRENT_LIST_DIR}/FindZstd.cmake
        DESTINATION ${package_dir} COMPONENT development)

# The same libraries for pkg-config, in any order, from any place: all for C++20, and those for C++17.
get_target_property(definitions SystemC::systemc INTERFACE_COMPILE_DEFINITIONS)
set(pc_definitions)
if(definitions)
  list(JOIN definitions " -D" pc_definitions)
  set(pc_definitions " -D${pc_definitions}")
endif()
file(RELATIVE_PATH pc_to_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" pc_to_prefix ${pc_to_prefix})
set(pc_packages fmt libzstd tomlplusplus zlib)
set(pc_libraries)
if(BUILD_SHARED_LIBS)
  set(pc_packages)
  set(pc_libraries " -lwarpfold")
else()
  foreach(library IN LISTS libraries)
    get_target_property(type ${library} TYPE)
    if(type STREQUAL STATIC_LIBRARY)
      string(APPEND pc_libraries " -l${library}")
    endif()
  endforeach()
  set(pc_libraries " -Wl,--start-group${pc_libraries} -Wl,--end-group")
endif()
list(JOIN pc_packages " " pc_packages)
foreach(pc_name IN ITEMS warpfold warpfold-systemc)
  set(pc_standard)
  if(pc_name STREQUAL warpfold)
    set(pc_standard "-std=c++20 ")
  endif()
  configure_file(${CMAKE_CURRENT_LIST_DIR}/warpfold.pc.in ${PROJECT_BINARY_DIR}/${pc_name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${pc_name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
endforeach()

# The tree of headers as it is here, so that they include each other as they do here.
install(DIRECTORY model DESTINATION ${WARPFOLD_INCLUDE_DIR} COMPONENT development FILES_MATCHING PATTERN "*.hpp"
        PATTERN cli EXCLUDE PATTERN report EXCLUDE
        # These need the headers of Verilator.
        PATTERN verilated_unit.hpp EXCLUDE PATTERN rtl_coverage.hpp EXCLUDE
        # And these those of nlohmann-json or fmt.
        PATTERN results/json.hpp EXCLUDE PATTERN timeline_json.hpp EXCLUDE)
install(DIRECTORY traces/format DESTINATION ${WARPFOLD_INCLUDE_DIR}/traces COMPONENT development FILES_MATCHING PATTERN "*.hpp"
        PATTERN header_object.hpp EXCLUDE PATTERN header_fields.hpp EXCLUDE)

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
# The pages with their pictures, and what they show as examples, laid out as here.
install(FILES README.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT development)
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT development FILES_MATCHING PATTERN "*.md" PATTERN "*.svg"
        PATTERN "*.png")
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT development)
