/*
 * bare.h - the loop that tasks are measured against: it starts so many
 * programs at once, and waits for them
 */
#ifndef PAI_TESTS_BENCH_BARE_H
#define PAI_TESTS_BENCH_BARE_H

#include "backend/local/runtime.h"
#include "base/buf.h"

/* A new folder in $TMPDIR or /var/tmp; negative on failure. */
enum { BENCH_FOLDER = 192 };
int bench_make_folder(char out[BENCH_FOLDER]);
/* Removes it with all it has. */
void bench_remove(const char *folder);

/* What it starts. */
enum bare_kind {
  BARE_SUPERVISOR,         /* openpai-task, with bash, which runs the script */
  BARE_SUPERVISOR_SANDBOX, /* the same with bubblewrap between */
  BARE_SANDBOX             /* bubblewrap and bash, without a supervisor */
};

typedef struct bare {
  int kind;
  char root[BENCH_FOLDER]; /* a folder of its own */
  char *program;
  pai__runtimes tools; /* bubblewrap and bash, as the back end finds them */
  pai__buf order;      /* of supervisors: one for all */
  pai__backend_words words; /* without one; the last is the script */
  uint64_t next;            /* of folders */
} bare;

/* The sandbox has the words of the back end's own, but one /tmp for all, which
 * is not removed.  Negative on failure, and bare_close() is due then, too. */
int bare_open(bare *b, int kind, const char *script);
int bare_run(bare *b, int count, int at_once);
void bare_close(bare *b);

#endif
