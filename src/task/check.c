/*
 * check.c - checks, in a sandbox, that the right files are mounted
 *
 * The back end checks that the path of a mounted folder has no link to hidden
 * files. bubblewrap then resolves the path again, and whoever may write above
 * it could have put a link there meanwhile.  So this program runs first in the
 * sandbox, before anything of the task, and compares the mounts with the files
 * checked.
 */
#define _GNU_SOURCE
#include "task.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_same(const char *identity, const char *path)
{
  line own = { .len = 0 };
  struct stat st;

  if (stat(path, &st) < 0)
    return false;
  line_number(&own, (int64_t)st.st_dev);
  line_add(&own, ":");
  line_number(&own, (int64_t)st.st_ino);
  own.text[own.len] = '\0';
  return strcmp(own.text, identity) == 0;
}

int check_run(char **argv)
{
  static const char words[] =
    " was replaced by another folder or a link while the task started\n";

  (void)fcntl(PAI_ORDER_CHECK_FD, F_SETFD, FD_CLOEXEC);
  for (; argv[0] != NULL && strcmp(argv[0], "--") != 0; argv += 2) {
    if (argv[1] == NULL)
      return EINVAL;
    if (is_same(argv[0], argv[1]))
      continue;
    (void)!write(STDERR_FILENO, argv[1], strlen(argv[1]));
    (void)!write(STDERR_FILENO, words, sizeof(words) - 1);
    return 126;
  }
  if (argv[0] == NULL || argv[1] == NULL)
    return EINVAL;
  (void)execve(argv[1], argv + 1, environ);
  return 127;
}
