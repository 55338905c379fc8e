/* encode.h - internal: bytes and texts as base64, hexadecimal digits, and parts
 * of URLs and HTML pages */
#ifndef PAI_SRC_BASE_TEXT_ENCODE_H
#define PAI_SRC_BASE_TEXT_ENCODE_H

#include "base/buf.h"

/* Appends base64, padded with '='. */
void pai__put_base64(pai__buf *out, const void *bytes, size_t len);

/* Append base64url without padding, and the bytes of such a text.  The latter
 * returns false if the text is invalid; unused bits must be 0, so that each
 * value has one text. */
void pai__base64url(pai__buf *out, const void *bytes, size_t len);
bool pai__base64url_read(pai__buf *out, const char *text, size_t len);

/* Writes two lower-case digits for each byte, and a NUL. */
void pai__put_hex(char *out, const void *bytes, size_t len);

/* Appends a text for a URL: all but letters, digits, "-_.~" and the characters
 * of `more` is escaped. */
void pai__put_escaped(pai__buf *out, const char *text, const char *more);

/* Appends the bytes of an escaped text; never a NUL. */
void pai__put_unescaped(pai__buf *out, const char *text);

/* Appends a text for an HTML page or an attribute in quotes. */
void pai__put_html(pai__buf *out, const char *text);

#endif
