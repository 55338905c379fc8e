/* shared.h - failures, files, words and JSON, for the facade's own files */
#ifndef OPENPAI_BINDINGS_SHARED_H
#define OPENPAI_BINDINGS_SHARED_H

#include "facade.h"

#include <pthread.h>
#include <stddef.h>
#include <stdio.h>

/* Appends to a job_text. A pai_write_cb. */
int facade_collect(void *user_data, const char *bytes, size_t len);

/* Closes all sessions that are not over (facade/exec.c). */
void execs_close(Exec **list);

/* Returns `t`; frees it instead if the call has failed. */
job_text facade_finished(job_text t, const failure *f);

/* Reads a file, or standard input for "-". Stops after more than `most` bytes,
 * for the library to report that the file is too large. Sets the file name of
 * the failure, which facade_forget_file() frees unless the call failed. */
job_text facade_read_file(const char *path, size_t most, failure *f);
void facade_forget_file(failure *f);

/* Sets a failure like "cannot read x.yaml: Permission denied". */
void facade_fail_file(failure *f, const char *verb, const char *name,
                      int error);

/* Keeps a failure of the library, which gets freed, with texts of its own; frees
 * what was kept before. `err` may be NULL. */
void facade_keep(failure *f, int code, const pai_error *err);
/* Copies a kept failure. */
void facade_fail_as(failure *f, const failure *kept);

/* Copies a text. Returns NULL for NULL and "". */
char *facade_copy(const char *text);

/* Locks an object for one call. Returns false after a failure: another thread
 * has it, as `busy` says. */
bool facade_lock(pthread_mutex_t *owner, const char *busy, failure *f);
void facade_unlock(pthread_mutex_t *owner);

/* Sets a failure with a static text, as "no such job". */
void facade_fail(failure *f, int code, const char *text);

/* Returns the word at `*at`, and moves `*at` to the next one; NULL at the
 * end. */
const char *facade_word(const words *w, size_t *at);

/* Returns the words as an array, which NULL ends, and their number, if that is
 * wanted. Allocated; NULL after a failure. */
const char **facade_word_list(const words *w, size_t *count, failure *f);

/* Reads a decimal number from 0 to `most`. Returns false for anything else. */
bool facade_number(const char *word, int64_t most, int64_t *number);

/* Reads all words as numbers. `out` has space for w->len numbers. Returns
 * false after a failure. */
bool facade_numbers(uint32_t *out, size_t *count, const words *w, failure *f);

/* Returns the number of a GPU among all GPUs; SIZE_MAX after a failure. */
typedef size_t (*place_fn)(const void *of, const char *node, size_t gpu,
                           failure *f);

/* Returns marks of `gpus` GPUs, allocated; their texts point into `w`. NULL
 * without words and after a failure. */
pai_gpu_mark *facade_marks(const words *w, place_fn place, const void *of,
                           size_t gpus, failure *f);

/* JSON writer. Absent values are left out; `name` is NULL for an item of a
 * list. */
typedef struct json {
  FILE *out; /* NULL: out of memory; nothing is written */
  bool more; /* the next value needs a comma */
  job_text made;
} json;

void json_start(json *j);
listing json_finish(json *j, failure *f);

void json_begin(json *j, const char *name, char open);
void json_end(json *j, char close);
void json_text(json *j, const char *name, const char *value); /* or NULL */
void json_some(json *j, const char *name, const char *value); /* "": absent */
void json_number(json *j, const char *name, int64_t value);
/* Writes thousandths of CPUs as a number of CPUs. */
void json_cpus(json *j, const char *name, uint64_t milli);
void json_known(json *j, const char *name, int64_t value);   /* < 0: absent */
void json_index(json *j, const char *name, uint32_t value);  /* NONE: absent */
void json_amount(json *j, const char *name, uint64_t value); /* 0: absent */
void json_hundredths(json *j, const char *name, int32_t value); /* "1.05" */
/* A number above INT64_MAX is a string, as in the library's JSON. */
void json_id(json *j, const char *name, uint64_t id);
/* Writes value / whole as a decimal; `whole` is a power of ten. */
void json_part(json *j, const char *name, uint64_t value, uint64_t whole);
void json_bool(json *j, const char *name, bool value);
void json_raw(json *j, const char *name,
              const char *value); /* JSON, or NULL */

/* Kinds of members in the tables that records.py makes of records.txt. */
enum json_kind {
  JSON_END,
  JSON_NUMBER,
  JSON_KNOWN,
  JSON_TEXT,
  JSON_SOME,
  JSON_BOOL,
  JSON_AMOUNT,
  JSON_INDEX,
  JSON_ID,
  JSON_PART,
  JSON_CPUS
};

enum json_type { JSON_I32, JSON_U32, JSON_I64, JSON_U64, JSON_CHARS };

/* A size_t, which on some machines is none of the other types. */
enum { JSON_SIZE = sizeof(size_t) == 4 ? JSON_U32 : JSON_U64 };

typedef struct json_field {
  const char *name;
  size_t at; /* offset in the struct */
  enum json_kind kind;
  enum json_type type;
  uint64_t whole; /* divisor of JSON_PART */
} json_field;

#define JSON_TYPE(x) \
  _Generic((x), int32_t: JSON_I32, uint32_t: JSON_U32, int64_t: JSON_I64, \
           uint64_t: JSON_U64, const char *: JSON_CHARS, \
           default: JSON_SIZE)
#define JSON_FIELD(struct, name, member, kind, whole) \
  {                                                   \
    name, offsetof(struct, member), JSON_##kind,      \
      JSON_TYPE(((struct *)0)->member), whole         \
  }

/* Writes the members in `fields` of the struct at `of`. */
void json_fields(json *j, const json_field *fields, const void *of);

struct Sampler {
  pai_sampler *sampler; /* NULL: closed */
};

/* Returns false after a failure. */
bool sampler_is_open(const Sampler *s, failure *f);

/* Writes an object of those members. */
void json_record(json *j, const char *name, const json_field *fields,
                 const void *of);
/* Returns such an object alone. */
listing json_object(const json_field *fields, const void *of, failure *f);

/* Checks a job file (facade/spec.c). NULL after a failure. */
pai_report *facade_findings(const char *text, size_t len, int version,
                            bool hived, failure *f);
/* Writes a report, and frees it (facade/report.c). */
listing facade_reported(pai_report *report, failure *f);

/* Returns GPUs with their processes, notes and links. */
listing facade_put_gpus(const pai_gpus *gpus, failure *f);

#endif /* OPENPAI_BINDINGS_SHARED_H */
