/* sched_log.h - scheduler logs, opened and replayed for the verbs */
#ifndef PAI_SRC_CLI_SCHED_LOG_H
#define PAI_SRC_CLI_SCHED_LOG_H

#include "log_files.h"

typedef struct sched_log {
  const char *name;    /* file name, "-" for standard input */
  char *own;           /* its name, if it is the platform's own log */
  log_files files;     /* the files of that log */
  char *own_before;    /* name of the older of two files, or NULL */
  bool late;           /* only the recent part is needed */
  const char *policy;  /* policy to decide with instead, or NULL */
  const char *options; /* of that policy, as JSON, or NULL */
  bool check;          /* compare with snapshots in the middle */
  unsigned long until; /* last line to read; 0: all */
  /* Called with the number of decisions of a line, which the scheduler holds;
   * or NULL. */
  void (*decided)(const struct sched_log *log, int n);
  const char *text;       /* set if the log was opened as a text */
  pai_replay *replay;     /* NULL: not open */
  const pai_sched *sched; /* at the end */
} sched_log;

/* Whether the words of a verb name a request. */
typedef enum sched_takes {
  SCHED_NO_JOB,
  SCHED_MAY_JOB,
  SCHED_NEEDS_JOB
} sched_takes;

/* Reads --log, which is `option`, and the words [LOG] and JOB of a verb.  Sets
 * log->name, which stays NULL if no log is named: the platform's; and *job,
 * which may be NULL.  Returns CLI_OK, or CLI_USAGE after printing an error. */
int sched_log_words(sched_log *log, int words, char **argv, const char *option,
                    sched_takes takes, const char **job);
/* Finds the log if no word names one: $OPENPAI_LOG, else the platform's own;
 * that of another machine is fetched.  `late`: only the current state and
 * recent lines are needed.  Returns CLI_OK, or CLI_USAGE after printing an
 * error: there is no log. */
int sched_log_own(sched_log *log, bool late);
/* Closes the log and finds all of it, to be opened again.  Returns CLI_OK, or
 * CLI_USAGE after printing an error. */
int sched_log_whole(sched_log *log);
/* Opens the log.  Returns CLI_OK, or CLI_USAGE after printing why it cannot be
 * read. */
int sched_log_open(sched_log *log);
/* The same for a text, which must stay valid. */
int sched_log_open_text(sched_log *log, const char *text, size_t len);
/* Opens the log and replays it.  Returns CLI_OK; CLI_NO: a line is wrong;
 * CLI_USAGE: it cannot be read; after printing an error.  `sched` is set after
 * the first line. */
int sched_log_read(sched_log *log);
/* Prints what is wrong with a line, or with a question about the whole log.
 * Returns CLI_NO. */
int sched_log_fail(const sched_log *log, pai_error *err);
void sched_log_close(sched_log *log);

/* Finds a request by its number, or by a name that only one request of the
 * scheduler has.  Returns CLI_OK, with *id 0 if there is none, or CLI_NO after
 * printing that there are several. */
int sched_find(const pai_sched *sched, const char *word, uint64_t *id);
/* The same, but there must be one; with sched == NULL the log is searched for the name.  Returns
 * CLI_OK, or CLI_USAGE or CLI_NO after printing an error. */
int sched_log_request(const sched_log *log, const char *word, uint64_t *id);

/* Explains why a request waits at the end of a log, for `why --log` and `sched
 * explain` (cmd_sched.c).  Returns an exit code. */
int sched_explain(int words, char **argv, const cli_log_options *o,
                  const char *until);

#endif
