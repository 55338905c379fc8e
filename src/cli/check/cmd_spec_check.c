/* cmd_spec_check.c - `spec check`: check job files and fix what can be
 * fixed */
#include "cells.h"
#include "check.h"
#include "job_file.h"

#include <stdlib.h>
#include <string.h>

/* A report holds a limited number of findings, so fixing takes rounds. */
enum { MOST_ROUNDS = 10, MOST_BYTES = 4 << 20 };

typedef struct fixer {
  const char *name;
  const char *was; /* the text as read */
  size_t was_len;
  FILE *told; /* lines for the user, held until the file is written */
  char *lines;
  size_t lines_len;
  FILE *out; /* text of the current round */
  bool more; /* ended with fixes left */
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

/* Runs one round and replaces *text.  Returns the number of fixes, or an
 * error. */
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

/* Returns the number of fixes, or an error. */
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

/* Writes the text to its file; returns NULL, or why that failed. */
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
    cli_say(PAI_LOG_WARNING,
            "more corrections are possible: run the command again");
  return why;
}

/* Copies a text; NULL: no memory. */
static char *copy_of(const char *text, size_t len)
{
  char *copy = malloc(len + 1); /* also for an empty text */

  if (copy != NULL)
    memcpy(copy, text, len);
  return copy;
}

/* Opens a job file as cli_job_file_open() does, after fixing and writing it.
 * `tell`: print the changes to stdout.  The text of standard input goes to
 * standard output instead, changed or not, unless it is too long for a job
 * file. */
static void cli_fix_open(cli_job_file *job, const char *name,
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
  if (len > MOST_BYTES) { /* truncated, and therefore rejected */
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

/* The options for opening a file. */
typedef struct opening {
  pai_spec_options spec;
  bool fix, tell;
} opening;

static void open_job(cli_file *file, const char *name, const void *options)
{
  const opening *o = options;
  cli_job_file job;

  if (o->fix)
    cli_fix_open(&job, name, &o->spec, o->tell);
  else
    cli_job_file_open(&job, name, &o->spec, false);
  *file = job.file; /* `want_spec` was false: there is no spec */
}

/* Fixes standard input: prints the text to standard output and the remaining
 * findings to standard error. */
static int fix_stdin(const opening *o, bool strict, bool quiet)
{
  const pai_diagnostic *d;
  cli_job_file job;
  int code = CLI_USAGE;

  cli_fix_open(&job, "-", &o->spec, false);
  if (job.file.report == NULL) {
    cli_say(PAI_LOG_ERROR, job.file.why);
  } else {
    if (!quiet)
      cli_print_findings(stderr, "-", job.file.report);
    code = pai_report_valid(job.file.report) ? CLI_OK : CLI_NO;
    d = pai_report_get(job.file.report, 0);
    code = strict && d != NULL ? CLI_NO : code;
  }
  cli_job_file_close(&job);
  return code;
}

int cli_do_spec_check(const cli_spec_check_args *a)
{
  const cli_check_options *told = &a->check;
  bool plain = !told->json && !told->sarif;
  opening o = { .spec = PAI_SPEC_OPTIONS_INIT,
                .fix = a->fix,
                .tell = plain && !told->quiet && cli_is_terminal(stdout) };
  const cli_check how = { .open = open_job,
                          .options = &o,
                          .form = cli_check_form(told),
                          .strict = told->strict };

  for (int i = 0; a->fix && i < a->count; i++)
    if (strcmp(a->words[i], "-") == 0 && (a->count > 1 || !plain))
      return cli_misused(cli_verb_now->name,
                         "--fix of standard input writes the job file to "
                         "standard output: no other file and no --json or "
                         "--sarif");
  o.spec.hived = a->hived;
  if (a->fix && strcmp(a->words[0], "-") == 0)
    return fix_stdin(&o, told->strict, told->quiet);
  return cli_check_files(&how, a->words, a->count);
}
