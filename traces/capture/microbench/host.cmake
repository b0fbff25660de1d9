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
  PUBLIC nlohmann_json::nlohmann_json
  PRIVATE warpfold_options)
