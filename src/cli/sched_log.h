/* sched_log.h - logs of schedulers as the verbs read them */
#ifndef PAI_SRC_CLI_SCHED_LOG_H
#define PAI_SRC_CLI_SCHED_LOG_H

#include "log_files.h"

typedef struct sched_log {
  const char *name;    /* of the file, "-" for standard input */
  char *own;           /* the name, if it is that of a platform's own log, */
  log_files files;     /* which is read here; */
  char *own_before;    /* the name of the first of two, or NULL; */
  bool late;           /* and only what is now need be in it */
  const char *policy;  /* to decide with instead, or NULL */
  const char *options; /* of that, as JSON, or NULL */
  bool check;          /* snapshots in the middle are compared */
  unsigned long until; /* the last line to be read; 0: all */
  /* Told of the decisions of a line, which are the scheduler's; or NULL. */
  void (*decided)(const struct sched_log *log, int n);
  const char *text;       /* of it, if it was opened as one */
  pai_replay *replay;     /* NULL: not opened yet */
  const pai_sched *sched; /* as it is at the end */
} sched_log;

/* Options of all that read a log: name is the first of `want` words.  Where it may
 * be missing, and is, name stays NULL: the log is the platform's own.  CLI_OK, or
 * CLI_USAGE and told why. */
int sched_log_words(const cli_verb *verb, int words, char **argv, int want,
                    const char *until, sched_log *log);
/* Whether a platform is named: then no other word names a log (own_log.c). */
bool cli_is_named(void);
/* Where a job may stand alone, too: whether a word names a log, being a file or no
 * name of a job, and no platform is named (own_log.c). */
bool sched_log_is(const char *word);
/* Where none is among the words: the one that OPENPAI_LOG names, else the platform's
 * own, which of one elsewhere is fetched (own_log.c).  `late`: only what is now, and
 * what is about as old, is wanted of that.  CLI_OK, or CLI_USAGE: there is none, and
 * told why. */
int sched_log_own(sched_log *log, bool late);
/* All of it after all: it is to be opened again.  CLI_OK, or CLI_USAGE and told
 * why. */
int sched_log_whole(sched_log *log);
/* Which line of which file one is; 0: none (own_log.c). */
uint32_t sched_log_place(const sched_log *log, uint32_t line,
                         const char **name);
/* The only request of that name in all of a log (own_log.c).  CLI_OK;
 * CLI_USAGE, CLI_NO, and told why. */
int sched_log_named(const sched_log *log, const char *name, uint64_t *id);
/* Opens it.  CLI_OK; CLI_USAGE: it cannot be read, and told why. */
int sched_log_open(sched_log *log);
/* Likewise, of a text that stays as long. */
int sched_log_open_text(sched_log *log, const char *text, size_t len);
/* Opens and reads it.  CLI_OK; CLI_NO: a line is wrong; CLI_USAGE: it cannot be
 * read; and told why.  The scheduler is there as soon as the first line was
 * read. */
int sched_log_read(sched_log *log);
/* What is wrong with a line, or with what was asked of all of it.  CLI_NO. */
int sched_log_fail(const sched_log *log, pai_error *err);
void sched_log_close(sched_log *log);

/* Whether a request of that name and user, which may be NULL, is what a word names,
 * alone or as USER~NAME. */
bool sched_log_is_called(const char *name, const char *user, const char *word);
/* The request of that number, or of that name if only one has it, for which the
 * scheduler is looked at; NULL: there are numbers only.  CLI_OK, or CLI_USAGE,
 * CLI_NO and told why. */
int sched_log_request(const cli_verb *verb, const sched_log *log,
                      const char *word, uint64_t *id);

#endif
