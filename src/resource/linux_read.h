/*
 * linux_read.h - internal: the kernel's small files
 *
 * They have no size: each is read until its end, into a buffer that is kept.
 */
#ifndef PAI_SRC_RESOURCE_LINUX_READ_H
#define PAI_SRC_RESOURCE_LINUX_READ_H

#include "base/buf.h"

enum { PAI__PATH = 4096, PAI__FILE_MOST = 16 << 20 };

/* Opens ROOT/PATH for reading; -1 when that is not possible. */
int pai__open_under(const char *root, const char *fmt, ...) PAI__PRINTF(2, 3);

/* Puts the whole of an open file into an emptied buffer.  PAI_OK; PAI_EIO:
 * the kernel refuses; PAI_ELIMIT: longer than PAI__FILE_MOST; PAI_ENOMEM. */
int pai__reread(int fd, pai__buf *out);

/* The number a short file begins with, or -1, with what follows ignored. */
int64_t pai__linux_number(const char *root, const char *fmt, ...)
  PAI__PRINTF(2, 3);
int64_t pai__reread_number(int fd);
/* The same for a limit, of which none is -1. */
int64_t pai__reread_limit(int fd);

/* Its first bytes and a NUL, size in all; returns how many. */
size_t pai__read_short(char *out, size_t size, const char *root,
                       const char *fmt, ...) PAI__PRINTF(4, 5);

/* The first line of a short file, cut if long; "" when there is none. */
enum { PAI__LINE = 256 };
void pai__read_line(char out[PAI__LINE], const char *root, const char *fmt,
                    ...) PAI__PRINTF(3, 4);

#endif
