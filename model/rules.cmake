# SPDX-License-Identifier: Apache-2.0
# Rules that a machine file names ([rules], `warpfold rules`). Each is a file NAME.cpp in the folder
# of its kind and a line here, in the order in which they are listed. The lists in C++ are made from
# these.
set(WARPFOLD_RULES_DIR ${CMAKE_CURRENT_LIST_DIR})

# warpfold_rules(TARGET FOLDER KIND STRUCT HEADER NAME...): FOLDER/KIND has the files, which each
# define a STRUCT called NAME_KIND; HEADER declares KIND_rules().
function(warpfold_rules target folder kind struct header)
  set(declarations "")
  set(entries "")
  set(sources "")
  foreach(rule IN LISTS ARGN)
    string(APPEND declarations "extern const ${struct} ${rule}_${kind};\n")
    string(APPEND entries "      &${rule}_${kind},\n")
    list(APPEND sources ${WARPFOLD_RULES_DIR}/${folder}/${kind}/${rule}.cpp)
  endforeach()
  configure_file(${WARPFOLD_RULES_DIR}/rules.cpp.in ${CMAKE_CURRENT_BINARY_DIR}/${target}_${kind}.cpp
                 @ONLY)
  list(APPEND sources ${CMAKE_CURRENT_BINARY_DIR}/${target}_${kind}.cpp)
  target_sources(${target} PRIVATE ${sources})
  # A program's own list and rules take the place of these, file by file.
  set_source_files_properties(${sources} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# rules.scheduler: where the golden unit's scheduler sends a transaction.
set(WARPFOLD_SCHEDULERS
  greedy
  reduce_groups
)

# rules.admission: which warps of a sub-core get room in its memory queue.
set(WARPFOLD_ADMISSIONS
  round_robin
  sleepers
)

# rules.l2_order: the order in which a port of the L2 serves SMs.
set(WARPFOLD_L2_ORDERS
  in_turn
)

# rules.slice_map: which slice of the L2 holds an address.
set(WARPFOLD_SLICE_MAPS
  hashed
)

# rules.red_wait: whether a warp waits for its own REDs.
set(WARPFOLD_RED_WAITS
  go_on
  own_reds
)

# rules.packets: how many flits the additions of a RED take on the crossbar.
set(WARPFOLD_PACKETS
  head_and_sectors
  flit_a_sector
)
