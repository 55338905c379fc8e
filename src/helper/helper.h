/*
 * helper.h - `openpai helper`: the language server and calls of clusters, for
 * editors
 *
 * One process with one libuv loop, which the library's objects use, too.  An
 * editor is a connection, with a language server of its own; clusters are
 * shared.  It includes only <openpai/...> and cli's headers.
 */
#ifndef PAI_SRC_HELPER_HELPER_H
#define PAI_SRC_HELPER_HELPER_H

#include "frame.h"
#include "json.h"
#include "remote.h"

#include <openpai/forecast.h>
#include <openpai/language.h>
#include <openpai/uv.h>

typedef struct helper helper;
typedef struct helper_editor helper_editor;
typedef struct helper_cluster helper_cluster;
typedef struct helper_exec helper_exec;

/* Error code of failed calls, in the range that JSON-RPC leaves to servers. */
enum {
  HELPER_CANCELLED = -32800,
  HELPER_INVALID_PARAMS = -32602,
  HELPER_FAILED = -32000
};

/* The bytes of a character that is not whole yet. */
typedef struct helper_part {
  char bytes[4];
  size_t len;
} helper_part;

/* A request of an editor that waits for a cluster. */
typedef struct helper_call {
  struct helper_call *next;
  helper_editor *editor;
  uint64_t request; /* 0: a question of the language server */
  uint64_t question;
  bool waits;        /* a question that is asked when the editor is quiet */
  pai_op *op;        /* NULL: it has called back */
  helper_exec *exec; /* a command in a task; NULL: none */
  char *token;       /* JSON: of the partial results; NULL: none */
  char *text;        /* of a question about a job: its file */
  char *body;        /* of a question about names: what is known so far */
  char *cluster;     /* of a question: the alias */
  int step;
  /* what follows helper_want_sched() */
  void (*then)(struct helper_call *c, int status, const pai_client_answer *a);
  bool cancelled, paused;
  helper_part part; /* of a log */
  void *own;        /* what else the call has; drop() frees it */
  void (*drop)(void *own);
} helper_call;

struct helper_editor {
  helper_editor *next;
  helper *of;
  uv_stream_t *in, *out; /* the same for a socket; in: NULL: a file */
  union {
    uv_pipe_t pipe;
    uv_tty_t tty;
  } handles[2];
  int files[2];     /* descriptors that are no streams, or -1 */
  uv_idle_t work;   /* runs as long as there is work */
  uv_timer_t quiet; /* ends when the editor has said nothing for a while */
  uv_poll_t parent;
  int parent_fd; /* -1: none */
  frame_reader frames;
  pai_language *language;
  char *cluster; /* alias of the chosen one; NULL: the default */
  helper_call *calls;
  size_t handles_open;
  bool forget; /* tell the language server that the cluster is another */
  bool closing, is_main; /* is_main: its end is the helper's */
};

struct helper {
  uv_loop_t uv;
  pai_loop *loop;
  uv_signal_t signals[3];
  uv_pipe_t listener, lifeline; /* lifeline: standard input */
  const char *socket;
  helper_editor *editors;
  helper_cluster *clusters;
  bool ending;
  int code;
};

/* --- cmd_helper.c ------------------------------------------------------------- */

/* Ends the helper after the current callbacks. */
void helper_end(helper *h, int code);

/* --- editor.c ------------------------------------------------------------------- */

/* Makes an editor on the descriptors of standard input and output, or on a
 * connection of the listener.  Returns NULL after printing an error. */
helper_editor *helper_editor_stdio(helper *h);
helper_editor *helper_editor_accept(helper *h);
void helper_editor_close(helper_editor *e);
/* Bytes that wait to be sent. */
size_t helper_editor_pending(const helper_editor *e);
/* Frees an editor that was closed when it has no calls any more. */
void helper_calls_done(helper_editor *e);
/* Calls helper_ask_waiting() when the editor has been quiet for a while. */
void helper_editor_when_quiet(helper_editor *e);
/* Lets the language server do what has become possible. */
void helper_editor_wake(helper_editor *e);

/* --- posix_parent.c -------------------------------------------------------------- */

/* Returns a descriptor that is readable when the process ends, or -1. */
int helper_watch_process(int64_t pid);

/* --- methods.c ------------------------------------------------------------------- */

/* Callbacks of the language server; user_data is the editor. */
int helper_other(void *user_data, uint64_t request, const char *method,
                 const char *params, size_t len);
void helper_cancel(void *user_data, uint64_t number);
void helper_ask(void *user_data, uint64_t question, int kind, const char *text,
                size_t len);

/* --- calls.c --------------------------------------------------------------------- */

helper_call *helper_call_new(helper_editor *e, uint64_t request);
void helper_call_free(helper_call *c);
/* Cancels a call: it is answered now or when its operation calls back. */
void helper_call_cancel(helper_call *c);
/* Cancels all calls of an editor; they call back later. */
void helper_calls_cancel(helper_editor *e);

