/*
 * facade.h - what the bindings wrap: libopenpai as a script wants it
 *
 * One for all languages, over <openpai/openpai.h> only.  A Platform brings its
 * own loop, and waits in a way that lets the language handle signals, stop at
 * an error of a callback, and raise that very error when the job is over.
 */
#ifndef OPENPAI_BINDINGS_FACADE_H
#define OPENPAI_BINDINGS_FACADE_H

#include <openpai/openpai.h>

#include <stdbool.h>

typedef pai_spec Job; /* named apart from pai_spec_*(): SWIG makes Job_*() */
typedef pai_draft Draft;
typedef struct Platform Platform;

/* Lists, which each language turns into its own. */
typedef struct job_strings {
  const pai_spec *spec;
  const char *(*get)(const pai_spec *spec, size_t i); /* NULL ends them */
} job_strings;

/* A text that was made, and is freed when the language has its own. */
typedef struct job_text {
  char *bytes; /* ends with a zero; NULL after a failure */
  size_t len;
} job_text;

/* The same in JSON: a list or a table, of what is there only, which each
 * language takes apart. */
typedef struct listing {
  job_text json;
} listing;

/* Strings in a row, each with its zero. */
typedef struct words {
  const char *bytes;
  size_t len;
} words;

/* What a place is set to. */
typedef struct draft_value {
  const char *text;
  size_t len;   /* of a text that stays one; */
  bool is_text; /* else it is YAML or JSON, and ends with a zero */
} draft_value;

/* State of a job, and its completion code if the state is final. */
typedef struct job_state {
  int state;
  int code;
} job_state;

/* Why a call failed; zero: it did not.  Becomes the exception. */
typedef struct failure {
  int code;
  pai_error *err;     /* NULL: the code says all */
  const char *text;   /* NULL: the error's own */
  char *made;         /* the same, allocated */
  pai_report *report; /* of an invalid job file, or NULL */
  char *file;         /* what was read, allocated, or NULL */
  int error;          /* errno, or 0 */
  /* What a server answered, where there is no `err`; allocated. */
  char *help, *api_code;
  int http_status; /* 0: there was no answer */
  bool retriable;
  int no_answer; /* PAI_NO_ANSWER_*, or 0 */
  int64_t wait;  /* microseconds until the same call makes sense; or 0 */
} failure;

/*
 * A script's callback, as the head of a struct of its language.  The first
 * error of on_event() or check() is kept in there until rethrow() hands it
 * to the interpreter; until then no event is delivered.  on_event() answers
 * PAI_EUSER for an error, PAI_ECANCELED if a signal was the reason; check()
 * gives signals' handlers a chance, and is not 0 if one has raised.
 */
typedef struct listener listener;
struct listener {
  int (*on_event)(listener *self, const pai_event *event); /* or NULL */
  int (*check)(listener *self);
  void (*rethrow)(listener *self);
  void (*free)(listener *self);
};

/* Each takes the listener, also when it fails.  `limits`: keep_time, keep_bytes,
 * keep_jobs of pai_platform_options.  A platform that is durable
 * keeps its jobs in the root's database (facade_records.h). */
Platform *facade_open(const char *root, bool durable, const char *runtime,
                      const char *policy, listener *l, words limits,
                      failure *f);
job_state facade_run(Job *job, const char *root, listener *l, failure *f);

/* Frees without a word: kills what runs, but for tasks of a durable one. */
void facade_free(Platform *p);

/* Fields: name, user, code_dir, work_dir.  Of a durable platform the job is in
 * the database when this returns, but for a call from a callback. */
pai_job_id facade_submit(Platform *p, Job *job, words fields, failure *f);
/* The same, which waits for nothing: see facade_promise(). */
pai_job_id facade_submit_soon(Platform *p, Job *job, words fields, failure *f);
void facade_stop(Platform *p, pai_job_id job, failure *f);
void facade_forget(Platform *p, pai_job_id job, failure *f);
void facade_rescale(Platform *p, pai_job_id job, const char *role,
                    uint32_t tasks, failure *f);
job_state facade_state(Platform *p, pai_job_id job, failure *f);
char *facade_dir(Platform *p, pai_job_id job, failure *f); /* allocated */
int facade_fd(Platform *p, failure *f);
int facade_timeout_ms(Platform *p, failure *f);

