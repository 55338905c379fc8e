/* record.c - reads JSON records into structs, by one table of members each */
#include "api/json.h"

#include "base/text/milli.h"

#include <openpai/job.h>

enum kind {
  TEXT,
  WHOLE,
  MAYBE,
  REAL,
  TIME,
  FLAG,
  STATE,
  VALUE,
  FLOOR,
  MAYBE_FLOOR,
  MILLIS
};

/* A member of a struct, and the path of its value: names with '/' between
 * them. */
typedef struct field {
  const char *path;
  size_t offset;
  enum kind kind;
} field;

typedef struct table {
  size_t size, first; /* size of the struct now, and in its first version */
  const field *fields;
  size_t count;
} table;

/* Compiles only if the member has the type of the kind. */
/* NOLINTNEXTLINE(bugprone-macro-parentheses): a type */
#define IS_OF(type, m, of) _Generic(((type *)0)->m, of : 1)
#define ROW(type, m, k, of, p)                \
  {                                           \
    .path = (p), .offset = offsetof(type, m), \
    .kind = (k) + 0 * IS_OF(type, m, of)      \
  }
#define ROW_TEXT(type, m, p) ROW(type, m, TEXT, const char *, p)
#define ROW_WHOLE(type, m, p) ROW(type, m, WHOLE, int64_t, p)
/* The whole part of a decimal number, and its thousandths. */
#define ROW_FLOOR(type, m, p) ROW(type, m, FLOOR, int64_t, p)
#define ROW_MAYBE_FLOOR(type, m, p) ROW(type, m, MAYBE_FLOOR, int64_t, p)
#define ROW_MILLIS(type, m, p) ROW(type, m, MILLIS, int64_t, p)
#define ROW_MAYBE(type, m, p) ROW(type, m, MAYBE, int64_t, p)
#define ROW_REAL(type, m, p) ROW(type, m, REAL, double, p)
#define ROW_TIME(type, m, p) ROW(type, m, TIME, pai_time, p)
#define ROW_FLAG(type, m, p) ROW(type, m, FLAG, int, p)
#define ROW_STATE(type, m, p) ROW(type, m, STATE, int, p)
#define ROW_VALUE(type, m, p) ROW(type, m, VALUE, size_t, p)

/* --- the walker --------------------------------------------------------- */

static pai__node look(const pai__tree *t, pai__node n, const char *path)
{
  while (n != PAI__NO_NODE) {
    size_t len = strcspn(path, "/");

    n = pai__tree_find(t, n, path, len);
    if (n != PAI__NO_NODE)
      n = pai__tree_value(t, n);
    if (path[len] == '\0')
      break;
    path += len + 1;
  }
  return n;
}

/* A state's PAI_STATE_* is its index. */
static int read_state(const char *text)
{
  static const char *const names[] = { "",         "WAITING",   "RUNNING",
                                       "STOPPING", "SUCCEEDED", "FAILED",
                                       "STOPPED" };

  for (size_t i = 1; text != NULL && i < PAI__LEN(names); i++)
    if (strcmp(text, names[i]) == 0)
      return (int)i;
  return 0;
}

/* REST times are in milliseconds. */
static pai_time read_time(int64_t ms)
{
  return ms > PAI__LAST_TIME / 1000 || ms < -PAI__LAST_TIME / 1000 ? 0
                                                                   : ms * 1000;
}

/* Reads the whole part or the thousandths of a number.  A whole number may
 * have any value. */
static int64_t read_amount(const pai__tree *t, pai__node n, enum kind kind)
{
  int64_t missing = kind == MAYBE_FLOOR ? PAI_JSON_NO_NUMBER : 0, whole;
  double number;
  uint64_t milli;

  if (n == PAI__NO_NODE)
    return missing;
  if (pai__tree_whole(t, n, &whole))
    return kind == MILLIS ? 0 : whole;
  /* Round, as a server may have summed floats: 12.299999999999999. */
  number = pai__tree_float(t, n) * 1000;
  if (pai__tree_type(t, n) != PAI__FLOAT || !(number >= 0 && number < 9.2e18))
    return missing;
  milli = (uint64_t)(number + 0.5);
  return (int64_t)(kind == MILLIS ? milli % 1000 : milli / 1000);
}

static void store(const field *f, const pai_json *json, pai__node n, void *out)
{
  void *to = (char *)out + f->offset;
  size_t value = pai__json_value_of(n);
  const char *text;
  int64_t whole;
  double real;
  int number;

  switch (f->kind) {
  case TEXT:
    text = pai_json_text(json, value, NULL);
    memcpy(to, &text, sizeof(text));
    break;
  case VALUE: memcpy(to, &value, sizeof(value)); break;
  case REAL:
    real = pai_json_number(json, value, 0);
    memcpy(to, &real, sizeof(real));
    break;
  case FLAG:
  case STATE:
    number = f->kind == FLAG ? pai_json_bool(json, value)
                             : read_state(pai_json_text(json, value, NULL));
    memcpy(to, &number, sizeof(number));
    break;
  case FLOOR:
  case MAYBE_FLOOR:
  case MILLIS:
    whole = read_amount(json->tree, n, f->kind);
    memcpy(to, &whole, sizeof(whole));
    break;
  default:
    whole =
      pai_json_int(json, value, f->kind == MAYBE ? PAI_JSON_NO_NUMBER : 0);
    if (f->kind == TIME)
      whole = read_time(whole);
    memcpy(to, &whole, sizeof(whole));
    break;
  }
}

static int fill(void *out, const pai_json *json, size_t value, const table *t)
{
  union {
    size_t struct_size;
    char bytes[512];
    double of_reals;
  } full = { .bytes = { 0 } };
  pai__node n = pai__json_node_of(json, value);

  if (out == NULL || json == NULL)
    return PAI_EINVAL;
  for (size_t i = 0; i < t->count; i++)
    store(&t->fields[i], json, look(json->tree, n, t->fields[i].path),
          full.bytes);
  if (!pai__tree_is(json->tree, n, PAI__MAPPING))
    return PAI_ENOTFOUND;
  return pai__fill_view(out, full.bytes, t->size, t->first);
}

/* --- the structs (api/schema) ------------------------------------------ */

/* NOLINTBEGIN(bugprone-macro-parentheses): types */
#define TABLE(name, type, last)                            \
  static const table name = { sizeof(type),                \
                              offsetof(type, last) +       \
                                sizeof(((type *)0)->last), \
                              name##_fields, PAI__LEN(name##_fields) };

#define CALL(name, type)                                             \
  int pai_json_##name(type *out, const pai_json *json, size_t value) \
  {                                                                  \
    return fill(out, json, value, &(name));                          \
  }
/* NOLINTEND(bugprone-macro-parentheses) */

#include "api/views.inc"
