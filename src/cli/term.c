/* term.c - what is said to a person: errors, colour; and JSON strings */
#include "cells.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool cli_is_terminal(FILE *out)
{
  return isatty(fileno(out)) == 1;
}

static bool wants_color(FILE *out)
{
  const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

  if (no_color != NULL && no_color[0] != '\0')
    return false;
  if (term != NULL && strcmp(term, "dumb") == 0)
    return false;
  return cli_is_terminal(out);
}

const char *cli_style(FILE *out, const char *sgr)
{
  static signed char decided[2]; /* stdout, stderr: 1 yes, -1 no, 0 not yet */
  signed char *color = &decided[out == stderr];

  if (*color == 0)
    *color = wants_color(out) ? 1 : -1;
  return *color > 0 ? sgr : "";
}

void cli_level(FILE *out, int level, const char *what)
{
  const char *word = "note", *color = "\033[1;33m";

  if (level >= PAI_LOG_ERROR) {
    word = "error";
    color = "\033[1;31m";
  } else if (level == PAI_LOG_WARNING) {
    word = "warning";
    color = "\033[1;35m";
  }
  (void)fprintf(out, "%s%s:%s ", cli_style(out, color), word,
                cli_style(out, "\033[0m"));
  cli_print(out, what);
}

void cli_help(FILE *out, const char *what)
{
  (void)fprintf(out, "  %shelp:%s ", cli_style(out, "\033[1;36m"),
                cli_style(out, "\033[0m"));
  cli_print(out, what);
  (void)fputc('\n', out);
}

void cli_say(int level, const char *what)
{
  if (level >= PAI_LOG_WARNING)
    (void)fprintf(stderr, "openpai: ");
  cli_level(stderr, level, what);
  (void)fputc('\n', stderr);
}

void cli_error(const char *file, const pai_error *err)
{
  const char *help = pai_error_help(err), *message = pai_error_message(err);
  uint32_t line = pai_error_line(err);

  if (file == NULL || (line == 0 && strstr(message, file) != NULL))
    (void)fprintf(stderr, "openpai");
  else
    cli_print(stderr, file);
  if (file != NULL && line > 0)
    (void)fprintf(stderr, ":%u", line);
  if (file != NULL && line > 0 && pai_error_column(err) > 0)
    (void)fprintf(stderr, ":%u", pai_error_column(err));
  (void)fprintf(stderr, ": ");
  cli_level(stderr, PAI_LOG_ERROR, message);
  (void)fputc('\n', stderr);
  for (const pai_error *c = pai_error_cause(err); c != NULL;
       c = pai_error_cause(c)) {
    if (strstr(message, pai_error_message(c)) != NULL)
      continue; /* it was told */
    (void)fprintf(stderr, "  because: ");
    cli_print(stderr, pai_error_message(c));
    (void)fputc('\n', stderr);
  }
  if (help != NULL)
    cli_help(stderr, help);
}

void cli_fail(const char *fmt, ...)
{
  char what[1024];
  va_list ap;

  va_start(ap, fmt);
  (void)vsnprintf(what, sizeof(what), fmt, ap);
  va_end(ap);
  cli_say(PAI_LOG_ERROR, what);
}

/* A reader that has gone makes itself heard by SIGPIPE, unless that is
 * ignored. */
static bool is_heard_of(int error)
{
  struct sigaction pipe;

  return error == EPIPE && sigaction(SIGPIPE, NULL, &pipe) == 0 &&
         pipe.sa_handler != SIG_IGN;
}

bool cli_written(void)
{
  static int error; /* errno of the first failure */

  if (error != 0)
    return is_heard_of(error);
  /* When stdio wrote in between, it knows that it failed, but not why. */
  if (fflush(stdout) != 0)
    error = errno;
  else if (ferror(stdout))
    error = EIO;
  if (error == 0 || is_heard_of(error))
    return true;
  cli_fail("cannot write standard output: %s", strerror(error));
  return false;
}

int cli_write(void *file, const char *bytes, size_t len)
{
  (void)fwrite(bytes, 1, len, file);
  return PAI_OK;
}

/* Length of a UTF-8 sequence by its first byte, or 0 when none begins so. */
static size_t utf8_lead(unsigned char c)
{
  return c < 0x80   ? 1
         : c < 0xc2 ? 0
         : c < 0xe0 ? 2
         : c < 0xf0 ? 3
         : c < 0xf5 ? 4
                    : 0;
}

size_t cli_utf8_len(const char *text, size_t left)
{
  const unsigned char *p = (const unsigned char *)text;
  size_t n = left > 0 ? utf8_lead(p[0]) : 0;

  if (n == 0 || n > left)
    return 0;
  for (size_t i = 1; i < n; i++)
    if ((p[i] & 0xc0) != 0x80)
      return 0;
  if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] >= 0xa0) ||
      (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] >= 0x90))
    return 0;
  return n;
}

size_t cli_utf8_cut(const char *text, size_t len)
{
  for (size_t n = 1; n <= 3 && n <= len; n++) {
    unsigned char c = (unsigned char)text[len - n];

    if ((c & 0xc0) != 0x80)
      return utf8_lead(c) > n ? n : 0;
  }
  return 0;
}

void cli_json_string(FILE *out, const char *text, size_t len)
{
  (void)fputc('"', out);
  for (size_t i = 0; i < len;) {
    const unsigned char *p = (const unsigned char *)text + i;
    size_t n = cli_utf8_len(text + i, len - i);

    if (n == 0) /* a job may print any bytes; JSON may not hold them */
      (void)fputs("\xef\xbf\xbd", out);
    else if (*p == '"' || *p == '\\')
      (void)fprintf(out, "\\%c", *p);
    else if (*p < 0x20 || *p == 0x7f)
      (void)fprintf(out, "\\u%04x", *p);
    else
      (void)fwrite(p, 1, n, out);
    i += n == 0 ? 1 : n;
  }
  (void)fputc('"', out);
}
