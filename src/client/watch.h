/* watch.h - internal to src/client: watching the state of jobs */
#ifndef PAI_SRC_CLIENT_WATCH_H
#define PAI_SRC_CLIENT_WATCH_H

#include "client/inside.h"

#include "base/map.h"

typedef int (*pai__change_cb)(void *user_data,
                              const pai_client_change *change);

typedef struct pai__watcher {
  pai__client_sequence sequence;
  char *job; /* NULL: all jobs */
  pai__change_cb on_change;
  pai__map known; /* states by job */
  pai__buf line;  /* current line of the stream */
  pai_time pause;
  uint32_t fails; /* consecutive failures of the stream */
  /* for all jobs only (watch_all.c) */
  pai__map now;     /* jobs of the last list, or of the stream's beginning */
  const char *gone; /* missing job that is being requested */
  bool asks;        /* polls the list: the server has no such stream */
  bool opening;     /* nothing of the stream has arrived yet */
  bool whole;       /* the stream has sent the state of all jobs, or continues
                       an earlier stream */
  pai__buf id;      /* of the last event taken */
  pai__buf next_id; /* of the event being read; "": it has none */
  bool missed;      /* known jobs are missing in the list */
  int misses;       /* consecutive lists with missing jobs */
  int silent;       /* consecutive streams that sent no complete state */
  int kind;         /* of the event being read */
} pai__watcher;

/* Returns the state's name as in the API, ignoring case; "" if it is no
 * state. */
const char *pai__state_of(const char *text);
bool pai__state_is_final(const char *state);
/* Returns a job's exit code as the server gives it; 0 unless the job is
 * over. */
int pai__state_code(const pai__tree *tree, pai__node job, const char *state);
/* Returns the state in an answer about a job, and its code if it is final.
 * NULL: out of memory. */
const char *pai__state_read(const pai_alloc *alloc, const pai_client_answer *a,
                            int *code);
/* Reports a state unless it was reported before.  The callback's result is in
 * `stopped`. */
void pai__watch_tell(pai__watcher *w, const char *job, const char *state,
                     int code);
/* Starts a stream.  Lines of a stream of all jobs go to
 * pai__watch_all_line(). */
int pai__watch_stream(pai__watcher *w, const char *path, const char *accept,
                      pai_time total_time, pai_error **err);
/* Starts it again after a pause. */
void pai__watch_stream_later(pai__watcher *w);
/* watch_all.c: requests all jobs, by stream or list. */
int pai__watch_ask_all(pai__watcher *w, pai_error **err);
/* Takes a line of the stream; a negative result ends the stream. */
int pai__watch_all_line(pai__watcher *w);
/* The stream has ended. */
void pai__watch_all_end(pai__watcher *w, int status,
                        const pai_client_answer *a);
/* watch.c: requests what it watches again. */
void pai__watch_ask_on(pai__client_sequence *c);

#endif
