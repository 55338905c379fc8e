/* cmd_backup.c - `backup` and `export`: all records, as a database or as lines
 * of JSON */
#include "file.h"
#include "remote.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The output: standard output, or a temporary file that is renamed when it is
 * complete. */
typedef struct target {
  const char *name;
  char *made; /* temporary file; NULL: write to the target directly */
  int fd;
  FILE *out;
  int error; /* errno of the first failure */
} target;

static bool fail(const target *t, int error)
{
  (void)cli_write_fail(t->name, error);
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
    /* A pipe or a device is written to, not replaced. */
    t->out = S_ISDIR(st.st_mode) ? NULL : fopen(name, "wb");
    return t->out != NULL || fail(t, S_ISDIR(st.st_mode) ? EISDIR : errno);
  }
  if (!force && lstat(name, &st) == 0) {
    cli_fail("the file %s exists already", name);
    cli_help(stderr, "choose another name, or use --force to overwrite it");
    return false;
  }
  t->made = malloc(size);
  if (t->made == NULL)
    return fail(t, ENOMEM);
  (void)snprintf(t->made, size, "%s.%ld", name, (long)getpid());
  t->fd = open(t->made, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (t->fd >= 0 && (t->out = fdopen(t->fd, "wb")) != NULL)
    return true;
  (void)fail(t, errno);
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

/* Renames a complete file to its name; otherwise prints the error. */
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
  return t->error == 0 ? good : fail(t, t->error);
}

/* Writes a stream to the target.  Returns false after printing an error. */
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

/* --- backup -------------------------------------------------------------- */

int cli_do_backup(const cli_backup_args *a)
{
  bool good = false;
  cli_remote r;
  target t;

  if (strcmp(a->words[0], "-") == 0 && cli_is_terminal(stdout))
    return cli_misused("refusing to write a database to a terminal", "-");
  if (!open_target(&t, a->words[0], a->force))
    return CLI_NO;
  if (cli_remote_open(&r, true)) {
    good = fetch(&r, &t, "/api/v2/backup");
    cli_remote_close(&r);
  }
  return close_target(&t, good) ? CLI_OK : CLI_NO;
}

/* --- export -------------------------------------------------------------- */

/* Returns the id of the last job in the text; 0: none. */
static long long last_id(const char *text, size_t len)
{
  const char *line;
  pai_json *j;
  long long id = 0;

  while (len > 0 && text[len - 1] == '\n')
    len--;
  if (len == 0)
    return 0;
  line = text + len;
  while (line > text && line[-1] != '\n')
    line--;
  if (cli_json_read(&j, line, (size_t)(text + len - line))) {
    id = cli_json_number(j, 0, "id", 0);
    cli_json_free(&j);
  }
  return id;
}

/* Fetches the jobs in batches, so that neither side holds all of them in
 * memory. */
static bool fetch_lines(cli_remote *r, target *t)
{
  long long after = 0;
  bool good = true;

  do {
    cli_answer a;

    cli_call(r, &a, "server.export", cli_json_make("{\"after\":%lld}", after));
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

int cli_do_export(const cli_export_args *a)
{
  bool good = false;
  cli_remote r;
  target t;

  if (!open_target(&t, a->count == 1 ? a->words[0] : "-", a->force))
    return CLI_NO;
  if (cli_remote_open(&r, true)) {
    good = fetch_lines(&r, &t);
    cli_remote_close(&r);
  }
  return close_target(&t, good) ? CLI_OK : CLI_NO;
}
