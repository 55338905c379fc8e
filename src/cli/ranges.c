/* ranges.c - names of many nodes in a word */
#include "ranges.h"
#include "cli.h"

#include <stdlib.h>
#include <string.h>

enum { LONGEST = 512, MOST = 1000000, DIGITS = 9 };

typedef struct expansion {
  const char *word;
  int (*each)(void *user_data, const char *name);
  void *user_data;
  char name[LONGEST];
  long names; /* so far */
} expansion;

static int wrong(const expansion *x, const char *what)
{
  cli_fail("%s: %s", what, x->word);
  cli_help(stderr, "names are written as node7, or node[1-8,10] for many");
  return CLI_USAGE;
}

static int expand(expansion *x, size_t len, const char *rest);

/* A number with so many digits at least, then what follows the brackets. */
static int put_number(expansion *x, size_t len, long n, int digits,
                      const char *behind)
{
  int more = snprintf(x->name + len, LONGEST - len, "%0*ld", digits, n);

  return len + (size_t)more < LONGEST ? expand(x, len + (size_t)more, behind)
                                      : wrong(x, "this name is too long");
}

static bool read_number(const char **at, long *n, int *digits)
{
  size_t len = strspn(*at, "0123456789");

  *n = len > 0 && len <= DIGITS ? strtol(*at, NULL, 10) : 0;
  *digits = (int)len;
  *at += len;
  return len > 0 && len <= DIGITS;
}

/* From behind a bracket: "1-8,10]". */
static int expand_list(expansion *x, size_t len, const char *list)
{
  const char *end = strchr(list, ']'), *at = list;
  int code = CLI_OK;

  if (end == NULL)
    return wrong(x, "a bracket is not closed");
  while (code == CLI_OK) {
    long from, to;
    int digits, more;
    if (!read_number(&at, &from, &digits))
      return wrong(x, "brackets hold numbers");
    to = from;
    if (*at == '-' && (at++, !read_number(&at, &to, &more)))
      return wrong(x, "brackets hold numbers");
    if (to < from)
      return wrong(x, "this range ends before it begins");
    for (long n = from; code == CLI_OK && n <= to; n++)
      code = put_number(x, len, n, digits, end + 1);
    if (*at != ',')
      break;
    at++;
  }
  return code == CLI_OK && at != end ? wrong(x, "brackets hold numbers")
                                     : code;
}

/* `len` bytes of a name are there. */
static int expand(expansion *x, size_t len, const char *rest)
{
  for (; *rest != '\0' && *rest != ','; rest++) {
    if (*rest == '[')
      return expand_list(x, len, rest + 1);
    if (*rest == ']')
      return wrong(x, "a bracket is not opened");
    if (len + 1 >= LONGEST)
      return wrong(x, "this name is too long");
    x->name[len++] = *rest;
  }
  x->name[len] = '\0';
  if (len == 0)
    return wrong(x, "there is no name");
  if (++x->names > MOST)
    return wrong(x, "more than a million names");
  return x->each(x->user_data, x->name);
}

int cli_ranges(const char *word,
               int (*each)(void *user_data, const char *name), void *user_data)
{
  expansion x = { .word = word, .each = each, .user_data = user_data };
  const char *at = word;
  int code = CLI_OK;

  while (code == CLI_OK) {
    code = expand(&x, 0, at);
    /* The next comma that is in no brackets. */
    for (int depth = 0; *at != '\0' && (depth > 0 || *at != ','); at++)
      depth += *at == '[' ? 1 : *at == ']' && depth > 0 ? -1 : 0;
    if (*at == '\0')
      break;
    at++;
  }
  return code;
}
