# SPDX-License-Identifier: Apache-2.0
# The tier of each test, as its ctest label: quick, what one runs before each commit; gate, what scripts/test.sh runs
# beside it; nightly, what scripts/nightly.sh runs beside both. The gate is what neither list below names. Read by CMake,
# and by ctest for the tests that it discovers in programs.

# Programs of quick tests, which the target warpfold_quick builds: the model from its blocks to whole runs, RTL and golden
# unit in lockstep, traces, machine files, results.
set(WARPFOLD_QUICK_PROGRAMS
  lockstep_tests contract_tests
  trace_commands_test trace_container_test trace_header_test trace_sites_test trace_upgrade_test trace_writer_test
  parts_tests gpu_tests memory_tests sm_tests report_test)
# Other tests, by regular expression.
set(WARPFOLD_QUICK_TESTS
  "^docs\\.pages$" "^results\\.check$" "^kernel_code\\." "^scripts\\.file_lists$" "^shipped\\.verify")

# Programs that only nightly tests need, which the target warpfold_nightly builds.
set(WARPFOLD_NIGHTLY_PROGRAMS
  netlist_test warpfold_changed)
set(WARPFOLD_NIGHTLY_TESTS
  # Whole instantiations of parametrised tests, of which the gate has some.
  "\\.Nightly"
  # Evaluations of foreign units: the gate has those that end soonest.
  "^evaluate\\.(hostile|proof|power|paired|plain_adder|wrong_word|layout)$"
  # Layouts, proofs of netlists, figures of all rows of the synthesis.
  "^layout\\.(flow|fpga)$" "^netlist\\." "^synth\\.baseline$" "^docs\\.(synth\\.README|extend)$"
  # Whole traces on every kind of unit.
  "^shipped\\.(regress_stalled_|check_traces|bounds_values)"
  # A cluster, killed commands, mutants of files, projects outside.
  "^sweep\\.slurm$" "^robustness\\.(kill|many_mutants)$" "^install\\.(outside_project|shared)$"
  # Tests of tests and of texts.
  "^docs\\.(nightly|commits|rules|changed)$" "^scripts\\.(ci|help)$" "^diagrams\\.")

# warpfold_label_tests(<test>...): in the folder of these tests.
function(warpfold_label_tests)
  foreach(test IN LISTS ARGN)
    set(label gate)
    foreach(tier IN ITEMS QUICK NIGHTLY)
      foreach(pattern IN LISTS WARPFOLD_${tier}_TESTS)
        if(test MATCHES "${pattern}")
          string(TOLOWER ${tier} label)
        endif()
      endforeach()
    endforeach()
    set_tests_properties(${test} PROPERTIES LABELS ${label})
  endforeach()
endfunction()

# warpfold_label_program(<program> <test>...): the tests that ctest has discovered in a program; none if it is not built.
function(warpfold_label_program program)
  list(FIND WARPFOLD_QUICK_PROGRAMS ${program} quick)  # ctest has no policy for if(... IN_LIST ...)
  list(FIND WARPFOLD_NIGHTLY_PROGRAMS ${program} nightly)
  if(NOT quick EQUAL -1)
    list(APPEND WARPFOLD_QUICK_TESTS ".")
  elseif(NOT nightly EQUAL -1)
    list(APPEND WARPFOLD_NIGHTLY_TESTS ".")
    set_tests_properties(${program}_NOT_BUILT PROPERTIES LABELS nightly)
  endif()
  warpfold_label_tests(${ARGN})
endfunction()

# warpfold_label_folder(): the last line of each folder. Its tests get their tiers, and its programs their targets.
set(WARPFOLD_TIERS_FILE ${CMAKE_CURRENT_LIST_FILE})
function(warpfold_label_folder)
  get_property(tests DIRECTORY PROPERTY TESTS)
  warpfold_label_tests(${tests})
  set(script ${CMAKE_CURRENT_BINARY_DIR}/label_tests.cmake)
  set(lines "include(${WARPFOLD_TIERS_FILE})\n")
  get_property(targets DIRECTORY PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target IN LISTS targets)
    string(APPEND lines "warpfold_label_program(${target} \${${target}_TESTS})\n")
    foreach(tier IN ITEMS QUICK NIGHTLY)
      if(target IN_LIST WARPFOLD_${tier}_PROGRAMS)
        string(TOLOWER warpfold_${tier} all)
        if(NOT TARGET ${all})
          add_custom_target(${all})
        endif()
        add_dependencies(${all} ${target})
      endif()
    endforeach()
  endforeach()
  file(WRITE ${script} "${lines}")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${script})
  set_property(GLOBAL APPEND PROPERTY WARPFOLD_LABELLED ${CMAKE_CURRENT_SOURCE_DIR})
endfunction()
