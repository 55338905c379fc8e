/* names.c - lists of names, and tables of objects by name */
#include "account/inside.h"

enum { LONGEST_USER = 64, LONGEST_GROUP = 128 };

/* --- valid names --------------------------------------------------------- */

static bool is_word(char c)
{
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9') || c == '_';
}

/* As users of jobs, since names become parts of paths. */
bool pai__is_user_name(const char *name)
{
  size_t len = 0;

  while (is_word(name[len]) || name[len] == '.' || name[len] == '-')
    len++;
  return name[len] == '\0' && len > 0 && len <= LONGEST_USER && name[0] != '.';
}

bool pai__is_group_name(const char *name)
{
  size_t len = 0;

  while (is_word(name[len]))
    len++;
  return name[len] == '\0' && len > 0 && len <= LONGEST_GROUP;
}

/* --- texts --------------------------------------------------------------- */

int pai__set_text(const pai_alloc *alloc, char **to, const char *text)
{
  char *copy = text != NULL ? pai__strdup(alloc, text) : NULL;

  if (copy == NULL && text != NULL)
    return PAI_ENOMEM;
  pai__strfree(alloc, *to);
  *to = copy;
  return PAI_OK;
}

int pai__set_bytes(const pai_alloc *alloc, pai__bytes *to, pai__bytes bytes)
{
  void *copy = NULL;

  if (bytes.len > 0) {
    copy = pai__realloc(alloc, NULL, 0, bytes.len, 1);
    if (copy == NULL)
      return PAI_ENOMEM;
    memcpy(copy, bytes.data, bytes.len);
  }
  pai__free(alloc, (void *)(uintptr_t)to->data, to->len);
  *to = (pai__bytes){ copy, bytes.len };
  return PAI_OK;
}

void pai__forget(const pai_alloc *alloc, char *text)
{
  size_t size = text != NULL ? strlen(text) + 1 : 0;

  if (size > 0)
    sodium_memzero(text, size);
  pai__free(alloc, text, size);
}

/* --- lists --------------------------------------------------------------- */

void pai__strings_free(const pai_alloc *alloc, pai__strings *s)
{
  for (size_t i = 0; i < s->n; i++)
    pai__strfree(alloc, s->at[i]);
  pai__free(alloc, s->at, s->cap * sizeof(*s->at));
  *s = (pai__strings){ 0 };
}

bool pai__strings_has(const pai__strings *s, const char *name)
{
  for (size_t i = 0; i < s->n; i++)
    if (strcmp(s->at[i], name) == 0)
      return true;
  return false;
}

int pai__strings_push(const pai_alloc *alloc, pai__strings *s,
                      const char *name)
{
  char *copy;

  if (PAI__VEC_ROOM(alloc, s->at, s->n, s->cap) < 0)
    return PAI_ENOMEM;
  copy = pai__strdup(alloc, name);
  if (copy == NULL)
    return PAI_ENOMEM;
  s->at[s->n++] = copy;
  return PAI_OK;
}

int pai__strings_add(const pai_alloc *alloc, pai__strings *s, const char *name)
{
  return pai__strings_has(s, name) ? PAI_OK
                                   : pai__strings_push(alloc, s, name);
}

void pai__strings_drop(const pai_alloc *alloc, pai__strings *s,
                       const char *name)
{
  size_t kept = 0;

  for (size_t i = 0; i < s->n; i++)
    if (strcmp(s->at[i], name) == 0)
      pai__strfree(alloc, s->at[i]);
    else
      s->at[kept++] = s->at[i];
  s->n = kept;
}

int pai__strings_copy(const pai_alloc *alloc, pai__strings *to,
                      const pai__strings *from)
{
  int rc = PAI_OK;

  *to = (pai__strings){ 0 };
  for (size_t i = 0; i < from->n && rc == PAI_OK; i++)
    rc = pai__strings_push(alloc, to, from->at[i]);
  return rc;
}

char *pai__strings_json(const pai_alloc *alloc, const pai__strings *s)
{
  pai__json_writer w;
  pai__buf b;
  char *text = NULL;

  pai__buf_init(&b, alloc);
  pai__json_writer_init(&w, &b, false);
  pai__wire_names(&w, s);
  if (pai__json_finish(&w) == PAI_OK)
    text = pai__buf_take(&b);
  pai__buf_dispose(&b);
  return text;
}

/* --- tables -------------------------------------------------------------- */

static const char *name_of(const void *thing)
{
  const char *name;

  memcpy(&name, thing, sizeof(name));
  return name;
}

/* Returns the index of the name, or where to insert it. */
static size_t search(const pai__account_table *t, const char *name,
                     bool *found)
{
  size_t low = 0, high = t->n;

  *found = false;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    int order = strcmp(name_of(t->at[middle]), name);

    if (order == 0) {
      *found = true;
      return middle;
    }
    if (order < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

void **pai__table_place(const pai__account_table *t, const char *name)
{
  bool found;
  size_t at = search(t, name, &found);

  return found ? &t->at[at] : NULL;
}

void *pai__table_find(const pai__account_table *t, const char *name)
{
  void **place = pai__table_place(t, name);

  return place != NULL ? *place : NULL;
}

int pai__table_room(const pai_alloc *alloc, pai__account_table *t, size_t more)
{
  int rc = PAI_OK;

  while (rc == PAI_OK && t->cap - t->n < more)
    rc = pai__vec_grow(alloc, (void *)&t->at, &t->cap, sizeof(*t->at));
  return rc;
}

void pai__table_add(pai__account_table *t, void *thing)
{
  bool found;
  size_t at = search(t, name_of(thing), &found);

  memmove(&t->at[at + 1], &t->at[at], (t->n - at) * sizeof(*t->at));
  t->at[at] = thing;
  t->n++;
}

void pai__table_drop(pai__account_table *t, const char *name)
{
  bool found;
  size_t at = search(t, name, &found);

  if (!found)
    return;
  t->n--;
  memmove(&t->at[at], &t->at[at + 1], (t->n - at) * sizeof(*t->at));
}
