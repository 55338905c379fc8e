/* options.h - structs of the library's that are told as words */
#ifndef OPENPAI_BINDINGS_OPTIONS_H
#define OPENPAI_BINDINGS_OPTIONS_H

#include "facade.h"

#include <stddef.h>

enum option_kind {
  OPTION_INT = 1, /* all of these not below zero */
  OPTION_U32,
  OPTION_U64,
  OPTION_TIME,
  OPTION_TEXT, /* the word itself */
  OPTION_NAME  /* of a number, as `name` has them from 1 on */
};

typedef struct option {
  const char *name;
  size_t at;
  enum option_kind kind;
  const char *(*names)(int number); /* "" behind the last one */
} option;

/* A member of a struct, by its own name. */
#define OPTION(type, member, kind)                \
  {                                               \
#member, offsetof(type, member), (kind), NULL \
  }

/* False after a failure: there is no such option, or no such value. */
bool options_read(void *out, const option *known, size_t n, const words *w,
                  failure *f);

/* "text", "json", "csv" or "html": PAI_FORMAT_*, or -1 after a failure. */
int options_format(const char *name, failure *f);

#endif /* OPENPAI_BINDINGS_OPTIONS_H */
