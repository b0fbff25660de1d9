# SPDX-License-Identifier: Apache-2.0
# warpfold_microbench_host: operands, statistics, results file and disassembly of the microbenchmarks,
# without CUDA. Included by the capture programs and by their tests.
if(TARGET warpfold_microbench_host)
  return()
endif()
add_library(warpfold_microbench_host STATIC
  ${CMAKE_CURRENT_LIST_DIR}/operands.cpp
  ${CMAKE_CURRENT_LIST_DIR}/report.cpp
  ${CMAKE_CURRENT_LIST_DIR}/sass.cpp
  ${CMAKE_CURRENT_LIST_DIR}/statistics.cpp)
target_link_libraries(warpfold_microbench_host
  PUBLIC nlohmann_json::nlohmann_json warpfold_trace
  PRIVATE warpfold_options)

# The cases of the groups `red` and `vector`, and the program that writes them as traces.
add_library(warpfold_red_cases STATIC
  ${CMAKE_CURRENT_LIST_DIR}/red_cases.cpp
  ${CMAKE_CURRENT_LIST_DIR}/red_trace.cpp
  ${CMAKE_CURRENT_LIST_DIR}/vector_cases.cpp
  ${CMAKE_CURRENT_LIST_DIR}/vector_trace.cpp)
set_target_properties(warpfold_red_cases PROPERTIES UNITY_BUILD OFF)  # cases and their traces name the same things
target_link_libraries(warpfold_red_cases
  PUBLIC nlohmann_json::nlohmann_json warpfold_trace
  PRIVATE warpfold_options)
add_executable(warpfold_red_trace ${CMAKE_CURRENT_LIST_DIR}/red_trace_main.cpp)
target_link_libraries(warpfold_red_trace PRIVATE warpfold_red_cases warpfold_options CLI11::CLI11)
