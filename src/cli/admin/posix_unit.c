/*
 * posix_unit.c - installing and removing the platform as a systemd service
 *
 * systemd is controlled only through systemctl(1).
 */
#define _GNU_SOURCE
#include "remote.h"
#include "unit.h"

#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define MARK \
  "# Made by openpai up --enable; openpai down --disable removes it."

/* Escapes a word for a unit file, where % and $ are special. */
static void write_word(FILE *out, const char *word)
{
  (void)fputc('"', out);
  for (; *word != '\0'; word++) {
    if (*word == '"' || *word == '\\')
      (void)fputc('\\', out);
    if (*word == '%' || *word == '$')
      (void)fputc(*word, out);
    (void)fputc(*word, out);
  }
  (void)fputc('"', out);
}

/* Writes the unit file. */
static void cli_unit_write(FILE *out, const cli_unit *u)
{
  (void)fprintf(out,
                MARK "\n"
                     "[Unit]\n"
                     "Description=OpenPAI %s\n"
                     "Documentation=man:openpai(1)\n"
                     "\n"
                     "[Service]\n"
                     "Type=exec\n"
                     "ExecStart=",
                u->system ? "for all users of this machine"
                          : "for one user of this machine");
  write_word(out, u->program);
  (void)fputs(" up --foreground --verbose", out);
  if (u->system)
    (void)fputs(" --system", out);
  if (u->root != NULL) {
    (void)fputs(" --root ", out);
    write_word(out, u->root);
  }
  if (u->runtime != NULL) {
    (void)fputs(" --runtime ", out);
    write_word(out, u->runtime);
  }
  if (u->policy != NULL) {
    (void)fputs(" --policy ", out);
    write_word(out, u->policy);
  }
  for (const char *const *word = u->more; *word != NULL; word++) {
    (void)fputc(' ', out);
    write_word(out, *word);
  }
  /* Tasks outlive the platform, and have control groups below its own. */
  (void)fputs("\nKillMode=process\nDelegate=yes\nRestart=on-failure\n", out);
  if (u->system && u->root == NULL)
    (void)fputs("StateDirectory=openpai\nStateDirectoryMode=0711\n"
                "RuntimeDirectory=openpai\nRuntimeDirectoryMode=0755\n",
                out);
  (void)fprintf(out, "\n[Install]\nWantedBy=%s.target\n",
                u->system ? "multi-user" : "default");
}

/* Whether the first line of a file marks a unit that this program wrote. */
static bool cli_unit_is_ours(const char *line)
{
  return strncmp(line, MARK, strlen(MARK)) == 0;
}

#define NAME "openpai.service"

/* --- files --------------------------------------------------------------- */

/* Returns the folder of units, for free(); NULL after printing an error. */
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

/* Returns PAI_OK: the unit is ours; PAI_ENOTFOUND; PAI_EEXISTS after printing
 * that it is someone else's. */
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
  cli_help(stderr, "the file was not changed: inspect it, or move it away");
  return PAI_EEXISTS;
}

/* --- systemctl ----------------------------------------------------------- */

/* Runs systemctl, with its output on stderr; returns whether it succeeded. */
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
  if (rc == 0) /* it does not modify the words */
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
  cli_help(stderr, "systemd must have started this machine; a user's platform "
                   "also needs a login session");
  return false;
}

/* --- install ------------------------------------------------------------- */

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

/* Explains how a user's service can run without a login. */
static void tell_linger(void)
{
  char *path = cli_join("/var/lib/systemd/linger", cli_user());

  if (path == NULL || access(path, F_OK) != 0)
    (void)fprintf(stderr,
                  "note: the service runs while you are logged in; with "
                  "loginctl enable-linger\n      it runs as long as the "
                  "machine\n");
  free(path);
}

int cli_unit_enable(const cli_unit *wanted)
{
  static const char *const enable[] = { "enable", "--now", NAME, NULL };
  bool system = wanted->system;
  char *folder = unit_folder(system), *path = NULL,
       *program = realpath("/proc/self/exe", NULL);
  cli_unit unit = *wanted;
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

/* --- remove -------------------------------------------------------------- */

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
    /* If systemctl failed, systemd does not run and has nothing to reload. */
    if (told)
      (void)reload(system);
  }
  free(path);
  free(folder);
  return code;
}
