/* options.c - reads option structs of the library from pairs of words */
#include "options.h"
#include "shared.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool refuse(failure *f, const char *name, const char *what)
{
  size_t size = strlen(name) + strlen(what) + 1;

  facade_fail(f, PAI_EINVAL, NULL);
  f->made = malloc(size);
  if (f->made != NULL)
    (void)snprintf(f->made, size, "%s%s", name, what);
  return false;
}

static bool read_number(const char *word, uint64_t most, uint64_t *number)
{
  char *end;

  errno = 0;
  *number = strtoull(word, &end, 10);
  return *word >= '0' && *word <= '9' && *end == '\0' && errno == 0 &&
         *number <= most;
}

static bool set_number(void *at, enum option_kind kind, const char *word)
{
  uint64_t number;

  switch (kind) {
  case OPTION_INT:
    if (!read_number(word, INT32_MAX, &number))
      return false;
    *(int *)at = (int)number;
    return true;
  case OPTION_U32:
    if (!read_number(word, UINT32_MAX, &number))
      return false;
    *(uint32_t *)at = (uint32_t)number;
    return true;
  case OPTION_TIME:
    if (!read_number(word, INT64_MAX, &number))
      return false;
    *(pai_time *)at = (pai_time)number;
    return true;
  default: return read_number(word, UINT64_MAX, (uint64_t *)at);
  }
}

static bool set_name(int *at, const option *o, const char *word)
{
  for (*at = 1; *o->names(*at) != '\0'; ++*at)
    if (strcmp(o->names(*at), word) == 0)
      return true;
  return false;
}

/* Fails with a message like "like is one of philly, helios". */
static bool refuse_name(failure *f, const option *o)
{
  char names[512] = "";
  size_t len = 0;

  for (int i = 1; *o->names(i) != '\0' && len < sizeof(names) - 40; i++)
    len += (size_t)snprintf(names + len, sizeof(names) - len, "%s%s",
                            i > 1 ? ", " : " is one of ", o->names(i));
  return refuse(f, o->name, names);
}

static bool set(void *out, const option *o, const char *word, failure *f)
{
  void *at = (char *)out + o->at;

  if (o->kind == OPTION_TEXT) {
    *(const char **)at = word;
    return true;
  }
  if (o->kind == OPTION_NAME)
    return set_name(at, o, word) || refuse_name(f, o);
  return set_number(at, o->kind, word) ||
         refuse(f, o->name, " wants a whole number, not below 0");
}

bool options_read(void *out, const option *known, const words *w, failure *f)
{
  for (size_t at = 0; at < w->len;) {
    const char *name = facade_word(w, &at), *value = facade_word(w, &at);
    const option *o = known;

    while (o->name != NULL && strcmp(o->name, name) != 0)
      o++;
    if (o->name == NULL)
      return refuse(f, name, " is no option of this");
    if (value == NULL)
      return refuse(f, name, " has no value");
    if (!set(out, o, value, f))
      return false;
  }
  return true;
}

int options_format(const char *name, failure *f)
{
  static const struct {
    const char *name;
    int format;
  } formats[] = { { "text", PAI_FORMAT_TEXT },
                  { "json", PAI_FORMAT_JSON },
                  { "csv", PAI_FORMAT_CSV },
                  { "html", PAI_FORMAT_HTML } };

  for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++)
    if (strcmp(formats[i].name, name) == 0)
      return formats[i].format;
  (void)refuse(f, name, " is no format: text, json, csv or html");
  return -1;
}
