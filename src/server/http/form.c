/*
 * form.c - converts a form to JSON
 *
 * The rules are those of Node's package qs: "a[b]=c" is a member of a member;
 * "a[]=c", "a[0]=c" and repeated names are items of a list.
 */
#include "server/http/body.h"

#include "base/arena.h"
#include "json/writer.h"

enum { MOST_PARTS = 1000, MOST_DEPTH = 5, MOST_INDEX = 20 };

/* A value, or named parts. */
typedef struct part {
  struct part *next, *first;
  const char *name; /* "": an item of a list */
  const char *value;
  size_t len; /* length of the value */
} part;

typedef struct form {
  pai__arena arena;
  part root;
  size_t parts;
} form;

/* --- parsing ------------------------------------------------------------- */

static int hex(char c)
{
  return c >= '0' && c <= '9'   ? c - '0'
         : c >= 'a' && c <= 'f' ? c - 'a' + 10
         : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                : -1;
}

/* A '%' that is not followed by two hex digits is kept. */
static char *decode(form *f, const char *text, size_t len, size_t *out)
{
  char *copy = pai__arena_strndup(&f->arena, text, len), *to = copy;

  for (size_t i = 0; copy != NULL && i < len; i++) {
    bool escaped = text[i] == '%' && len - i > 2 && hex(text[i + 1]) >= 0 &&
                   hex(text[i + 2]) >= 0;

    *to++ = escaped          ? (char)(hex(text[i + 1]) * 16 + hex(text[i + 2]))
            : text[i] == '+' ? ' '
                             : text[i];
    i += escaped ? 2 : 0;
  }
  if (copy != NULL)
    *to = '\0';
  *out = copy != NULL ? (size_t)(to - copy) : 0;
  return copy;
}

static part *add_part(form *f, part *of, const char *name)
{
  part *p = pai__arena_zalloc(&f->arena, 1, sizeof(*p)), **at = &of->first;

  if (p == NULL)
    return NULL;
  p->name = name;
  while (*at != NULL)
    at = &(*at)->next;
  *at = p;
  return p;
}

static part *find_part(const part *of, const char *name)
{
  part *p = of->first;

  while (p != NULL && (name[0] == '\0' || strcmp(p->name, name) != 0))
    p = p->next;
  return p;
}

/* Turns a part with a value into a list of that value. */
static bool make_list(form *f, part *of)
{
  part *p;

  if (of->value == NULL)
    return true;
  p = add_part(f, of, "");
  if (p == NULL)
    return false;
  p->value = of->value;
  p->len = of->len;
  of->value = NULL;
  return true;
}

static int set_part(form *f, part *p, const char *value, size_t len)
{
  if (p->value != NULL || p->first != NULL) {
    if (!make_list(f, p))
      return PAI_ENOMEM;
    p = add_part(f, p, "");
  }
  if (p == NULL)
    return PAI_ENOMEM;
  p->value = value;
  p->len = len;
  return PAI_OK;
}

/* Returns the next step of a key and advances: "a" of "a[b][c]", then "b",
 * "c". */
static char *cut_step(char **key)
{
  char *step = *key, *end;

  if (step[0] == '[') {
    step++;
    end = strchr(step, ']');
    if (end == NULL) { /* no ']': the '[' is part of the name */
      *key = step + strlen(step);
      return step - 1;
    }
    *end = '\0';
    *key = end + 1 + strcspn(end + 1, "[");
    return step;
  }
  end = step + strcspn(step, "[");
  if (strchr(end, ']') == NULL)
    end = step + strlen(step);
  *key = end;
  return step;
}

static int add_pair(form *f, const char *text, size_t len)
{
  const char *equals = memchr(text, '=', len);
  size_t name_len = equals != NULL ? (size_t)(equals - text) : len, size;
  char *key = decode(f, text, name_len, &size), *value, *step, end;
  part *at = &f->root;

  value = equals != NULL ? decode(f, equals + 1, len - name_len - 1, &size)
                         : pai__arena_strndup(&f->arena, "", 0);
  if (equals == NULL)
    size = 0;
  if (key == NULL || value == NULL)
    return PAI_ENOMEM;
  for (int depth = 0; depth == 0 || *key != '\0'; depth++) {
    part *p;

    if (depth > MOST_DEPTH)
      return PAI_ELIMIT;
    step = cut_step(&key);
    end = *key; /* the next step begins there */
    *key = '\0';
    step = pai__arena_strndup(&f->arena, step, strlen(step));
    *key = end;
    p = step != NULL ? find_part(at, step) : NULL;
    if (step == NULL || !make_list(f, at) ||
        (p == NULL && (p = add_part(f, at, step)) == NULL))
      return PAI_ENOMEM;
    at = p;
  }
  return set_part(f, at, value, size);
}

static int read_form(form *f, const char *text, size_t len)
{
  const char *end = text + len;
  int rc = PAI_OK;

  while (rc == PAI_OK && text < end) {
    const char *next = memchr(text, '&', (size_t)(end - text));
    size_t n = (size_t)((next != NULL ? next : end) - text);

    if (n > 0 && text[0] != '=' && ++f->parts > MOST_PARTS)
      return PAI_ELIMIT;
    if (n > 0 && text[0] != '=')
      rc = add_pair(f, text, n);
    text += n + 1;
  }
  return rc;
}

/* --- output -------------------------------------------------------------- */

/* Returns the index of an item; -1: an item without an index; -2: a name. */
static int index_of(const part *p)
{
  int n = 0;

  if (p->name[0] == '\0')
    return -1;
  for (const char *c = p->name; *c != '\0'; c++) {
    if (*c < '0' || *c > '9' || c - p->name > 1)
      return -2;
    n = n * 10 + (*c - '0');
  }
  return n <= MOST_INDEX ? n : -2;
}

static bool is_list(const part *of)
{
  for (const part *p = of->first; p != NULL; p = p->next)
    if (index_of(p) == -2)
      return false;
  return of->first != NULL;
}

static void write_part(pai__json_writer *w, const part *of, bool list);

static void write_value(pai__json_writer *w, const part *p)
{
  if (p->value != NULL)
    pai__json_text(w, p->value, p->len);
  else
    write_part(w, p, is_list(p));
}

static void write_list(pai__json_writer *w, const part *of)
{
  pai__json_begin_array(w);
  for (int i = 0; i <= MOST_INDEX + 1; i++)
    for (const part *p = of->first; p != NULL; p = p->next)
      if (index_of(p) == (i <= MOST_INDEX ? i : -1))
        write_value(w, p);
  pai__json_end_array(w);
}

static void write_part(pai__json_writer *w, const part *of, bool list)
{
  if (list) {
    write_list(w, of);
    return;
  }
  pai__json_begin_object(w);
  for (const part *p = of->first; p != NULL; p = p->next) {
    pai__json_member(w, p->name);
    write_value(w, p);
  }
  pai__json_end_object(w);
}

int pai__form_to_json(const char *text, size_t len, pai__buf *out)
{
  pai__json_writer w;
  form f = { .root = { .name = "" } };
  int rc;

  pai__arena_init(&f.arena, out->alloc);
  rc = read_form(&f, text, len);
  if (rc == PAI_OK) {
    pai__json_writer_init(&w, out, false);
    write_part(&w, &f.root, false);
    rc = pai__json_finish(&w);
  }
  pai__arena_dispose(&f.arena);
  return rc;
}
