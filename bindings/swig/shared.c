/* shared.c - files, and JSON, for the facade */
#include "shared.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CHUNK = 65536 };

void facade_fail(failure *f, int code, const char *text)
{
  f->code = code;
  f->text = text;
}

bool facade_lock(pthread_mutex_t *owner, const char *busy, failure *f)
{
  if (pthread_mutex_trylock(owner) == 0)
    return true;
  facade_fail(f, PAI_EBUSY, busy);
  return false;
}

void facade_unlock(pthread_mutex_t *owner)
{
  (void)pthread_mutex_unlock(owner);
}

char *facade_copy(const char *text)
{
  return text != NULL && *text != '\0' ? strdup(text) : NULL;
}

void facade_keep(failure *f, int code, const pai_error *err)
{
  facade_failure_dispose(f);
  *f = (failure){ .code = code };
  if (err == NULL)
    return;
  f->made = facade_copy(pai_error_message(err));
  f->help = facade_copy(pai_error_help(err));
  f->api_code = facade_copy(pai_error_api_code(err));
  f->file = facade_copy(pai_error_file(err));
  f->error = pai_error_number(err);
  f->http_status = pai_error_http_status(err);
  f->retriable = pai_error_retriable(err) != 0;
  f->no_answer = pai_error_no_answer(err);
  f->wait = pai_error_retry_after(err);
}

void facade_fail_as(failure *f, const failure *kept)
{
  *f = *kept;
  f->made = facade_copy(kept->made);
  f->file = facade_copy(kept->file);
  f->help = facade_copy(kept->help);
  f->api_code = facade_copy(kept->api_code);
}

int facade_collect(void *user_data, const char *bytes, size_t len)
{
  job_text *t = user_data;
  char *more = realloc(t->bytes, t->len + len + 1);

  if (more == NULL)
    return PAI_ENOMEM;
  t->bytes = more;
  memcpy(more + t->len, bytes, len);
  t->len += len;
  more[t->len] = '\0';
  return PAI_OK;
}

job_text facade_finished(job_text t, const failure *f)
{
  if (f->code >= 0)
    return t;
  free(t.bytes);
  return (job_text){ NULL, 0 };
}

/* --- files -------------------------------------------------------------- */

/* The library's load functions are not used, because a report needs the
 * text. */
static int read_all(job_text *t, int fd, size_t most)
{
  char chunk[CHUNK];
  ssize_t n;

  do {
    n = read(fd, chunk, sizeof(chunk));
    if (n < 0 && errno != EINTR)
      return errno;
    if (n > 0 && facade_collect(t, chunk, (size_t)n) < 0)
      return ENOMEM;
  } while (n != 0 && t->len <= most);
  return 0;
}

void facade_fail_file(failure *f, const char *verb, const char *name,
                      int error)
{
  const char *why = strerror(error);
  size_t size =
    strlen("cannot  : ") + strlen(verb) + strlen(name) + strlen(why) + 1;

  f->error = error;
  f->code = PAI_EIO;
  if (strcmp(verb, "read") == 0 && (error == ENOENT || error == ENOTDIR))
    f->code = PAI_ENOTFOUND;
  else if (error == EACCES || error == EPERM)
    f->code = PAI_EPERM;
  else if (error == ENOMEM)
    f->code = PAI_ENOMEM;
  f->made = malloc(size);
  if (f->made != NULL)
    (void)snprintf(f->made, size, "cannot %s %s: %s", verb, name, why);
  if (f->file == NULL)
    f->file = strdup(name);
}

job_text facade_read_file(const char *path, size_t most, failure *f)
{
  bool is_stdin = strcmp(path, "-") == 0;
  int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
  job_text t = { NULL, 0 };
  int error = fd < 0 ? errno : facade_collect(&t, "", 0) < 0 ? ENOMEM : 0;

  if (error == 0)
    error = read_all(&t, fd, most);
  f->file = strdup(is_stdin ? "<stdin>" : path); /* NULL without memory */
  if (error != 0)
    facade_fail_file(f, "read", is_stdin ? "standard input" : path, error);
  if (fd >= 0 && !is_stdin)
    (void)close(fd);
  return facade_finished(t, f);
}

void facade_forget_file(failure *f)
{
  if (f->code < 0)
    return;
  free(f->file);
  f->file = NULL;
}

/* --- JSON --------------------------------------------------------------- */

void json_start(json *j)
{
  *j = (json){ .out = NULL };
  j->out = open_memstream(&j->made.bytes, &j->made.len);
}

listing json_finish(json *j, failure *f)
{
  if (j->out != NULL && fclose(j->out) == 0) /* reports any failed write */
    return (listing){ j->made };
  if (j->out != NULL)
    free(j->made.bytes);
  f->code = PAI_ENOMEM;
  return (listing){ { NULL, 0 } };
}

