# SPDX-License-Identifier: Apache-2.0
# cpack makes two Debian packages: warpfold with the command, libwarpfold-dev for programs around its libraries.
# scripts/package.sh builds, packs and checks. Included by the top folder last.
set(WARPFOLD_DEB_MAINTAINER "Warpfold maintainers <maintainers@warpfold.invalid>"
    CACHE STRING "Who answers for Debian packages that are made here")
set(deb_folder ${PROJECT_BINARY_DIR}/debian)
set(deb_release 1)

# Debian's own changelog has the date of the release in CHANGELOG.md.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/CHANGELOG.md)
file(STRINGS CHANGELOG.md releases REGEX "^## .${PROJECT_VERSION}. - [0-9-]+$")
string(REGEX MATCH "[0-9]+-[0-9]+-[0-9]+$" release_day "${releases}")
execute_process(COMMAND date -u -R -d "${release_day}" OUTPUT_VARIABLE deb_date OUTPUT_STRIP_TRAILING_WHITESPACE)
foreach(package IN ITEMS warpfold libwarpfold-dev)
  set(deb_package ${package})
  configure_file(cmake/debian/changelog.in ${deb_folder}/${package}/changelog.Debian @ONLY)
  configure_file(cmake/debian/copyright ${deb_folder}/${package}/copyright COPYONLY)
  configure_file(CHANGELOG.md ${deb_folder}/${package}/changelog COPYONLY)
  configure_file(cmake/debian/${package}.lintian-overrides ${deb_folder}/${package}/lintian-overrides COPYONLY)
endforeach()
configure_file(cmake/debian/shape.cmake.in ${deb_folder}/shape.cmake @ONLY)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME warpfold)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "cycle simulation of warp-level atomic reduction on GPUs")
set(CPACK_PACKAGE_CONTACT ${WARPFOLD_DEB_MAINTAINER})
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_PRE_BUILD_SCRIPTS ${deb_folder}/shape.cmake)
set(CPACK_COMPONENTS_ALL runtime development)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE ${deb_release})

set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME warpfold)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION electronics)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_DEPENDS "python3")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_RECOMMENDS "python3-numpy")
# Each for some of the tools, which name what they miss.
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SUGGESTS "berkeley-abc | yosys-abc, fpga-icestorm, g++, graywolf, iverilog, klayout, magic, \
make, netgen-lvs, nextpnr-ice40, opensta, python3-jsonschema, python3-matplotlib, python3-yaml, qflow, qrouter, snakemake, \
verilator, yosys, z3")
set(CPACK_DEBIAN_RUNTIME_DESCRIPTION
"Replays traces of the atomic additions of CUDA kernels on a model of a GPU,
with the ARC reduction unit in its sub-cores and without it, and prints
cycles, traffic and additions. Holds the warpfold command with its tools,
machine files, traces, the SystemVerilog of the unit and a Python package that
reads traces and results.")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libwarpfold-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
"warpfold (= ${PROJECT_VERSION}-${deb_release}), libsystemc-dev, libfmt-dev, libtomlplusplus-dev, \
libzstd-dev, zlib1g-dev")
set(CPACK_DEBIAN_DEVELOPMENT_DESCRIPTION
"For programs around it: reader and writer of traces, the reduction unit in
C++ and as a SystemC module, and the GPU model as static libraries, with
headers, pages, examples, and files for CMake and pkg-config.")
include(CPack)
