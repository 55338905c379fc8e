/*
 * caller.h - who calls a played server, which is ours or OpenPAI's own, and what
 * came of it
 */
#ifndef PAI_TESTS_CLIENT_CALLER_H
#define PAI_TESTS_CLIENT_CALLER_H

#include "client/played.h"

typedef struct caller {
  played p;
  pai_loop *loop;
  pai_client *client;
  outcome o;
  bool ours;
  int step; /* of its story */
  const char *config;
  int posts;
  char told[512]; /* changes, in order */
  int enough;     /* changes that the caller wants; 0: all */
  pai_op *op;     /* to be cancelled with the first change, or, */
  bool close;     /* the client to be closed */
  char log[4096]; /* what was read */
  size_t log_len;
} caller;

/* A client, of a server that answers so; `ours`: which one it says that it is. */
void caller_begin(caller *w, bool ours,
                  void (*answer)(played *p, const char *request,
                                 pai__buf *out));
void caller_end(caller *w);
/* The answer to who the server is; false: it is asked for something else. */
bool caller_info(caller *w, const char *request, pai__buf *out);

/* All of ann~one, which has one task: worka[0]. */
void say_job(pai__buf *out, const char *state, int code);

/* A test of a caller `w` that a server of ours answers. */
#define CALLING(answer, test)       \
  static void test##_in(caller *w); \
  ON_LOOPS(test)                    \
  {                                 \
    static caller w;                \
                                    \
    caller_begin(&w, true, answer); \
    test##_in(&w);                  \
    caller_end(&w);                 \
  }                                 \
  static void test##_in(caller *w)

#endif
