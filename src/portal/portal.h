/*
 * portal.h - the web portal's files, each compressed by gzip, as build.mjs makes
 * them
 */
#ifndef PAI_SRC_PORTAL_PORTAL_H
#define PAI_SRC_PORTAL_PORTAL_H

#include <stddef.h>

#define PAI__PORTAL_PAGE "index.html" /* the page; all others it loads */

typedef struct pai__portal_file {
  const char *name, *type;
  const char *packed;
  size_t packed_len, size;
} pai__portal_file;

extern const pai__portal_file pai__portal_files[];
extern const size_t pai__portal_count; /* 0: built without the portal */

#endif
