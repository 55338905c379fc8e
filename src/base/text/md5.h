/* md5.h - MD5 (RFC 1321), for names and numbers that OpenPAI derives from it.
 * Never for secrets. */
#ifndef PAI_SRC_BASE_TEXT_MD5_H
#define PAI_SRC_BASE_TEXT_MD5_H

#include "base/base.h"

enum { PAI__MD5_HEX = 33 }; /* 32 digits and a NUL */

/* Writes lower case digits; returns out. */
const char *pai__md5_hex(char out[PAI__MD5_HEX], const void *bytes,
                         size_t len);

#endif
