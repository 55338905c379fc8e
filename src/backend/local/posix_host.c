/* posix_host.c - the host's part of a task: environment, ports */
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
    return true; /* nothing shows that it is in use */
  (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  is_free = bind(fd, (const struct sockaddr *)&any, sizeof(any)) == 0;
  (void)close(fd);
  return is_free;
}

/* Returns whether the plan sets the variable of `var` ("NAME=value"). */
static bool plan_sets(const pai_launch_plan *plan, const char *var)
{
  const char *equals = strchr(var, '=');
  size_t len = equals != NULL ? (size_t)(equals - var) + 1 : strlen(var);

  for (size_t i = 0; plan->env != NULL && plan->env[i] != NULL; i++)
    if (strncmp(plan->env[i], var, len) == 0)
      return true;
  return false;
}

/* Returns whether it names a folder in the machine's /tmp. */
static bool names_tmp(const char *var)
{
  static const char *const names[] = { "TMPDIR=/tmp", "TMP=/tmp",
                                       "TEMP=/tmp" };

  for (size_t i = 0; i < PAI__LEN(names); i++)
    if (strncmp(var, names[i], strlen(names[i])) == 0)
      return true;
  return false;
}

/* The variables of this process that tasks inherit: those of a login, and
 * search paths of programs and libraries.  Others may be secrets of the
 * operator. */
static const char *const passed[] = {
  "PATH",        "HOME",         "USER",      "LOGNAME", "SHELL",
  "LANG",        "LC_*",         "TZ",        "TERM",    "LD_LIBRARY_PATH",
  "VIRTUAL_ENV", "CONDA_PREFIX", "TMPDIR",    "TMP",     "TEMP",
  "CUDA_HOME",   "CUDA_PATH",    "ROCM_PATH", "LANGUAGE"
};

/* `pattern`: a name, or a prefix followed by *. */
static bool is_like(const char *var, const char *pattern, size_t len)
{
  size_t name = strcspn(var, "=");

  if (len > 0 && pattern[len - 1] == '*')
    return name >= len - 1 && strncmp(var, pattern, len - 1) == 0;
  return name == len && strncmp(var, pattern, len) == 0;
}

const char *pai__local_pass_env(const char *wished)
{
  return wished != NULL ? wished : getenv("OPENPAI_PASS_ENV");
}

/* Returns whether the operator's list has the variable. */
static bool is_named(const char *var, const char *more)
{
  static const char apart[] = ", \t\n";

  while (more != NULL && *(more += strspn(more, apart)) != '\0') {
    size_t len = strcspn(more, apart);

    if (is_like(var, more, len))
      return true;
    more += len;
  }
  return false;
}

static bool is_passed(const char *var, const char *more)
{
  for (size_t i = 0; i < PAI__LEN(passed); i++)
    if (is_like(var, passed[i], strlen(passed[i])))
      return true;
  return is_named(var, more);
}

const char **pai__local_env(const char *const *from,
                            const pai_launch_plan *plan,
                            const pai__start *start, const char *more,
                            const pai_alloc *alloc, size_t *count)
{
  /* A container's engine is run as this process's own program, and does not
   * pass its environment on. */
  bool all = from != NULL || start->script_stdin;
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
    if ((all || is_passed(from[i], more)) && !plan_sets(plan, from[i]) &&
        !(start->tmp && names_tmp(from[i])))
      env[n++] = from[i];
  for (size_t i = 0; i < own; i++)
    env[n++] = plan->env[i];
  return env;
}

/* The variables that a login sets. */
void pai__local_user_env(pai__backend_words *out, const pai__user *who,
                         const char *more)
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
  for (char **var = environ; *var != NULL; var++)
    if (is_named(*var, more))
      pai__words_add(out, *var);
  (void)snprintf(path, sizeof(path), "/run/user/%u", who->uid);
  if (lstat(path, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == who->uid)
    pai__words_printf(out, "XDG_RUNTIME_DIR=%s", path);
}

/* The kernel allows a quarter of the stack limit. */
size_t pai__local_most_args(void)
{
  long most = sysconf(_SC_ARG_MAX);

  return most > 8192 ? (size_t)most - 4096 : 131072 - 4096;
}
