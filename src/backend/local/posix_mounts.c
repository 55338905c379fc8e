/*
 * posix_mounts.c - mount points that a sandbox needs and the machine lacks
 *
 * A folder is mounted on an existing one. bubblewrap would create a missing
 * one on the machine itself: as root permanently, as another user not at all.
 * So its parent folder is replaced by one of the sandbox's, into which the
 * parent's content is mounted.
 */
#include "backend/local/runtime.h"

#include <dirent.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_SHOWN = 256, LINK = 4096 };

/* Writes the first existing folder above to `out`; false: it is "/", or the
 * task's own. */
static bool find_above(char *out, size_t size, const char *target)
{
  struct stat st;
  char *slash;

  if (strlen(target) >= size || strncmp(target, "/tmp/", 5) == 0)
    return false;
  memcpy(out, target, strlen(target) + 1);
  if (lstat(out, &st) == 0)
    return false; /* nothing is missing */
  do {
    slash = strrchr(out, '/');
    if (slash == NULL || slash == out)
      return false;
    *slash = '\0';
  } while (stat(out, &st) != 0 || !S_ISDIR(st.st_mode));
  return true;
}

static void show_entry(pai__backend_words *out, const char *word,
                       const char *folder, const char *name)
{
  char path[LINK], link[LINK];
  ssize_t n;

  if ((size_t)snprintf(path, sizeof(path), "%s/%s", folder, name) >=
      sizeof(path))
    return;
  n = readlink(path, link, sizeof(link) - 1);
  if (n < 0) {
    pai__words_add(out, word);
    pai__words_printf(out, "%s", path);
  } else {
    link[n] = '\0';
    pai__words_add(out, "--symlink");
    pai__words_printf(out, "%s", link);
  }
  pai__words_printf(out, "%s", path);
}

/* False: it has too many entries, or is unreadable. */
static bool is_small(const char *folder)
{
  DIR *dir = opendir(folder);
  int n = 0;

  if (dir == NULL)
    return false;
  while (readdir(dir) != NULL)
    n++;
  (void)closedir(dir);
  return n <= MOST_SHOWN;
}

static void replace(pai__backend_words *out, const char *word,
                    const char *folder)
{
  const struct dirent *e;
  DIR *dir = opendir(folder);

  if (dir == NULL)
    return;
  pai__words_add(out, "--tmpfs");
  pai__words_printf(out, "%s", folder);
  while ((e = readdir(dir)) != NULL)
    if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
      show_entry(out, word, folder, e->d_name);
  (void)closedir(dir);
}

static bool is_replaced(const pai__backend_words *out, const char *folder)
{
  for (size_t i = 0; i + 1 < out->len; i++)
    if (strcmp(out->at[i], "--tmpfs") == 0 &&
        strcmp(out->at[i + 1], folder) == 0)
      return true;
  return false;
}

void pai__mount_points(pai__backend_words *out, const pai_launch_plan *plan)
{
  char folder[LINK];

  for (size_t i = 0; i < plan->nmounts; i++)
    if (find_above(folder, sizeof(folder), plan->mounts[i].target) &&
        !is_replaced(out, folder) && is_small(folder))
      replace(out, pai__bind_word(plan), folder);
}
