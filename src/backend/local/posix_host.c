/* posix_host.c - what a task gets of the host: its environment, its ports */
#include "backend/local/local.h"

#include <netinet/in.h>
#include <sys/socket.h>
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
static bool plan_sets(const pai__plan *plan, const char *var)
{
  const char *equals = strchr(var, '=');
  size_t len = equals != NULL ? (size_t)(equals - var) + 1 : strlen(var);

  for (size_t i = 0; plan->env[i] != NULL; i++)
    if (strncmp(plan->env[i], var, len) == 0)
      return true;
  return false;
}

char **pai__local_env(const pai__plan *plan, const pai_alloc *alloc,
                      size_t *count)
{
  size_t host = 0, own = 0, n = 0;
  char **env;

  while (environ[host] != NULL)
    host++;
  while (plan->env[own] != NULL)
    own++;
  *count = host + own + 1;
  env = pai__zalloc(alloc, *count * sizeof(*env));
  if (env == NULL)
    return NULL;
  for (size_t i = 0; i < host; i++)
    if (!plan_sets(plan, environ[i]))
      env[n++] = environ[i];
  for (size_t i = 0; i < own; i++)
    env[n++] = (char *)(uintptr_t)plan->env[i]; /* uv_spawn() only reads */
  return env;
}
