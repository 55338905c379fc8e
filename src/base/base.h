/*
 * base.h - internal: allocation, errors and logging; every .c file of the
 * library includes it first
 *
 * An object keeps a copy of its caller's pai_alloc and passes the size of each
 * block when it frees it, so tests can count and fail every allocation.
 */
#ifndef PAI_SRC_BASE_H
#define PAI_SRC_BASE_H

#include <openpai/base.h>

#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

#define PAI__LEN(a) (sizeof(a) / sizeof((a)[0]))

#if defined(__GNUC__)
#define PAI__PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#define PAI__UNLIKELY(x) __builtin_expect(!!(x), 0)
#else
#define PAI__PRINTF(fmt, args)
#define PAI__UNLIKELY(x) (x)
#endif

/* Exported in the map's node OPENPAI_PRIVATE, for libopenpai-server. */
#define PAI__SHARED PAI_API

static inline void pai__clear_err(pai_error **err)
{
  if (err != NULL)
    *err = NULL;
}

/* Checks of a public call's arguments.  If the call has an `err`, it is set to
 * NULL, or to a message.  The only macros that may return. */
#define PAI__CHECK_ARG(expr) \
  do {                       \
    if (!(expr))             \
      return PAI_EINVAL;     \
  } while (0)
#define PAI__CHECK_ARG_ERR(expr, err)                                   \
  do {                                                                  \
    pai__clear_err(err);                                                \
    if (!(expr))                                                        \
      return pai__fail((err), PAI_EINVAL, "%s() was called without %s", \
                       __func__, #expr);                                \
  } while (0)

/* Every constructor starts with this, so results are defined on all paths. */
#define PAI__CLEAR_OUT(out, err)            \
  do {                                      \
    PAI__CHECK_ARG_ERR((out) != NULL, err); \
    *(out) = NULL;                          \
  } while (0)

/* Accepted times lie between -PAI__LAST_TIME and PAI__LAST_TIME, and durations
 * are not longer, so adding or subtracting two of them cannot overflow. 73,000
 * years in microseconds. */
#define PAI__LAST_TIME (INT64_MAX / 4)

static inline bool pai__is_time(pai_time t)
{
  return t >= -PAI__LAST_TIME && t <= PAI__LAST_TIME;
}

/* Borrowed bytes. */
typedef struct pai__bytes {
  const void *data;
  size_t len;
} pai__bytes;

/* --- memory (alloc.c) --------------------------------------------------- */

extern const pai_alloc pai__libc_alloc;

/* Resizes a block of n elements; NULL also when n * size would overflow. */
void *pai__realloc(const pai_alloc *a, void *p, size_t old_n, size_t new_n,
                   size_t size);
void *pai__zalloc(const pai_alloc *a, size_t size);
void pai__free(const pai_alloc *a, void *p, size_t bytes);

/* Returns a NUL-terminated copy of len bytes; free it with pai__strfree(). */
char *pai__strndup(const pai_alloc *a, const char *s, size_t len);
char *pai__strdup(const pai_alloc *a, const char *s);
void pai__strfree(const pai_alloc *a, char *s);

/* Ensures space for one more element in a vector, which grows by half. */
#define PAI__VEC_ROOM(alloc, vec, len, cap) \
  ((len) < (cap)                            \
     ? PAI_OK                               \
     : pai__vec_grow((alloc), (void *)&(vec), &(cap), sizeof(*(vec))))
int pai__vec_grow(const pai_alloc *a, void *vec, size_t *cap, size_t size);

/* Copies a caller's option struct of any version over zeroed defaults.  `last`
 * is the last member of the struct's first released version. */
#define PAI__COPY_IN(dst, src, type, last)   \
  pai__copy_in((dst), sizeof(*(dst)), (src), \
               offsetof(type, last) + sizeof((dst)->last))
int pai__copy_in(void *dst, size_t dst_size, const void *src,
                 size_t first_size);

/* The same for options, whose struct may be all zeros: the defaults.  A
 * struct_size of 0 with other members set is an error.  To check that, the
 * whole struct is read; once a struct has grown after a release, only the
 * first version's part may be read, because the caller may be older. */
#define PAI__OPTIONS_IN(dst, src, type, last)   \
  pai__options_in((dst), sizeof(*(dst)), (src), \
                  offsetof(type, last) + sizeof((dst)->last))
int pai__options_in(void *dst, size_t dst_size, const void *src,
                    size_t first_size);
/* Sets the error for a failure of one of these two: the struct's name, what is
 * wrong with struct_size, and how to correct it. */
int pai__fail_struct(pai_error **err, int code, const void *src,
                     const char *type);

/* Fills the part of a view that the caller's struct of any version has, which
 * includes the members up to `last`.  Its struct_size stays. */
#define PAI__FILL_VIEW(view, full, type, last)  \
  pai__fill_view((view), &(full), sizeof(full), \
                 offsetof(type, last) + sizeof((full).last))
int pai__fill_view(void *view, const void *full, size_t size,
                   size_t first_size);

/* Returns the allocator of an options struct, or libc's. */
static inline const pai_alloc *pai__alloc_or_libc(const pai_alloc *a)
{
  return a != NULL ? a : &pai__libc_alloc;
}

/* --- errors (error.c) --------------------------------------------------- */

/* A place in an input; line and column from 1, 0 for none. */
typedef struct pai__pos {
  uint32_t line;
  uint32_t column;
} pai__pos;

/* All return `code`, so a failure is one statement; `err` may be NULL. */
PAI__SHARED int pai__fail(pai_error **err, int code, const char *fmt, ...)
  PAI__PRINTF(3, 4);
PAI__SHARED int pai__fail_at(pai_error **err, int code, pai__pos pos,
                             const char *fmt, ...) PAI__PRINTF(4, 5);
PAI__SHARED int pai__oom(pai_error **err);

/* Additions to the error just made; silently dropped when out of memory. */
PAI__SHARED void pai__error_help(pai_error **err, const char *fmt, ...)
  PAI__PRINTF(2, 3);
PAI__SHARED void pai__error_pointer(pai_error **err, const char *pointer);
/* The local file that could not be read or written, and errno. */
PAI__SHARED void pai__error_file(pai_error **err, const char *path,
                                 int number);
PAI__SHARED void pai__error_retriable(pai_error **err);
/* PAI_NO_ANSWER_* */
void pai__error_no_answer(pai_error **err, int how);
/* Time until a retry makes sense, in microseconds. */
void pai__error_wait(pai_error **err, int64_t us);
/* Sets OpenPAI's API status and code of the error; `api` is a literal. */
PAI__SHARED void pai__error_api(pai_error **err, int status, const char *api);
/* Makes a new error whose cause is the one in *err. */
PAI__SHARED int pai__fail_above(pai_error **err, int code, const char *fmt,
                                ...) PAI__PRINTF(3, 4);

/* --- logging (log.c) ---------------------------------------------------- */

/* Destination of an object's log lines; cb NULL: none. */
typedef struct pai__log {
  pai_log_cb cb;
  void *user_data;
  int level; /* lines below it are dropped */
} pai__log;

void pai__log_line(const pai__log *log, int level, const char *fmt, ...)
  PAI__PRINTF(3, 4);

#endif
