/* form.c - reading and writing structs as JSON objects, by tables of fields */
#include "json/form.h"

#include "base/text/milli.h"
#include "base/text/utf8.h"

#include <inttypes.h>
#include <stdio.h>

/* --- errors --------------------------------------------------------------- */

static int fail(const pai__form *f, pai__node at, int code, const char *text)
{
  pai__buf pointer;

  (void)pai__fail_at(f->err, code, pai__tree_where(f->tree, at), "%s", text);
  pai__buf_init(&pointer, &f->tree->alloc);
  pai__tree_pointer(f->tree, at, &pointer);
  if (pai__buf_ok(&pointer))
    pai__error_pointer(f->err, pai__buf_text(&pointer));
  pai__buf_dispose(&pointer);
  return code;
}

int pai__form_fail(const pai__form *f, pai__node at, const char *fmt, ...)
{
  char text[400];
  va_list ap;

  va_start(ap, fmt);
  (void)vsnprintf(text, sizeof(text), fmt, ap);
  va_end(ap);
  return fail(f, at, PAI_EINVAL, text);
}

int pai__form_blame(const pai__form *f, pai__node n, int code,
                    pai_error *cause)
{
  if (pai_error_code(cause) == PAI_ENOMEM) {
    pai_error_free(cause);
    return pai__oom(f->err);
  }
  (void)fail(f, n, code, pai_error_message(cause));
  if (pai_error_help(cause) != NULL)
    pai__error_help(f->err, "%s", pai_error_help(cause));
  pai_error_free(cause);
  return code;
}

static void help_with_keys(const pai__form *f, const pai__field *list,
                           size_t count)
{
  pai__buf keys;

  pai__buf_init(&keys, &f->tree->alloc);
  for (size_t i = 0; i < count; i++)
    pai__buf_printf(&keys, "%s%s", i != 0 ? ", " : "", list[i].key);
  if (pai__buf_ok(&keys))
    pai__error_help(f->err, "it may have: %s", pai__buf_text(&keys));
  pai__buf_dispose(&keys);
}

static void help_with_words(const pai__form *f, const char *const *words)
{
  pai__buf list;

  pai__buf_init(&list, &f->tree->alloc);
  for (size_t i = 0; words[i] != NULL; i++)
    if (words[i][0] != '\0')
      pai__buf_printf(&list, "%s%s", list.len != 0 ? ", " : "", words[i]);
  if (pai__buf_ok(&list))
    pai__error_help(f->err, "one of: %s", pai__buf_text(&list));
  pai__buf_dispose(&list);
}

/* --- one value ------------------------------------------------------------ */

static int read_digits(const char *s, size_t len, uint64_t *out)
{
  *out = 0;
  if (len == 0 || len > 20 || s[0] == '0')
    return PAI_EINVAL;
  for (size_t i = 0; i < len; i++) {
    uint64_t digit = (uint64_t)(s[i] - '0');

    if (s[i] < '0' || s[i] > '9' || *out > (UINT64_MAX - digit) / 10)
      return PAI_EINVAL;
    *out = *out * 10 + digit;
  }
  return PAI_OK;
}

static int read_id(const pai__form *f, pai__node at, const char *key,
                   uint64_t *out)
{
  int type = pai__tree_type(f->tree, at);
  const char *s;
  size_t len;

  if (type == PAI__INT && pai__tree_int(f->tree, at) >= 0) {
    *out = (uint64_t)pai__tree_int(f->tree, at);
    return PAI_OK;
  }
  if (type == PAI__STRING) {
    s = pai__tree_str(f->tree, at, &len);
    if (read_digits(s, len, out) == PAI_OK)
      return PAI_OK;
  }
  return pai__form_fail(f, at,
                        "\"%s\" is a whole number from 0 on, or above 2^63 "
                        "its digits in quotes",
                        key);
}

