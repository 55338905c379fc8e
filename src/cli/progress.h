/* progress.h - a line on the terminal that is written anew again and again */
#ifndef PAI_SRC_CLI_PROGRESS_H
#define PAI_SRC_CLI_PROGRESS_H

#include "json.h"

/* Whether somebody looks: stderr is a terminal that can go back to where a line
 * begins. */
bool cli_progress_wanted(void);
/* Puts a text there, as much of it as fits, in the place of the last one.
 * Nothing if it stands there already, or nobody looks. */
void cli_progress(const char *text);
/* Takes it away: before anything else is said, and in the end. */
void cli_progress_over(void);

/* "code [====>     ]  40%, 4.0 of 10.0 MB, 1.2 MB/s".  Pure. */
void cli_progress_bar(char *out, size_t size, const char *what, uint64_t done,
                      uint64_t total, int64_t took_ms);

/* What GET /jobs/NAME/estimate and .../why said; each may be empty. */
typedef struct cli_known {
  const cli_json *estimate, *why;
  bool brief; /* how many of its tasks run stands elsewhere */
} cli_known;

/* A job that is waited for, as GET /jobs/NAME has it, or empty: its state, for
 * how long, how many of its tasks run; its place in line, and when it starts or
 * ends, as was said `age_ms` ago.  Pure. */
void cli_progress_job(char *out, size_t size, const char *name,
                      const cli_json *job, const cli_known *known,
                      int64_t now_ms, int64_t age_ms);
/* "3rd of 7 in line of default"; "one of 7 that wait in default", where there is
 * no line; or "".  Pure. */
void cli_in_line(char *out, size_t size, const cli_json *why);

#endif
