/* svg.h - internal to the room: pieces of pictures */
#ifndef PAI_SRC_RESOURCE_SVG_H
#define PAI_SRC_RESOURCE_SVG_H

#include "base/buf.h"

/* Columns of a text on a terminal: characters, wide ones twice. */
size_t pai__svg_columns(const char *text);

/* Adds a text as XML, at most so many columns of it. */
void pai__svg_escape(pai__buf *out, const char *text, size_t most);

/* A text that ends, if need be with an ellipsis, within so many pixels.  The
 * class begins with h for bold and with t for large text. */
void pai__svg_text(pai__buf *out, int x, int y, const char *class,
                   const char *text, int width);

void pai__svg_rect(pai__buf *out, int x, int y, int w, int h,
                   const char *class);

#endif
