/* sched_log.c - scheduler logs, opened and replayed for the verbs */
#include "cells.h"
#include "file.h"
#include "jobs.h"
#include "json.h"
#include "remote.h"
#include "sched_log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Whether --root or --cluster names a platform; then no word names a log. */
static bool is_named(void)
{
  return cli_root != NULL || cli_cluster != NULL;
}

/* Whether a word names a log rather than a job: it is a file or cannot be a
 * job's name, and no platform is named. */
static bool is_log(const char *word)
{
  struct stat st;

  if (is_named())
    return false;
  return strpbrk(word, "./") != NULL || strcmp(word, "-") == 0 ||
         (stat(word, &st) == 0 && !S_ISDIR(st.st_mode));
}

int sched_log_words(sched_log *log, int words, char **argv, const char *option,
                    sched_takes takes, const char **job)
{
  bool logged =
    option == NULL &&
    (words > 1 || (words == 1 && (takes == SCHED_NO_JOB || is_log(argv[0]))));
  int left = words - logged;
  const char *last = strrchr(cli_verb_now->needs, ' ');

  *job = NULL;
  log->name = logged ? argv[0] : option;
  if (left > (takes == SCHED_NO_JOB ? 0 : 1))
    return cli_misused("too many arguments", argv[words - 1]);
  if (takes == SCHED_NEEDS_JOB && left == 0)
    return cli_misused("this verb requires",
                       last != NULL ? last + 1 : cli_verb_now->needs);
  if (log->name != NULL && is_named())
    return cli_misused("--root and a log exclude each other", log->name);
  if (left > 0)
    *job = argv[words - 1];
  return CLI_OK;
}

/* --- the log in a root --------------------------------------------------- */

static bool here(sched_log *log, const char *root)
{
  log->own = cli_join(root, "scheduler.log");
  log->own_before = cli_join(root, "scheduler.log.1");
  if (log->own == NULL || log->own_before == NULL) {
    cli_fail("out of memory");
    return false;
  }
  if (log_files_open(&log->files, root, !log->late))
    return true;
  if (errno == ENOENT) {
    cli_fail("no log is given, and there is none in %s", root);
    cli_help(stderr, "name one with --log or OPENPAI_LOG; a platform writes "
                     "one while it runs");
  } else {
    (void)cli_read_fail(log->own, errno);
  }
  return false;
}

/* Only the owner of a system platform can read the log's files; other users
 * get it from the server. */
static bool is_kept_from_us(const char *root)
{
  char *path = cli_join(root, "scheduler.log");
  bool kept = path != NULL && access(path, R_OK) < 0 && errno == EACCES;

  free(path);
  return kept;
}

/* --- the log from a server ----------------------------------------------- */

static bool fetch(sched_log *log, cli_remote *r)
{
  const cli_stream stream = { .on_bytes = log_files_add,
                              .user_data = &log->files };
  char path[96] = "/api/v2/scheduler/log";
  cli_answer a;
  bool good;

  log->own = cli_join(r->root != NULL ? r->root : r->context.url,
                      r->root != NULL ? "scheduler.log" : path + 1);
  if (log->own == NULL) {
    cli_fail("out of memory");
    return false;
  }
  /* The last file suffices for the current state. */
  if (log->late)
    (void)snprintf(path, sizeof(path), "/api/v2/scheduler/log?since=%lld",
                   (long long)cli_now());
  if (!log_files_make(&log->files))
    return false;
  cli_remote_stream(r, &a, path, &stream);
  good = a.status == PAI_OK;
  if (!good)
    cli_answer_tell(&a);
  cli_answer_free(&a);
  return good;
}

static bool ask(sched_log *log)
{
  cli_remote r;
  bool good;

  if (!cli_remote_open(&r, false))
    return false;
  good = fetch(log, &r);
  cli_remote_close(&r);
  return good;
}

/* --- choice of the log --------------------------------------------------- */

