/*
 * local_folder.c - folders of this machine into which a job's are downloaded
 *
 * The list of a server is not trusted: nothing is written outside the folder,
 * and nothing through a link in it.
 */
#include "local_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int local_make_folders(const char *path)
{
  char *above;
  int error;

  if (mkdir(path, 0777) == 0 || errno == EEXIST)
    return 0; /* if it is no folder, what follows says so */
  if (errno != ENOENT)
    return errno;
  above = local_folder_of(path);
  if (above == NULL)
    return ENOMEM;
  error = strcmp(above, path) != 0 ? local_make_folders(above) : ENOENT;
  free(above);
  if (error == 0 && mkdir(path, 0777) != 0 && errno != EEXIST)
    error = errno;
  return error;
}

bool local_is_folder(const char *path)
{
  struct stat st;

  return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

void local_make_folder(const char *path, failure *f)
{
  int error = local_make_folders(path);

  if (error == 0 && !local_is_folder(path))
    error = ENOTDIR;
  if (error != 0)
    facade_fail_file(f, "make the folder", path, error);
}

/* Whether each part of a path is a name. */
static bool goes_down(const char *path)
{
  for (const char *p = path;; p++) {
    size_t n = strcspn(p, "/");

    if (n == 0 || (n == 1 && p[0] == '.') ||
        (n == 2 && memcmp(p, "..", 2) == 0))
      return false;
    p += n;
    if (*p == '\0')
      return true;
  }
}

/* Makes the folders above `path`, which is changed meanwhile, from the folder
 * of the first `skip` bytes on. */
static void make_above(char *path, size_t skip, failure *f)
{
  struct stat st;

  for (char *slash = strchr(path + skip, '/'); slash != NULL && f->code >= 0;
       slash = strchr(slash + 1, '/')) {
    int error = 0;

    *slash = '\0';
    if (mkdir(path, 0777) != 0 && errno != EEXIST)
      error = errno;
    else if (lstat(path, &st) != 0 || !S_ISDIR(st.st_mode))
      error = ENOTDIR;
    if (error != 0)
      facade_fail_file(f, "make the folder", path, error);
    *slash = '/';
  }
}

char *local_place(const char *folder, const char *below, failure *f)
{
  size_t skip = strlen(folder) + 1, size = skip + strlen(below) + 1;
  char *path = malloc(size);

  if (path == NULL) {
    facade_fail(f, PAI_ENOMEM, "out of memory");
    return NULL;
  }
  (void)snprintf(path, size, "%s/%s", folder, below);
  if (goes_down(below))
    make_above(path, skip, f);
  else
    facade_fail(f, PAI_EIO, "the server lists a file outside the folder");
  if (f->code >= 0)
    return path;
  free(path);
  return NULL;
}

/* Up at most as far as the link lies below the folder, and then only down: a
 * path through other links may lead anywhere. */
static bool stays(const char *below, const char *target)
{
  size_t depth = 0;

  for (const char *p = below; *p != '\0'; p++)
    depth += *p == '/';
  while (strcmp(target, "..") == 0 || strncmp(target, "../", 3) == 0) {
    if (depth-- == 0)
      return false;
    target += target[2] == '/' ? 3 : 2;
  }
  return *target == '\0' || strcmp(target, ".") == 0 || goes_down(target);
}

bool local_link(const char *folder, const char *below, const char *target,
                failure *f)
{
  struct stat st;
  char *path;
  int error = 0;

  if (target[0] == '\0' || !stays(below, target))
    return false;
  path = local_place(folder, below, f);
  if (path == NULL)
    return false;
  if (lstat(path, &st) == 0 && S_ISLNK(st.st_mode))
    (void)unlink(path);
  if (symlink(target, path) != 0)
    error = errno;
  if (error != 0)
    facade_fail_file(f, "make the link", path, error);
  free(path);
  return error == 0;
}