/* These call back.  dispatch() and step(), which waits for at most so long (-1:
 * for a while), are true while there is more to wait for.  Tasks that are left
 * are adopted by the next platform of the root. */
bool facade_dispatch(Platform *p, failure *f);
bool facade_step(Platform *p, int most_ms, failure *f);
job_state facade_wait(Platform *p, pai_job_id job, failure *f);
void facade_close(Platform *p, bool leave, failure *f);

bool facade_is_closed(const Platform *p);

/* Job files.  What is returned is the caller's; a report or text that was
 * made may be NULL only after a failure. */
Job *facade_load(const char *path, failure *f);
Job *facade_parse(const char *text, size_t len, failure *f);
pai_report *facade_check(const char *text, size_t len, int version, bool hived,
                         failure *f);
pai_report *facade_check_file(const char *path, int version, bool hived,
                              failure *f);
/* The text with all corrections that are sure. */
job_text facade_fix(const char *text, size_t len, int version, bool hived,
                    failure *f);
/* What is at a position, from 1, and where a JSON pointer leads. */
listing facade_at(const char *text, size_t len, uint32_t line, uint32_t column,
                  failure *f);
listing facade_range(const char *text, size_t len, const char *place,
                     failure *f);
job_text facade_write(const Job *job, int format, int version, bool secrets,
                      failure *f);
/* What it will do, in PAI_FORMAT_TEXT or _JSON. */
job_text facade_explain(const Job *job, int format, failure *f);
job_text facade_job_get(const Job *job, const char *place, failure *f);
listing facade_roles(const Job *job, failure *f);
listing facade_prerequisites(const Job *job, failure *f);
pai_job_view facade_job_view(const Job *job);
/* The place of a secret that the job lacks. */
const char *facade_missing_secret(const pai_spec *spec, size_t i);
job_text facade_docker_config(const Job *job, failure *f);
/* What job config v1 cannot say. */
pai_report *facade_v1_report(const Job *job, failure *f);
job_text facade_schema(int version, failure *f);

/* How `b` differs from `a`: four texts a change, each with its zero: kind,
 * pointer, and the old and the new value as JSON, "" for none. */
job_text facade_diff(const Job *a, const Job *b, failure *f);

void facade_set(Draft *draft, const char *place, draft_value value,
                failure *f);
job_text facade_get(const Draft *draft, const char *place, failure *f);
/* Of the draft's text as it is. */
Job *facade_draft_job(const Draft *draft, failure *f);
/* A copy with "time", "after" (names, with commas between them),
 * "virtual_cluster" and "priority" in its file. */
Job *facade_job_with(const Job *job, words fields, failure *f);
pai_report *facade_draft_check(const Draft *draft, int version, bool hived,
                               failure *f);

/* Frees what a failure holds. */
void facade_failure_dispose(failure *f);

/* "line 3, column 5: " and the message, then, on a line of its own, the help;
 * allocated, NULL without memory. */
char *facade_describe(const failure *f);

/* The message alone. */
const char *facade_message(const failure *f);

/* What else there is, of the error or of an answer; NULL, or 0, for nothing. */
const char *facade_help(const failure *f);
const char *facade_api_code(const failure *f);
int facade_http_status(const failure *f);
bool facade_retriable(const failure *f);
int facade_no_answer(const failure *f);
int64_t facade_retry_after(const failure *f);

/* The failure below this one, borrowed from it; false: there is none. */
bool facade_cause(failure *cause, const failure *f);

/* Names of numbers, or NULL for none. */
const char *facade_event_type(const pai_event *event);
const char *facade_event_stream(const pai_event *event);
const char *facade_state_name(int state);
const char *facade_severity_name(int severity);
const char *facade_change_name(int kind);
bool facade_is_final(int state);

#include "facade_resource.h"
#include "facade_accounts.h"
#include "facade_client.h"
#include "facade_exec.h"
#include "facade_files.h"
#include "facade_follow.h"
#include "facade_hived.h"
#include "facade_life.h"
#include "facade_records.h"
#include "facade_sched.h"
#include "facade_sim.h"

#endif /* OPENPAI_BINDINGS_FACADE_H */