static bool find(sched_log *log)
{
  cli_context far;
  int elsewhere = cli_context_choose(&far);
  char *root = NULL;
  bool good = elsewhere >= 0;

  cli_context_free(&far);
  if (elsewhere == 0) {
    root = cli_find_root();
    good = root != NULL;
  }
  if (good && (elsewhere > 0 || is_kept_from_us(root)))
    good = ask(log);
  else if (good)
    good = here(log, root);
  free(root);
  return good;
}

int sched_log_own(sched_log *log, bool late)
{
  const char *named = !is_named() ? getenv("OPENPAI_LOG") : NULL;

  if (named != NULL && named[0] != '\0') {
    log->name = named;
    return CLI_OK;
  }
  log->late = late;
  if (!find(log))
    return CLI_USAGE;
  log->name = log->own;
  return CLI_OK;
}

int sched_log_whole(sched_log *log)
{
  sched_log_close(log);
  log->name = NULL;
  return sched_log_own(log, false);
}

/* --- places of lines ----------------------------------------------------- */

/* Returns the line number within its file and sets *name to that file; `line`
 * counts over both files, and 0 means none. */
static uint32_t sched_log_place(const sched_log *log, uint32_t line,
                                const char **name)
{
  char some[4096];
  uint32_t lines = 0;

  *name = log->name;
  if (log->own_before == NULL || log->files.size[0] == 0 || line == 0)
    return line;
  for (uint64_t at = 0; at < log->files.size[0];) {
    ptrdiff_t n = log_files_read((void *)&log->files, at, some, sizeof(some));
    if (n <= 0)
      return line;
    for (ptrdiff_t i = 0; i < n; i++)
      lines += some[i] == '\n';
    at += (uint64_t)n;
  }
  if (line <= lines)
    *name = log->own_before;
  return line <= lines ? line : line - lines;
}

/* Whether a word names a request of this name and user (which may be NULL), as
 * NAME or as USER~NAME. */
static bool sched_log_is_called(const char *name, const char *user,
                                const char *word)
{
  const char *tilde = strchr(word, '~');
  size_t len = tilde != NULL ? (size_t)(tilde - word) : 0;

  return strcmp(name, word) == 0 ||
         (tilde != NULL && user != NULL && strlen(user) == len &&
          memcmp(user, word, len) == 0 && strcmp(name, tilde + 1) == 0);
}

/* --- finding a request by name ------------------------------------------- */

/* Requests of that name; more than two need not be told apart. */
typedef struct search {
  const char *name;
  uint64_t id, other;
} search;

/* Looks at a submitted request, or at a request in a snapshot. */
static void look_at(search *s, const pai_json *j, size_t of)
{
  size_t request = cli_json_get(j, of, "request");
  uint64_t id;

  if (request == PAI_JSON_NONE ||
      !sched_log_is_called(cli_json_text(j, request, "name"),
                           cli_json_text(j, request, "user"), s->name))
    return;
  id = (uint64_t)cli_json_number(j, request, "id", 0);
  if (s->id == 0)
    s->id = id;
  else if (id != s->id)
    s->other = id;
}

static void look_at_line(search *s, const char *line, size_t len)
{
  pai_json *j;

  if (!cli_json_read(&j, line, len))
    return;
  look_at(s, j, 0);

  for (cli_each i = cli_each_of(j, cli_json_get(j, 0, "requests"));
       cli_next(&i);)
    look_at(s, j, i.at);
  cli_json_free(&j);
}

static bool has(const char *line, size_t len, const char *text, size_t want)
{
  for (const char *at = line, *end = line + len;
       (at = memchr(at, text[0], (size_t)(end - at))) != NULL; at++)
    if ((size_t)(end - at) >= want && memcmp(at, text, want) == 0)
      return true;
  return false;
}

/* Parses only lines in which the name, without its user, ends a string.  Such
 * lines are few. */
