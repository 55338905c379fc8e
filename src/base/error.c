/*
 * error.c - pai_error: created by the failing function, read and freed by the
 * caller
 *
 * Errors come from malloc, not from an object's allocator, because they
 * outlive the object.  When malloc fails too, one static object is used.
 */
#include "base/base.h"
#include "base/text/utf8.h"

#include <stdio.h>
#include <stdlib.h>

struct pai_error {
  int code;
  pai__pos pos;
  bool retriable;
  int no_answer;   /* PAI_NO_ANSWER_*, or 0 */
  int64_t wait;    /* microseconds; 0: not known */
  int status;      /* of HTTP, or 0 */
  const char *api; /* a literal, or NULL */
  char *message;   /* NULL: the default text of the code */
  char *help;
  char *pointer;
  char *file;
  int number; /* errno for `file`, or 0 */
  pai_error *cause;
};

static pai_error no_memory = { .code = PAI_ENOMEM, .retriable = true };

static const struct {
  int code;
  const char *name, *text;
} codes[] = {
  { PAI_OK, "PAI_OK", "success" },
  { PAI_EINVAL, "PAI_EINVAL", "invalid argument" },
  { PAI_ENOMEM, "PAI_ENOMEM", "out of memory" },
  { PAI_ENOTFOUND, "PAI_ENOTFOUND", "not found" },
  { PAI_EEXISTS, "PAI_EEXISTS", "already exists" },
  { PAI_ENOTSUP, "PAI_ENOTSUP", "not supported" },
  { PAI_ECANCELED, "PAI_ECANCELED", "cancelled" },
  { PAI_EUSER, "PAI_EUSER", "a callback failed" },
  { PAI_EIO, "PAI_EIO", "input or output failed" },
  { PAI_EPERM, "PAI_EPERM", "not permitted" },
  { PAI_ELIMIT, "PAI_ELIMIT", "limit exceeded" },
  { PAI_EBUSY, "PAI_EBUSY", "busy" },
  { PAI_ENOROOM, "PAI_ENOROOM", "more than there is" },
  { PAI_EINTERNAL, "PAI_EINTERNAL", "internal error" },
};

/* Formats into malloc'ed memory; NULL when out of memory. */
static char *format(const char *fmt, va_list ap)
{
  va_list again;
  char *text = NULL;
  int len;

  va_copy(again, ap);
  len = vsnprintf(NULL, 0, fmt, ap);
  if (len >= 0)
    text = malloc((size_t)len + 1);
  if (text != NULL)
    (void)vsnprintf(text, (size_t)len + 1, fmt, again);
  if (text != NULL)
    pai__defuse(text);
  va_end(again);
  return text;
}

static int fail(pai_error **err, int code, pai__pos pos, const char *fmt,
                va_list ap)
{
  pai_error *e;

  if (err == NULL)
    return code;
  e = calloc(1, sizeof(*e));
  if (e == NULL) {
    *err = &no_memory;
    return code;
  }
  e->code = code;
  e->pos = pos;
  e->message = format(fmt, ap);
  *err = e;
  return code;
}

int pai__fail(pai_error **err, int code, const char *fmt, ...)
{
  va_list ap;

  va_start(ap, fmt);
  code = fail(err, code, (pai__pos){ 0, 0 }, fmt, ap);
  va_end(ap);
  return code;
}

int pai__fail_at(pai_error **err, int code, pai__pos pos, const char *fmt, ...)
{
  va_list ap;

  va_start(ap, fmt);
  code = fail(err, code, pos, fmt, ap);
  va_end(ap);
  return code;
}

int pai__fail_above(pai_error **err, int code, const char *fmt, ...)
{
  pai_error *cause;
  va_list ap;

  if (err == NULL)
    return code;
  cause = *err;
  va_start(ap, fmt);
  code = fail(err, code, (pai__pos){ 0, 0 }, fmt, ap);
  va_end(ap);
  if (*err == &no_memory)
    pai_error_free(cause);
  else
    (*err)->cause = cause;
  return code;
}

