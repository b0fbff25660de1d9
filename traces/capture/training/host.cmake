# SPDX-License-Identifier: Apache-2.0
# warpfold_training_host: the trainings without CUDA, and the program warpfold_untrained_scene.
add_library(warpfold_training_host STATIC
  ${CMAKE_CURRENT_LIST_DIR}/host_step.cpp
  ${CMAKE_CURRENT_LIST_DIR}/model.cpp
  ${CMAKE_CURRENT_LIST_DIR}/neighbours.cpp
  ${CMAKE_CURRENT_LIST_DIR}/point_cloud.cpp
  ${CMAKE_CURRENT_LIST_DIR}/training_scene.cpp
  ${CMAKE_CURRENT_LIST_DIR}/views.cpp)
target_link_libraries(warpfold_training_host
  PUBLIC warpfold_splat_host
  PRIVATE warpfold_options Threads::Threads)

add_executable(warpfold_untrained_scene ${CMAKE_CURRENT_LIST_DIR}/points_main.cpp)
target_link_libraries(warpfold_untrained_scene
  PRIVATE warpfold_training_host warpfold_options CLI11::CLI11)