int pai__form_number(const pai__form *f, pai__node at, const char *key,
                     int64_t low, int64_t high, int64_t *out)
{
  if (pai__tree_type(f->tree, at) != PAI__INT)
    return pai__form_fail(f, at, "\"%s\" is a whole number", key);
  *out = pai__tree_int(f->tree, at);
  if (*out < low || *out > high)
    return pai__form_fail(
      f, at, "\"%s\" is from %" PRId64 " to %" PRId64 ", not %" PRId64, key,
      low, high, *out);
  return PAI_OK;
}

int pai__form_text(const pai__form *f, pai__node at, const char *key,
                   const char **out)
{
  size_t len;

  if (pai__tree_type(f->tree, at) != PAI__STRING)
    return pai__form_fail(f, at, "\"%s\" is a string", key);
  *out = pai__tree_str(f->tree, at, &len);
  if (strlen(*out) != len)
    return pai__form_fail(f, at, "\"%s\" has a NUL in it", key);
  return PAI_OK;
}

pai__items pai__form_items(const pai__form *f, pai__node at, const char *key)
{
  pai__items x = { .f = f, .at = at, .rc = PAI_OK };

  if (at == PAI__NO_NODE)
    return x;
  if (pai__tree_type(f->tree, at) != PAI__SEQUENCE) {
    x.rc = pai__form_fail(f, at, "\"%s\" is a list", key);
    return x;
  }
  x.count = pai__tree_count(f->tree, at);
  x.walk = pai__tree_iter(f->tree, at);
  return x;
}

/* --- members -------------------------------------------------------------- */

/* Tables have only members of these sizes: form.h. */
static void store(const pai__field *field, void *out, int64_t value)
{
  char *to = (char *)out + field->offset;
  uint32_t narrow = (uint32_t)value;
  uint8_t byte = (uint8_t)value;

  if (field->size == sizeof(byte))
    memcpy(to, &byte, sizeof(byte));
  else if (field->size == sizeof(narrow))
    memcpy(to, &narrow, sizeof(narrow));
  else
    memcpy(to, &value, sizeof(value));
}

static int64_t fetch(const pai__field *field, const void *in)
{
  const char *from = (const char *)in + field->offset;
  uint32_t narrow;
  int32_t with_sign;
  int64_t value;

  if (field->size == 1)
    return *(const uint8_t *)from;
  if (field->size == sizeof(value)) {
    memcpy(&value, from, sizeof(value));
    return value;
  }
  memcpy(&narrow, from, sizeof(narrow));
  memcpy(&with_sign, from, sizeof(with_sign));
  return field->low < 0 ? (int64_t)with_sign : (int64_t)narrow;
}

int pai__form_word(const pai__form *f, pai__node at, const pai__field *field,
                   void *out)
{
  const char *word = NULL;
  char shown[PAI__EXCERPT];
  int64_t i = 0;
  int rc = pai__form_text(f, at, field->key, &word);

  if (rc < 0 || word == NULL)
    return rc;
  while (field->words[i] != NULL &&
         (word[0] == '\0' || strcmp(field->words[i], word) != 0))
    i++;
  if (field->words[i] != NULL) {
    store(field, out, i);
    return PAI_OK;
  }
  (void)pai__form_fail(f, at, "\"%s\" cannot be \"%s\"", field->key,
                       pai__excerpt(shown, word, strlen(word)));
  help_with_words(f, field->words);
  return PAI_EINVAL;
}

/* Reads a whole number, or a fraction that is exact in thousandths. */
static int read_cpus(const pai__form *f, pai__node at, const pai__field *field,
                     void *out)
{
  uint64_t milli = 0;
  uint32_t beyond;
  int64_t whole = 0;
  int rc = PAI_OK;

  if (pai__tree_type(f->tree, at) != PAI__FLOAT) {
    rc = pai__form_number(f, at, field->key, 0, field->high, &whole);
    milli = rc == PAI_OK ? (uint64_t)whole * 1000 : 0;
  } else if (pai__milli_of(&milli, f->tree, at) < 0 ||
             milli / 1000 > (uint64_t)field->high) {
    rc = pai__form_fail(f, at,
                        "\"%s\" is a number of CPUs, with at most three "
                        "digits after the point",
                        field->key);
  }
  if (rc < 0)
    return rc;
  beyond = (uint32_t)(milli % 1000);
  store(field, out, (int64_t)(milli / 1000));
  memcpy((char *)out + field->beyond, &beyond, sizeof(beyond));
  return PAI_OK;
}