int pai__oom(pai_error **err)
{
  if (err != NULL)
    *err = &no_memory;
  return PAI_ENOMEM;
}

/* Returns the error if additions are possible, or NULL. */
static pai_error *writable(pai_error **err)
{
  return err != NULL && *err != &no_memory ? *err : NULL;
}

void pai__error_help(pai_error **err, const char *fmt, ...)
{
  pai_error *e = writable(err);
  va_list ap;

  if (e == NULL)
    return;
  va_start(ap, fmt);
  free(e->help);
  e->help = format(fmt, ap);
  va_end(ap);
}

/* Replaces *to by a copy of a text; NULL when out of memory. */
static void replace(char **to, const char *text)
{
  size_t size = strlen(text) + 1;

  free(*to);
  *to = malloc(size);
  if (*to != NULL)
    memcpy(*to, text, size);
}

void pai__error_pointer(pai_error **err, const char *pointer)
{
  pai_error *e = writable(err);

  if (e != NULL)
    replace(&e->pointer, pointer);
}

void pai__error_file(pai_error **err, const char *path, int number)
{
  pai_error *e = writable(err);

  if (e == NULL)
    return;
  replace(&e->file, path);
  e->number = number;
}

void pai__error_retriable(pai_error **err)
{
  pai_error *e = writable(err);

  if (e != NULL)
    e->retriable = true;
}

void pai__error_no_answer(pai_error **err, int how)
{
  pai_error *e = writable(err);

  if (e != NULL)
    e->no_answer = how;
}

void pai__error_wait(pai_error **err, int64_t us)
{
  pai_error *e = writable(err);

  if (e != NULL)
    e->wait = us;
}

void pai__error_api(pai_error **err, int status, const char *api)
{
  pai_error *e = writable(err);

  if (e == NULL)
    return;
  e->status = status;
  e->api = api;
}

/* Returns the index of `code`, or -1. */
static int find_code(int code)
{
  for (size_t i = 0; i < PAI__LEN(codes); i++)
    if (codes[i].code == code)
      return (int)i;
  return -1;
}

const char *pai_code_name(int code)
{
  int i = find_code(code);

  return i < 0 ? "PAI_E?" : codes[i].name;
}

int pai_error_code(const pai_error *err)
{
  return err != NULL ? err->code : PAI_OK;
}

const char *pai_error_message(const pai_error *err)
{
  int i;

  if (err == NULL)
    return "";
  if (err->message != NULL)
    return err->message;
  i = find_code(err->code);
  return i < 0 ? "unknown error" : codes[i].text;
}

const char *pai_error_help(const pai_error *err)
{
  return err != NULL ? err->help : NULL;
}

uint32_t pai_error_line(const pai_error *err)
{
  return err != NULL ? err->pos.line : 0;
}

uint32_t pai_error_column(const pai_error *err)
{
  return err != NULL ? err->pos.column : 0;
}

const char *pai_error_pointer(const pai_error *err)
{
  return err != NULL ? err->pointer : NULL;
}

const char *pai_error_api_code(const pai_error *err)
{
  return err != NULL ? err->api : NULL;
}

int pai_error_http_status(const pai_error *err)
{
  return err != NULL ? err->status : 0;
}

int pai_error_retriable(const pai_error *err)
{
  return err != NULL && err->retriable;
}

int pai_error_no_answer(const pai_error *err)
{
  return err != NULL ? err->no_answer : 0;
}

int64_t pai_error_retry_after(const pai_error *err)
{
  return err != NULL ? err->wait : 0;
}

const char *pai_error_file(const pai_error *err)
{
  return err != NULL ? err->file : NULL;
}

int pai_error_number(const pai_error *err)
{
  return err != NULL ? err->number : 0;
}

const pai_error *pai_error_cause(const pai_error *err)
{
  return err != NULL ? err->cause : NULL;
}

void pai_error_free(pai_error *err)
{
  while (err != NULL && err != &no_memory) {
    pai_error *cause = err->cause;
    free(err->message);
    free(err->help);
    free(err->pointer);
    free(err->file);
    free(err);
    err = cause;
  }
}
