/* posix_folders.c - folders below /tmp of this machine that a command needs */
#include "folders.h"

#include "jobs.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_PATH = 4096, MOST_FOUND = 32 };

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

bool cli_folders_good(const cli_verb *verb)
{
  static char kept[CLI_VALUES][256];

  for (size_t i = 0; i < cli_folders.count; i++) {
    const char *word = cli_folders.words[i];
    char path[MOST_PATH];

    if (!make_absolute(path, word, strlen(word)) ||
        strlen(path) >= sizeof(kept[0]) || !is_below_tmp(path)) {
      cli_misused(verb, "--folder is a path below /tmp", word);
      return false;
    }
    (void)snprintf(kept[i], sizeof(kept[0]), "%s", path);
    cli_folders.words[i] = kept[i];
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

/* Adds the folder of what a path names, or tells that it is not there. */
static void add(const char *text, size_t len, const char *begin, bool quiet)
{
  static char found[MOST_FOUND][MOST_PATH];
  static size_t nfound;
  char path[MOST_PATH];

  if (!make_absolute(path, text, len) || !is_below_tmp(path) ||
      is_shown(path, begin))
    return;
  if (!is_folder(path) && !(go_up(path) && is_folder(path)) && !exists(path)) {
    if (!quiet)
      tell_missing(path);
    return;
  }
  take_environment(path);
  if (is_shown(path, begin) || nfound == MOST_FOUND ||
      cli_folders.count == CLI_VALUES)
    return;
  (void)snprintf(found[nfound], sizeof(found[0]), "%s", path);
  cli_folders.words[cli_folders.count++] = found[nfound++];
}

/* Wherever "/tmp/..." stands in a word: of an option, of a script. */
static void add_of_word(const char *word, const char *begin, bool quiet)
{
  static const char ends[] = " \t\n'\"`;|&()<>,:=$*?[]{}";

  for (const char *at = word; (at = strstr(at, top)) != NULL;) {
    size_t len = strcspn(at, ends);

    if (at == word || strchr(ends, at[-1]) != NULL)
      add(at, len, begin, quiet);
    at += len;
  }
}

/* Of a list as in PATH, what is there. */
static void add_of_list(const char *list, const char *begin)
{
  while (*list != '\0') {
    size_t len = strcspn(list, ":");

    if (len > 0 && *list == '/')
      add(list, len, begin, true);
    list += len + (list[len] == ':');
  }
}

void cli_folders_find(char *const *words, int count, bool inherit, bool copied,
                      bool quiet)
{
  static const char *const lists[] = { "VIRTUAL_ENV", "CONDA_PREFIX", "PATH",
                                       "PYTHONPATH", "LD_LIBRARY_PATH" };
  char *begin = copied ? NULL : cli_here();

  for (int i = 0; i < count; i++)
    if (words[i][0] == '/' || copied || !exists(words[i]))
      add_of_word(words[i], begin, quiet);
    else
      add(words[i], strlen(words[i]), begin, true);
  for (size_t i = 0; inherit && i < sizeof(lists) / sizeof(lists[0]); i++) {
    const char *list = getenv(lists[i]);

    if (list != NULL)
      add_of_list(list, begin);
  }
  free(begin);
}
