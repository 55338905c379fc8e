/* scalar.h - what a YAML scalar means */
#ifndef PAI_SRC_YAML_SCALAR_H
#define PAI_SRC_YAML_SCALAR_H

#include "base/tree.h"

/* A typed scalar; for PAI__STRING and PAI__BINARY the text stays as it is. */
typedef struct pai__scalar {
  uint8_t type;
  union {
    bool b;
    int64_t i;
    double f;
  } u;
} pai__scalar;

/* The type that one kind of plain text has.  PAI_OK, PAI_ENOTFOUND when s is
 * no such thing, PAI_ENOMEM.  s is NUL-terminated at s[len]. */
typedef int (*pai__scalar_fn)(pai__scalar *out, const char *s, size_t len,
                              const pai_alloc *alloc);

int pai__yaml_null(pai__scalar *out, const char *s, size_t len,
                   const pai_alloc *alloc);
int pai__yaml_bool(pai__scalar *out, const char *s, size_t len,
                   const pai_alloc *alloc);

/* js-yaml 3.13 (scalar_js.c). */
int pai__yaml_js_int(pai__scalar *out, const char *s, size_t len,
                     const pai_alloc *alloc);
int pai__yaml_js_float(pai__scalar *out, const char *s, size_t len,
                       const pai_alloc *alloc);
int pai__yaml_js_timestamp(pai__scalar *out, const char *s, size_t len,
                           const pai_alloc *alloc);

/* YAML 1.2's core schema (scalar_core.c). */
int pai__yaml_core_int(pai__scalar *out, const char *s, size_t len,
                       const pai_alloc *alloc);
int pai__yaml_core_float(pai__scalar *out, const char *s, size_t len,
                         const pai_alloc *alloc);

/* The type of a plain scalar without a tag, js-yaml's or the core schema's.
 * PAI_OK or PAI_ENOMEM. */
int pai__yaml_plain(pai__scalar *out, const char *s, size_t len, bool js,
                    const pai_alloc *alloc);

/* Decodes base 64, as js-yaml checks it; dst has room for len / 4 * 3 + 3.
 * False when it is none. */
bool pai__base64(char *dst, size_t *dst_len, const char *s, size_t len);

/* JavaScript's String(new Date(ms)) in UTC, and toISOString(). */
void pai__date_string(pai__buf *out, int64_t ms);
void pai__date_iso(pai__buf *out, int64_t ms);

/* JavaScript's String() of a node that is no list (keys.c). */
void pai__js_string(pai__buf *out, const pai__tree *t, pai__node n);

/* Milliseconds since the epoch; month and day may be out of range. */
int64_t pai__date_ms(int64_t year, int64_t month, int64_t day);

#endif