static int read_field(const pai__form *f, pai__node at,
                      const pai__field *field, void *out)
{
  void *to = (char *)out + field->offset;
  const char *text = NULL;
  int64_t number = 0;
  uint64_t id = 0;
  int rc = PAI_OK;

  switch (field->kind) {
  case PAI__FIELD_NUMBER:
    rc = pai__form_number(f, at, field->key, field->low, field->high, &number);
    break;
  case PAI__FIELD_ID:
    rc = read_id(f, at, field->key, &id);
    number = (int64_t)id;
    break;
  case PAI__FIELD_FLAG:
    if (pai__tree_type(f->tree, at) != PAI__BOOL)
      return pai__form_fail(f, at, "\"%s\" is true or false", field->key);
    number = pai__tree_bool(f->tree, at);
    break;
  case PAI__FIELD_CPUS: return read_cpus(f, at, field, out);
  case PAI__FIELD_WORD: return pai__form_word(f, at, field, out);
  case PAI__FIELD_TEXT:
    rc = pai__form_text(f, at, field->key, &text);
    memcpy(to, &text, sizeof(text));
    return rc;
  default: memcpy(to, &at, sizeof(at)); return PAI_OK;
  }
  if (rc == PAI_OK)
    store(field, out, number);
  return rc;
}

static void set_usual(const pai__field *field, void *out)
{
  static const pai__node none = PAI__NO_NODE;
  static const char *const no_text = NULL;
  static const uint32_t no = 0;
  void *to = (char *)out + field->offset;

  switch (field->kind) {
  case PAI__FIELD_TEXT: memcpy(to, &no_text, sizeof(no_text)); break;
  case PAI__FIELD_NODE: memcpy(to, &none, sizeof(none)); break;
  case PAI__FIELD_CPUS: memcpy((char *)out + field->beyond, &no, sizeof(no));
  /* fall through */
  default: store(field, out, field->usual); break;
  }
}

/* Fields mostly come in the order of the table, so the search starts at
 * `from`. */
static size_t find_field(const pai__field *list, size_t count, size_t from,
                         const char *key)
{
  for (size_t i = from; i < count; i++)
    if (strcmp(list[i].key, key) == 0)
      return i;
  for (size_t i = 0; i < from; i++)
    if (strcmp(list[i].key, key) == 0)
      return i;
  return count;
}

static int read_members(const pai__form *f, pai__node n, const char *what,
                        const pai__field *list, size_t count, void *out,
                        uint64_t *seen)
{
  pai__tree_walk walk = pai__tree_iter(f->tree, n);
  pai__node key;
  size_t from = 0;
  int rc = PAI_OK;

  while (rc == PAI_OK && (key = pai__tree_next(&walk)) != PAI__NO_NODE) {
    size_t len;
    const char *name = pai__tree_str(f->tree, key, &len);
    size_t i = find_field(list, count, from, name);
    char shown[PAI__EXCERPT];

    if (i == count || strlen(name) != len) {
      rc = pai__form_fail(f, key, "%s has no %s\"%s\"", what,
                          f->noun != NULL ? f->noun : "",
                          pai__excerpt(shown, name, len));
      help_with_keys(f, list, count);
    } else {
      rc = read_field(f, pai__tree_value(f->tree, key), &list[i], out);
      *seen |= UINT64_C(1) << i;
      from = i + 1;
    }
  }
  return rc;
}

