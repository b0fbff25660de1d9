# SPDX-License-Identifier: Apache-2.0
# warpfold_capture_common: scene, CPU reference, host recorder and output, without CUDA; and the program
# warpfold_capture_host around it; the same for trainings, with warpfold_untrained_scene. Included by the capture programs and by their tests, which are also
# built where there is no CUDA compiler.
if(TARGET warpfold_capture_common)
  return()
endif()
find_package(Threads REQUIRED)
add_library(warpfold_capture_common STATIC
  ${CMAKE_CURRENT_LIST_DIR}/host_frame.cpp
  ${CMAKE_CURRENT_LIST_DIR}/output.cpp
  ${CMAKE_CURRENT_LIST_DIR}/policy.cpp
  ${CMAKE_CURRENT_LIST_DIR}/recording.cpp
  ${CMAKE_CURRENT_LIST_DIR}/reference.cpp
  ${CMAKE_CURRENT_LIST_DIR}/scene.cpp
  ${CMAKE_CURRENT_LIST_DIR}/scene_file.cpp
  ${CMAKE_CURRENT_LIST_DIR}/trace_file.cpp
  ${CMAKE_CURRENT_LIST_DIR}/training/host_step.cpp
  ${CMAKE_CURRENT_LIST_DIR}/training/model.cpp
  ${CMAKE_CURRENT_LIST_DIR}/training/neighbours.cpp
  ${CMAKE_CURRENT_LIST_DIR}/training/point_cloud.cpp
  ${CMAKE_CURRENT_LIST_DIR}/training/training_scene.cpp
  ${CMAKE_CURRENT_LIST_DIR}/training/views.cpp)
target_link_libraries(warpfold_capture_common
  PUBLIC warpfold_trace nlohmann_json::nlohmann_json
  PRIVATE warpfold_options Threads::Threads)

add_executable(warpfold_capture_host ${CMAKE_CURRENT_LIST_DIR}/host_main.cpp)
target_link_libraries(warpfold_capture_host
  PRIVATE warpfold_capture_common warpfold_options CLI11::CLI11)

add_executable(warpfold_untrained_scene ${CMAKE_CURRENT_LIST_DIR}/training/points_main.cpp)
target_link_libraries(warpfold_untrained_scene
  PRIVATE warpfold_capture_common warpfold_options CLI11::CLI11)

include(${CMAKE_CURRENT_LIST_DIR}/workload/workloads.cmake)
