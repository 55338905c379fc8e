/* own_log.c - the log that a platform of this machine keeps of its scheduler */
#include "file.h"
#include "json.h"
#include "remote.h"
#include "sched_log.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool sched_log_is(const char *word)
{
  struct stat st;

  return strpbrk(word, "./") != NULL || strcmp(word, "-") == 0 ||
         (stat(word, &st) == 0 && !S_ISDIR(st.st_mode));
}

/* False, and told: what is asked usually is elsewhere, and keeps its log. */
static bool is_here(void)
{
  cli_site far;
  int elsewhere = cli_site_choose(&far);

  if (elsewhere > 0) {
    cli_fail("the log of %s is on its own machine", far.url);
    cli_help(stderr, "name a log, or --root DIR for the platform here");
    cli_site_free(&far);
  }
  return elsewhere == 0;
}

int sched_log_own(sched_log *log)
{
  const char *named = cli_root == NULL ? getenv("OPENPAI_LOG") : NULL;
  char *root, *path;

  if (named != NULL && named[0] != '\0') {
    log->name = named;
    return CLI_OK;
  }
  if (!is_here())
    return CLI_USAGE;
  root = cli_find_root();
  path = root != NULL ? cli_join(root, "scheduler.log") : NULL;
  if (path != NULL && access(path, R_OK) == 0) {
    log->name = log->own = path;
    path = NULL;
  } else if (root != NULL) {
    cli_fail("which log?  There is none in %s", root);
    cli_help(stderr, "name one, here or in OPENPAI_LOG; a platform keeps one "
                     "from its start on");
  }
  free(path);
  free(root);
  return log->own != NULL ? CLI_OK : CLI_USAGE;
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

  if (request == 0 || strcmp(cli_json_text(j, request, "name"), s->name) != 0)
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

/* Few lines have a name, and only these need be taken apart. */
static bool may_have(const char *line, size_t len, const char *quoted)
{
  size_t want = strlen(quoted);

  for (const char *at = line, *end = line + len;
       (at = memchr(at, '"', (size_t)(end - at))) != NULL; at++)
    if ((size_t)(end - at) >= want && memcmp(at, quoted, want) == 0)
      return true;
  return false;
}

static int search_in(const char *text, size_t len, const char *name,
                     uint64_t *id)
{
  search s = { .name = name };
  char quoted[300];

  (void)snprintf(quoted, sizeof(quoted), "\"%s\"", name);
  for (const char *at = text, *end = text + len, *next;
       at < end && s.other == 0; at = next) {
    const char *newline = memchr(at, '\n', (size_t)(end - at));
    size_t n = (size_t)((newline != NULL ? newline : end) - at);

    next = newline != NULL ? newline + 1 : end;
    if (may_have(at, n, quoted))
      look_at_line(&s, at, n);
  }
  *id = s.id;
  if (s.other != 0) {
    cli_fail("requests %llu and %llu were both called '%s'",
             (unsigned long long)s.id, (unsigned long long)s.other, name);
    cli_help(stderr, "name one by its number");
  } else if (s.id == 0) {
    cli_fail("there was no request '%s' in it", name);
  }
  return s.id != 0 && s.other == 0 ? CLI_OK : CLI_NO;
}

int sched_log_named(const sched_log *log, const char *name, uint64_t *id)
{
  char *text = NULL, why[1024];
  size_t len = 0;
  int error = cli_read_file(&text, &len, log->name, (size_t)1 << 30), code;

  if (error != 0) {
    cli_read_why(why, sizeof(why), log->name, error);
    cli_fail("%s", why);
    return CLI_USAGE;
  }
  code = search_in(text, len, name, id);
  free(text);
  return code;
}
