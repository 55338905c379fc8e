/*
 * json.c - what the platform answers, read
 *
 * Its texts are decoded where they stand, in a copy: an escape is never shorter
 * than what it stands for.
 */
#include "json.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_DEPTH = 64 };

typedef struct reader {
  cli_json *json;
  char *p;
  size_t cap;
  int depth;
} reader;

static void skip_space(reader *r)
{
  r->p += strspn(r->p, " \t\r\n");
}

static cli_value *add(reader *r, char type)
{
  cli_json *j = r->json;

  if (j->count == r->cap) {
    size_t cap = r->cap == 0 ? 64 : r->cap * 2;
    cli_value *grown = realloc(j->values, cap * sizeof(*grown));
    if (grown == NULL)
      return NULL;
    j->values = grown;
    r->cap = cap;
  }
  j->values[j->count] = (cli_value){ .type = type, .next = j->count + 1 };
  return &j->values[j->count++];
}

/* Four digits of \uXXXX, or -1. */
static long read_unit(const char *p)
{
  char digits[5] = "", *end;
  long unit;

  for (int i = 0; i < 4 && p[i] != '\0'; i++)
    digits[i] = p[i];
  unit = strtol(digits, &end, 16);
  return end == digits + 4 ? unit : -1;
}

static char *put_character(char *to, unsigned long c)
{
  if (c < 0x80) {
    *to++ = (char)c;
  } else if (c < 0x800) {
    *to++ = (char)(0xc0 | (c >> 6));
    *to++ = (char)(0x80 | (c & 0x3f));
  } else if (c < 0x10000) {
    *to++ = (char)(0xe0 | (c >> 12));
    *to++ = (char)(0x80 | ((c >> 6) & 0x3f));
    *to++ = (char)(0x80 | (c & 0x3f));
  } else {
    *to++ = (char)(0xf0 | (c >> 18));
    *to++ = (char)(0x80 | ((c >> 12) & 0x3f));
    *to++ = (char)(0x80 | ((c >> 6) & 0x3f));
    *to++ = (char)(0x80 | (c & 0x3f));
  }
  return to;
}

/* \uXXXX, or two of them for one character; r->p is at the 'u'. */
static char *read_escape(reader *r, char *to)
{
  long unit = read_unit(r->p + 1), low;

  if (unit < 0)
    return NULL;
  r->p += 5;
  if (unit < 0xd800 || unit > 0xdfff)
    return put_character(to, unit == 0 ? 0xfffd : (unsigned long)unit);
  low = r->p[0] == '\\' && r->p[1] == 'u' ? read_unit(r->p + 2) : -1;
  if (unit > 0xdbff || low < 0xdc00 || low > 0xdfff)
    return put_character(to, 0xfffd);
  r->p += 6;
  return put_character(to, 0x10000 + ((unsigned long)(unit - 0xd800) << 10) +
                             (unsigned long)(low - 0xdc00));
}

/* A text whose quote is at r->p, decoded; or NULL. */
static const char *read_text(reader *r)
{
  static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
  char *start = ++r->p, *to = start;

  while (to != NULL && *r->p != '"') {
    const char *name;
    if (*r->p == '\0')
      return NULL;
    if (*r->p != '\\') {
      *to++ = *r->p++;
      continue;
    }
    r->p++;
    name = *r->p != '\0' ? strchr(names, *r->p) : NULL;
    if (name != NULL) {
      *to++ = values[name - names];
      r->p++;
    } else {
      to = *r->p == 'u' ? read_escape(r, to) : NULL;
    }
  }
  if (to == NULL)
    return NULL;
  r->p++;
  *to = '\0';
  return start;
}

static bool read_value(reader *r, const char *key);

