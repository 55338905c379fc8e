/*
 * posix_keep.c - storing tokens where only this user can read them
 *
 * Tokens are in the desktop's keyring if secret-tool(1) reaches one, else in a
 * file of mode 0600.  A token is never a word of a command line, which all
 * users of a machine can read: secret-tool reads and writes it through unnamed
 * files.
 */
#define _GNU_SOURCE /* memfd_create() */
#include "file.h"
#include "remote.h"
#include "contexts.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 1 << 20, WORDS = 16 };

/* --- files --------------------------------------------------------------- */

char *cli_settings_path(const char *name)
{
  const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
  char *folder = NULL, *path = NULL;

  if (config != NULL && config[0] == '/')
    folder = cli_join(config, "openpai");
  else if (home != NULL && home[0] == '/')
    folder = cli_join(home, ".config/openpai");
  if (folder != NULL) {
    path = cli_join(folder, name);
  } else {
    cli_fail("there is no folder for settings: HOME is not set");
    cli_help(stderr, "set HOME or XDG_CONFIG_HOME");
  }
  free(folder);
  return path;
}

static bool write_all(int fd, const char *text, size_t len)
{
  while (len > 0) {
    ssize_t n = write(fd, text, len);

    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return false;
    text += n;
    len -= (size_t)n;
  }
  return fsync(fd) == 0;
}

static bool make_folder_of(const char *path)
{
  char *folder = strdup(path);
  bool good = folder != NULL;

  if (good) {
    *strrchr(folder, '/') = '\0';
    good = cli_make_folder(folder);
  }
  free(folder);
  return good;
}

bool cli_write_private(const char *path, const char *text, size_t len)
{
  size_t size = strlen(path) + 8;
  char *other = malloc(size);
  bool good = false;
  int fd;

  if (other == NULL || !make_folder_of(path)) {
    free(other);
    return false;
  }
  (void)snprintf(other, size, "%s.XXXXXX", path);
  fd = mkostemp(other, O_CLOEXEC); /* creates mode 0600 */
  if (fd >= 0) {
    good = write_all(fd, text, len);
    good = close(fd) == 0 && good && rename(other, path) == 0;
    if (!good)
      (void)unlink(other);
  }
  if (!good)
    cli_fail("cannot write %s: %s", path, strerror(errno));
  free(other);
  return good;
}

/* --- secret-tool --------------------------------------------------------- */

/* Runs it and returns its exit status; -1: not found.  `in` and `out` are
 * descriptors. */
static int run_tool(char *const *words, int in, int out)
{
  extern char **environ;
  posix_spawn_file_actions_t files;
  int status = -1, rc;
  pid_t pid;

  (void)posix_spawn_file_actions_init(&files);
  rc = posix_spawn_file_actions_adddup2(&files, in, STDIN_FILENO);
  if (rc == 0)
    rc = posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
  if (rc == 0) /* its errors do not matter: the file is the fallback */
    rc = posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null",
                                          O_WRONLY, 0);
  if (rc == 0)
    rc = posix_spawnp(&pid, words[0], &files, NULL, words, environ);
  (void)posix_spawn_file_actions_destroy(&files);
  if (rc != 0)
    return -1;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
    ;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Runs secret-tool VERB [--label=...] application openpai url URL alias ALIAS
 * with a text as input.  Returns its output, for free(), if it succeeds. */
static char *ask_tool(const char *verb, const cli_context *s,
                      const char *input)
{
  char label[] = "--label=OpenPAI", app[] = "application", me[] = "openpai",
       url[] = "url", alias[] = "alias", tool[] = "secret-tool", none[] = "";
  char *words[WORDS] = { tool, (char *)verb }, *said = NULL;
  int n = 2, in = memfd_create("openpai", MFD_CLOEXEC),
      out = memfd_create("openpai", MFD_CLOEXEC);
  struct stat st;

  if (strcmp(verb, "store") == 0)
    words[n++] = label;
  words[n++] = app;
  words[n++] = me;
  words[n++] = url;
  words[n++] = s->url;
  words[n++] = alias;
  words[n++] = s->alias != NULL ? s->alias : none;
  if (in >= 0 && out >= 0 &&
      (input == NULL || write_all(in, input, strlen(input))) &&
      lseek(in, 0, SEEK_SET) == 0 && run_tool(words, in, out) == 0 &&
      fstat(out, &st) == 0 && st.st_size < MOST &&
      (said = calloc(1, (size_t)st.st_size + 1)) != NULL &&
      pread(out, said, (size_t)st.st_size, 0) != st.st_size) {
    free(said);
    said = NULL;
  }
  if (in >= 0)
    (void)close(in);
  if (out >= 0)
    (void)close(out);
  return said;
}

