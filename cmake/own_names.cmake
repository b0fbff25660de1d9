# SPDX-License-Identifier: Apache-2.0
# Run when static libraries are installed: what archives of others' code define is called warpfold_ and its name, in all
# archives of ours. What such code instantiates of others' templates and inline functions, of std:: or SystemC, stays: the
# linker takes one of them, wherever it comes from.
#   lib      the folder of the archives
#   foreign  those of others' code, by name
#   nm, objcopy
set(map)
foreach(archive IN LISTS foreign)
  if(EXISTS ${lib}/${archive})
    execute_process(COMMAND ${nm} --defined-only --extern-only --format=posix ${lib}/${archive}
                    OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
    string(REGEX MATCHALL "[^\n]+ [A-Za-z] [^\n]*" symbols "${symbols}")
    foreach(symbol IN LISTS symbols)
      string(REGEX MATCH "^[^ ]+ [A-Za-z]" symbol "${symbol}")
      string(REGEX REPLACE "(.*) (.)$" "\\1;\\2" symbol "${symbol}")
      list(GET symbol 0 name)
      list(GET symbol 1 type)
      if(name MATCHES "^(_ZN?K?8warpfold|warpfold_|__|DW\\.)")
        continue()
      endif()
      if(NOT type MATCHES "[VWuvw]" OR name MATCHES "Varc_|erilated|Vl[A-Z]|VL_")
        list(APPEND map "${name} warpfold_${name}")
      endif()
    endforeach()
  endif()
endforeach()
list(REMOVE_DUPLICATES map)
list(JOIN map "\n" map)
file(WRITE ${lib}/warpfold.names "${map}\n")
file(GLOB archives ${lib}/libwarpfold_*.a)
foreach(archive IN LISTS archives)
  execute_process(COMMAND ${objcopy} --redefine-syms=${lib}/warpfold.names ${archive} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
file(REMOVE ${lib}/warpfold.names)