/* What is between brackets, of which the first is at r->p. */
static bool read_list(reader *r, size_t of, char end)
{
  r->p++;
  skip_space(r);
  if (*r->p != end)
    for (;;) {
      const char *key = "";
      if (end == '}') {
        skip_space(r);
        if (*r->p != '"' || (key = read_text(r)) == NULL)
          return false;
        skip_space(r);
        if (*r->p++ != ':')
          return false;
      }
      if (!read_value(r, key))
        return false;
      skip_space(r);
      if (*r->p != ',')
        break;
      r->p++;
    }
  if (*r->p != end)
    return false;
  r->p++;
  r->json->values[of].next = r->json->count;
  return true;
}

/* A number or a word; what follows it is not part of it. */
static bool read_word(reader *r, cli_value *v)
{
  size_t len = strcspn(r->p, ",]} \t\r\n");

  v->text = r->p;
  r->p += len;
  return len > 0;
}

static bool read_value(reader *r, const char *key)
{
  size_t at = r->json->count;
  cli_value *v;
  bool good;

  skip_space(r);
  v = add(r, *r->p);
  if (v == NULL)
    return false;
  v->key = key;
  if (*r->p == '"') {
    v->text = read_text(r);
    return v->text != NULL;
  }
  if (*r->p == '{' || *r->p == '[') {
    good =
      ++r->depth < MOST_DEPTH && read_list(r, at, *r->p == '{' ? '}' : ']');
    r->depth--;
    return good;
  }
  if (*r->p == '-' || (*r->p >= '0' && *r->p <= '9'))
    v->type = '0';
  else if (strchr("tfn", *r->p) == NULL)
    return false;
  return *r->p != '\0' && read_word(r, v);
}

bool cli_json_read(cli_json *out, const char *text, size_t len)
{
  reader r = { .json = out };

  *out = (cli_json){ .text = malloc(len + 1) };
  if (out->text == NULL)
    return false;
  memcpy(out->text, text, len);
  out->text[len] = '\0';
  r.p = out->text;
  if (read_value(&r, NULL))
    return true;
  cli_json_free(out);
  return false;
}

void cli_json_free(cli_json *json)
{
  free(json->values);
  free(json->text);
  *json = (cli_json){ 0 };
}

size_t cli_json_first(const cli_json *json, size_t of)
{
  return of < json->count && json->values[of].next > of + 1 ? of + 1 : 0;
}

size_t cli_json_next(const cli_json *json, size_t of, size_t i)
{
  size_t next = json->values[i].next;

  return next < json->values[of].next ? next : 0;
}

size_t cli_json_get(const cli_json *json, size_t of, const char *key)
{
  if (of >= json->count || json->values[of].type != '{')
    return 0;
  for (size_t i = cli_json_first(json, of); i != 0;
       i = cli_json_next(json, of, i))
    if (strcmp(json->values[i].key, key) == 0)
      return i;
  return 0;
}

const char *cli_json_text(const cli_json *json, size_t of, const char *key)
{
  size_t i = cli_json_get(json, of, key);

  return i != 0 && json->values[i].type == '"' ? json->values[i].text : "";
}

bool cli_json_true(const cli_json *json, size_t of, const char *key)
{
  size_t i = cli_json_get(json, of, key);

  return i != 0 && json->values[i].type == 't';
}

int64_t cli_json_number(const cli_json *json, size_t of, const char *key,
                        int64_t missing)
{
  size_t i = cli_json_get(json, of, key);

  return i != 0 && json->values[i].type == '0'
           ? strtoll(json->values[i].text, NULL, 10)
           : missing;
}

bool cli_json_pointer(char *out, size_t size, const char *below,
                      const char *key, size_t len)
{
  size_t n = (size_t)snprintf(out, size, "%s/", below);

  for (size_t i = 0; i < len && n + 3 < size; i++) {
    if (key[i] == '~' || key[i] == '/') {
      out[n++] = '~';
      out[n++] = key[i] == '~' ? '0' : '1';
    } else {
      out[n++] = key[i];
    }
  }
  out[n] = '\0';
  return n + 3 < size;
}
