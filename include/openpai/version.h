/**
 * @file openpai/version.h
 * The version of these headers.  The build, the soname, the bindings and the
 * man page read it from this file.
 */
#ifndef OPENPAI_VERSION_H
#define OPENPAI_VERSION_H

#define PAI_VERSION_MAJOR 0
#define PAI_VERSION_MINOR 1
#define PAI_VERSION_PATCH 0

/** One comparable number: 0x00MMmmpp. */
#define PAI_VERSION_NUMBER \
  ((PAI_VERSION_MAJOR << 16) | (PAI_VERSION_MINOR << 8) | PAI_VERSION_PATCH)

#endif /* OPENPAI_VERSION_H */
