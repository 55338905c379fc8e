/* posix_root.c - the root of the platform, and users */
#define _GNU_SOURCE /* realpath(), SOCK_CLOEXEC */
#include "remote.h"

#include <errno.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

const char *cli_root;
bool cli_makes_root;

char *cli_join(const char *path, const char *name)
{
  size_t size = strlen(path) + strlen(name) + 2;
  char *joined = malloc(size);

  if (joined != NULL)
    (void)snprintf(joined, size, "%s/%s", path, name);
  return joined;
}

char *cli_here(void)
{
  return realpath(".", NULL);
}

char *cli_absolute(const char *path)
{
  char *here, *joined;

  if (path[0] == '/')
    return strdup(path);
  here = cli_here();
  if (here == NULL)
    return NULL;
  joined = cli_join(here, path);
  free(here);
  return joined;
}

static char *default_root(void)
{
  const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");

  if (state != NULL && state[0] == '/')
    return cli_join(state, "openpai");
  if (home != NULL && home[0] == '/')
    return cli_join(home, ".local/state/openpai");
  cli_fail("there is no folder for the platform: HOME is not set");
  cli_help(stderr, "set HOME or XDG_STATE_HOME, or give --root DIR");
  return NULL;
}

static bool has_home(void)
{
  const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");

  return (state != NULL && state[0] == '/') ||
         (home != NULL && home[0] == '/');
}

/* Returns the root of --root or OPENPAI_ROOT; NULL: neither is set. */
static const char *named_root(void)
{
  const char *named = cli_root != NULL ? cli_root : getenv("OPENPAI_ROOT");

  return cli_root == NULL && named != NULL && named[0] == '\0' ? NULL : named;
}

char *cli_root_path(void)
{
  const char *named = named_root();
  char *path;

  if (named != NULL && named[0] == '\0') {
    cli_fail("--root requires a folder");
    return NULL;
  }
  path = named != NULL ? cli_absolute(named) : default_root();
  if (path == NULL && named != NULL)
    cli_fail("cannot determine the path of %s", named);
  /* Drop trailing slashes, so that a root has one spelling. */
  for (size_t len = path != NULL ? strlen(path) : 0;
       len > 1 && path[len - 1] == '/'; len--)
    path[len - 1] = '\0';
  return path;
}

/* --- system platform ----------------------------------------------------- */

static const char *system_named(void)
{
  const char *named = getenv("OPENPAI_SYSTEM_ROOT");

  return named != NULL && named[0] == '/' ? named : NULL;
}

const char *cli_system_root(void)
{
  return system_named() != NULL ? system_named() : "/var/lib/openpai";
}

static bool is_system_root(const char *root)
{
  return strcmp(root, cli_system_root()) == 0;
}

bool cli_may_start(const char *root)
{
  struct stat st;

  return !is_system_root(root) &&
         (cli_makes_root || named_root() == NULL || stat(root, &st) == 0);
}

char *cli_socket_path(const char *root)
{
  return is_system_root(root) && system_named() == NULL
           ? strdup("/run/openpai/socket")
           : cli_join(root, "socket");
}

bool cli_is_foreign(const char *root)
{
  struct stat st;

  return stat(root, &st) == 0 && st.st_uid != geteuid();
}

bool cli_listens(const char *path)
{
  struct sockaddr_un at = { .sun_family = AF_UNIX };
  bool listens;
  int fd;

  if (strlen(path) >= sizeof(at.sun_path))
    return access(path, F_OK) == 0;
  memcpy(at.sun_path, path, strlen(path) + 1);
  fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  listens = fd >= 0 && (connect(fd, (struct sockaddr *)&at, sizeof(at)) == 0 ||
                        errno == EAGAIN);
  if (fd >= 0)
    (void)close(fd);
  return listens;
}

/* Whether a process listens there.  Its user is checked at each call. */
static bool answers(const char *root)
{
  char *path = cli_socket_path(root);
  bool answered = path != NULL && cli_listens(path);

  free(path);
  return answered;
}

char *cli_find_root(void)
{
  const char *named = getenv("OPENPAI_ROOT");
  char *own;

  if (cli_root != NULL || (named != NULL && named[0] != '\0'))
    return cli_root_path();
  if (has_home() || !answers(cli_system_root())) {
    own = default_root();
    if (own == NULL || answers(own) || !answers(cli_system_root()))
      return own;
    free(own);
  }
  return strdup(cli_system_root());
}

static char elsewhere[256]; /* user name on a server, or "" */

void cli_be_user(const char *name)
{
  (void)snprintf(elsewhere, sizeof(elsewhere), "%s", name != NULL ? name : "");
}

const char *cli_user(void)
{
  const struct passwd *entry = getpwuid(getuid());

  static char number[24];

  if (elsewhere[0] != '\0')
    return elsewhere;
  (void)snprintf(number, sizeof(number), "%lu", (unsigned long)getuid());
  return entry != NULL ? entry->pw_name : number;
}

/* The umask may deny the user access to files that this program creates. */
void cli_keep_owner(void)
{
  mode_t mask = umask(077);

  (void)umask(mask & 077);
}