static void put_string(FILE *out, const char *s)
{
  (void)fputc('"', out);
  for (; *s != '\0'; s++)
    if (*s == '"' || *s == '\\')
      (void)fprintf(out, "\\%c", *s);
    else if ((unsigned char)*s < 0x20)
      (void)fprintf(out, "\\u%04x", (unsigned)(unsigned char)*s);
    else
      (void)fputc(*s, out);
  (void)fputc('"', out);
}

/* Writes the comma and the name before a value. Returns false if nothing can
 * be written. */
static bool next(json *j, const char *name)
{
  if (j->out == NULL)
    return false;
  if (j->more)
    (void)fputc(',', j->out);
  j->more = true;
  if (name != NULL) {
    put_string(j->out, name);
    (void)fputc(':', j->out);
  }
  return true;
}

void json_begin(json *j, const char *name, char open)
{
  if (!next(j, name))
    return;
  (void)fputc(open, j->out);
  j->more = false;
}

void json_end(json *j, char close)
{
  if (j->out == NULL)
    return;
  (void)fputc(close, j->out);
  j->more = true;
}

void json_text(json *j, const char *name, const char *value)
{
  if (value != NULL && next(j, name))
    put_string(j->out, value);
}

void json_some(json *j, const char *name, const char *value)
{
  if (value != NULL && *value != '\0')
    json_text(j, name, value);
}

void json_number(json *j, const char *name, int64_t value)
{
  if (next(j, name))
    (void)fprintf(j->out, "%lld", (long long)value);
}

void json_cpus(json *j, const char *name, uint64_t milli)
{
  char text[PAI_CPUS_TEXT];

  if (next(j, name))
    (void)fputs(pai_cpus_text(text, milli), j->out);
}

void json_known(json *j, const char *name, int64_t value)
{
  if (value >= 0)
    json_number(j, name, value);
}

void json_index(json *j, const char *name, uint32_t value)
{
  if (value != PAI_NONE)
    json_number(j, name, value);
}

void json_id(json *j, const char *name, uint64_t id)
{
  char digits[24];

  if (id <= INT64_MAX) {
    json_number(j, name, (int64_t)id);
    return;
  }
  (void)snprintf(digits, sizeof(digits), "%" PRIu64, id);
  json_text(j, name, digits);
}

void json_amount(json *j, const char *name, uint64_t value)
{
  if (value > 0 && next(j, name))
    (void)fprintf(j->out, "%llu", (unsigned long long)value);
}

void json_hundredths(json *j, const char *name, int32_t value)
{
  if (next(j, name))
    (void)fprintf(j->out, "%d.%02d", (int)(value / 100), (int)(value % 100));
}

void json_part(json *j, const char *name, uint64_t value, uint64_t whole)
{
  int digits = 0;

  for (uint64_t w = whole; w >= 10; w /= 10)
    digits++;
  if (next(j, name))
    (void)fprintf(j->out, "%" PRIu64 ".%0*" PRIu64, value / whole, digits,
                  value % whole);
}

void json_bool(json *j, const char *name, bool value)
{
  if (next(j, name))
    (void)fputs(value ? "true" : "false", j->out);
}

void json_raw(json *j, const char *name, const char *value)
{
  if (value != NULL && next(j, name))
    (void)fputs(value, j->out);
}

/* --- structs ---------------------------------------------------------------- */

static int64_t number_at(const json_field *f, const void *at)
{
  switch (f->type) {
  case JSON_I32: return *(const int32_t *)at;
  case JSON_U32: return *(const uint32_t *)at;
  case JSON_I64: return *(const int64_t *)at;
  case JSON_U64: return (int64_t) * (const uint64_t *)at;
  default: return 0;
  }
}

static void put_number(json *j, const json_field *f, int64_t n)
{
  switch (f->kind) {
  case JSON_KNOWN: json_known(j, f->name, n); break;
  case JSON_BOOL: json_bool(j, f->name, n != 0); break;
  case JSON_AMOUNT: json_amount(j, f->name, (uint64_t)n); break;
  case JSON_INDEX: json_index(j, f->name, (uint32_t)n); break;
  case JSON_ID: json_id(j, f->name, (uint64_t)n); break;
  case JSON_PART: json_part(j, f->name, (uint64_t)n, f->whole); break;
  case JSON_CPUS: json_cpus(j, f->name, (uint64_t)n); break;
  default: json_number(j, f->name, n);
  }
}

void json_fields(json *j, const json_field *f, const void *of)
{
  for (; f->kind != JSON_END; f++) {
    const void *at = (const char *)of + f->at;

    if (f->kind == JSON_TEXT)
      json_text(j, f->name, *(const char *const *)at);
    else if (f->kind == JSON_SOME)
      json_some(j, f->name, *(const char *const *)at);
    else
      put_number(j, f, number_at(f, at));
  }
}

void json_record(json *j, const char *name, const json_field *fields,
                 const void *of)
{
  json_begin(j, name, '{');
  json_fields(j, fields, of);
  json_end(j, '}');
}

listing json_object(const json_field *fields, const void *of, failure *f)
{
  json j;

  json_start(&j);
  json_record(&j, NULL, fields, of);
  return json_finish(&j, f);
}
