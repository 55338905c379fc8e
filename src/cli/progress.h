/* progress.h - a progress line on the terminal, rewritten in place */
#ifndef PAI_SRC_CLI_PROGRESS_H
#define PAI_SRC_CLI_PROGRESS_H

#include "json.h"

/* Returns whether stderr is a terminal that can return to the start of a
 * line. */
bool cli_progress_wanted(void);
/* Replaces the progress line with `text`, cut to the terminal's width.  Does
 * nothing if the text is unchanged or stderr is no such terminal. */
void cli_progress(const char *text);
/* Erases the progress line.  Call it before any other output and at the
 * end. */
void cli_progress_over(void);

/* Formats "code [====>     ]  40%, 4.0 of 10.0 MB, 1.2 MB/s".  Pure. */
void cli_progress_bar(char *out, size_t size, const char *what, uint64_t done,
                      uint64_t total, int64_t took_ms);

/* The answers of GET /jobs/NAME/estimate and .../why; each may be empty. */
typedef struct cli_known {
  const pai_json *estimate, *why;
  bool brief; /* leave out how many tasks run: shown elsewhere */
} cli_known;

/* Formats the progress of a job: its state and for how long, how many of its
 * tasks run, its place in line, and when it starts or ends.  `job` is the
 * answer of GET /jobs/NAME, or empty; `known` is `age_ms` old.  Pure. */
void cli_progress_job(char *out, size_t size, const char *name,
                      const pai_json *job, const cli_known *known,
                      int64_t now_ms, int64_t age_ms);
/* Formats "3rd of 7 in line of default", or "one of 7 that wait in default"
 * where there is no order, or "".  Pure. */
void cli_in_line(char *out, size_t size, const pai_json *why);

#endif
