/* svg.h - internal to the room: SVG text and rectangles */
#ifndef PAI_SRC_RESOURCE_SVG_H
#define PAI_SRC_RESOURCE_SVG_H

#include "base/buf.h"

/* Returns the columns of a text on a terminal; wide characters count twice. */
size_t pai__svg_columns(const char *text);

/* Appends a text escaped for XML, at most `most` columns of it. */
void pai__svg_escape(pai__buf *out, const char *text, size_t most);

/* Appends a text element that is cut with an ellipsis to fit `width` pixels.
 * A class that begins with h is bold, one that begins with t is large. */
void pai__svg_text(pai__buf *out, int x, int y, const char *class,
                   const char *text, int width);

void pai__svg_rect(pai__buf *out, int x, int y, int w, int h,
                   const char *class);

#endif
