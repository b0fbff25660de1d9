# SPDX-License-Identifier: Apache-2.0
# The capture programs' readers of files.
warpfold_fuzz_target(inputs 20000 warpfold_workloads_common warpfold_microbench_host)
warpfold_fuzz_target(scene 20000 warpfold_training_host)
warpfold_fuzz_target(views 20000 warpfold_training_host warpfold_workloads_common)
