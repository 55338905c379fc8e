# script_test(NAME SCRIPT ARGS...): a test that is a Python script.  Such a
# test prints "skipped: reason" and exits with 77 where it cannot run.
find_package(Python3 COMPONENTS Interpreter)

function(script_test name script)
  if(Python3_Interpreter_FOUND)
    add_test(NAME ${name} COMMAND ${Python3_EXECUTABLE} -B
      ${CMAKE_CURRENT_SOURCE_DIR}/${script} ${ARGN})
  else()
    add_test(NAME ${name} COMMAND sh -c "echo 'skipped: no python3'; exit 77")
  endif()
  set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77)
endfunction()
