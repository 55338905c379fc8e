# openpai-task, the supervisor of tasks: static, so that a task runs on when
# the system's libraries change, and as small as can be.  musl's is a twentieth
# of glibc's.
include(CheckCSourceCompiles)

set(task_program ${PROJECT_BINARY_DIR}/libexec/openpai/openpai-task)
set(task_sources check.c child.c end.c enter.c hold.c logs.c main.c order.c remove.c run.c shm.c
  serve.c short.c status.c stream.c text.c times.c
  tree.c)
list(TRANSFORM task_sources PREPEND ${PROJECT_SOURCE_DIR}/src/task/)
set(task_headers ${PROJECT_SOURCE_DIR}/src/task/frame.h
  ${PROJECT_SOURCE_DIR}/src/task/order.h
  ${PROJECT_SOURCE_DIR}/src/task/streams.h
  ${PROJECT_SOURCE_DIR}/src/task/task.h
  ${PROJECT_SOURCE_DIR}/src/task/times.h)
set(task_flags -std=c11 -Os -fPIE -ffunction-sections -fdata-sections
  -D_POSIX_C_SOURCE=200809L
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes
  -Wmissing-prototypes -Wvla $<$<BOOL:${OPENPAI_WERROR}>:-Werror>)

find_program(OPENPAI_MUSL_GCC musl-gcc
  DOC "Builds the supervisor of tasks; without it the C compiler does")
if(OPENPAI_MUSL_GCC AND NOT CMAKE_CROSSCOMPILING)
  set(task_cc ${OPENPAI_MUSL_GCC})
  set(task_link -static)
else()
  set(task_cc ${CMAKE_C_COMPILER})
  set(CMAKE_REQUIRED_LINK_OPTIONS -static)
  check_c_source_compiles("int main(void) { return 0; }" OPENPAI_STATIC_WORKS)
  unset(CMAKE_REQUIRED_LINK_OPTIONS)
  if(OPENPAI_STATIC_WORKS)
    set(task_link -static)
  else()
    set(task_link)
    message(WARNING "openpai-task is not static: there is no static libc")
  endif()
endif()

# Not a target of its own: sanitizers and coverage are not for it.
add_custom_command(OUTPUT ${task_program}
  COMMAND ${CMAKE_COMMAND} -E make_directory
    ${PROJECT_BINARY_DIR}/libexec/openpai
  COMMAND ${task_cc} ${task_flags} -Wl,--gc-sections -s ${task_link}
    -o ${task_program} ${task_sources}
  DEPENDS ${task_sources} ${task_headers}
  COMMENT "Building openpai-task" VERBATIM COMMAND_EXPAND_LISTS)
add_custom_target(openpai_task ALL DEPENDS ${task_program})

# From the library's folder, when both are installed.
set(task_libexec ${CMAKE_INSTALL_LIBEXECDIR}/openpai)
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}" OR
    IS_ABSOLUTE "${CMAKE_INSTALL_LIBEXECDIR}")
  set(task_from_lib ${CMAKE_INSTALL_FULL_LIBEXECDIR}/openpai/openpai-task)
else()
  file(RELATIVE_PATH task_from_lib /${CMAKE_INSTALL_LIBDIR}
    /${task_libexec}/openpai-task)
endif()
if(OPENPAI_INSTALL)
  install(PROGRAMS ${task_program} DESTINATION ${task_libexec}
    COMPONENT supervisor)
endif()
