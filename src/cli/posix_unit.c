/*
 * posix_unit.c - the platform as a service of systemd's: made, and removed
 *
 * systemd itself is asked through systemctl(1) alone.
 */
#define _GNU_SOURCE
#include "unit.h"

#include "remote.h"

#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define NAME "openpai.service"

/* --- where ----------------------------------------------------------------------- */

/* The folder of units, for free(); NULL and told. */
static char *unit_folder(bool system)
{
  const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");

  if (system)
    return strdup("/etc/systemd/system");
  if (config != NULL && config[0] == '/')
    return cli_join(config, "systemd/user");
  if (home != NULL && home[0] == '/')
    return cli_join(home, ".config/systemd/user");
  cli_fail("there is no folder for a unit: HOME is not set");
  return NULL;
}

static bool make_folders(const char *path)
{
  char *copy = strdup(path);
  bool good = copy != NULL;

  for (char *p = copy; good && p != NULL;) {
    p = strchr(p + 1, '/');
    if (p != NULL)
      *p = '\0';
    good = mkdir(copy, 0755) == 0 || errno == EEXIST || errno == EISDIR;
    if (p != NULL)
      *p = '/';
  }
  if (!good)
    cli_fail("cannot make the folder %s: %s", path, strerror(errno));
  free(copy);
  return good;
}

/* PAI_OK: it is ours; PAI_ENOTFOUND; PAI_EEXISTS: somebody else's, and told. */
static int look_at(const char *path)
{
  char line[256] = "";
  FILE *file = fopen(path, "r");

  if (file == NULL && (errno == ENOENT || errno == ENOTDIR))
    return PAI_ENOTFOUND;
  if (file != NULL) {
    (void)!fgets(line, sizeof(line), file);
    (void)fclose(file);
  }
  if (cli_unit_is_ours(line))
    return PAI_OK;
  cli_fail("%s was not made by openpai up --enable", path);
  cli_help(stderr, "it is left as it is: look at it, or move it away");
  return PAI_EEXISTS;
}

/* --- systemctl --------------------------------------------------------------------- */

/* Whether it said yes; what it says goes to stderr. */
static bool systemctl(bool system, const char *const *words)
{
  extern char **environ;
  const char *argv[8] = { "systemctl" };
  posix_spawn_file_actions_t files;
  size_t n = 1;
  int status = 0, rc;
  pid_t pid;

  if (!system)
    argv[n++] = "--user";
  while (*words != NULL)
    argv[n++] = *words++;
  (void)posix_spawn_file_actions_init(&files);
  rc = posix_spawn_file_actions_adddup2(&files, STDERR_FILENO, STDOUT_FILENO);
  if (rc == 0) /* which only reads the words */
    rc = posix_spawnp(&pid, argv[0], &files, NULL,
                      (char *const *)(uintptr_t)argv, environ);
  (void)posix_spawn_file_actions_destroy(&files);
  if (rc != 0) {
    cli_fail("cannot run systemctl: %s", strerror(rc));
    return false;
  }
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
    ;
  return status == 0;
}

static bool reload(bool system)
{
  static const char *const words[] = { "daemon-reload", NULL };

  if (systemctl(system, words))
    return true;
  cli_fail("systemd does not answer");
  cli_help(stderr, "it takes a machine that systemd has started, and for a "
                   "user's own platform a login that it knows of");
  return false;
}

/* --- made ------------------------------------------------------------------------------ */

static bool write_unit(const char *path, const cli_unit *unit)
{
  char *draft = malloc(strlen(path) + 5);
  FILE *file = NULL;
  bool good = false;

  if (draft != NULL) {
    (void)snprintf(draft, strlen(path) + 5, "%s.new", path);
    file = fopen(draft, "we");
  }
  if (file != NULL) {
    cli_unit_write(file, unit);
    good = fflush(file) == 0 && fchmod(fileno(file), 0644) == 0;
    good = fclose(file) == 0 && good && rename(draft, path) == 0;
  }
  if (!good) {
    cli_fail("cannot write %s: %s", path, strerror(errno));
    if (draft != NULL)
      (void)unlink(draft);
  }
  free(draft);
  return good;
}

/* Of a user's service that is to be there without a login. */
static void tell_linger(void)
{
  char *path = cli_join("/var/lib/systemd/linger", cli_user());

  if (path == NULL || access(path, F_OK) != 0)
    (void)fprintf(stderr,
                  "note: it starts when you log in, and ends when you log "
                  "out; loginctl enable-linger\n      has it run from the "
                  "machine's start to its end\n");
  free(path);
}

int cli_unit_enable(const cli_unit *wish)
{
  static const char *const enable[] = { "enable", "--now", NAME, NULL };
  bool system = wish->system;
  char *folder = unit_folder(system), *path = NULL,
       *program = realpath("/proc/self/exe", NULL);
  cli_unit unit = *wish;
  int code = CLI_NO;

  unit.program = program;
  if (folder != NULL)
    path = cli_join(folder, NAME);
  if (path != NULL && program != NULL && look_at(path) != PAI_EEXISTS &&
      make_folders(folder) && write_unit(path, &unit)) {
    if (reload(system) && systemctl(system, enable)) {
      (void)printf("installed the systemd service %s\n", path);
      if (!system)
        tell_linger();
      code = CLI_OK;
    } else {
      (void)fprintf(stderr, "note: %s is written, but not active\n", path);
    }
  }
  free(program);
  free(path);
  free(folder);
  return code;
}

/* --- removed ----------------------------------------------------------------------------- */

int cli_unit_disable(bool system)
{
  static const char *const disable[] = { "disable", "--now", NAME, NULL };
  char *folder = unit_folder(system), *path = NULL;
  int code = CLI_NO, rc;

  if (folder != NULL)
    path = cli_join(folder, NAME);
  rc = path != NULL ? look_at(path) : PAI_EEXISTS;
  if (rc == PAI_ENOTFOUND) {
    (void)printf("there is no systemd service of the platform\n");
    code = CLI_OK;
  } else if (rc == PAI_OK) {
    bool told = systemctl(system, disable);

    if (unlink(path) == 0) {
      (void)printf("removed the systemd service %s\n", path);
      code = CLI_OK;
    } else {
      cli_fail("cannot remove %s: %s", path, strerror(errno));
    }
    /* Without systemd there is nothing that it would have to be told. */
    if (told)
      (void)reload(system);
  }
  free(path);
  free(folder);
  return code;
}
