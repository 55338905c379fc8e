/* posix_host.c - what a task gets of the host: its environment, its ports */
#include "backend/local/local.h"

#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

extern char **environ;

bool pai__local_port_is_free(uint32_t port)
{
  struct sockaddr_in any = { .sin_family = AF_INET,
                             .sin_port = htons((uint16_t)port) };
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  bool is_free;
  int yes = 1;

  if (fd < 0)
    return true; /* nothing is known against it */
  (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  is_free = bind(fd, (const struct sockaddr *)&any, sizeof(any)) == 0;
  (void)close(fd);
  return is_free;
}

/* Does the plan set the variable that `var` ("NAME=value") sets? */
static bool plan_sets(const pai_launch_plan *plan, const char *var)
{
  const char *equals = strchr(var, '=');
  size_t len = equals != NULL ? (size_t)(equals - var) + 1 : strlen(var);

  for (size_t i = 0; plan->env != NULL && plan->env[i] != NULL; i++)
    if (strncmp(plan->env[i], var, len) == 0)
      return true;
  return false;
}

/* Does it name a folder of the machine's /tmp? */
static bool names_tmp(const char *var)
{
  static const char *const names[] = { "TMPDIR=/tmp", "TMP=/tmp",
                                       "TEMP=/tmp" };

  for (size_t i = 0; i < PAI__LEN(names); i++)
    if (strncmp(var, names[i], strlen(names[i])) == 0)
      return true;
  return false;
}

const char **pai__local_env(const char *const *from,
                            const pai_launch_plan *plan, bool own_tmp,
                            const pai_alloc *alloc, size_t *count)
{
  size_t host = 0, own = 0, n = 0;
  const char **env;

  if (from == NULL)
    from = (const char *const *)environ;
  while (from[host] != NULL)
    host++;
  while (plan->env != NULL && plan->env[own] != NULL)
    own++;
  *count = host + own + 1;
  env = pai__zalloc(alloc, *count * sizeof(*env));
  if (env == NULL)
    return NULL;
  for (size_t i = 0; i < host; i++)
    if (!plan_sets(plan, from[i]) && !(own_tmp && names_tmp(from[i])))
      env[n++] = from[i];
  for (size_t i = 0; i < own; i++)
    env[n++] = plan->env[i];
  return env;
}

/* As a login gives them. */
void pai__local_user_env(pai__words *out, const pai__user *who)
{
  static const char *const kept[] = { "LANG", "LC_ALL", "TZ" };
  struct stat st;
  char path[64];

  pai__words_add(out, "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:"
                      "/sbin:/bin");
  pai__words_printf(out, "HOME=%s", who->home[0] != '\0' ? who->home : "/");
  pai__words_printf(out, "USER=%s", who->name);
  pai__words_printf(out, "LOGNAME=%s", who->name);
  pai__words_printf(out, "SHELL=%s",
                    who->shell[0] != '\0' ? who->shell : "/bin/sh");
  for (size_t i = 0; i < PAI__LEN(kept); i++)
    if (getenv(kept[i]) != NULL)
      pai__words_printf(out, "%s=%s", kept[i], getenv(kept[i]));
  (void)snprintf(path, sizeof(path), "/run/user/%u", who->uid);
  if (lstat(path, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == who->uid)
    pai__words_printf(out, "XDG_RUNTIME_DIR=%s", path);
}

/* The kernel gives them a quarter of what a stack may be. */
size_t pai__local_most_args(void)
{
  long most = sysconf(_SC_ARG_MAX);

  return most > 8192 ? (size_t)most - 4096 : 131072 - 4096;
}
