# Debian packages: `cpack -G DEB` in a build folder.  Each is a component of the
# install rules; those that only packages have are no part of `cmake --install`.
# The preset "deb" installs below /usr, with libraries where Debian has them.
set(abi ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}) # as the soname has it
set(CPACK_COMPONENTS_ALL)

# debian_package(COMPONENT NAME SECTION SUMMARY TEXT DEPENDS components...
#   WITH packages... RECOMMENDS packages...)
# A macro: CPack reads variables of this scope.
macro(debian_package component name section summary text)
  cmake_parse_arguments(P "" "" "DEPENDS;WITH;RECOMMENDS" ${ARGN})
  string(TOUPPER ${component} upper)
  list(APPEND CPACK_COMPONENTS_ALL ${component})
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${name})
  set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION ${section})
  # The first line is the summary, as in a file debian/control.
  set(CPACK_DEBIAN_${upper}_DESCRIPTION "${summary}\n${text}")
  set(CPACK_COMPONENT_${upper}_DEPENDS ${P_DEPENDS})
  list(JOIN P_WITH ", " CPACK_DEBIAN_${upper}_PACKAGE_DEPENDS)
  list(JOIN P_RECOMMENDS ", " CPACK_DEBIAN_${upper}_PACKAGE_RECOMMENDS)
  install(FILES ${CMAKE_CURRENT_LIST_DIR}/copyright
    ${PROJECT_BINARY_DIR}/packages/changelog.gz
    DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${name} COMPONENT ${component}
    EXCLUDE_FROM_ALL)
endmacro()

set(what "libopenpai reads OpenPAI's job files, schedules them on a cluster,
simulated or real, and runs them on one machine.")

debian_package(library libopenpai${abi} libs "OpenPAI as an embeddable library"
  "${what}\nThis is the shared library. Its name has the version of its binary
interface, which every minor version may break before 1.0."
  DEPENDS supervisor)
debian_package(server libopenpai-server${abi} libs
  "OpenPAI's REST API, as a library"
  "${what}\nThis is a second library, which serves a platform's REST API."
  DEPENDS library)
# Apart from the library, so that two versions of that one can be installed.
debian_package(supervisor openpai-task misc "supervisor of OpenPAI's tasks"
  "${what}\nThis is the program that starts each task, writes its logs, and
ends all that it started.")
install(FILES ${CMAKE_CURRENT_LIST_DIR}/lintian/openpai-task
  DESTINATION ${CMAKE_INSTALL_DATADIR}/lintian/overrides COMPONENT supervisor
  EXCLUDE_FROM_ALL)
debian_package(dev libopenpai-dev libdevel
  "OpenPAI as an embeddable library: development files"
  "${what}\nThese are the headers, the static library, and what pkg-config and
CMake need to find them."
  DEPENDS library server
  WITH libyaml-dev libuv1-dev libhwloc-dev libsqlite3-dev libsodium-dev
    libcurl4-openssl-dev)
if(TARGET openpai_cli)
  debian_package(program openpai misc "runs OpenPAI's jobs on one machine"
    "${what}\nThis is the program openpai, with its manual page and the
completions of shells."
    DEPENDS library server supervisor RECOMMENDS bubblewrap)
endif()

# Python's: for the one of Debian only, whose folder is no other's.
if(TARGET openpai_python AND OPENPAI_PYTHON MATCHES "^/usr/bin/")
  set(place lib/python3/dist-packages)
  get_target_property(files openpai_python SOURCES)
  list(FILTER files INCLUDE REGEX "^${PROJECT_BINARY_DIR}/python/openpai/")
  file(CONFIGURE OUTPUT packages/METADATA CONTENT
    "Metadata-Version: 2.1\nName: openpai\nVersion: @PROJECT_VERSION@\n" @ONLY)
  list(APPEND files ${PROJECT_BINARY_DIR}/python/openpai/facade.py)
  foreach(file IN LISTS files)
    file(RELATIVE_PATH folder ${PROJECT_BINARY_DIR}/python ${file})
    get_filename_component(folder ${folder} DIRECTORY)
    install(FILES ${file} DESTINATION ${place}/${folder} COMPONENT python
      EXCLUDE_FROM_ALL)
  endforeach()
  install(FILES ${PROJECT_BINARY_DIR}/packages/METADATA
    DESTINATION ${place}/openpai-${PROJECT_VERSION}.dist-info
    COMPONENT python EXCLUDE_FROM_ALL)
  install(TARGETS openpai_python LIBRARY DESTINATION ${place}/openpai
    COMPONENT python EXCLUDE_FROM_ALL)
  math(EXPR next "${OPENPAI_PYTHON_MINOR} + 1")
  debian_package(python python3-openpai python "OpenPAI as a library: Python"
    "${what}\nThis is the module openpai for Python."
    DEPENDS library
    WITH "python3 (>= 3.${OPENPAI_PYTHON_MINOR})" "python3 (<< 3.${next})")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_CONTROL_EXTRA
    ${CMAKE_CURRENT_LIST_DIR}/postinst ${CMAKE_CURRENT_LIST_DIR}/prerm)
endif()

if(TARGET openpai_lua)
  install(TARGETS openpai_lua COMPONENT lua EXCLUDE_FROM_ALL
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/lua/5.4)
  debian_package(lua lua-openpai interpreters "OpenPAI as a library: Lua"
    "${what}\nThis is the module openpai for Lua 5.4."
    DEPENDS library RECOMMENDS lua5.4)
endif()

# A package's changelog, whose time is that of the build (SOURCE_DATE_EPOCH).
set(OPENPAI_MAINTAINER "The libopenpai authors <openpai@localhost>" CACHE STRING
  "Who is named in packages, as NAME <MAIL>")
string(TIMESTAMP now "%a, %d %b %Y %H:%M:%S +0000" UTC)
file(CONFIGURE OUTPUT packages/changelog CONTENT
"openpai (@PROJECT_VERSION@) unstable; urgency=medium

  * See docs/changes.md of the source.

 -- @OPENPAI_MAINTAINER@  @now@
" @ONLY)
file(ARCHIVE_CREATE OUTPUT ${PROJECT_BINARY_DIR}/packages/changelog.gz
  PATHS ${PROJECT_BINARY_DIR}/packages/changelog
  FORMAT raw COMPRESSION GZip COMPRESSION_LEVEL 9)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/stage.cmake)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "") # each package has its own
set(CPACK_PACKAGE_CONTACT "${OPENPAI_MAINTAINER}")
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/src)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")
foreach(component IN ITEMS LIBRARY SERVER)
  set(CPACK_DEBIAN_${component}_PACKAGE_CONTROL_EXTRA
    ${CMAKE_CURRENT_LIST_DIR}/triggers)
endforeach()
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
include(CPack)
