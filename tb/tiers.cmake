# SPDX-License-Identifier: Apache-2.0
# The tier of each test, as its ctest label: quick, what one runs before each commit; gate, what scripts/test.sh runs
# beside it; nightly, what scripts/nightly.sh runs beside both. A test has the tier of the first line that its name
# matches, and belongs to the gate where none does. Read by CMake, and by ctest for the tests that it discovers.
set(WARPFOLD_TIERS)
function(warpfold_tier tier)
  foreach(pattern IN LISTS ARGN)
    list(APPEND WARPFOLD_TIERS "${tier} ${pattern}")
  endforeach()
  set(WARPFOLD_TIERS "${WARPFOLD_TIERS}" PARENT_SCOPE)
endfunction()

warpfold_tier(nightly
  [[^docs\.(nightly|commits|rules|changed)$]])
warpfold_tier(quick
  [[^unit\.]])

# warpfold_label_tests(<test>...): in the folder of these tests.
function(warpfold_label_tests)
  foreach(test IN LISTS ARGN)
    set(label gate)
    foreach(line IN LISTS WARPFOLD_TIERS)
      string(FIND "${line}" " " blank)
      string(SUBSTRING "${line}" 0 ${blank} tier)
      math(EXPR blank "${blank} + 1")
      string(SUBSTRING "${line}" ${blank} -1 pattern)
      if(test MATCHES "${pattern}")
        set(label ${tier})
        break()
      endif()
    endforeach()
    set_tests_properties(${test} PROPERTIES LABELS ${label})
  endforeach()
endfunction()
