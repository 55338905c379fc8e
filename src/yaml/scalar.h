/* scalar.h - types and values of YAML scalars */
#ifndef PAI_SRC_YAML_SCALAR_H
#define PAI_SRC_YAML_SCALAR_H

#include "base/tree.h"

/* A typed scalar.  Of PAI__STRING and PAI__BINARY the value is the text
 * itself. */
typedef struct pai__scalar {
  uint8_t type;
  union {
    bool b;
    int64_t i;
    double f;
  } u;
} pai__scalar;

/* Resolves plain text to one type.  Returns PAI_OK, PAI_ENOTFOUND if s is not
 * of that type, or PAI_ENOMEM.  s[len] is NUL. */
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

/* Finds the type of a plain scalar without a tag, by js-yaml's rules or by the
 * core schema's.  Returns PAI_OK or PAI_ENOMEM. */
int pai__yaml_plain(pai__scalar *out, const char *s, size_t len, bool js,
                    const pai_alloc *alloc);

/* Decodes base64 by js-yaml's rules; dst has room for len / 4 * 3 + 3 bytes.
 * Returns false if s is not base64. */
bool pai__base64(char *dst, size_t *dst_len, const char *s, size_t len);

/* JavaScript's String(new Date(ms)) in UTC, and toISOString(). */
void pai__date_string(pai__buf *out, int64_t ms);
void pai__date_iso(pai__buf *out, int64_t ms);

/* JavaScript's String() of a node that is not a list (keys.c). */
void pai__js_string(pai__buf *out, const pai__tree *t, pai__node n);

/* Returns milliseconds since 1970; month and day may be out of range. */
int64_t pai__date_ms(int64_t year, int64_t month, int64_t day);

#endif
