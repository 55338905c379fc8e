/*
 * form.h - internal: structs as JSON objects, both ways by one table
 *
 * What has its usual value is not written, and what is not written has it.
 */
#ifndef PAI_SRC_SCHED_FORM_H
#define PAI_SRC_SCHED_FORM_H

#include "base/tree.h"
#include "json/writer.h"

enum pai__field_kind {
  PAI__FIELD_NUMBER = 1, /* an integer of 4 or 8 bytes, signed if low is */
  PAI__FIELD_ID, /* a uint64_t; a string of digits where JSON has no number */
  PAI__FIELD_FLAG, /* an int: true or false */
  PAI__FIELD_WORD, /* an integer of 4 or 8 bytes: the index of a word */
  PAI__FIELD_TEXT, /* a string, or NULL */
  PAI__FIELD_NODE  /* a pai__node, to be read by hand, and so written */
};

typedef struct pai__field {
  const char *key;
  const char *const *words; /* NULL ends them; "" is none */
  int64_t low, high, usual;
  size_t offset;
  uint8_t kind, size;
  bool needed; /* also written if it is the usual one */
} pai__field;

/* 0; it does not compile unless the condition holds. */
#define PAI__FIELD_ASSERT(condition, text) \
  (0 * sizeof(struct {                     \
     _Static_assert(condition, text);      \
     char unused;                          \
   }))
#define PAI__FIELD_SIZE(type, m) sizeof(((type *)0)->m)

/* How tables say it: `m` is a member of `type`; behind it the key, and what
 * else there is to say of it.  A member of a size, or of a type, that form.c
 * does not read and write is an error of the compiler. */
#define PAI__SIZED(type, m, condition, text)   \
  .offset = offsetof(type, m),                 \
  .size = (uint8_t)(PAI__FIELD_SIZE(type, m) + \
                    PAI__FIELD_ASSERT(condition, #m text))
#define PAI__INTEGRAL(type, m)                                               \
  PAI__SIZED(type, m,                                                        \
             PAI__FIELD_SIZE(type, m) == 4 || PAI__FIELD_SIZE(type, m) == 8, \
             " has neither 4 nor 8 bytes")
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
#define PAI__ID(type, m, ...)                                                \
  {                                                                          \
    .kind = PAI__FIELD_ID, PAI__TYPED(type, m, uint64_t), .key = __VA_ARGS__ \
  }
#define PAI__FLAG(type, m, ...)                                           \
  {                                                                       \
    .kind = PAI__FIELD_FLAG, PAI__TYPED(type, m, int), .key = __VA_ARGS__ \
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

/* A text that is read. */
typedef struct pai__form {
  const pai__tree *tree;
  pai_error **err;
} pai__form;

/* Reads an object into all that a table names; `what` it is, for messages.
 * Nodes that are not there are PAI__NO_NODE.  PAI_OK, PAI_EINVAL; strings are
 * the tree's. */
int pai__form_read(const pai__form *f, pai__node n, const char *what,
                   const pai__field *list, size_t count, void *out);
/* PAI_EINVAL, at a place. */
int pai__form_fail(const pai__form *f, pai__node at, const char *fmt, ...)
  PAI__PRINTF(3, 4);

/* What was wrong with a part of the text, told at the place where it begins; the
 * cause is freed.  PAI_ENOMEM if that is it, or else `code`. */
int pai__form_blame(const pai__form *f, pai__node n, int code,
                    pai_error *cause);

/* One value of its own.  PAI_OK or PAI_EINVAL. */
int pai__form_number(const pai__form *f, pai__node at, const char *key,
                     int64_t low, int64_t high, int64_t *out);
int pai__form_text(const pai__form *f, pai__node at, const char *key,
                   const char **out);
int pai__form_word(const pai__form *f, pai__node at, const pai__field *field,
                   void *out);
/* Is it a list?  `at` may be PAI__NO_NODE: then it is one with nothing. */
int pai__form_list(const pai__form *f, pai__node at, const char *key,
                   uint32_t *count);

/* The members of an object that is begun. */
void pai__form_write(pai__json_writer *w, const pai__field *list, size_t count,
                     const void *in);
void pai__form_put_key(pai__json_writer *w, const char *key);
void pai__form_put_id(pai__json_writer *w, uint64_t id);
void pai__form_put_text(pai__json_writer *w, const char *text);

#endif
