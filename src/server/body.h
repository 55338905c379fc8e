/*
 * body.h - what the body of a request may hold
 *
 * A route says it in a table of fields.  What comes is JSON, a form, or JSON
 * that is sent as text; it is checked as OpenPAI's server checks it, with its
 * words (those of Joi 13).  The handler sees JSON in which every text that
 * stands for a number, a truth or an object is one, and what may be missing
 * has its value.  The document of the API is written from the same tables, and
 * from those of answers (shapes.h), which have kinds of their own, and of
 * queries (query.c), which have no objects.
 */
#ifndef PAI_SRC_SERVER_BODY_H
#define PAI_SRC_SERVER_BODY_H

#include "base/buf.h"
#include "base/tree.h"

enum pai__kind {
  PAI__END = 0, /* of a table */
  PAI__IS_TEXT,
  PAI__IS_FLAG,
  PAI__IS_NUMBER,
  PAI__IS_WHOLE, /* a number */
  PAI__IS_OBJECT,
  PAI__IS_TEXTS, /* a list */
  PAI__IS_ANY,
  PAI__KINDS_OF_BODIES,
  /* Of answers alone: */
  PAI__IS_TIME = PAI__KINDS_OF_BODIES, /* in milliseconds since 1970 */
  PAI__IS_LIST,
  PAI__IS_MAP, /* an object whose names are free */
  PAI__KINDS
};

enum {
  PAI__NEEDED = 1,
  PAI__NEEDED_WHOLE = 2, /* unless the body has "patch": true */
  PAI__MAY_BE_EMPTY = 4, /* a text; else "" is refused */
  PAI__IS_MAIL = 8,
  PAI__MAY_BE_NULL = 16 /* in an answer */
};

/* What a text is made of. */
typedef struct pai__pattern {
  bool (*has)(unsigned char c); /* one of its characters */
  const char *regex;
  const char
    *wrong; /* what is said of a text that is not; NULL: the regex is */
} pai__pattern;

extern const pai__pattern pai__user_pattern, pai__group_pattern,
  pai__no_comma_pattern;

typedef struct pai__field {
  const char *name;
  enum pai__kind kind;
  unsigned flags;
  int64_t least, most; /* characters of a text, or a number; both 0: any */
  const pai__pattern *pattern;
  const char *missing;        /* JSON that it is then; NULL: nothing */
  const char *const *choices; /* texts that it may be, and NULL; or NULL */
  const char *with;           /* needed if that one is there, too */
  const char *not_below;      /* that number beside it */
  const struct pai__field *fields; /* of an object, and an end; NULL: any */
  const struct pai__shape *shape; /* of an answer: what it is, or each in it */
  const char *what;               /* of a query: what it is for */
} pai__field;

/* A row of a table of queries; lists are texts with commas between. */
#define PAI__TAKES(k, n, w)                       \
  {                                               \
    .name = (n), .kind = PAI__IS_##k, .what = (w) \
  }

/*
 * Checks a value: an object of these fields and no others, and adds it to
 * `out` as JSON.  PAI_OK; PAI_EINVAL: *wrong, empty before, says why not;
 * PAI_ENOMEM.
 */
int pai__fields_check(const pai__field *fields, const pai__tree *tree,
                      pai__buf *out, pai__buf *wrong);

/* fields_text.c: whether a text is made of that, and not empty. */
bool pai__pattern_fits(const pai__pattern *p, const char *text, size_t len);
/* The length that JavaScript tells. */
int64_t pai__count_utf16(const char *text, size_t len);
/* The number that a text begins with; false: there is none. */
bool pai__read_number(const char *text, double *out);

/*
 * A form ("a=1&b[c]=2&d[]=3") as JSON, added to `out`: all its values are
 * texts.  PAI_OK; PAI_ELIMIT: too many, or too deep; PAI_ENOMEM.
 */
int pai__form_to_json(const char *text, size_t len, pai__buf *out);

#endif
