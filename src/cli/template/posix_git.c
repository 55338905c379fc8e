/*
 * posix_git.c - job files of a git repository
 *
 * The repository may be hostile.  It is fetched without its history and without
 * a working tree, so no hook, filter, link or submodule of it has an effect;
 * files are read from git by their ids.  Only https and ssh are used, the size
 * of what is fetched is limited, and so is the time.
 */
#define _GNU_SOURCE /* pipe2() */
#include "template.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_OUTPUT = 4 << 20, MOST_WORDS = 32 };

/* 64 MiB, in blocks of 512 bytes; the limit is for each file that git writes. */
#define LIMITED "ulimit -f 131072; exec git \"$@\""
#define MOST_SECONDS "120"

extern char **environ;

/* Runs git with a limit of time and size, and reads its output, if `out` is not
 * NULL, up to a limit.  Returns whether it succeeded. */
static bool run_git(const char *const *words, char **out, size_t *len)
{
  const char *argv[MOST_WORDS] = { "timeout", MOST_SECONDS,
                                   /* also for what a server redirects to */
                                   "env", "GIT_ALLOW_PROTOCOL=https:ssh",
                                   "GIT_TERMINAL_PROMPT=0", "sh", "-c",
                                   LIMITED, "git" };
  size_t n = 9, size = 0;
  posix_spawn_file_actions_t files;
  int ends[2], status = -1;
  ssize_t got = 0;
  pid_t pid;

  while (*words != NULL && n + 1 < MOST_WORDS)
    argv[n++] = *words++;
  argv[n] = NULL;
  if (pipe2(ends, O_CLOEXEC) < 0)
    return false;
  (void)posix_spawn_file_actions_init(&files);
  (void)posix_spawn_file_actions_adddup2(&files, ends[1], 1);
  (void)posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  if (posix_spawnp(&pid, argv[0], &files, NULL,
                   (char **)(uintptr_t)(const void *)argv, environ) != 0)
    pid = -1;
  (void)posix_spawn_file_actions_destroy(&files);
  (void)close(ends[1]);
  if (out != NULL)
    *out = pid > 0 ? malloc(MOST_OUTPUT + 1) : NULL;
  while (pid > 0 && out != NULL && *out != NULL && size < MOST_OUTPUT) {
    got = read(ends[0], *out + size, MOST_OUTPUT - size);
    if (got == 0 || (got < 0 && errno != EINTR))
      break;
    size += got > 0 ? (size_t)got : 0;
  }
  (void)close(ends[0]); /* more output ends git by SIGPIPE */
  if (out != NULL && *out != NULL) {
    (*out)[size] = '\0';
    *len = size;
  }
  while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static bool fetch(const char *url, const char *folder)
{
  const char *const words[] = { "-c",
                                "core.hooksPath=/dev/null",
                                "-c",
                                "core.fsmonitor=false",
                                "-c",
                                "submodule.recurse=false",
                                "-c",
                                "transfer.fsckObjects=true",
                                "clone",
                                "--quiet",
                                "--bare",
                                "--depth",
                                "1",
                                "--no-tags",
                                "--single-branch",
                                "--template=",
                                "--",
                                url,
                                folder,
                                NULL };

  return run_git(words, NULL, NULL);
}

/* Whether a line of git ls-tree is a regular file of fitting size, "MODE blob ID
 * SIZE<tab>PATH", as deep as files of a folder are read.  Cuts it into its
 * parts. */
static bool read_line(char *line, char **id, char **path)
{
  char *tab = strchr(line, '\t'), *end;
  unsigned levels = 1;
  long size;

  if (tab == NULL || strncmp(line, "100", 3) != 0 ||
      strncmp(line + 6, " blob ", 6) != 0)
    return false;
  *tab = '\0';
  *path = tab + 1;
  *id = line + 12;
  end = strchr(*id, ' ');
  if (end == NULL)
    return false;
  *end = '\0';
  size = strtol(end + 1, NULL, 10);
  for (const char *c = *path; *c != '\0'; c++)
    levels += *c == '/';
  return size <= CLI_TEMPLATE_BYTES && levels <= CLI_TEMPLATE_LEVELS &&
         cli_template_is_file(*path);
}

static bool each_file(const char *folder, cli_template_cb cb, void *data)
{
  const char *const list[] = { "-C", folder,        "ls-tree", "-r", "-z",
                               "-l", "--full-tree", "HEAD",    NULL };
  char *lines = NULL, *id, *path;
  size_t len = 0, files = 0;
  bool good = run_git(list, &lines, &len);

  for (char *at = lines; good && at < lines + len;) {
    char *next = at + strlen(at) + 1;

    if (read_line(at, &id, &path)) {
      const char *const show[] = {
        "-C", folder, "cat-file", "blob", id, NULL
      };
      char *text = NULL;
      size_t size = 0;

      good = ++files <= CLI_TEMPLATE_FILES && run_git(show, &text, &size);
      if (files > CLI_TEMPLATE_FILES)
        cli_fail("there are more than %d job files", CLI_TEMPLATE_FILES);
      good = good && cb(data, path, text, size);
      free(text);
    }
    at = next;
  }
  free(lines);
  return good;
}

static void remove_folder(const char *folder)
{
  const char *const argv[] = { "rm", "-rf", "--", folder, NULL };
  int status;
  pid_t pid;

  if (posix_spawnp(&pid, argv[0], NULL, NULL,
                   (char **)(uintptr_t)(const void *)argv, environ) == 0)
    (void)waitpid(pid, &status, 0);
}

bool cli_templates_git(const char *url, cli_template_cb cb, void *data)
{
  const char *tmp = getenv("TMPDIR");
  char *folder =
    cli_join(tmp != NULL && tmp[0] == '/' ? tmp : "/tmp", "openpai-XXXXXX");
  bool good;

  if (folder == NULL || mkdtemp(folder) == NULL) {
    cli_fail("cannot make a folder for the repository: %s", strerror(errno));
    free(folder);
    return false;
  }
  good = fetch(url, folder);
  if (!good) {
    cli_fail("git cannot fetch %s", url);
    cli_help(stderr, "git is needed, and 64 MiB and " MOST_SECONDS
                     " seconds are the most");
  } else {
    good = each_file(folder, cb, data);
  }
  remove_folder(folder);
  free(folder);
  return good;
}
