/* posix_templates.c - job files of a folder, and of the folder of templates
 * that come with openpai */
#define _GNU_SOURCE /* O_NOFOLLOW, O_DIRECTORY */
#include "template.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef CLI_TEMPLATES_FOLDER
#error "src/CMakeLists.txt defines the folder of templates"
#endif

typedef struct walk {
  cli_template_cb cb;
  void *data;
  size_t files;
} walk;

bool cli_template_is_file(const char *name)
{
  size_t len = strlen(name);

  return (len > 5 && strcmp(name + len - 5, ".yaml") == 0) ||
         (len > 4 && strcmp(name + len - 4, ".yml") == 0);
}

/* Reads a regular file that is not too long.  Returns NULL if it is not one. */
static char *read_file(int dir, const char *name, size_t *len)
{
  int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  char *text = NULL;
  struct stat st;
  ssize_t n = 0;

  *len = 0;
  if (fd < 0)
    return NULL;
  if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
      st.st_size <= CLI_TEMPLATE_BYTES)
    text = malloc(CLI_TEMPLATE_BYTES + 1);
  while (text != NULL && *len < CLI_TEMPLATE_BYTES &&
         (n = read(fd, text + *len, CLI_TEMPLATE_BYTES - *len)) > 0)
    *len += (size_t)n;
  (void)close(fd);
  if (text != NULL)
    text[*len] = '\0';
  return text;
}

static bool walk_folder(walk *w, int parent, const char *name,
                        const char *path, unsigned depth);

static bool walk_entry(walk *w, int dir, const char *path, const char *name,
                       unsigned depth)
{
  char *below = cli_join(path, name), *text = NULL;
  bool good = true;
  size_t len;

  if (below == NULL) {
    cli_fail("out of memory");
    return false;
  }
  if (cli_template_is_file(name) &&
      (text = read_file(dir, name, &len)) != NULL) {
    if (++w->files > CLI_TEMPLATE_FILES) {
      cli_fail("there are more than %d job files", CLI_TEMPLATE_FILES);
      good = false;
    } else {
      good = w->cb(w->data, below, text, len);
    }
  } else if (depth > 1 && name[0] != '.') {
    good = walk_folder(w, dir, name, below, depth - 1);
  }
  free(text);
  free(below);
  return good;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
  return strcmp((*a)->d_name, (*b)->d_name);
}

/* A folder that cannot be opened is none: links are not followed. */
static bool walk_folder(walk *w, int parent, const char *name,
                        const char *path, unsigned depth)
{
  int dir =
    openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  struct dirent **list = NULL;
  bool good = true;
  int n;

  if (dir < 0)
    return true;
  n = scandirat(dir, ".", &list, NULL, by_name);
  for (int i = 0; i < n; i++) {
    if (good && list[i]->d_name[0] != '.')
      good = walk_entry(w, dir, path, list[i]->d_name, depth);
    free(list[i]);
  }
  free((void *)list);
  (void)close(dir);
  return good;
}

bool cli_templates_walk(const char *folder, cli_template_cb cb, void *data)
{
  walk w = { cb, data, 0 };
  char *real = realpath(folder, NULL); /* the named one may be a link */
  bool good;

  if (real == NULL) {
    cli_fail("cannot read the folder %s: %s", folder, strerror(errno));
    return false;
  }
  good = walk_folder(&w, AT_FDCWD, real, folder, CLI_TEMPLATE_LEVELS);
  free(real);
  return good;
}

/* Returns the folder beside that of the program, for free(): share/ beside
 * bin/, wherever both were moved. */
static char *beside_program(void)
{
  char path[4096], *slash;
  ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

  if (n <= 0)
    return NULL;
  path[n] = '\0';
  slash = strrchr(path, '/');
  if (slash != NULL)
    *slash = '\0';
  return cli_join(path, "../share/openpai/templates");
}

bool cli_templates_own(cli_template_cb cb, void *data)
{
  const char *given = getenv("OPENPAI_TEMPLATES");
  char *folder = given != NULL ? strdup(given) : beside_program();
  bool good = true;

  if (folder != NULL && access(folder, R_OK) == 0)
    good = cli_templates_walk(folder, cb, data);
  else if (access(CLI_TEMPLATES_FOLDER, R_OK) == 0)
    good = cli_templates_walk(CLI_TEMPLATES_FOLDER, cb, data);
  free(folder);
  return good;
}