int pai__form_read(const pai__form *f, pai__node n, const char *what,
                   const pai__field *list, size_t count, void *out)
{
  uint64_t seen = 0; /* tables have less than 64 fields */
  int rc;

  if (pai__tree_type(f->tree, n) != PAI__MAPPING)
    return pai__form_fail(f, n, "%s is an object", what);
  for (size_t i = 0; i < count; i++)
    set_usual(&list[i], out);
  rc = read_members(f, n, what, list, count, out, &seen);
  for (size_t i = 0; i < count && rc == PAI_OK; i++)
    if (list[i].needed && (seen >> i & 1) == 0)
      rc = pai__form_fail(f, n, "%s needs \"%s\"", what, list[i].key);
  return rc;
}

int pai__form_change(const pai__form *f, pai__node n, const char *what,
                     const pai__field *list, size_t count, void *out)
{
  uint64_t seen = 0;

  return read_members(f, n, what, list, count, out, &seen);
}

int pai__table_read_list(const pai__form *f, pai__arena *arena, pai__node at,
                         const char *key, const pai__table *table, size_t size,
                         void **out, size_t *count)
{
  pai__items x = pai__form_items(f, at, key);
  pai__node item;
  char *to;

  if (x.rc < 0)
    return x.rc;
  *count = x.count;
  *out = to = pai__arena_zalloc(arena, (size_t)x.count + 1, size);
  if (to == NULL)
    return pai__oom(f->err);
  for (; (item = pai__items_next(&x)) != PAI__NO_NODE; to += size)
    x.rc = pai__table_read(f, item, table, to);
  return x.rc;
}

/* --- writing -------------------------------------------------------------- */

static void write_cpus(pai__json_writer *w, const pai__field *field,
                       const void *in)
{
  uint32_t whole, beyond;

  memcpy(&whole, (const char *)in + field->offset, sizeof(whole));
  memcpy(&beyond, (const char *)in + field->beyond, sizeof(beyond));
  if (whole != 0 || beyond != 0)
    pai__json_put_milli(w, field->key, (uint64_t)whole * 1000 + beyond);
}

/* Returns the word of an index, or "" if there is none: events are written
 * before they are checked. */
static const char *word_of(const pai__field *field, int64_t i)
{
  int64_t count = 0;

  while (field->words[count] != NULL)
    count++;
  return i >= 0 && i < count ? field->words[i] : "";
}

static void write_text_field(pai__json_writer *w, const pai__field *field,
                             const void *in)
{
  const char *text = NULL;

  memcpy(&text, (const char *)in + field->offset, sizeof(text));
  if (text == NULL)
    return;
  pai__json_put_text(w, field->key, text);
}

static void write_number_field(pai__json_writer *w, const pai__field *field,
                               const void *in)
{
  int64_t number = fetch(field, in);

  if (number == field->usual && !field->needed)
    return;
  pai__json_member(w, field->key);
  switch (field->kind) {
  case PAI__FIELD_FLAG: pai__json_bool(w, true); break;
  case PAI__FIELD_ID: pai__json_id(w, (uint64_t)number); break;
  case PAI__FIELD_WORD: pai__json_string(w, word_of(field, number)); break;
  default: pai__json_int(w, number); break;
  }
}

void pai__form_write(pai__json_writer *w, const pai__field *list, size_t count,
                     const void *in)
{
  for (size_t i = 0; i < count; i++)
    switch (list[i].kind) {
    case PAI__FIELD_CPUS: write_cpus(w, &list[i], in); break;
    case PAI__FIELD_NODE: break;
    case PAI__FIELD_TEXT: write_text_field(w, &list[i], in); break;
    default: write_number_field(w, &list[i], in); break;
    }
}

void pai__table_put(pai__json_writer *w, const pai__table *table,
                    const void *in)
{
  pai__json_begin_object(w);
  pai__form_write(w, table->list, table->count, in);
  pai__json_end_object(w);
}
