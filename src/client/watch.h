/* watch.h - internal to the room: who watches jobs */
#ifndef PAI_SRC_CLIENT_WATCH_H
#define PAI_SRC_CLIENT_WATCH_H

#include "client/inside.h"

#include "base/map.h"

typedef int (*pai__change_cb)(void *user_data,
                              const pai_client_change *change);

typedef struct pai__watcher {
  pai__course course;
  char *job; /* NULL: all */
  pai__change_cb on_change;
  pai__map known; /* states, by job */
  pai__buf line;  /* of the stream */
  pai_time pause;
  uint32_t fails; /* of the stream, one after the other */
  bool only;      /* all about one job is asked for, once */
  /* of all (watch_all.c) */
  pai__map now;     /* jobs of the last list, or of the stream's beginning */
  const char *gone; /* the one that is asked for */
  bool asks;        /* again and again: the server has no such stream */
  bool opening;     /* nothing of the stream has come yet */
  bool whole;       /* it has told how all stand, or goes on where one ended */
  pai__buf id;      /* of the last event that was taken, */
  pai__buf next_id; /* and of the one whose lines come; "": it has none */
  bool missed;      /* and some that were known are not among them */
  int misses;       /* so often, one after the other */
  int silent;       /* streams that have not told it, one after the other */
  int kind;         /* of the event whose line comes next */
} pai__watcher;

/* As the API names a state, whatever its case; "" if it is none. */
const char *pai__state_of(const char *text);
bool pai__state_is_final(const char *state);
/* The exit code that the server tells of a job; 0 unless it is over. */
int pai__state_code(const pai__tree *tree, pai__node job, const char *state);
/* What an answer about a job says of it; final ones with their code.  NULL: there
 * is no memory. */
const char *pai__state_read(const pai_alloc *alloc, const pai_client_answer *a,
                            int *code);
/* Tells it on unless it is known; what was answered is in `stopped`. */
void pai__watch_tell(pai__watcher *w, const char *job, const char *state,
                     int code);
/* Whether that ended it; then it is gone. */
bool pai__watch_ended(pai__watcher *w);
void pai__watch_pause(pai__watcher *w, void (*step)(pai__course *c));
int pai__watch_ask_job(pai__watcher *w, const char *job, pai__course_cb next,
                       pai_error **err);
/* Begins a stream, whose lines are taken by pai__watch_all_line() if it is of
 * all. */
int pai__watch_stream(pai__watcher *w, const char *path, const char *accept,
                      pai_time total_time, pai_error **err);
/* Asks anew, in a while. */
void pai__watch_stream_later(pai__watcher *w);
/* watch_all.c: asks for all, as the server can tell. */
int pai__watch_ask_all(pai__watcher *w, pai_error **err);
/* Takes a line of the stream; a negative answer ends that. */
int pai__watch_all_line(pai__watcher *w);
/* The stream has ended. */
void pai__watch_all_end(pai__watcher *w, int status,
                        const pai_client_answer *a);
/* watch.c: asks for what it watches, once more. */
void pai__watch_ask_on(pai__course *c);

#endif
