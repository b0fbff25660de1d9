# SPDX-License-Identifier: Apache-2.0
# The program warpfold_capture_host, which records without CUDA.
add_executable(warpfold_capture_host ${CMAKE_CURRENT_LIST_DIR}/host_main.cpp)
target_link_libraries(warpfold_capture_host PRIVATE warpfold_splat_host warpfold_options CLI11::CLI11)
