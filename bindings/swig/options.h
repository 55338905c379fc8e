/* options.h - reads option structs of the library from pairs of words */
#ifndef OPENPAI_BINDINGS_OPTIONS_H
#define OPENPAI_BINDINGS_OPTIONS_H

#include "facade.h"

#include <stddef.h>

enum option_kind {
  OPTION_INT = 1, /* numbers are not negative */
  OPTION_U32,
  OPTION_U64,
  OPTION_TIME,
  OPTION_TEXT, /* the word itself */
  OPTION_NAME  /* name of a number: `names` from 1 on */
};

typedef struct option {
  const char *name;
  size_t at;
  enum option_kind kind;
  const char *(*names)(int number); /* returns "" after the last name */
} option;

/* The kind of a member, by its type. */
#define OPTION_KIND(type, member) \
  _Generic(((type *)0)->member, const char *: OPTION_TEXT,            \
           int: OPTION_INT, uint32_t: OPTION_U32, uint64_t: OPTION_U64, \
           pai_time: OPTION_TIME)

/* An option with the name of a struct's member. */
#define OPTION(type, member)                                         \
  {                                                                  \
#member, offsetof(type, member), OPTION_KIND(type, member), NULL \
  }

/* Ends a table. */
#define OPTION_END   \
  {                  \
    NULL, 0, 0, NULL \
  }

#include "facade_options.h" /* of structs of the library: interface.txt */

/* Reads the options from `w`, of a table that ends with an empty row. Returns
 * false after a failure: an unknown option, or a wrong value. */
bool options_read(void *out, const option *known, const words *w, failure *f);

/* Returns PAI_FORMAT_* for "text", "json", "csv" or "html"; -1 after a
 * failure. */
int options_format(const char *name, failure *f);

#endif /* OPENPAI_BINDINGS_OPTIONS_H */
