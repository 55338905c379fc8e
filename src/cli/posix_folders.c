/* posix_folders.c - folders below /tmp of this machine that a command needs */
#include "folders.h"

#include "remote.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_PATH = 4096, MOST_FOUND = 64 /* of a job file, at most */ };

static const char top[] = "/tmp/";

/* --- paths ------------------------------------------------------------------- */

static bool is_within(const char *path, const char *folder)
{
  size_t len = strlen(folder);

  return strncmp(path, folder, len) == 0 &&
         (path[len] == '\0' || path[len] == '/');
}

static bool is_below_tmp(const char *path)
{
  return strncmp(path, top, sizeof(top) - 1) == 0 &&
         path[sizeof(top) - 1] != '\0';
}

/* An absolute path without ".", ".." and double slashes; a link may lead out of
 * it.  False: it is too long. */
static bool make_absolute(char *out, const char *path, size_t len)
{
  char *here = path[0] != '/' ? cli_here() : NULL;
  char whole[MOST_PATH];
  int n = snprintf(whole, sizeof(whole), "%s/%.*s", here != NULL ? here : "",
                   (int)len, path);
  char *rest = NULL;
  size_t at = 0;

  free(here);
  if (n < 0 || (size_t)n >= sizeof(whole))
    return false;
  for (char *part = strtok_r(whole, "/", &rest); part != NULL;
       part = strtok_r(NULL, "/", &rest)) {
    if (strcmp(part, "..") == 0)
      while (at > 0 && out[--at] != '/')
        continue;
    else if (strcmp(part, ".") != 0)
      at += (size_t)snprintf(out + at, MOST_PATH - at, "/%s", part);
  }
  out[at] = '\0';
  return true;
}

static bool exists(const char *path)
{
  struct stat info;

  return stat(path, &info) == 0;
}

static bool is_folder(const char *path)
{
  struct stat info;

  return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* The folder above, unless that is /tmp itself. */
static bool go_up(char *path)
{
  char *slash = strrchr(path, '/');

  if (slash == NULL || slash - path < (ptrdiff_t)sizeof(top))
    return false;
  *slash = '\0';
  return true;
}

/* A program of a virtual environment needs all of that. */
static void take_environment(char *path)
{
  char file[MOST_PATH + 16];
  const char *name = strrchr(path, '/');

  if (name == NULL || strcmp(name, "/bin") != 0)
    return;
  (void)snprintf(file, sizeof(file), "%.*s/pyvenv.cfg", (int)(name - path),
                 path);
  if (exists(file))
    (void)go_up(path);
}

/* --- the list ------------------------------------------------------------------ */

/* For as long as the program runs.  Without memory it is not in the list. */
static void keep(const char *path)
{
  char *kept = strdup(path);

  if (kept != NULL)
    cli_folders.words[cli_folders.count++] = kept;
}

bool cli_folders_good(const cli_verb *verb)
{
  size_t count = cli_folders.count;

  cli_folders.count = 0;
  for (size_t i = 0; i < count; i++) {
    const char *word = cli_folders.words[i];
    char path[MOST_PATH];

    if (!make_absolute(path, word, strlen(word)) || !is_below_tmp(path)) {
      cli_misused(verb, "--folder is a path below /tmp", word);
      return false;
    }
    keep(path);
  }
  return true;
}

/* What commands begin in is shown anyhow. */
static bool is_shown(const char *path, const char *begin)
{
  if (begin != NULL && is_below_tmp(begin) && is_within(path, begin))
    return true;
  for (size_t i = 0; i < cli_folders.count; i++)
    if (is_within(path, cli_folders.words[i]))
      return true;
  return false;
}

static void tell_missing(const char *path)
{
  static char told[MOST_PATH];
  char note[MOST_PATH + 120];

  if (strcmp(told, path) == 0)
    return;
  (void)snprintf(told, sizeof(told), "%s", path);
  (void)snprintf(note, sizeof(note),
                 "%s is not there: tasks have a /tmp of their own, which is "
                 "removed when they end",
                 path);
  cli_say(PAI_LOG_INFO, note);
}

/* What is being looked for. */
typedef struct looking {
  char *begin; /* where commands begin, or NULL */
  char *root;  /* of the platform, which no task sees, or NULL */
  size_t given;
  bool quiet;
} looking;

/* Adds the folder of what a path names, or a file in /tmp itself.  What is not
 * there is told, unless nobody has named it. */
static void add(const looking *l, const char *text, size_t len, bool named)
{
  char path[MOST_PATH] = "";

  if (!make_absolute(path, text, len) || !is_below_tmp(path) ||
      is_shown(path, l->begin) ||
      (l->root != NULL && is_within(path, l->root)))
    return;
  if (!is_folder(path) && !(go_up(path) && is_folder(path)) && !exists(path)) {
    if (named && !l->quiet)
      tell_missing(path);
    return;
  }
  take_environment(path);
  if (!is_shown(path, l->begin) && cli_folders.count < MOST_FOUND)
    keep(path);
}

/* Wherever "/tmp/..." stands in a word: of an option, of a script. */
static void add_of_word(const looking *l, const char *word)
{
  static const char ends[] = " \t\n'\"`;|&()<>,:=$*?[]{}";

  for (const char *at = word; (at = strstr(at, top)) != NULL;) {
    size_t len = strcspn(at, ends);

    if (at == word || strchr(ends, at[-1]) != NULL)
      add(l, at, len, true);
    at += len;
  }
}

/* Of a list as in PATH, what is there. */
static void add_of_list(const looking *l, const char *list)
{
  while (*list != '\0') {
    size_t len = strcspn(list, ":");

    if (len > 0 && *list == '/')
      add(l, list, len, false);
    list += len + (list[len] == ':');
  }
}

static void tell_found(const looking *l)
{
  char note[1200] = "the tasks see ";
  size_t len = strlen(note);

  if (l->quiet || cli_folders.count == l->given)
    return;
  for (size_t i = l->given; i < cli_folders.count && len < 1000; i++) {
    int n = snprintf(note + len, sizeof(note) - len, "%s%.400s",
                     i > l->given ? ", " : "", cli_folders.words[i]);

    len += n > 0 ? (size_t)n : 0;
    len = len < sizeof(note) ? len : sizeof(note) - 1;
  }
  (void)snprintf(note + len, sizeof(note) - len,
                 " of this machine (--folder)");
  cli_say(PAI_LOG_INFO, note);
}

void cli_folders_find(char *const *words, int count, bool inherit, bool copied,
                      bool quiet)
{
  static const char *const lists[] = { "VIRTUAL_ENV", "CONDA_PREFIX", "PATH",
                                       "PYTHONPATH", "LD_LIBRARY_PATH" };
  const looking l = { copied ? NULL : cli_here(), cli_find_root(),
                      cli_folders.count, quiet };

  for (int i = 0; i < count; i++)
    if ((words[i][0] == '/' || !copied) && exists(words[i]))
      add(&l, words[i], strlen(words[i]), true);
    else
      add_of_word(&l, words[i]);
  for (size_t i = 0; inherit && i < sizeof(lists) / sizeof(lists[0]); i++) {
    const char *list = getenv(lists[i]);

    if (list != NULL)
      add_of_list(&l, list);
  }
  tell_found(&l);
  free(l.begin);
  free(l.root);
}
