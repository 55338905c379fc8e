/* cmd_backup.c - all that is on record, as a database or as lines of JSON */
#include "remote.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Where it goes: a file beside the one that is to be, so that that one is whole
 * when it is there; or standard output. */
typedef struct target {
  const char *name;
  char *made; /* NULL: it is written to as it is */
  int fd;
  FILE *out;
  int error; /* an errno */
} target;

static bool fail(const target *t, const char *what, int error)
{
  cli_fail("cannot %s %s: %s", what, t->name, strerror(error));
  return false;
}

static bool open_target(target *t, const char *name, bool force)
{
  size_t size = strlen(name) + 32;
  struct stat st;

  *t = (target){ .name = name, .fd = -1, .out = stdout };
  if (strcmp(name, "-") == 0)
    return true;
  if (stat(name, &st) == 0 && !S_ISREG(st.st_mode)) {
    /* A pipe or a device is written to, never replaced. */
    t->out = S_ISDIR(st.st_mode) ? NULL : fopen(name, "wb");
    return t->out != NULL ||
           fail(t, "write", S_ISDIR(st.st_mode) ? EISDIR : errno);
  }
  if (!force && lstat(name, &st) == 0) {
    cli_fail("there is a file %s", name);
    cli_help(stderr, "choose another name, or --force replaces it");
    return false;
  }
  t->made = malloc(size);
  if (t->made == NULL)
    return fail(t, "write", ENOMEM);
  (void)snprintf(t->made, size, "%s.%ld", name, (long)getpid());
  t->fd = open(t->made, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (t->fd >= 0 && (t->out = fdopen(t->fd, "wb")) != NULL)
    return true;
  (void)fail(t, "write", errno);
  if (t->fd >= 0) {
    (void)close(t->fd);
    (void)unlink(t->made);
  }
  free(t->made);
  return false;
}

static int add(void *user_data, const char *bytes, size_t len)
{
  target *t = user_data;

  errno = 0;
  if (fwrite(bytes, 1, len, t->out) == len)
    return PAI_OK;
  t->error = errno != 0 ? errno : EIO;
  return PAI_EUSER;
}

/* It is there if all went well; else what went wrong with it is told. */
static bool close_target(target *t, bool good)
{
  if (t->fd < 0 && t->out == stdout)
    return cli_written() && good;
  if (t->made != NULL && good &&
      (fflush(t->out) != 0 || fsync(fileno(t->out)) != 0))
    t->error = errno;
  if (fclose(t->out) != 0 && t->error == 0)
    t->error = errno;
  if (t->made != NULL && good && t->error == 0 &&
      rename(t->made, t->name) != 0)
    t->error = errno;
  if (t->made != NULL && (!good || t->error != 0))
    (void)unlink(t->made);
  free(t->made);
  return t->error == 0 ? good : fail(t, "write", t->error);
}

/* A stream into it.  False, and told. */
static bool fetch(cli_remote *r, target *t, const char *path)
{
  const cli_stream stream = { .on_bytes = add, .user_data = t };
  cli_answer a;
  bool good;

  cli_remote_stream(r, &a, path, &stream);
  good = a.status == PAI_OK;
  if (!good && t->error == 0)
    cli_answer_tell(&a);
  cli_answer_free(&a);
  return good;
}

/* --- backup --------------------------------------------------------------------------- */

static int run_backup(int argc, char **argv)
{
  bool force = false, good = false;
  const cli_option options[] = { { "force", 'f', &force, NULL },
                                 { "root", 0, NULL, &cli_root } };
  int words = cli_options(&cli_backup, options, 2, argc, argv);
  cli_remote r;
  target t;

  if (words == -2)
    return CLI_OK;
  if (words != 1) {
    if (words >= 0)
      cli_misused(&cli_backup, "backup takes one file",
                  words == 0 ? "missing argument" : argv[1]);
    return CLI_USAGE;
  }
  if (strcmp(argv[0], "-") == 0 && cli_is_terminal(stdout)) {
    cli_misused(&cli_backup, "refusing to write a database to a terminal",
                "-");
    return CLI_USAGE;
  }
  if (!open_target(&t, argv[0], force))
    return CLI_NO;
  if (cli_remote_open(&r, true)) {
    good = fetch(&r, &t, "/api/v2/backup");
    cli_remote_close(&r);
  }
  return close_target(&t, good) ? CLI_OK : CLI_NO;
}

const cli_verb cli_backup = {
  .name = "backup",
  .brief = "Copy the platform's database while it works",
  .usage = "[--force] [--root DIR] FILE",
  .help =
    "Write all jobs with their events, as of one moment, to FILE; - is\n"
    "standard output.  Logs and code are not included: they are files in\n"
    "ROOT/jobs and ROOT/code.  Secrets of unfinished jobs are encrypted with\n"
    "ROOT/key: keep a copy of that file elsewhere.\n"
    "\n"
    "To restore a backup: run 'openpai down --kill', replace ROOT/openpai.db\n"
    "with FILE, remove openpai.db-wal and openpai.db-shm in ROOT, and run\n"
    "'openpai up'.\n"
    "\n"
    "  -f, --force  overwrite FILE\n"
    "  --root DIR   the platform's root (default: $OPENPAI_ROOT,\n"
    "               or $XDG_STATE_HOME/openpai, or\n"
    "               ~/.local/state/openpai)\n"
    "  -h, --help\n"
    "\n"
    "Exit status: 0 success, 1 failure, 2 usage error\n",
  .run = run_backup,
};

/* --- export --------------------------------------------------------------------------- */

/* The id of the last job in what came, 0: there was none. */
static long long last_id(const char *text, size_t len)
{
  const char *line;
  cli_json j;
  long long id = 0;

  while (len > 0 && text[len - 1] == '\n')
    len--;
  if (len == 0)
    return 0;
  line = text + len;
  while (line > text && line[-1] != '\n')
    line--;
  if (cli_json_read(&j, line, (size_t)(text + len - line))) {
    id = cli_json_number(&j, 0, "id", 0);
    cli_json_free(&j);
  }
  return id;
}

/* Some jobs at a time, so that neither side holds them all. */
static bool fetch_lines(cli_remote *r, target *t)
{
  long long after = 0;
  bool good = true;

  do {
    char path[96];
    cli_answer a;
    (void)snprintf(path, sizeof(path), "/api/v2/export?after=%lld", after);
    cli_remote_ask(r, &a, "GET", path, NULL, NULL, 0);
    good = a.status == PAI_OK;
    if (!good)
      cli_answer_tell(&a);
    else if (add(t, a.body, a.len) < 0)
      good = false;
    after = good ? last_id(a.body, a.len) : 0;
    cli_answer_free(&a);
  } while (after > 0);
  return good;
}

static int run_export(int argc, char **argv)
{
  bool force = false, good = false;
  const cli_option options[] = { { "force", 'f', &force, NULL },
                                 { "root", 0, NULL, &cli_root } };
  int words = cli_options(&cli_export, options, 2, argc, argv);
  cli_remote r;
  target t;

  if (words == -2)
    return CLI_OK;
  if (words < 0 || words > 1) {
    if (words > 1)
      cli_misused(&cli_export, "export takes one file", argv[1]);
    return CLI_USAGE;
  }
  if (!open_target(&t, words == 1 ? argv[0] : "-", force))
    return CLI_NO;
  if (cli_remote_open(&r, true)) {
    good = fetch_lines(&r, &t);
    cli_remote_close(&r);
  }
  return close_target(&t, good) ? CLI_OK : CLI_NO;
}

const cli_verb cli_export = {
  .name = "export",
  .brief = "Write all jobs with their events, as lines of JSON",
  .usage = "[--force] [--root DIR] [FILE]",
  .help =
    "Each line is one job as JSON: its state, its file without secrets, its\n"
    "attempts, tasks and their starts, tags and events.  Times are\n"
    "microseconds since 1970.  Without FILE, or with -, write to standard\n"
    "output.\n"
    "\n"
    "  -f, --force  overwrite FILE\n"
    "  --root DIR   the platform's root (default: $OPENPAI_ROOT,\n"
    "               or $XDG_STATE_HOME/openpai, or\n"
    "               ~/.local/state/openpai)\n"
    "  -h, --help\n"
    "\n"
    "Exit status: 0 success, 1 failure, 2 usage error\n",
  .run = run_export,
};