/* --- the file: lines of "ALIAS URL TOKEN", the URL escaped --------------- */

/* Returns the beginning of this server's line, for free(). */
static char *line_start(const cli_context *s)
{
  const char *alias = s->alias != NULL ? s->alias : "-";
  char *url = cli_escape(s->url), *start = NULL;
  size_t size = url != NULL ? strlen(url) + strlen(alias) + 3 : 0;

  if (size > 0 && (start = malloc(size)) != NULL)
    (void)snprintf(start, size, "%s %s ", alias, url);
  free(url);
  return start;
}

/* Returns all lines of the file, for free(), or "". */
static char *read_lines(const char *path)
{
  char *text = NULL;
  struct stat st;
  size_t len = 0;

  if (stat(path, &st) != 0)
    return strdup("");
  if ((st.st_mode & 077) != 0 || st.st_uid != geteuid()) {
    cli_fail("other users can read or own %s: it is not used", path);
    cli_help(stderr, "what is in it may be known: revoke the tokens, remove "
                     "the file, and log in again");
    return NULL;
  }
  if (cli_read_file(&text, &len, path, MOST) == 0)
    return text;
  free(text);
  return NULL;
}

/* Writes the lines without this server's, plus a new one unless token is
 * NULL. */
static bool replace_line(const char *path, const char *lines,
                         const char *start, const char *token)
{
  char *text = NULL;
  size_t len = 0;
  FILE *to = open_memstream(&text, &len);
  bool good;

  if (to == NULL)
    return false;
  for (const char *p = lines; *p != '\0';) {
    size_t n = strcspn(p, "\n");
    if (strncmp(p, start, strlen(start)) != 0)
      (void)fprintf(to, "%.*s\n", (int)n, p);
    p += n + (p[n] == '\n' ? 1 : 0);
  }
  if (token != NULL)
    (void)fprintf(to, "%s%s\n", start, token);
  good = fclose(to) == 0 && cli_write_private(path, text, len);
  free(text);
  return good;
}

/* Stores a token in the file, or with NULL removes it. */
static bool change_file(const cli_context *s, const char *token)
{
  char *path = cli_settings_path("credentials"), *start = line_start(s);
  char *lines = path != NULL ? read_lines(path) : NULL;
  bool good = lines != NULL && start != NULL &&
              ((token == NULL && strstr(lines, start) == NULL) ||
               replace_line(path, lines, start, token));

  free(lines);
  free(start);
  free(path);
  return good;
}

static char *find_in_file(const cli_context *s)
{
  char *path = cli_settings_path("credentials"), *start = line_start(s);
  char *lines = path != NULL ? read_lines(path) : NULL, *token = NULL;

  for (char *p = lines;
       token == NULL && p != NULL && start != NULL && *p != '\0';) {
    size_t n = strcspn(p, "\n"), skip = strlen(start);
    if (n > skip && strncmp(p, start, skip) == 0)
      token = strndup(p + skip, n - skip);
    p += n + (p[n] == '\n' ? 1 : 0);
  }
  free(lines);
  free(start);
  free(path);
  return token;
}

/* --- tokens -------------------------------------------------------------- */

bool cli_token_keep(const cli_context *s, const char *token)
{
  char *said;

  if (token[0] == '\0' || token[strcspn(token, " \t\r\n")] != '\0') {
    cli_fail("not a token: it is empty, or contains spaces");
    return false;
  }
  said = ask_tool("store", s, token);
  free(said);
  if (said != NULL) {
    (void)change_file(s, NULL); /* an older token in the file is invalid now */
    return true;
  }
  return change_file(s, token);
}

char *cli_token_find(const cli_context *s)
{
  const char *given = getenv("OPENPAI_TOKEN");
  char *token;

  if (given != NULL && given[0] != '\0')
    return strdup(given);
  token = ask_tool("lookup", s, NULL);
  if (token != NULL)
    token[strcspn(token, "\r\n")] = '\0';
  if (token != NULL && token[0] != '\0')
    return token;
  free(token);
  return find_in_file(s);
}

void cli_token_forget(const cli_context *s)
{
  free(ask_tool("clear", s, NULL));
  (void)change_file(s, NULL);
}
