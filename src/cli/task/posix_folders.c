/* posix_folders.c - folders below /tmp of this machine that a command needs */
#include "folders.h"

#include "job_files.h"
#include "remote.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_PATH = 4096, MOST_FOUND = 64 /* most folders of a job file */ };

static const char top[] = "/tmp/";

/* --- paths --------------------------------------------------------------- */

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

/* Makes an absolute path without ".", ".." and double slashes, but does not
 * resolve links.  Returns false if it is too long. */
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

/* Moves to the parent folder, unless that is /tmp itself. */
static bool go_up(char *path)
{
  char *slash = strrchr(path, '/');

  if (slash == NULL || slash - path < (ptrdiff_t)sizeof(top))
    return false;
  *slash = '\0';
  return true;
}

/* A program of a Python virtual environment needs the whole environment. */
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

/* --- the list ------------------------------------------------------------ */

/* Adds a folder that lives as long as the program; drops it if memory is
 * short. */
static void keep(const char *path)
{
  char *kept = strdup(path);

  if (kept != NULL)
    cli_job.folder.words[cli_job.folder.count++] = kept;
}

bool cli_folders_good(void)
{
  size_t count = cli_job.folder.count;

  cli_job.folder.count = 0;
  for (size_t i = 0; i < count; i++) {
    const char *word = cli_job.folder.words[i];
    char path[MOST_PATH];

    if (!make_absolute(path, word, strlen(word)) || !is_below_tmp(path))
      return cli_wrong("--folder is a path below /tmp", word);
    keep(path);
  }
  return true;
}

bool cli_folders_here(void)
{
  for (size_t i = 0; i < cli_job.folder.count; i++)
    if (!exists(cli_job.folder.words[i])) {
      cli_fail("--folder: there is no '%s' on this machine",
               cli_job.folder.words[i]);
      cli_help(stderr,
               "make the folder before, or leave the option out: tasks "
               "have a /tmp of their own");
      return false;
    }
  return true;
}

/* Whether tasks can see the path already: it is in the folder where commands
 * begin, or in a listed folder. */
static bool is_shown(const char *path, const char *begin)
{
  if (begin != NULL && is_below_tmp(begin) && is_within(path, begin))
    return true;
  for (size_t i = 0; i < cli_job.folder.count; i++)
    if (is_within(path, cli_job.folder.words[i]))
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

/* The search for folders. */
typedef struct looking {
  char *begin; /* folder where commands begin, or NULL */
  char *root;  /* root of the platform, which tasks cannot see, or NULL */
  size_t given;
  bool quiet;
} looking;

/* Adds the folder of a path, or a file in /tmp itself.  A path that does not
 * exist causes a warning if the user named it. */
static void add(const looking *l, const char *text, size_t len, bool named)
{
  char path[MOST_PATH] = "";

  if (!make_absolute(path, text, len) || !is_below_tmp(path) ||
      is_shown(path, l->begin) ||
      (l->root != NULL && is_within(path, l->root)))
    return;
  if (!cli_is_folder(path) && !(go_up(path) && cli_is_folder(path)) &&
      !exists(path)) {
    if (named && !l->quiet)
      tell_missing(path);
    return;
  }
  take_environment(path);
  if (!is_shown(path, l->begin) && cli_job.folder.count < MOST_FOUND)
    keep(path);
}

/* Adds each "/tmp/..." within a word, such as an option or a script. */
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

/* Adds the existing paths of a list like PATH. */
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

  if (l->quiet || cli_job.folder.count == l->given)
    return;
  for (size_t i = l->given; i < cli_job.folder.count && len < 1000; i++) {
    int n = snprintf(note + len, sizeof(note) - len, "%s%.400s",
                     i > l->given ? ", " : "", cli_job.folder.words[i]);

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
                      cli_job.folder.count, quiet };

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
