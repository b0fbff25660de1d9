# SPDX-License-Identifier: Apache-2.0
# warpfold_splat_host: scenes, CPU reference, host recorder and output of 3D Gaussian Splatting, without
# CUDA.
find_package(Threads REQUIRED)
add_library(warpfold_splat_host STATIC
  ${CMAKE_CURRENT_LIST_DIR}/host_frame.cpp
  ${CMAKE_CURRENT_LIST_DIR}/output.cpp
  ${CMAKE_CURRENT_LIST_DIR}/policy.cpp
  ${CMAKE_CURRENT_LIST_DIR}/recording.cpp
  ${CMAKE_CURRENT_LIST_DIR}/reference.cpp
  ${CMAKE_CURRENT_LIST_DIR}/scene.cpp
  ${CMAKE_CURRENT_LIST_DIR}/scene_file.cpp)
target_link_libraries(warpfold_splat_host
  PUBLIC warpfold_capture_common
  PRIVATE warpfold_options Threads::Threads)
