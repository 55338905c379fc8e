/* sched_log.c - logs of schedulers as the verbs read them */
#include "cells.h"
#include "file.h"
#include "sched_log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int sched_log_words(const cli_verb *verb, int words, char **argv, int want,
                    const char *until, sched_log *log)
{
  bool own = words == want - 1 && (words == 0 || !sched_log_is(argv[0]));
  char *end;

  if (words != want && !own) {
    cli_misused(verb,
                words < want ? "this verb requires" : "too many arguments",
                words < want ? strrchr(verb->usage, ' ') + 1 : argv[want]);
    return CLI_USAGE;
  }
  if (!own && cli_is_named()) {
    cli_misused(verb, "--root and a log exclude each other", argv[0]);
    return CLI_USAGE;
  }
  log->name = own ? NULL : argv[0];
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
  uint32_t line = pai_error_line(err), column = pai_error_column(err);
  const char *help = pai_error_help(err), *name;

  line = sched_log_place(log, line, &name);
  cli_print(stderr, cli_shown_name(name));
  (void)fputc(':', stderr);
  if (line != 0)
    (void)fprintf(stderr, "%u:", line);
  if (line != 0 && column != 0)
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
  pai_replay_free(log->replay);
  if (log->own != NULL)
    log_files_close(&log->files);
  free(log->own);
  free(log->own_before);
  log->own = log->own_before = NULL;
  log->replay = NULL;
  log->sched = NULL;
}

/* --- requests ------------------------------------------------------------- */

static bool read_id(const char *word, uint64_t *id)
{
  char *end;

  errno = 0;
  *id = strtoull(word, &end, 10);
  return word[0] >= '1' && word[0] <= '9' && *end == '\0' && errno == 0;
}

bool sched_log_is_called(const char *name, const char *user, const char *word)
{
  const char *tilde = strchr(word, '~');
  size_t len = tilde != NULL ? (size_t)(tilde - word) : 0;

  return strcmp(name, word) == 0 ||
         (tilde != NULL && user != NULL && strlen(user) == len &&
          memcmp(user, word, len) == 0 && strcmp(name, tilde + 1) == 0);
}

int sched_log_request(const cli_verb *verb, const sched_log *log,
                      const char *word, uint64_t *id)
{
  pai_request_view v = { .struct_size = sizeof(v) };
  uint64_t found = 0;

  if (read_id(word, id))
    return CLI_OK;
  if (log->sched == NULL && strcmp(log->name, "-") != 0)
    return sched_log_named(log, word, id);
  if (log->sched == NULL) {
    cli_misused(
      verb, "with a log from standard input, give the request's number", word);
    return CLI_USAGE;
  }
  for (uint64_t i = 0; (i = pai_sched_next(log->sched, i)) != 0;) {
    if (pai_sched_view_request(log->sched, i, &v) < 0 || v.name == NULL ||
        !sched_log_is_called(v.name, v.user, word))
      continue;
    if (found != 0) {
      cli_fail("requests %llu and %llu both have the name '%s'",
               (unsigned long long)found, (unsigned long long)i, word);
      return CLI_NO;
    }
    found = i;
  }
  if (found == 0)
    cli_fail("there is no request '%s' then", word);
  *id = found;
  return found != 0 ? CLI_OK : CLI_NO;
}

/* --- reading -------------------------------------------------------------- */

static int open_it(pai_replay **out, const sched_log *log,
                   const pai_replay_options *o, pai_error **err)
{
  if (log->own == NULL)
    return pai_replay_open(out, log->name, o, err);
  return pai_replay_new(out, log_files_read, (void *)&log->files,
                        log->files.size[0] + log->files.size[1], o, err);
}

int sched_log_open(sched_log *log)
{
  pai_replay_options o = PAI_REPLAY_OPTIONS_INIT;
  pai_error *err = NULL;

  o.policy = log->policy;
  o.policy_options = log->options;
  o.check = log->check;
  if (open_it(&log->replay, log, &o, &err) == PAI_OK)
    return CLI_OK;
  cli_fail("%s", pai_error_message(err));
  pai_error_free(err);
  return CLI_USAGE;
}

static ptrdiff_t read_text(void *user_data, uint64_t offset, char *buffer,
                           size_t size)
{
  const sched_log *log = user_data;

  memcpy(buffer, log->text + offset, size);
  return (ptrdiff_t)size;
}

int sched_log_open_text(sched_log *log, const char *text, size_t len)
{
  pai_error *err = NULL;

  log->text = text;
  if (pai_replay_new(&log->replay, read_text, log, len, NULL, &err) == PAI_OK)
    return CLI_OK;
  cli_fail("%s", pai_error_message(err));
  pai_error_free(err);
  return CLI_NO;
}

static bool is_last(const sched_log *log)
{
  return log->until != 0 && pai_replay_line(log->replay) >= log->until;
}

/* Is it the other policy that is wrong, and not the first line?  Then told so. */
static bool blame_policy(const sched_log *log, const pai_error *err)
{
  const char *help = pai_error_help(err);
  pai_replay *r;
  bool good;

  if (log->sched != NULL || log->policy == NULL ||
      open_it(&r, log, NULL, NULL) < 0)
    return false;
  good = pai_replay_step(r, NULL) == 1;
  pai_replay_free(r);
  if (!good)
    return false;
  cli_fail("%s %s: %s", log->options != NULL ? "--options of" : "--policy",
           log->policy, pai_error_message(err));
  if (help != NULL)
    cli_help(stderr, help);
  return true;
}

int sched_log_read(sched_log *log)
{
  pai_error *err = NULL;
  int code = sched_log_open(log), rc = 1;

  while (code == CLI_OK && rc == 1 && cli_written() && !is_last(log)) {
    rc = pai_replay_step(log->replay, &err);
    log->sched = pai_replay_sched(log->replay);
    if (rc < 0 && blame_policy(log, err)) {
      pai_error_free(err);
      code = CLI_USAGE;
    } else if (rc < 0)
      code = sched_log_fail(log, err);
    else if (rc == 1 && log->decided != NULL)
      log->decided(log, (int)pai_replay_decisions(log->replay));
  }
  return code;
}
