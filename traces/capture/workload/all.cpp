// SPDX-License-Identifier: Apache-2.0
// The list of the workloads; each is one folder beside this one.
#include "traces/capture/workload/workload.hpp"

namespace warpfold::capture {

namespace camera_pose {
std::unique_ptr<workload::Workload> make_workload();
std::unique_ptr<workload::Workload> make_halved();
}  // namespace camera_pose
namespace dynibar {
std::unique_ptr<workload::Workload> make_workload();
}
namespace embedding {
std::unique_ptr<workload::Workload> make_columns();
std::unique_ptr<workload::Workload> make_rows();
}  // namespace embedding
namespace envmap {
std::unique_ptr<workload::Workload> make_workload();
}
namespace image_fit {
std::unique_ptr<workload::Workload> make_staged();
std::unique_ptr<workload::Workload> make_balloted();
}  // namespace image_fit
namespace hash_grid {
std::unique_ptr<workload::Workload> make_workload();
std::unique_ptr<workload::Workload> make_half();
}  // namespace hash_grid
namespace hexplane {
std::unique_ptr<workload::Workload> make_workload();
}
namespace pagerank {
std::unique_ptr<workload::Workload> make_workload();
}
namespace spheres {
std::unique_ptr<workload::Workload> make_workload();
}
namespace splat_forms {
std::unique_ptr<workload::Workload> make_block_reduced();
std::unique_ptr<workload::Workload> make_block_reduced_struct();
std::unique_ptr<workload::Workload> make_four_pixels();
std::unique_ptr<workload::Workload> make_gradient_struct();
std::unique_ptr<workload::Workload> make_halved();
std::unique_ptr<workload::Workload> make_halved_vector();
std::unique_ptr<workload::Workload> make_per_splat();
std::unique_ptr<workload::Workload> make_per_splat_struct();
std::unique_ptr<workload::Workload> make_tile_warp();
std::unique_ptr<workload::Workload> make_tile_warp_halved();
}  // namespace splat_forms

std::vector<std::unique_ptr<workload::Workload>> workload::all_workloads() {
  std::vector<std::unique_ptr<Workload>> all;
  all.push_back(camera_pose::make_workload());
  all.push_back(camera_pose::make_halved());
  all.push_back(dynibar::make_workload());
  all.push_back(embedding::make_columns());
  all.push_back(embedding::make_rows());
  all.push_back(envmap::make_workload());
  all.push_back(image_fit::make_staged());
  all.push_back(image_fit::make_balloted());
  all.push_back(hash_grid::make_workload());
  all.push_back(hash_grid::make_half());
  all.push_back(hexplane::make_workload());
  all.push_back(pagerank::make_workload());
  all.push_back(spheres::make_workload());
  all.push_back(splat_forms::make_block_reduced());
  all.push_back(splat_forms::make_block_reduced_struct());
  all.push_back(splat_forms::make_four_pixels());
  all.push_back(splat_forms::make_gradient_struct());
  all.push_back(splat_forms::make_halved());
  all.push_back(splat_forms::make_halved_vector());
  all.push_back(splat_forms::make_per_splat());
  all.push_back(splat_forms::make_per_splat_struct());
  all.push_back(splat_forms::make_tile_warp());
  all.push_back(splat_forms::make_tile_warp_halved());
  return all;
}

}  // namespace warpfold::capture
