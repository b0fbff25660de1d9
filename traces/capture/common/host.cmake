# SPDX-License-Identifier: Apache-2.0
# warpfold_capture_common: what all capture programs share and needs no CUDA. The programs on the GPU
# compile gpu_info.cpp, nvml.cpp and power.cpp of this folder themselves.
add_library(warpfold_capture_common STATIC
  ${CMAKE_CURRENT_LIST_DIR}/input.cpp
  ${CMAKE_CURRENT_LIST_DIR}/trace_file.cpp)
target_link_libraries(warpfold_capture_common
  PUBLIC warpfold_trace nlohmann_json::nlohmann_json
  PRIVATE warpfold_options)
