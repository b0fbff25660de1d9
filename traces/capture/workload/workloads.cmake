# SPDX-License-Identifier: Apache-2.0
# The workloads: what needs no CUDA goes into warpfold_workloads_common, which the tests use as well.
set(warpfold_workload_host_sources
  ${CMAKE_CURRENT_LIST_DIR}/../camera_pose/cameras.cpp
  ${CMAKE_CURRENT_LIST_DIR}/../dynibar/trajectory.cpp
  ${CMAKE_CURRENT_LIST_DIR}/../embedding/tokens.cpp
  ${CMAKE_CURRENT_LIST_DIR}/../envmap/scene.cpp
  ${CMAKE_CURRENT_LIST_DIR}/../image_fit/picture.cpp
  ${CMAKE_CURRENT_LIST_DIR}/../hash_grid/grid.cpp
  ${CMAKE_CURRENT_LIST_DIR}/../hexplane/samples.cpp
  ${CMAKE_CURRENT_LIST_DIR}/../pagerank/graph.cpp
  ${CMAKE_CURRENT_LIST_DIR}/../spheres/spheres.cpp
  ${CMAKE_CURRENT_LIST_DIR}/fixed_scale.cpp
  ${CMAKE_CURRENT_LIST_DIR}/log.cpp
  ${CMAKE_CURRENT_LIST_DIR}/variant.cpp)
set(warpfold_workload_cuda_sources
  ${CMAKE_CURRENT_LIST_DIR}/../camera_pose/camera_pose.cu
  ${CMAKE_CURRENT_LIST_DIR}/../dynibar/dynibar.cu
  ${CMAKE_CURRENT_LIST_DIR}/../embedding/embedding.cu
  ${CMAKE_CURRENT_LIST_DIR}/../envmap/envmap.cu
  ${CMAKE_CURRENT_LIST_DIR}/../hash_grid/hash_grid.cu
  ${CMAKE_CURRENT_LIST_DIR}/../hexplane/hexplane.cu
  ${CMAKE_CURRENT_LIST_DIR}/../image_fit/image_fit.cu
  ${CMAKE_CURRENT_LIST_DIR}/../pagerank/pagerank.cu
  ${CMAKE_CURRENT_LIST_DIR}/../spheres/spheres.cu)

add_library(warpfold_workloads_common STATIC ${warpfold_workload_host_sources})
target_link_libraries(warpfold_workloads_common
  PUBLIC warpfold_capture_common
  PRIVATE warpfold_options)
