/*
 * facade.h - the C functions that the Python and Lua bindings wrap
 *
 * bindings/interface.txt declares them; facade_interface.h is made of it.
 * The facade is the same for all languages and uses <openpai/openpai.h> only.
 * A Platform has its own loop. While it waits, it lets the language handle
 * signals, stops at an error of a callback, and raises that same error when
 * the job is over.
 */
#ifndef OPENPAI_BINDINGS_FACADE_H
#define OPENPAI_BINDINGS_FACADE_H

#include <openpai/openpai.h>

#include <stdbool.h>

/* List of strings, which each language converts to its own type. */
typedef struct job_strings {
  const pai_spec *spec;
  const char *(*get)(const pai_spec *spec, size_t i); /* NULL at the end */
} job_strings;

/* Allocated text, freed when the language has its own copy. */
typedef struct job_text {
  char *bytes; /* ends with a zero; NULL after a failure */
  size_t len;
} job_text;

/* JSON list or object with absent values left out. Each language decodes
 * it. */
typedef struct listing {
  job_text json;
} listing;
typedef listing findings; /* a report, as facade_report() writes it */

/* Sequence of strings, each with its terminating zero. */
typedef struct words {
  const char *bytes;
  size_t len;
} words;

/* New value of a place in a draft. */
typedef struct draft_value {
  const char *text;
  size_t len;   /* length of `text`, used if is_text */
  bool is_text; /* else `text` is YAML or JSON, and ends with a zero */
} draft_value;

/* State of a job, and its completion code if the state is final. */
typedef struct job_state {
  int state;
  int code;
} job_state;

/* Why a call failed; a code of 0 means success. Becomes the exception. */
typedef struct failure {
  int code;
  pai_error *err;     /* NULL: `code` is all there is */
  const char *text;   /* NULL: the message of `err` */
  char *made;         /* the message, allocated; NULL: `text` */
  pai_report *report; /* of an invalid job file, or NULL */
  char *file;         /* name of the file that was read, allocated, or NULL */
  int error;          /* errno, or 0 */
  /* Answer of a server, if `err` is NULL; allocated. */
  char *help, *api_code;
  int http_status; /* 0: no answer */
  bool retriable;
  int no_answer; /* PAI_NO_ANSWER_*, or 0 */
  int64_t wait;  /* microseconds until a retry makes sense, or 0 */
} failure;

/*
 * Callback of a script: the first member of a struct of the language. The
 * first error of on_event() or check() is kept in that struct until rethrow()
 * hands it to the interpreter. Until then no event is delivered. on_event()
 * returns PAI_EUSER for an error, and PAI_ECANCELED if a signal caused it.
 * check() runs pending signal handlers, and does not return 0 if one of them
 * raised an error.
 */
typedef struct listener listener;
struct listener {
  int (*on_event)(listener *self, const pai_event *event); /* or NULL */
  int (*check)(listener *self);
  void (*rethrow)(listener *self);
  void (*free)(listener *self);
};

/* Raw bytes of a log. */
typedef struct log_bytes {
  char *bytes; /* allocated, or NULL */
  size_t len;
} log_bytes;

/* A node, by its name or, if that is NULL, by its number. */
typedef struct node_ref {
  const char *name;
  size_t number;
} node_ref;

/* Machines from which to make a cluster. */
typedef struct machine_list {
  const pai_cluster_machine *list;
  size_t count;
} machine_list;

/* A policy: the name of a built-in one, or an object of the language. */
typedef struct policy_ref {
  const char *name; /* NULL, without an object: the default policy */
  void *object;     /* reference that the callee takes */
  bool lends;
  bool hears; /* the object has event() */
} policy_ref;

/* Destination of a log: an object with write(), which the callee takes. NULL:
 * no log. */
typedef struct log_ref {
  void *object;
} log_ref;

#include "facade_interface.h"

/* Iteration over all nodes, for languages whose loops call a function. */
typedef struct node_walk {
  const Cluster *cluster;
} node_walk;

/* --- functions for more than one of those ---------------------------------- */

bool facade_is_closed(const Platform *p);
bool client_is_shut(const Client *c);
bool exec_has_begun(const Exec *e);
bool exec_is_over(const Exec *e);
bool exec_is_full(const Exec *e);

job_text facade_write(const Job *job, int format, bool secrets, failure *f);
pai_job_view facade_job_view(const Job *job);
/* Returns the place of the i-th secret that the job lacks. */
const char *facade_missing_secret(const pai_spec *spec, size_t i);

job_text facade_topology_write(const Topology *t, int format, words marks,
                               failure *f);
size_t facade_find(const Cluster *cluster, node_ref node, failure *f);
job_text facade_draw(const Cluster *cluster, int format, bool colour,
                     words marks, failure *f);
job_text facade_allocation_write(const Allocation *set, bool json, failure *f);

/* --- functions that each language defines -------------------------------- */

/*
 * Calls a method of an object. The arguments are `host`, which is taken, and
 * `text`; each is left out if NULL. Writes the result to *answer if that is
 * not NULL. Returns PAI_EUSER if the method raised an error; the first error
 * is kept.
 */
int script_ask(void *object, const char *method, Scheduler *host,
               const char *text, size_t len, job_text *answer);
void *script_hold(void *object);  /* adds a reference */
void *script_clone(void *object); /* result of clone(), or NULL */
void script_drop(void *object);   /* drops a reference; NULL is allowed */

/* Ends a call. Returns true if an error is kept, which becomes the failure of
 * the call. If the call has not failed, an error is dropped, unless it is to
 * end the program. */
bool script_settle(bool failed);

/* Returns true if a signal handler has raised an error. */
bool script_signals(void);

/* Ends the use of a host: all later calls on it fail. */
void facade_host_end(Scheduler *host);

/* --- failures and names ---------------------------------------------------- */

/* Frees all that a failure owns. */
void facade_failure_dispose(failure *f);

/* Returns "line 3, column 5: " and the message, and the help on a line of its
 * own. Allocated; NULL without memory. */
char *facade_describe(const failure *f);

/* Returns the message alone. */
const char *facade_message(const failure *f);

/* Return the other details of the error or answer; NULL or 0 if there are
 * none. */
const char *facade_help(const failure *f);
const char *facade_api_code(const failure *f);
int facade_http_status(const failure *f);
bool facade_retriable(const failure *f);
int facade_no_answer(const failure *f);
const char *facade_file(const failure *f);
/* {"valid", "version", "diagnostics"} */
listing facade_report(const pai_report *report, failure *f);
int facade_errno(const failure *f); /* 0: none */
int64_t facade_retry_after(const failure *f);

/* Sets `cause` to the failure that caused `f`, borrowed from `f`. Returns
 * false if there is none. */
bool facade_cause(failure *cause, const failure *f);

/* Return the names of constants, or NULL for an unknown value. */
const char *facade_state_name(int state);
const char *facade_severity_name(int severity);
const char *facade_change_name(int kind);
bool facade_is_final(int state);

/* A member of an event, as scripts have it. */
typedef struct event_member {
  const char *name;
  enum { EVENT_NONE, EVENT_NUMBER, EVENT_TEXT, EVENT_BYTES } kind;
  int64_t number;
  const char *text;
  size_t len; /* of `text` */
} event_member;

enum { EVENT_MEMBERS = 10 };

/* Sets the members, in the order of Python's class Event. */
void facade_event_members(event_member out[EVENT_MEMBERS],
                          const pai_event *event);

#endif /* OPENPAI_BINDINGS_FACADE_H */
