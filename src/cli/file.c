/* file.c - reading, writing and checking files, and standard input and
 * output */
#define _XOPEN_SOURCE 700 /* realpath() */
#include "cells.h"
#include "file.h"

#include "base/os/posix_errno.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHUNK = 65536 };

const char *cli_shown_name(const char *name)
{
  return strcmp(name, "-") == 0 ? "<stdin>" : name;
}

/* Reads a stream up to `most` bytes; returns 0 or an errno. */
static int read_stream(char **text, size_t *len, FILE *in, size_t most)
{
  size_t cap = 0, n;

  do {
    if (*len == cap) {
      char *more = realloc(*text, cap + cap / 2 + CHUNK + 1);
      if (more == NULL)
        return ENOMEM;
      *text = more;
      cap += cap / 2 + CHUNK;
    }
    n = cap - *len < most - *len ? cap - *len : most - *len;
    n = fread(*text + *len, 1, n, in);
    *len += n;
    (*text)[*len] = '\0';
  } while (n > 0 && !feof(in));

  if (!ferror(in))
    return 0;
  return errno != 0 ? errno : EIO;
}

int cli_read_file(char **text, size_t *len, const char *name, size_t most)
{
  FILE *in = stdin;
  int error;

  errno = 0;
  if (strcmp(name, "-") != 0)
    in = fopen(name, "rb");
  if (in == NULL)
    return errno;
  (void)setvbuf(in, NULL, _IONBF, 0); /* the chunks need no second buffer */
  error = read_stream(text, len, in, most + 1);
  if (in != stdin)
    (void)fclose(in);
  return error;
}

void cli_read_why(char *out, size_t size, const char *name, int error)
{
  (void)snprintf(out, size, "cannot read %s: %s",
                 strcmp(name, "-") == 0 ? "standard input" : name,
                 strerror(error));
}

int cli_read_fail(const char *name, int error)
{
  char why[1024];

  cli_read_why(why, sizeof(why), name, error);
  cli_say(PAI_LOG_ERROR, why);
  return CLI_USAGE;
}

int cli_read(char **text, size_t *len, const char *name, size_t most)
{
  int error = cli_read_file(text, len, name, most);

  if (error == 0)
    return CLI_OK;
  free(*text);
  *text = NULL;
  return cli_read_fail(name, error);
}

int cli_write_fail(const char *name, int error)
{
  cli_fail("cannot write %s: %s", name, strerror(error));
  cli_help(stderr, pai__errno_write_help(error));
  return CLI_NO;
}

int cli_save(const char *name, const char *text, size_t len)
{
  FILE *out;
  int error = 0;

  if (strcmp(name, "-") == 0) {
    (void)cli_write(stdout, text, len);
    return CLI_OK;
  }
  errno = 0;
  out = fopen(name, "wb");
  if (out == NULL || fwrite(text, 1, len, out) != len)
    error = errno;
  if (out != NULL && fclose(out) != 0 && error == 0)
    error = errno;
  if (error == 0)
    return CLI_OK;
  return cli_write_fail(name, error);
}

static void repeat(FILE *out, char c, unsigned count)
{
  for (; count > 0; count--)
    (void)fputc(c, out);
}

/* Prints ^~~~ below the characters of a finding. */
static void print_marks(FILE *out, const pai_diagnostic *d, cli_cell c)
{
  char mark = '^';

  while (cli_next_cell(&c) && c.character < d->source_end_column) {
    if (c.character < d->source_column || c.width == 0) {
      repeat(out, ' ', c.width);
      continue;
    }
    (void)fputc(mark, out);
    mark = '~';
    repeat(out, mark, c.width - 1);
  }
  if (mark == '^') /* past the end of the line */
    (void)fputc(mark, out);
}

static void print_source(FILE *out, const pai_diagnostic *d)
{
  const cli_cell start = { .next = d->source, .left = strlen(d->source) };
  cli_cell c = start;
  int digits = fprintf(out, "%5u", d->line);

  (void)fputs(" | ", out);
  while (cli_next_cell(&c))
    (void)fputs(c.shown, out);
  (void)fprintf(out, "\n%*s | %s", digits, "", cli_style(out, "\033[1;32m"));
  print_marks(out, d, start);
  (void)fprintf(out, "%s\n", cli_style(out, "\033[0m"));
}

