/*
 * viewer.h - the page that draws reports: page.html with the styles and modules
 * of this folder, as pkgconfig/OpenpaiViewer.cmake puts them together
 */
#ifndef PAI_SRC_VIEWER_VIEWER_H
#define PAI_SRC_VIEWER_VIEWER_H

#include <stddef.h>

typedef struct pai__viewer_part {
  const unsigned char *bytes;
  size_t len;
} pai__viewer_part;

/* A report stands as text, escaped for HTML, between the first two parts, and
 * as JSON without '<' between the last two. */
extern const pai__viewer_part pai__viewer_page[3];

#endif
