/*
 * form.h - internal: reading and writing structs as JSON objects, by tables of
 * fields
 *
 * A field with its usual value is not written.  A field that is missing gets
 * its usual value.
 */
#ifndef PAI_SRC_JSON_FORM_H
#define PAI_SRC_JSON_FORM_H

#include "base/arena.h"
#include "base/tree.h"
#include "json/writer.h"

enum pai__field_kind {
  PAI__FIELD_NUMBER = 1, /* an integer of 1, 4 or 8 bytes; signed if `low` is
                            negative */
  PAI__FIELD_CPUS, /* a uint32_t, and another one at `beyond` for thousandths:
                      a number with up to three digits after the point */
  PAI__FIELD_ID,   /* a uint64_t; above 2^63 a string of digits */
  PAI__FIELD_FLAG, /* an integer of any size, or a bool: true or false */
  PAI__FIELD_WORD, /* an integer of any size: an index in `words` */
  PAI__FIELD_TEXT, /* a string, or NULL */
  PAI__FIELD_NODE  /* a pai__node, which the caller reads and writes */
};

typedef struct pai__field {
  const char *key;
  const char *const *words; /* ends with NULL; "" stands for no word */
  int64_t low, high, usual;
  size_t offset, beyond; /* beyond: offset of the thousandths */
  uint8_t kind, size;
  bool needed; /* required; written even with its usual value */
} pai__field;

/* Is 0, and does not compile unless the condition holds. */
#define PAI__FIELD_ASSERT(condition, text) \
  (0 * sizeof(struct {                     \
     _Static_assert(condition, text);      \
     char unused;                          \
   }))
#define PAI__FIELD_SIZE(type, m) sizeof(((type *)0)->m)

/* Entries of field tables: `m` is a member of `type`, followed by the key and
 * other initializers.  A member whose size or type form.c does not support is
 * a compile error. */