void cli_print_findings(FILE *out, const char *name, const pai_report *report)
{
  const pai_diagnostic *d;

  for (size_t i = 0; (d = pai_report_get(report, i)) != NULL; i++) {
    (void)fputs(cli_style(out, "\033[1m"), out);
    cli_print(out, cli_shown_name(name));
    (void)fprintf(out, ":%u:%u:%s ", d->line, d->column,
                  cli_style(out, "\033[0m"));
    cli_level(
      out, d->severity == PAI_SEVERITY_ERROR ? PAI_LOG_ERROR : PAI_LOG_WARNING,
      d->message);
    (void)fprintf(out, " [%s]\n", d->code);
    if (d->source != NULL)
      print_source(out, d);
    if (d->help != NULL)
      cli_help(out, d->help);
  }
}

enum { PIECE = 64 << 10 };

typedef struct replacement {
  const char *path, *text;
  size_t len;
  int old;         /* descriptor of the old file, open for writing */
  struct stat was; /* status of the old file */
} replacement;

/* Returns 1 if the file has this text; 0 if not; -1 and errno on an error. */
static int has_text(int fd, const char *text, size_t len)
{
  char piece[PIECE];
  size_t at = 0;
  ssize_t n;

  while ((n = pread(fd, piece, sizeof(piece), (off_t)at)) > 0) {
    if ((size_t)n > len - at || memcmp(piece, text + at, (size_t)n) != 0)
      return 0;
    at += (size_t)n;
  }
  return n < 0 ? -1 : at == len;
}

static int write_all(int fd, const char *text, size_t len)
{
  size_t at = 0;

  while (at < len) {
    ssize_t n = pwrite(fd, text + at, len - at, (off_t)at);

    if (n < 0 && errno != EINTR)
      return errno;
    at += n > 0 ? (size_t)n : 0;
  }
  return ftruncate(fd, (off_t)len) == 0 && fsync(fd) == 0 ? 0 : errno;
}

/* Gives the new file the old file's owner and group; returns false if that is
 * not permitted. */
static bool keeps_owner(const replacement *r, int fd)
{
  struct stat now;

  if (fstat(fd, &now) != 0)
    return false;
  return (now.st_uid == r->was.st_uid && now.st_gid == r->was.st_gid) ||
         fchown(fd, r->was.st_uid, r->was.st_gid) == 0;
}

/* Replaces the file by a new one.  Returns 0 or an errno; EXDEV: the old file
 * itself must be overwritten. */
static int exchange(const replacement *r)
{
  size_t size = strlen(r->path) + sizeof(".XXXXXX");
  char *fresh = malloc(size);
  int fd, error = 0;

  if (fresh == NULL)
    return ENOMEM;
  (void)snprintf(fresh, size, "%s.XXXXXX", r->path);
  fd = mkstemp(fresh);
  if (fd < 0) {
    error = errno == EACCES || errno == EROFS ? EXDEV : errno;
    free(fresh);
    return error;
  }
  if (!keeps_owner(r, fd))
    error = EXDEV;
  if (error == 0 && fchmod(fd, r->was.st_mode & 07777) != 0)
    error = errno;
  if (error == 0)
    error = write_all(fd, r->text, r->len);
  if (close(fd) != 0 && error == 0)
    error = errno;
  if (error == 0 && rename(fresh, r->path) != 0)
    error = errno;
  if (error != 0)
    (void)unlink(fresh);
  free(fresh);
  return error;
}

static const char *replace(replacement *r, const char *was, size_t was_len)
{
  int error = 0, same;

  if (fstat(r->old, &r->was) != 0)
    return strerror(errno);
  if (!S_ISREG(r->was.st_mode))
    return "it is not a regular file";
  same = has_text(r->old, was, was_len);
  if (same < 0)
    return strerror(errno);
  if (same == 0)
    return "it has been changed meanwhile";
  error = r->was.st_nlink > 1 ? EXDEV : exchange(r);
  if (error == EXDEV)
    error = write_all(r->old, r->text, r->len);
  return error != 0 ? strerror(error) : NULL;
}

const char *cli_replace(const char *name, const char *was, size_t was_len,
                        const char *text, size_t len)
{
  char *path = realpath(name, NULL);
  replacement r = { .path = path, .text = text, .len = len };
  const char *why;

  r.old =
    path != NULL ? open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) : -1;
  why = r.old >= 0 ? replace(&r, was, was_len) : strerror(errno);
  if (r.old >= 0)
    (void)close(r.old);
  free(path);
  return why;
}
