# SPDX-License-Identifier: Apache-2.0
# The compression library as Zstd::Zstd. Not every package of it has CMake files.
include(FindPackageHandleStandardArgs)
find_path(ZSTD_INCLUDE_DIR zstd.h)
find_library(ZSTD_LIBRARY zstd)
find_package_handle_standard_args(Zstd REQUIRED_VARS ZSTD_LIBRARY ZSTD_INCLUDE_DIR)
if(Zstd_FOUND AND NOT TARGET Zstd::Zstd)
  add_library(Zstd::Zstd INTERFACE IMPORTED GLOBAL)
  target_include_directories(Zstd::Zstd SYSTEM INTERFACE ${ZSTD_INCLUDE_DIR})
  target_link_libraries(Zstd::Zstd INTERFACE ${ZSTD_LIBRARY})
endif()
