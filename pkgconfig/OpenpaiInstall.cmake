# What is installed, and how others find it: openpai.pc and openpai-server.pc
# for pkg-config, openpaiConfig.cmake for find_package(openpai).  No installed file names a
# path of the build, so the tree may be moved after it was installed.
include(CMakePackageConfigHelpers)

set(cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/openpai)

# From the rooms' LIBS lines, what a static link needs: pkg-config modules for
# Requires.private and for openpaiConfig.cmake, the rest for Libs.private.
get_property(libs GLOBAL PROPERTY pai_libs)
list(REMOVE_DUPLICATES libs)
set(pc_modules)
set(pc_libs)
set(config_modules)
foreach(lib IN LISTS libs)
  if(lib MATCHES "^PkgConfig::(.+)")
    set(module ${${CMAKE_MATCH_1}_MODULE_NAME})
    if(NOT module) # as for several modules, or for one with two versions
      message(FATAL_ERROR "openpai.pc: no one module is ${lib}")
    endif()
    if(module STREQUAL "hwloc")
      # By its name: as a module it asks for all that it needs to be static
      # itself, of which many machines lack libudev's development files.
      foreach(dir IN LISTS HWLOC_LIBRARY_DIRS)
        if(NOT dir IN_LIST CMAKE_C_IMPLICIT_LINK_DIRECTORIES)
          list(APPEND pc_libs -L${dir})
        endif()
      endforeach()
      list(APPEND pc_libs -lhwloc)
    elseif(module STREQUAL "libcurl")
      list(APPEND pc_libs -lcurl) # likewise: it would ask for a dozen others
    else()
      list(APPEND pc_modules ${module})
    endif()
    list(APPEND config_modules ${CMAKE_MATCH_1}=${module})
  elseif(lib STREQUAL "Threads::Threads")
    list(APPEND pc_libs -pthread)
  elseif(lib MATCHES "^[a-z]+$")
    list(APPEND pc_libs -l${lib})
  else()
    message(FATAL_ERROR "openpai.pc: no rule for the library ${lib}")
  endif()
endforeach()
list(JOIN pc_modules ", " pc_modules)
list(JOIN pc_libs " " pc_libs)

# The shared library asks nothing of those who link it; the static one passes
# its libraries on.  So each has its own export, and one can fail alone.
install(TARGETS openpai EXPORT openpaiTargets
  LIBRARY COMPONENT library NAMELINK_COMPONENT dev)
install(TARGETS openpai_server EXPORT openpaiTargets
  LIBRARY COMPONENT server NAMELINK_COMPONENT dev)
# What names no component is for developers.
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME dev)
install(TARGETS openpai_static EXPORT openpaiStaticTargets)
install(EXPORT openpaiTargets NAMESPACE openpai:: DESTINATION ${cmake_dir})
install(EXPORT openpaiStaticTargets NAMESPACE openpai::
  DESTINATION ${cmake_dir})
install(DIRECTORY include/openpai DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.h")

configure_package_config_file(pkgconfig/openpaiConfig.cmake.in
  ${PROJECT_BINARY_DIR}/openpaiConfig.cmake INSTALL_DESTINATION ${cmake_dir})
write_basic_package_version_file(
  ${PROJECT_BINARY_DIR}/openpaiConfigVersion.cmake
  # As the soname: before 1.0 every minor version may break programs.
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/openpaiConfig.cmake
  ${PROJECT_BINARY_DIR}/openpaiConfigVersion.cmake DESTINATION ${cmake_dir})

# From DIR/lib/pkgconfig to DIR, unless lib is not below the prefix.
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
  set(pc_prefix ${CMAKE_INSTALL_PREFIX})
else()
  file(RELATIVE_PATH up /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
  string(REGEX REPLACE "/$" "" pc_prefix "\${pcfiledir}/${up}")
endif()
cmake_path(ABSOLUTE_PATH CMAKE_INSTALL_LIBDIR BASE_DIRECTORY "\${prefix}"
  OUTPUT_VARIABLE pc_libdir)
cmake_path(ABSOLUTE_PATH CMAKE_INSTALL_INCLUDEDIR BASE_DIRECTORY "\${prefix}"
  OUTPUT_VARIABLE pc_includedir)
configure_file(pkgconfig/openpai.pc.in ${PROJECT_BINARY_DIR}/openpai.pc @ONLY)
configure_file(pkgconfig/openpai-server.pc.in
  ${PROJECT_BINARY_DIR}/openpai-server.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/openpai.pc
  ${PROJECT_BINARY_DIR}/openpai-server.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME program)
if(TARGET openpai_cli)
  install(TARGETS openpai_cli)

  set(said ${PROJECT_BINARY_DIR}/src/cli)
  install(FILES ${said}/openpai.1
    DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  install(FILES ${said}/openpai.bash RENAME openpai
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  install(FILES ${said}/_openpai
    DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
  install(FILES ${said}/openpai.fish
    DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
  install(DIRECTORY examples/templates
    DESTINATION ${CMAKE_INSTALL_DATADIR}/openpai)
endif()

include(${CMAKE_CURRENT_LIST_DIR}/packages/OpenpaiPackages.cmake)
