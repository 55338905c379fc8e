# Run by cpack on what it installed, before that is packed: what Debian wants
# and `cmake --install` does not do.
file(GLOB_RECURSE files ${CPACK_TEMPORARY_DIRECTORY}/*)
foreach(file IN LISTS files)
  if(file MATCHES "/man1/[^/]*\\.1$")
    file(ARCHIVE_CREATE OUTPUT ${file}.gz PATHS ${file}
      FORMAT raw COMPRESSION GZip COMPRESSION_LEVEL 9)
    file(REMOVE ${file})
  elseif(file MATCHES "/bin/openpai$|/libopenpai[^/]*\\.so\\.[^/]*$" AND
      NOT IS_SYMLINK ${file})
    file(RPATH_REMOVE FILE ${file}) # the loader looks there anyhow
  endif()
endforeach()
