/* posix_ssh.c - what a task's sshd has left in the root; ssh(1) */
#define _XOPEN_SOURCE 700
#include "session.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The latest start of the task has the newest folder: ROLE-INDEX, or
 * ROLE-INDEX.N. */
static bool find_folder(char *out, size_t size, const char *job_dir,
                        const cli_task *t)
{
  char path[4096];
  bool found = false;
  struct stat st;

  for (unsigned start = 0;; start++) {
    int n = start == 0 ? snprintf(path, sizeof(path), "%s/%s-%u", job_dir,
                                  t->role, t->index)
                       : snprintf(path, sizeof(path), "%s/%s-%u.%u", job_dir,
                                  t->role, t->index, start);
    if (n < 0 || (size_t)n >= sizeof(path) || (size_t)n >= size ||
        stat(path, &st) < 0)
      return found;
    memcpy(out, path, (size_t)n + 1);
    found = true;
  }
}

/* "[IP]:PORT KEY" from the server's own key. */
static bool make_known_hosts(const cli_ssh_files *f, const char *dir,
                             const cli_task *t)
{
  char path[4200], key[1024];
  FILE *in, *out;
  bool made;
  int fd;

  (void)snprintf(path, sizeof(path), "%s/ssh/host_key.pub", dir);
  in = fopen(path, "re");
  if (in == NULL)
    return false;
  made = fgets(key, sizeof(key), in) != NULL;
  (void)fclose(in);
  if (!made)
    return false;
  (void)unlink(f->known_hosts);
  fd = open(f->known_hosts, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  out = fd >= 0 ? fdopen(fd, "w") : NULL;
  if (out == NULL)
    return false;
  (void)fprintf(out, "[%s]:%s %s", t->ip, t->ssh_port, key);
  return fclose(out) == 0;
}

bool cli_ssh_find(cli_ssh_files *out, const char *root, const cli_task *t)
{
  const struct passwd *user = getpwuid(geteuid());
  char job_dir[2048], dir[4096];

  (void)snprintf(job_dir, sizeof(job_dir), "%s/jobs/%s/%lld", root, t->job,
                 (long long)t->attempt);
  if (user == NULL || !find_folder(dir, sizeof(dir), job_dir, t))
    return false;
  (void)snprintf(out->user, sizeof(out->user), "%s", user->pw_name);
  (void)snprintf(out->key, sizeof(out->key), "%s/ssh/key", job_dir);
  if (access(out->key, R_OK) < 0)
    out->key[0] = '\0';
  (void)snprintf(out->known_hosts, sizeof(out->known_hosts),
                 "%s/ssh/known_hosts", dir);
  return make_known_hosts(out, dir, t);
}

int cli_ssh_become(char **words)
{
  (void)execvp(words[0], words);
  cli_fail("cannot start ssh: %s", strerror(errno));
  cli_help(stderr, "install openssh-client, or use openpai exec");
  return CLI_BROKEN;
}
