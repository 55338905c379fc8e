/* posix_replace.c - a file with another text, all of it or not at all */
#define _XOPEN_SOURCE 700 /* realpath() */
#include "file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Fills a new file beside `path` and puts it in its place, so that there is
 * one or the other whatever happens.  Returns 0 or an errno. */
static int replace(const char *path, const char *text, size_t len)
{
  size_t size = strlen(path) + sizeof(".XXXXXX");
  char *fresh = malloc(size);
  struct stat old;
  FILE *out = NULL;
  int fd = -1, error = 0;

  if (fresh == NULL)
    return ENOMEM;
  (void)snprintf(fresh, size, "%s.XXXXXX", path);
  if (stat(path, &old) == 0)
    fd = mkstemp(fresh);
  if (fd >= 0 && fchmod(fd, old.st_mode & 07777) == 0)
    out = fdopen(fd, "wb");
  if (out == NULL || fwrite(text, 1, len, out) != len || fflush(out) != 0 ||
      fsync(fd) != 0)
    error = errno;
  if (out != NULL && fclose(out) != 0 && error == 0)
    error = errno;
  else if (out == NULL && fd >= 0)
    (void)close(fd);
  if (error == 0 && rename(fresh, path) != 0)
    error = errno;
  if (error != 0 && fd >= 0)
    (void)unlink(fresh);
  free(fresh);
  return error;
}

int cli_replace(const char *name, const char *text, size_t len)
{
  char *path = realpath(name, NULL);
  int error = path != NULL ? replace(path, text, len) : errno;

  free(path);
  return error;
}
