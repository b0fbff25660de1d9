# SPDX-License-Identifier: Apache-2.0
# What makes a fuzz target of a file NAME_fuzz.cpp of this folder; for the readers of the capture programs, which are
# built apart, as for the others.
set(fuzz_dir ${CMAKE_CURRENT_LIST_DIR})
get_filename_component(repository ${fuzz_dir}/../.. ABSOLUTE)
add_library(warpfold_fuzz_main STATIC
  ${fuzz_dir}/fuzz.cpp ${fuzz_dir}/made_trace.cpp
  ${repository}/tb/trace/file_builder.cpp ${repository}/tb/trace/synthetic.cpp)
target_compile_definitions(warpfold_fuzz_main PRIVATE WARPFOLD_REPOSITORY="${repository}")
target_link_libraries(warpfold_fuzz_main PUBLIC warpfold_trace warpfold_options PRIVATE nlohmann_json::nlohmann_json)

# warpfold_fuzz_target(NAME MUTANTS LIBRARY...): NAME_fuzz.cpp becomes a program. With libFuzzer it is called NAME;
# else it is a test of the seeds and so many mutants.
if(WARPFOLD_FUZZ)
  add_custom_target(warpfold_fuzz)
else()
  target_sources(warpfold_fuzz_main PRIVATE ${fuzz_dir}/standalone.cpp)
endif()
function(warpfold_fuzz_target name mutants)
  add_executable(fuzz_${name} ${fuzz_dir}/${name}_fuzz.cpp)
  target_link_libraries(fuzz_${name} PRIVATE warpfold_fuzz_main ${ARGN})
  if(WARPFOLD_FUZZ)
    set_target_properties(fuzz_${name} PROPERTIES OUTPUT_NAME ${name})
    target_sources(fuzz_${name} PRIVATE ${fuzz_dir}/libfuzzer.cpp)
    target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
    add_dependencies(warpfold_fuzz fuzz_${name})
    return()
  endif()
  set(seeds ${fuzz_dir}/seeds/${name})
  set(given)
  if(IS_DIRECTORY ${seeds})
    set(given ${seeds})
  endif()
  add_test(NAME fuzz.${name} COMMAND fuzz_${name} --runs ${mutants} --dict ${seeds}.dict ${given})
  set_tests_properties(fuzz.${name} PROPERTIES TIMEOUT 600)
endfunction()
