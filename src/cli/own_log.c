/* own_log.c - the log that a platform keeps of its scheduler, here or elsewhere */
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

bool cli_is_named(void)
{
  return cli_root != NULL || cli_cluster != NULL;
}

bool sched_log_is(const char *word)
{
  struct stat st;

  if (cli_is_named())
    return false;
  return strpbrk(word, "./") != NULL || strcmp(word, "-") == 0 ||
         (stat(word, &st) == 0 && !S_ISDIR(st.st_mode));
}

/* --- here ----------------------------------------------------------------------- */

static bool here(sched_log *log, const char *root)
{
  char why[1024];

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
    cli_help(stderr, "name one, here or in OPENPAI_LOG; a platform keeps one "
                     "from its start on");
  } else {
    cli_read_why(why, sizeof(why), log->own, errno);
    cli_fail("%s", why);
  }
  return false;
}

/* The platform of all users keeps it to itself, and gives it to who asks. */
static bool is_kept_from_us(const char *root)
{
  char *path = cli_join(root, "scheduler.log");
  bool kept = path != NULL && access(path, R_OK) < 0 && errno == EACCES;

  free(path);
  return kept;
}

/* --- asked for ------------------------------------------------------------------ */

static bool fetch(sched_log *log, cli_remote *r)
{
  const cli_stream stream = { .on_bytes = log_files_add,
                              .user_data = &log->files };
  char path[96] = "/api/v2/scheduler/log";
  cli_answer a;
  bool good;

  log->own = cli_join(r->root != NULL ? r->root : r->site.url,
                      r->root != NULL ? "scheduler.log" : path + 1);
  if (log->own == NULL) {
    cli_fail("out of memory");
    return false;
  }
  /* Its last file has what is now. */
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

/* --- which ---------------------------------------------------------------------- */

static bool find(sched_log *log)
{
  cli_site far;
  int elsewhere = cli_site_choose(&far);
  char *root = NULL;
  bool good = elsewhere >= 0;

  cli_site_free(&far);
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
  const char *named = !cli_is_named() ? getenv("OPENPAI_LOG") : NULL;

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

/* --- where a line is ------------------------------------------------------------- */

uint32_t sched_log_place(const sched_log *log, uint32_t line,
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

/* --- by a name --------------------------------------------------------------- */

/* Requests of that name: two at most need be known. */
typedef struct search {
  const char *name;
  uint64_t id, other;
} search;

/* What a line submits, or a snapshot has in its list. */
static void look_at(search *s, const cli_json *j, size_t of)
{
  size_t request = cli_json_get(j, of, "request");
  uint64_t id;

  if (request == 0 ||
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
  cli_json j;
  size_t list;

  if (!cli_json_read(&j, line, len))
    return;
  look_at(s, &j, 0);
  list = cli_json_get(&j, 0, "requests");
  for (size_t i = list != 0 ? cli_json_first(&j, list) : 0; i != 0;
       i = cli_json_next(&j, list, i))
    look_at(s, &j, i);
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

/* Few lines have the name, its user apart, as the end of a text: only these need
 * be taken apart. */
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

/* All of a file, for free().  An errno, or 0. */
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
    cli_help(stderr, "name one by its number, or of two users' as USER~NAME");
  } else if (s->id == 0) {
    cli_fail("there was no request '%s' in it", s->name);
  }
  return s->id != 0 && s->other == 0 ? CLI_OK : CLI_NO;
}

int sched_log_named(const sched_log *log, const char *name, uint64_t *id)
{
  search s = { .name = name };
  char why[1024];

  for (size_t i = 0; i < (log->own != NULL ? 2 : 1); i++) {
    char *text = NULL;
    size_t len = 0;
    int error = log->own != NULL
                  ? read_own(&text, &len, log, i)
                  : cli_read_file(&text, &len, log->name, (size_t)1 << 30);

    if (error == 0)
      search_in(&s, text, len);
    free(text);
    if (error != 0) {
      cli_read_why(why, sizeof(why), log->name, error);
      cli_fail("%s", why);
      return CLI_USAGE;
    }
  }
  return found(&s, id);
}