/* Answer a request with JSON, for free(); NULL: memory was short. */
void helper_respond(helper_editor *e, uint64_t request, char *json);
/* Refuses a request. */
void helper_refuse(helper_editor *e, uint64_t request, int code,
                   const char *message);
/* Refuses with an error, the answer's status and the API's code. */
void helper_refuse_with(helper_editor *e, uint64_t request, int status,
                        const pai_error *err, int http, const char *api_code);
/* Refuses the request of a call whose operation could not begin, and frees
 * both; nothing if it began. */
void helper_check_begun(helper_call *c, int rc, pai_error *err);
/* The last callback of a call: answers with what the cluster has answered. */
void helper_on_answer(void *user_data, int status, const pai_client_answer *a);
/* Finds the cluster of a request's params; NULL after refusing. */
pai_client *helper_find_client(helper_editor *e, uint64_t request,
                               const pai_json *params);
/* Returns a value as JSON, for free(); NULL without memory. */
char *helper_json_of(const pai_json *json, size_t value);

/* --- streams.c ------------------------------------------------------------------- */

/* Makes the call of a stream, whose partial results need a token; NULL after
 * refusing. */
helper_call *helper_new_stream(helper_editor *e, uint64_t request,
                               const pai_json *params);
/* Sends a partial result, and frees it.  Pauses the stream while the editor
 * does not read. */
int helper_send_part(helper_call *c, char *value);
/* Returns the whole characters of a stream, for free(), and keeps the rest;
 * NULL without memory. */
char *helper_whole_text(helper_part *part, const char *bytes, size_t len,
                        size_t *whole);
/* Resumes the streams that wait until the editor has read what was sent. */
void helper_calls_resume(helper_editor *e);

/* --- exec.c ---------------------------------------------------------------------- */

/* Ends a command whose request was cancelled or whose editor has gone. */
void helper_exec_cancel(helper_exec *x);
void helper_exec_pause(helper_exec *x, bool paused);

/* --- methods of our own, by the table of methods.c ------------------------------ */

/* Answers a request, now or later. */
typedef void (*helper_method)(helper_editor *e, uint64_t request,
                              const pai_json *params);
#define HELPER_METHOD(name)                                 \
  void helper_do_##name(helper_editor *e, uint64_t request, \
                        const pai_json *params)
HELPER_METHOD(add_cluster);
HELPER_METHOD(call);
HELPER_METHOD(calls);
HELPER_METHOD(clusters);
HELPER_METHOD(copy);
HELPER_METHOD(debug_job);
HELPER_METHOD(events);
HELPER_METHOD(exec);
HELPER_METHOD(exec_input);
HELPER_METHOD(find_server);
HELPER_METHOD(forget_cluster);
HELPER_METHOD(login);
HELPER_METHOD(login_page);
HELPER_METHOD(logs);
HELPER_METHOD(use);
HELPER_METHOD(what_if);

/* --- clusters.c ------------------------------------------------------------------ */

/* Returns the client of a cluster: an alias, "local", or NULL or "" for the
 * chosen one.  NULL: there is none; *why says why. */
pai_client *helper_cluster_find(helper_editor *e, const char *alias,
                                const char **why);
/* The alias of the cluster that an editor works with; NULL without memory. */
const char *helper_cluster_name(helper_editor *e);
/* The scheduler of a cluster as it was a moment ago, which an estimate may
 * use; NULL: it is to be asked for again. */
const pai_sched *helper_cluster_sched(const helper_editor *e,
                                      const char *alias);
/* What was learned of its jobs; NULL: nothing, or it is old. */
const pai_history *helper_cluster_history(const helper_editor *e,
                                          const char *alias);
/* Keeps a scheduler, a history or both, which the cluster then owns. */
void helper_cluster_keep(const helper_editor *e, const char *alias,
                         pai_sched *sched, pai_history *history);
void helper_clusters_close(helper *h);
/* Forgets the clusters that an editor has added, with their tokens. */
void helper_clusters_leave(helper_editor *e);
/* Chooses another cluster for an editor.  Returns false without memory. */
bool helper_cluster_choose(helper_editor *e, const char *alias);

/* --- scheduler.c ---------------------------------------------------------------- */

/* Calls c->then when the cluster of a call has a scheduler that is fresh, or
 * cannot have one: then with the answer that says why, or NULL. */
void helper_want_sched(helper_call *c);
/* Whether a time of uv_hrtime() is over: ends a forecast. */
int helper_is_late(void *until);

/* --- estimate.c ------------------------------------------------------------------ */

/* Ask the chosen cluster; the answer goes to the language server. */
void helper_ask_names(helper_editor *e, uint64_t question);
void helper_ask_estimate(helper_editor *e, uint64_t question, const char *text,
                         size_t len);
/* Asks what has waited. */
void helper_ask_waiting(helper_editor *e);

#endif
