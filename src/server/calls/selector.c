/* selector.c - Kubernetes' label and field selectors */
#include "server/calls/selector.h"

typedef struct selecting {
  const char *at; /* the rest of the selector */
  bool fields;
  pai__select_cb value;
  void *user_data;
} selecting;

typedef struct word {
  const char *s;
  size_t len;
} word;

static void skip_spaces(selecting *x)
{
  while (*x->at == ' ')
    x->at++;
}

static bool is_of_word(char c)
{
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-' ||
         c == '/';
}

static word read_word(selecting *x)
{
  word w;

  skip_spaces(x);
  w.s = x->at;
  while (is_of_word(*x->at))
    x->at++;
  w.len = (size_t)(x->at - w.s);
  skip_spaces(x);
  return w;
}

static bool is(word w, const char *text)
{
  return strlen(text) == w.len && memcmp(w.s, text, w.len) == 0;
}

static bool take(selecting *x, const char *sign)
{
  size_t len = strlen(sign);

  if (strncmp(x->at, sign, len) != 0)
    return false;
  x->at += len;
  return true;
}

/* Parses "(a, b)".  Returns 1 if the value is in the list, 0 if not, or
 * PAI_EINVAL. */
static int is_among(selecting *x, const char *value)
{
  int rc = 0;

  if (!take(x, "("))
    return PAI_EINVAL;
  do {
    word w = read_word(x);

    rc |= value != NULL && is(w, value);
  } while (take(x, ","));
  if (!take(x, ")"))
    return PAI_EINVAL;
  skip_spaces(x);
  return rc;
}

/* Parses what follows a key; returns as pai__select(). */
static int compare(selecting *x, const char *value)
{
  bool same = take(x, "==") || take(x, "=");
  int rc;

  if (same || take(x, "!=")) {
    word w = read_word(x);

    return same == (value != NULL && is(w, value));
  }
  if (x->fields)
    return PAI_EINVAL;
  if (take(x, "notin")) {
    skip_spaces(x);
    rc = is_among(x, value);
    return rc < 0 ? rc : !rc;
  }
  if (take(x, "in")) {
    skip_spaces(x);
    return is_among(x, value);
  }
  return value != NULL;
}

static int select_one(selecting *x)
{
  bool absent = !x->fields && take(x, "!");
  word key = read_word(x);
  const char *value;

  if (key.len == 0)
    return PAI_EINVAL;
  value = x->value(x->user_data, key.s, key.len);
  if (x->fields && value == NULL)
    return PAI_EINVAL;
  return absent ? value == NULL : compare(x, value);
}

int pai__select(const char *selector, bool fields, pai__select_cb value,
                void *user_data)
{
  selecting x = { selector, fields, value, user_data };
  int all = 1;

  skip_spaces(&x);
  if (*x.at == '\0')
    return 1;
  do {
    int rc;

    skip_spaces(&x);
    rc = select_one(&x);
    if (rc < 0)
      return rc;
    all &= rc;
  } while (take(&x, ","));
  return *x.at == '\0' ? all : PAI_EINVAL;
}
