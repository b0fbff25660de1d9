# SPDX-License-Identifier: Apache-2.0
# The sanitizer's trampoline does not keep the predicates P3 and P4 of the code that it is patched into, and the
# compiler does not save them in a callback: one that used them crashed a kernel on an H100. Fails if a callback does.
#   cmake -DCUOBJDUMP=cuobjdump -DFILE=patches.fatbin -P check_predicates.cmake
execute_process(COMMAND ${CUOBJDUMP} -sass ${FILE} OUTPUT_VARIABLE code RESULT_VARIABLE failed)
if(failed)
  message(FATAL_ERROR "${FILE}: ${CUOBJDUMP} cannot read it")
endif()
if(code MATCHES "[@! ,]P[34][ ,.;][^\n]*")
  file(REMOVE ${FILE})
  message(FATAL_ERROR "a callback of ${FILE} uses a predicate that is not kept: ${CMAKE_MATCH_0}")
endif()
