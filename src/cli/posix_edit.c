/* posix_edit.c - a text in the user's editor */
#define _XOPEN_SOURCE 700 /* mkdtemp() */
#include "edit.h"

#include "remote.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static const char *editor(void)
{
  static const char *const names[] = { "VISUAL", "EDITOR" };

  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
    const char *value = getenv(names[i]);

    if (value != NULL && value[0] != '\0')
      return value;
  }
  return "vi";
}

bool cli_edit_begin(cli_edited *e, const char *name, const char *text,
                    size_t len)
{
  const char *tmp = getenv("TMPDIR");
  char file[300];

  (void)snprintf(file, sizeof(file), "%.280s.yaml", name);
  *e = (cli_edited){ .folder =
                       cli_join(tmp != NULL && tmp[0] == '/' ? tmp : "/tmp",
                                "openpai-edit.XXXXXX") };
  if (e->folder != NULL && mkdtemp(e->folder) == NULL) {
    cli_fail("cannot make a folder %s: %s", e->folder, strerror(errno));
    free(e->folder);
    e->folder = NULL;
    return false;
  }
  if (e->folder != NULL)
    e->path = cli_join(e->folder, file);
  if (e->path == NULL)
    cli_fail("out of memory");
  else if (cli_save(e->path, text, len) == CLI_OK)
    return true;
  cli_edit_end(e, false);
  return false;
}

/* What is typed at the terminal is the editor's business meanwhile. */
static int wait_for(pid_t pid)
{
  struct sigaction before[2], ignored = { .sa_handler = SIG_IGN };
  int status = 0;

  (void)sigaction(SIGINT, &ignored, &before[0]);
  (void)sigaction(SIGQUIT, &ignored, &before[1]);
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
    continue;
  (void)sigaction(SIGINT, &before[0], NULL);
  (void)sigaction(SIGQUIT, &before[1], NULL);
  return status;
}

bool cli_edit_open(const cli_edited *e)
{
  const char *what = editor();
  size_t size = strlen(what) + 8;
  char *command = malloc(size), name[] = "sh", option[] = "-c";
  char *words[] = { name, option, command, name, e->path, NULL };
  pid_t pid;
  int rc = command != NULL ? 0 : ENOMEM, status;

  /* It may have words of its own, as "code --wait". */
  if (command != NULL)
    (void)snprintf(command, size, "%s \"$@\"", what);
  if (rc == 0)
    rc = posix_spawnp(&pid, words[0], NULL, NULL, words, environ);
  free(command);
  if (rc != 0) {
    cli_fail("cannot start the editor: %s", strerror(rc));
    return false;
  }
  status = wait_for(pid);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
    return true;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
    cli_fail("there is no editor %s", what);
  else
    cli_fail("the editor %s failed", what);
  cli_help(stderr, "$VISUAL and $EDITOR name another one");
  return false;
}

void cli_edit_end(cli_edited *e, bool keep)
{
  if (keep && e->path != NULL)
    (void)fprintf(stderr, "  the edited file is kept: %s\n", e->path);
  if (!keep && e->path != NULL)
    (void)unlink(e->path);
  if (!keep && e->folder != NULL)
    (void)rmdir(e->folder); /* an editor's other files stay in it */
  free(e->path);
  free(e->folder);
  *e = (cli_edited){ 0 };
}