#define PAI__SIZED(type, m, condition, text)   \
  .offset = offsetof(type, m),                 \
  .size = (uint8_t)(PAI__FIELD_SIZE(type, m) + \
                    PAI__FIELD_ASSERT(condition, #m text))
#define PAI__INTEGRAL(type, m)                  \
  PAI__SIZED(type, m,                           \
             PAI__FIELD_SIZE(type, m) == 1 ||   \
               PAI__FIELD_SIZE(type, m) == 4 || \
               PAI__FIELD_SIZE(type, m) == 8,   \
             " has neither 1, 4 nor 8 bytes")
/* NOLINTNEXTLINE(bugprone-macro-parentheses): a type */
#define PAI__IS_OF(value, type) _Generic((value), type : 1, default : 0)
#define PAI__TYPED(type, m, of) \
  PAI__SIZED(type, m, PAI__IS_OF(((type *)0)->m, of) == 1, " is no " #of)
#define PAI__NUMBER(type, m, least, most, ...)                              \
  {                                                                         \
    .kind = PAI__FIELD_NUMBER, PAI__INTEGRAL(type, m),                      \
    .low = (least) +                                                        \
           (int64_t)PAI__FIELD_ASSERT(                                      \
             PAI__FIELD_SIZE(type, m) == 8 ||                               \
               ((least) >= INT32_MIN &&                                     \
                (most) <= ((least) < 0 ? INT32_MAX : (int64_t)UINT32_MAX)), \
             #m " does not hold its range"),                                \
    .high = (most), .key = __VA_ARGS__                                      \
  }
#define PAI__CPUS(type, m, millis, most, ...)                           \
  {                                                                     \
    .kind = PAI__FIELD_CPUS, PAI__TYPED(type, m, uint32_t),             \
    .beyond =                                                           \
      offsetof(type, millis) +                                          \
      PAI__FIELD_ASSERT(PAI__IS_OF(((type *)0)->millis, uint32_t) == 1, \
                        #millis " is no uint32_t"),                     \
    .high = (most), .key = __VA_ARGS__                                  \
  }
#define PAI__ID(type, m, ...)                                                \
  {                                                                          \
    .kind = PAI__FIELD_ID, PAI__TYPED(type, m, uint64_t), .key = __VA_ARGS__ \
  }
#define PAI__FLAG(type, m, ...)                                         \
  {                                                                     \
    .kind = PAI__FIELD_FLAG, PAI__INTEGRAL(type, m), .key = __VA_ARGS__ \
  }
#define PAI__WORD(type, m, list, ...)                                 \
  {                                                                   \
    .kind = PAI__FIELD_WORD, PAI__INTEGRAL(type, m), .words = (list), \
    .key = __VA_ARGS__                                                \
  }
#define PAI__TEXT(type, m, ...)                                 \
  {                                                             \
    .kind = PAI__FIELD_TEXT, PAI__TYPED(type, m, const char *), \
    .key = __VA_ARGS__                                          \
  }
#define PAI__NODE(type, m, ...)                              \
  {                                                          \
    .kind = PAI__FIELD_NODE, PAI__TYPED(type, m, pai__node), \
    .key = __VA_ARGS__                                       \
  }

/* A table of fields.  `what` names the record in errors. */
typedef struct pai__table {
  const pai__field *list;
  size_t count;
  const char *what;
} pai__table;

/* A text that is being read. */
typedef struct pai__form {
  const pai__tree *tree;
  pai_error **err;
  const char *noun; /* before an unknown key in errors: "option "; or NULL */
} pai__form;

/* Reads an object into `out` by a table of fields.  `what` names the object in
 * errors.  Missing nodes become PAI__NO_NODE.  Strings belong to the tree.
 * Returns PAI_OK or PAI_EINVAL. */
int pai__form_read(const pai__form *f, pai__node n, const char *what,
                   const pai__field *list, size_t count, void *out);
static inline int pai__table_read(const pai__form *f, pai__node n,
                                  const pai__table *table, void *out)
{
  return pai__form_read(f, n, table->what, table->list, table->count, out);
}

/* As pai__form_read(), but members that are missing keep their values. */
int pai__form_change(const pai__form *f, pai__node n, const char *what,
                     const pai__field *list, size_t count, void *out);

/* Sets an error at a place of the text.  Returns PAI_EINVAL. */
int pai__form_fail(const pai__form *f, pai__node at, const char *fmt, ...)
  PAI__PRINTF(3, 4);

/* Reports an error in a part of the text, at the beginning of the part.  Frees
 * `cause`.  Returns PAI_ENOMEM if that is the cause, else `code`. */
int pai__form_blame(const pai__form *f, pai__node n, int code,
                    pai_error *cause);

/* Read a single value.  Return PAI_OK or PAI_EINVAL. */
int pai__form_number(const pai__form *f, pai__node at, const char *key,
                     int64_t low, int64_t high, int64_t *out);
int pai__form_text(const pai__form *f, pai__node at, const char *key,
                   const char **out);
int pai__form_word(const pai__form *f, pai__node at, const pai__field *field,
                   void *out);
/* An iterator over the items of a list.  It ends early if the reader of an
 * item sets `rc` to an error. */
typedef struct pai__items {
  const pai__form *f;
  pai__node at;
  pai__tree_walk walk;
  uint32_t count;
  int rc;
} pai__items;

/* Begins iterating over a list.  PAI__NO_NODE is an empty list. */
pai__items pai__form_items(const pai__form *f, pai__node at, const char *key);

/* Returns the next item, or PAI__NO_NODE at the end. */
static inline pai__node pai__items_next(pai__items *x)
{
  return x->rc == PAI_OK && x->count != 0 ? pai__tree_next(&x->walk)
                                          : PAI__NO_NODE;
}

/* Reads a list of records; it may be absent.  *out gets *count elements of
 * `size` bytes and an extra one; each begins with the members of the table.
 * Returns PAI_OK, PAI_EINVAL or PAI_ENOMEM. */
int pai__table_read_list(const pai__form *f, pai__arena *arena, pai__node at,
                         const char *key, const pai__table *table, size_t size,
                         void **out, size_t *count);

/* Write the members into an object that was begun; or write a whole object. */
void pai__table_put(pai__json_writer *w, const pai__table *table,
                    const void *in);
void pai__form_write(pai__json_writer *w, const pai__field *list, size_t count,
                     const void *in);

#endif
