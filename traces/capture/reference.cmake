# SPDX-License-Identifier: Apache-2.0
# warpfold_capture_host: scene, CPU reference and recording, without CUDA. Included by the capture
# programs and by their tests, which are also built where there is no CUDA compiler.
if(TARGET warpfold_capture_host)
  return()
endif()
find_package(Threads REQUIRED)
add_library(warpfold_capture_host STATIC
  ${CMAKE_CURRENT_LIST_DIR}/policy.cpp
  ${CMAKE_CURRENT_LIST_DIR}/recording.cpp
  ${CMAKE_CURRENT_LIST_DIR}/reference.cpp
  ${CMAKE_CURRENT_LIST_DIR}/scene.cpp)
target_link_libraries(warpfold_capture_host
  PUBLIC warpfold_trace
  PRIVATE warpfold_options nlohmann_json::nlohmann_json Threads::Threads)
