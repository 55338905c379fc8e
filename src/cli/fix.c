/* fix.c - job files corrected by what is sure
 *
 * One correction may show another mistake: it goes on until none is left.
 */
#include "fix.h"

#include "cells.h"

#include <stdlib.h>
#include <string.h>

/* Of a report's most findings each round corrects what it can. */
enum { MOST_ROUNDS = 10, MOST_BYTES = 4 << 20 };

typedef struct fixer {
  const char *name;
  const char *was; /* what was read */
  size_t was_len;
  FILE *told; /* lines for people, until the file is written */
  char *lines;
  size_t lines_len;
  FILE *out; /* the text of one round */
  bool more; /* it was given up before nothing was left */
} fixer;

static int on_fix(void *user_data, const pai_diagnostic *d, const pai_fix *fix)
{
  fixer *f = user_data;

  if (!fix->sure)
    return 0;
  cli_print(f->told, cli_shown_name(f->name));
  (void)fprintf(f->told, ":%u:%u: fixed: ", d->line, d->column);
  cli_print(f->told, fix->title);
  (void)fprintf(f->told, " [%s]\n", d->code);
  return 1;
}

static int on_text(void *user_data, const char *bytes, size_t len)
{
  return cli_write(((fixer *)user_data)->out, bytes, len);
}

/* One round: how many corrections, or a failure.  Takes *text, and gives the
 * new one. */
static int round_of(fixer *f, char **text, size_t *len,
                    const pai_spec_options *options, pai_error **err)
{
  pai_report *report = NULL;
  char *fixed = NULL;
  size_t fixed_len = 0;
  int rc = pai_spec_check(&report, NULL, *text, *len, options, err);

  if (rc < 0)
    return rc;
  f->out = open_memstream(&fixed, &fixed_len);
  rc = f->out != NULL
         ? pai_report_fix(report, *text, *len, on_fix, on_text, f, err)
         : PAI_ENOMEM;
  pai_report_free(report);
  if (f->out != NULL && fclose(f->out) != 0 && rc >= 0)
    rc = PAI_ENOMEM;
  if (rc < 0) {
    free(fixed);
    return rc;
  }
  free(*text);
  *text = fixed;
  *len = fixed_len;
  return rc;
}

/* How many corrections there were, or a failure. */
static int fix_text(fixer *f, char **text, size_t *len,
                    const pai_spec_options *options, pai_error **err)
{
  int count = 0, rc = 1;

  f->told = open_memstream(&f->lines, &f->lines_len);
  if (f->told == NULL)
    return PAI_ENOMEM;
  for (int i = 0; rc > 0 && i < MOST_ROUNDS; i++) {
    rc = round_of(f, text, len, options, err);
    count += rc > 0 ? rc : 0;
  }
  f->more = rc > 0;
  if (fclose(f->told) != 0 && rc >= 0)
    rc = PAI_ENOMEM;
  return rc < 0 ? rc : count;
}

/* Puts the text where it belongs; NULL, or why not. */
static const char *keep(const fixer *f, const char *text, size_t len,
                        int count, bool tell)
{
  const char *why = NULL;

  if (strcmp(f->name, "-") == 0)
    (void)cli_write(stdout, text, len);
  else if (count > 0)
    why = cli_replace(f->name, f->was, f->was_len, text, len);
  if (why == NULL && tell)
    (void)fputs(f->lines, stdout);
  if (why == NULL && f->more)
    cli_say(PAI_LOG_WARNING, "more can be fixed: run it again");
  return why;
}

/* A copy of a text; NULL: no memory. */
static char *copy_of(const char *text, size_t len)
{
  char *copy = malloc(len + 1); /* also of nothing */

  if (copy != NULL)
    memcpy(copy, text, len);
  return copy;
}

void cli_fix_open(cli_job_file *job, const char *name,
                  const pai_spec_options *options, bool tell)
{
  fixer f = { .name = name };
  const char *cannot = NULL;
  pai_error *err = NULL;
  char *text = NULL, *was = NULL;
  size_t len = 0;
  int error = cli_read_file(&text, &len, name, MOST_BYTES), count = 0;

  *job = (cli_job_file){ .file = { .name = name } };
  if (error != 0) {
    cli_read_why(job->file.why, sizeof(job->file.why), name, error);
    free(text);
    return;
  }
  if (len > MOST_BYTES) { /* it was cut, and is refused */
    cli_job_file_take(job, name, text, len, options, false);
    free(text);
    return;
  }
  f.was = was = copy_of(text, len);
  f.was_len = len;
  count = was != NULL ? fix_text(&f, &text, &len, options, &err) : PAI_ENOMEM;
  if (count < 0)
    (void)snprintf(job->file.why, sizeof(job->file.why), "cannot fix %s: %s",
                   cli_shown_name(name),
                   err != NULL ? pai_error_message(err) : "out of memory");
  else if ((cannot = keep(&f, text, len, count, tell)) != NULL)
    (void)snprintf(job->file.why, sizeof(job->file.why), "cannot write %s: %s",
                   name, cannot);
  else
    cli_job_file_take(job, name, text, len, options, false);
  pai_error_free(err);
  free(f.lines);
  free(was);
  free(text);
}
