# Settings and functions for everything that is compiled here.

set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# Carried as an interface target, so that a project which includes this one by
# add_subdirectory() keeps its own flags.
add_library(openpai_flags INTERFACE)
target_compile_definitions(openpai_flags INTERFACE _POSIX_C_SOURCE=200809L)
target_compile_options(openpai_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes
  -Wmissing-prototypes -Wvla
  $<$<BOOL:${OPENPAI_WERROR}>:-Werror>)
if(OPENPAI_SANITIZE)
  target_compile_options(openpai_flags INTERFACE
    -fsanitize=${OPENPAI_SANITIZE} -fno-sanitize-recover=all
    -fno-omit-frame-pointer)
  target_link_options(openpai_flags INTERFACE -fsanitize=${OPENPAI_SANITIZE})
endif()
if(OPENPAI_COVERAGE)
  target_compile_options(openpai_flags INTERFACE --coverage)
  target_link_options(openpai_flags INTERFACE --coverage)
endif()
if(OPENPAI_FUZZ)
  target_compile_options(openpai_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()

# openpai_sources(VARIABLE ROOM): the C files of a room's folder.
function(openpai_sources variable room)
  file(GLOB_RECURSE found CONFIGURE_DEPENDS
    ${CMAKE_CURRENT_SOURCE_DIR}/${room}/*.c)
  set(${variable} ${found} PARENT_SCOPE)
endfunction()

# openpai_room(NAME SOURCES ... DEPENDS rooms... LIBS targets...)
# One room of the house: an object library.  DEPENDS is the whole list of rooms
# whose headers it may include; tests/policy/layers.py holds it to that.
function(openpai_room name)
  cmake_parse_arguments(R "" "" "SOURCES;DEPENDS;LIBS" ${ARGN})
  openpai_sources(sources ${name})
  add_library(pai_${name} OBJECT ${sources} ${R_SOURCES})
  target_include_directories(pai_${name} PRIVATE
    ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src
    ${PROJECT_BINARY_DIR}/src)
  target_link_libraries(pai_${name} PRIVATE openpai_flags ${R_LIBS})
  if(TARGET openpai_api_tables)
    add_dependencies(pai_${name} openpai_api_tables)
  endif()
  set_property(GLOBAL APPEND PROPERTY pai_rooms ${name})
  set_property(GLOBAL APPEND PROPERTY pai_libs ${R_LIBS})
endfunction()
