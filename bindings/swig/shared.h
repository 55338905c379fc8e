/* shared.h - what the facade's own files have in common */
#ifndef OPENPAI_BINDINGS_SHARED_H
#define OPENPAI_BINDINGS_SHARED_H

#include "facade.h"

#include <stdio.h>

/* A pai_write_cb, of a job_text. */
int facade_collect(void *user_data, const char *bytes, size_t len);

/* Hangs up on commands that are not over (facade_exec.c). */
void execs_close(Exec **list);

/* What a call has written, if it has not failed. */
job_text facade_finished(job_text t, const failure *f);

/* Reads a file, or standard input for "-"; of one that is longer than `most`
 * one byte more, so that the library may say so.  The failure has the file's
 * name then, which is kept only if the call fails. */
job_text facade_read_file(const char *path, size_t most, failure *f);
void facade_forget_file(failure *f);

/* "cannot read x.yaml: Permission denied", of an errno. */
void facade_fail_file(failure *f, const char *verb, const char *name,
                      int error);

/* "no such job": a failure with a text that never ends. */
void facade_fail(failure *f, int code, const char *text);

/* The next of the words from `*at` on, or NULL behind the last. */
const char *facade_word(const words *w, size_t *at);

/* A number from 0 to `most`, of decimal digits only. */
bool facade_number(const char *word, int64_t most, int64_t *number);

/* As many numbers as there are words; `out` has room for w->len.  False
 * after a failure. */
bool facade_numbers(uint32_t *out, size_t *count, const words *w, failure *f);

/* The number of a GPU among all, or SIZE_MAX after a failure. */
typedef size_t (*place_fn)(const void *of, const char *node, size_t gpu,
                           failure *f);

/* Marks of `gpus` GPUs, allocated; their texts are those of `w`.  NULL for no
 * words and after a failure. */
pai_gpu_mark *facade_marks(const words *w, place_fn place, const void *of,
                           size_t gpus, failure *f);

/* JSON, of what is there only; `name` is NULL in a list. */
typedef struct json {
  FILE *out; /* NULL: no memory, and nothing is written */
  bool more; /* a comma is due */
  job_text made;
} json;

void json_start(json *j);
listing json_finish(json *j, failure *f);

void json_begin(json *j, const char *name, char open);
void json_end(json *j, char close);
void json_text(json *j, const char *name, const char *value); /* or NULL */
void json_some(json *j, const char *name, const char *value); /* or "" */
void json_number(json *j, const char *name, int64_t value);
void json_known(json *j, const char *name, int64_t value);   /* or < 0 */
void json_index(json *j, const char *name, uint32_t value);  /* or PAI_NONE */
void json_amount(json *j, const char *name, uint64_t value); /* or 0 */
void json_hundredths(json *j, const char *name, int32_t value); /* "1.05" */
/* Above INT64_MAX its digits in quotes, as in the library's JSON. */
void json_id(json *j, const char *name, uint64_t id);
/* value / whole, a power of ten, as a decimal. */
void json_part(json *j, const char *name, uint64_t value, uint64_t whole);
void json_bool(json *j, const char *name, bool value);

/* GPUs with their processes, notes and links. */
listing facade_put_gpus(const pai_gpus *gpus, failure *f);

#endif /* OPENPAI_BINDINGS_SHARED_H */
