/*
 * posix_code_send.c - a copy of a folder goes to a platform that is not this
 * user's own
 *
 * Whoever serves all users reads nobody's folders: what a job gets is read
 * here, with this user's rights, and sent as a tar archive.
 */
#define _GNU_SOURCE /* posix_spawn_file_actions_addchdir_np() */
#include "jobs.h"

#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char *fail(const char *what)
{
  cli_fail("cannot send the code: %s: %s", what, strerror(errno));
  return NULL;
}

/* tar(1), from a folder to a file. */
static bool pack(const char *folder, int to)
{
  extern char **environ;
  char name[] = "tar", what[] = "-cf", out[] = "-", form[] = "--format=gnu",
       here[] = ".";
  char *argv[] = { name, form, what, out, here, NULL };
  posix_spawn_file_actions_t files;
  int status = 0, rc;
  pid_t pid;

  (void)posix_spawn_file_actions_init(&files);
  rc = posix_spawn_file_actions_addchdir_np(&files, folder);
  if (rc == 0)
    rc = posix_spawn_file_actions_adddup2(&files, to, STDOUT_FILENO);
  if (rc == 0)
    rc = posix_spawnp(&pid, name, &files, NULL, argv, environ);
  (void)posix_spawn_file_actions_destroy(&files);
  if (rc == 0)
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
      ;
  errno = rc;
  if (rc == 0 && status != 0)
    errno = EIO;
  if (errno == 0)
    return true;
  (void)fail("tar");
  return false;
}

/* The folder that it has become on the other side, for free(); NULL and told. */
static char *put(cli_remote *r, const char *job, const void *bytes, size_t len,
                 bool quiet)
{
  char *path = cli_job_path(job, "/code"), *code = NULL;
  cli_answer a;
  cli_json j;

  cli_remote_send(r, &a, path, "application/x-tar", bytes, len,
                  quiet ? NULL : "sending code");
  free(path);
  if (a.status != PAI_OK) {
    cli_answer_tell(&a);
  } else if (cli_json_read(&j, a.body, a.len)) {
    code = strdup(cli_json_text(&j, 0, "codeDir"));
    cli_json_free(&j);
  }
  cli_answer_free(&a);
  return code;
}

static char *send_folder(cli_remote *r, const char *job, const char *folder,
                         bool quiet)
{
  int fd = memfd_create("openpai-code", MFD_CLOEXEC);
  struct stat st;
  char *code = NULL;
  void *bytes;

  if (fd < 0)
    return fail("memory");
  if (pack(folder, fd) && fstat(fd, &st) == 0) {
    bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (bytes != MAP_FAILED) {
      code = put(r, job, bytes, (size_t)st.st_size, quiet);
      (void)munmap(bytes, (size_t)st.st_size);
    } else {
      (void)fail("memory");
    }
  }
  (void)close(fd);
  return code;
}

char *cli_send_code(cli_remote *r, const char *job, const char *from,
                    bool quiet)
{
  const char *tmp = getenv("TMPDIR");
  char *root =
    cli_join(tmp != NULL && tmp[0] == '/' ? tmp : "/tmp", "openpai-XXXXXX");
  char *copy = NULL, *code = NULL, *inner;

  if (root == NULL || mkdtemp(root) == NULL) {
    free(root);
    return fail("a folder for a copy");
  }
  copy = cli_copy_code(root, from, quiet);
  if (copy != NULL)
    code = send_folder(r, job, copy, quiet);
  if (copy != NULL)
    cli_remove_code(copy);
  inner = cli_join(root, "code");
  if (inner != NULL)
    (void)rmdir(inner);
  (void)rmdir(root);
  free(inner);
  free(copy);
  free(root);
  return code;
}
