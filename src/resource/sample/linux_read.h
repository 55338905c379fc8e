/*
 * linux_read.h - internal: read small files of /proc and /sys
 *
 * These files have no size: each is read until its end, into a buffer that is
 * kept.
 */
#ifndef PAI_SRC_RESOURCE_LINUX_READ_H
#define PAI_SRC_RESOURCE_LINUX_READ_H

#include "base/buf.h"

enum { PAI__PATH = 4096, PAI__FILE_MOST = 16 << 20 };

/* Opens ROOT/PATH for reading; returns -1 on failure. */
int pai__open_under(const char *root, const char *fmt, ...) PAI__PRINTF(2, 3);

/* Reads all of an open file into an emptied buffer.  Returns PAI_OK; PAI_EIO:
 * the kernel refuses; PAI_ELIMIT: longer than PAI__FILE_MOST; PAI_ENOMEM. */
int pai__reread(int fd, pai__buf *out);

/* Returns the number at the start of a short file, or -1; what follows is
 * ignored. */
int64_t pai__linux_number(const char *root, const char *fmt, ...)
  PAI__PRINTF(2, 3);
int64_t pai__reread_number(int fd);
/* The same for a limit; -1 if there is no limit. */
int64_t pai__reread_limit(int fd);

/* Reads the start of a file into `out`, of `size` bytes with the NUL; returns
 * the length. */
size_t pai__read_short(char *out, size_t size, const char *root,
                       const char *fmt, ...) PAI__PRINTF(4, 5);

/* Reads the first line of a short file, cut if long; "" if there is none. */
enum { PAI__LINE = 256 };
void pai__read_line(char out[PAI__LINE], const char *root, const char *fmt,
                    ...) PAI__PRINTF(3, 4);

#endif