static void search_in(search *s, const char *text, size_t len)
{
  const char *tilde = strrchr(s->name, '~');
  char quoted[300];
  int n = snprintf(quoted, sizeof(quoted), "%s\"",
                   tilde != NULL ? tilde + 1 : s->name);

  for (const char *at = text, *end = text + len, *next;
       at < end && s->other == 0 && n < (int)sizeof(quoted); at = next) {
    const char *newline = memchr(at, '\n', (size_t)(end - at));
    size_t line = (size_t)((newline != NULL ? newline : end) - at);

    next = newline != NULL ? newline + 1 : end;
    if (has(at, line, quoted, (size_t)n))
      look_at_line(s, at, line);
  }
}

/* Reads a whole file, for free().  Returns an errno, or 0. */
static int read_own(char **text, size_t *len, const sched_log *log, size_t i)
{
  uint64_t begin = i != 0 ? log->files.size[0] : 0;

  *len = 0;
  *text = malloc((size_t)log->files.size[i] + 1);
  if (*text == NULL)
    return ENOMEM;
  while (*len < log->files.size[i]) {
    ptrdiff_t n =
      log_files_read((void *)&log->files, begin + *len, *text + *len,
                     (size_t)(log->files.size[i] - *len));
    if (n <= 0)
      return EIO;
    *len += (size_t)n;
  }
  return 0;
}

static int found(const search *s, uint64_t *id)
{
  *id = s->id;
  if (s->other != 0) {
    cli_fail("requests %llu and %llu both had the name '%s'",
             (unsigned long long)s->id, (unsigned long long)s->other, s->name);
    cli_help(stderr, "use the request's number, or USER~NAME");
  } else if (s->id == 0) {
    cli_fail("the log has no request '%s'", s->name);
  }
  return s->id != 0 && s->other == 0 ? CLI_OK : CLI_NO;
}

/* Finds the only request of that name in the whole log.  Returns CLI_OK;
 * CLI_USAGE or CLI_NO after printing an error. */
static int sched_log_named(const sched_log *log, const char *name,
                           uint64_t *id)
{
  search s = { .name = name };

  for (size_t i = 0; i < (log->own != NULL ? 2 : 1); i++) {
    char *text = NULL;
    size_t len = 0;
    int error = log->own != NULL
                  ? read_own(&text, &len, log, i)
                  : cli_read_file(&text, &len, log->name, (size_t)1 << 30);

    if (error == 0)
      search_in(&s, text, len);
    free(text);
    if (error != 0)
      return cli_read_fail(log->name, error);
  }
  return found(&s, id);
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

/* --- requests ------------------------------------------------------------ */

static bool read_id(const char *word, uint64_t *id)
{
  char *end;

  errno = 0;
  *id = strtoull(word, &end, 10);
  return word[0] >= '1' && word[0] <= '9' && *end == '\0' && errno == 0;
}

int sched_find(const pai_sched *sched, const char *word, uint64_t *id)
{
  pai_request_view v = { .struct_size = sizeof(v) };

  if (read_id(word, id))
    return CLI_OK;
  *id = 0;
  for (uint64_t i = 0; (i = pai_sched_next(sched, i)) != 0;) {
    if (pai_sched_view_request(sched, i, &v) < 0 || v.name == NULL ||
        !sched_log_is_called(v.name, v.user, word))
      continue;
    if (*id != 0) {
      cli_fail("requests %llu and %llu both have the name '%s'",
               (unsigned long long)*id, (unsigned long long)i, word);
      return CLI_NO;
    }
    *id = i;
  }
  return CLI_OK;
}

int sched_log_request(const sched_log *log, const char *word, uint64_t *id)
{
  int code;

  if (log->sched == NULL && !read_id(word, id))
    return strcmp(log->name, "-") != 0
             ? sched_log_named(log, word, id)
             : cli_misused("with a log from standard input, give the "
                           "request's number",
                           word);
  code = log->sched != NULL ? sched_find(log->sched, word, id) : CLI_OK;
  if (code != CLI_OK || *id != 0)
    return code;
  cli_fail("there is no request '%s' at that time", word);
  return CLI_NO;
}

/* --- reading ------------------------------------------------------------- */

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

/* Whether the other policy is invalid rather than the first line; if so,
 * prints that. */
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
