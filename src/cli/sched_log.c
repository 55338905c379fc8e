/* sched_log.c - logs of schedulers as the verbs of `sched` read them */
#include "cells.h"
#include "file.h"
#include "sched_log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int sched_log_words(const cli_verb *verb, int words, char **argv, int want,
                    const char *until, sched_log *log)
{
  char *end;

  if (words != want) {
    cli_misused(verb, words < want ? "this verb needs" : "too many words",
                words < want ? strrchr(verb->usage, ']') + 2 : argv[want]);
    return CLI_USAGE;
  }
  log->name = argv[0];
  if (until == NULL)
    return CLI_OK;
  errno = 0;
  log->until = strtoul(until, &end, 10);
  if (until[0] < '1' || until[0] > '9' || *end != '\0' || errno != 0) {
    cli_misused(verb, "--until is the number of a line, from 1", until);
    return CLI_USAGE;
  }
  return CLI_OK;
}

int sched_log_fail(const sched_log *log, pai_error *err)
{
  uint32_t column = pai_error_column(err);
  const char *help = pai_error_help(err);

  cli_print(stderr, cli_shown_name(log->name));
  (void)fprintf(stderr, ":%lu:", log->line);
  if (column != 0)
    (void)fprintf(stderr, "%u:", column);
  (void)fputc(' ', stderr);
  cli_level(stderr, PAI_LOG_ERROR, pai_error_message(err));
  (void)fputc('\n', stderr);
  if (help != NULL)
    cli_help(stderr, help);
  pai_error_free(err);
  return CLI_NO;
}

void sched_log_close(sched_log *log)
{
  pai_sched_free(log->sched);
  log->sched = NULL;
}

/* --- lines ---------------------------------------------------------------- */

/* Blanks in the line do not count. */
static bool begins(const char *line, size_t len, const char *part)
{
  for (size_t i = 0; i < len && *part != '\0'; i++)
    if (line[i] == *part)
      part++;
    else if (line[i] != ' ' && line[i] != '\t')
      return false;
  return *part == '\0';
}

static bool has(const char *line, size_t len, const char *part)
{
  size_t i = 0;

  while (i < len && !begins(line + i, len - i, part))
    i++;
  return i < len;
}

/* Is it the other policy that is wrong, and not the line?  Then told so. */
static bool blame_policy(const sched_log *log, const char *line, size_t len,
                         const pai_error *err)
{
  const char *help = pai_error_help(err);
  pai_sched *s;

  if (log->policy == NULL || pai_sched_load(&s, line, len, NULL, NULL) < 0)
    return false;
  pai_sched_free(s);
  cli_fail("%s %s: %s", log->options != NULL ? "--options of" : "--policy",
           log->policy, pai_error_message(err));
  if (help != NULL)
    cli_help(stderr, help);
  return true;
}

/* Another one goes on where the last one ended. */
static int load(sched_log *log, const char *line, size_t len, pai_error **err)
{
  pai_sched_options o = PAI_SCHED_OPTIONS_INIT;
  pai_sched *s;
  bool first = log->sched == NULL;
  int rc;

  if (!first && log->policy != NULL)
    return PAI_OK;
  o.policy = log->policy;
  o.policy_options = log->options;
  rc = pai_sched_load(&s, line, len, &o, err);
  if (rc < 0)
    return rc;
  pai_sched_free(log->sched);
  log->sched = s;
  return PAI_OK;
}

/* Another policy has not done all that the log goes on to tell of. */
static bool is_of_others(int rc)
{
  return rc == PAI_ENOTFOUND || rc == PAI_EEXISTS || rc == PAI_EBUSY ||
         rc == PAI_ENOROOM;
}

static int take(sched_log *log, const char *line, size_t len, pai_error **err)
{
  int rc;

  if (log->policy != NULL && has(line, len, "\"event\":\"policy\""))
    return PAI_OK;
  rc = pai_sched_send_json(log->sched, line, len, err);
  if (rc < 0 && log->policy != NULL && is_of_others(rc)) {
    pai_error_free(*err);
    *err = NULL;
    log->skipped++;
    return PAI_OK;
  }
  if (rc > 0 && log->decided != NULL)
    log->decided(log->sched, rc);
  return rc;
}

static int read_line(sched_log *log, const char *line, size_t len)
{
  static const char snapshot[] = "{\"snapshot\":";
  bool first = log->sched == NULL;
  pai_error *err = NULL;
  int rc;

  if (log->sched == NULL || begins(line, len, snapshot))
    rc = load(log, line, len, &err);
  else
    rc = take(log, line, len, &err);
  if (rc >= 0)
    return CLI_OK;
  if (!first || !blame_policy(log, line, len, err))
    return sched_log_fail(log, err);
  pai_error_free(err);
  return CLI_USAGE;
}

static int read_text(sched_log *log, const char *text, size_t len)
{
  const char *end = text + len, *next;
  int code = CLI_OK;

  for (; text < end && code == CLI_OK && cli_written(); text = next) {
    const char *newline = memchr(text, '\n', (size_t)(end - text));
    size_t n = (size_t)((newline != NULL ? newline : end) - text);

    next = newline != NULL ? newline + 1 : end;
    if (log->until != 0 && log->line == log->until)
      break;
    log->line++;
    if (n != 0)
      code = read_line(log, text, n);
  }
  if (code == CLI_OK && log->sched == NULL) {
    cli_fail("%s: this log is empty", cli_shown_name(log->name));
    code = CLI_NO;
  }
  return code;
}

int sched_log_read(sched_log *log)
{
  char *text = NULL, why[1024];
  size_t len = 0;
  int error = cli_read_file(&text, &len, log->name, (size_t)1 << 30), code;

  if (error != 0) {
    cli_read_why(why, sizeof(why), log->name, error);
    cli_fail("%s", why);
    return CLI_USAGE;
  }
  code = read_text(log, text, len);
  free(text);
  return code;
}
