# SPDX-License-Identifier: Apache-2.0
# What WARPFOLD_FUZZ changes for all sources: coverage for libFuzzer, sanitizers that end the program at what they
# find, and libraries that go into the programs, so that these run elsewhere.
if(NOT CMAKE_CXX_COMPILER_ID MATCHES Clang)
  message(FATAL_ERROR "WARPFOLD_FUZZ needs clang: use the preset fuzz")
endif()
set(fuzz_sanitizers -fsanitize=address,undefined,float-cast-overflow)
add_compile_options(-fsanitize=fuzzer-no-link ${fuzz_sanitizers} -fno-sanitize-recover=all -g1 -O1
                    -fno-omit-frame-pointer)
add_link_options(${fuzz_sanitizers} -static-libstdc++ -static-libgcc)
list(PREPEND CMAKE_FIND_LIBRARY_SUFFIXES .a)
foreach(library IN ITEMS fmt::fmt fmt::fmt-header-only tomlplusplus::tomlplusplus)
  add_library(${library} INTERFACE IMPORTED GLOBAL)
endforeach()
set_property(TARGET fmt::fmt fmt::fmt-header-only PROPERTY INTERFACE_COMPILE_DEFINITIONS FMT_HEADER_ONLY=1)
