/* cells.c - text split into terminal cells, colours, and messages to the
 * user */
#include "cells.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static uint32_t code_point(const char *text, size_t n)
{
  const unsigned char *p = (const unsigned char *)text;
  uint32_t c = n == 1 ? p[0] : p[0] & (0x7fu >> n);

  for (size_t i = 1; i < n; i++)
    c = c << 6 | (p[i] & 0x3fu);
  return c;
}

/* Whether a character controls the terminal or the direction of text. */
static bool is_control(uint32_t c)
{
  return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x061c ||
         (c >= 0x200e && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
         (c >= 0x2066 && c <= 0x2069) || c == 0xfeff;
}

/* Returns the approximate width in cells. */
static unsigned width_of(uint32_t c)
{
  static const struct {
    uint32_t first, last;
    unsigned width;
  } ranges[] = { { 0x0300, 0x036f, 0 },   { 0x1100, 0x115f, 2 },
                 { 0x200b, 0x200d, 0 },   { 0x20d0, 0x20ff, 0 },
                 { 0x2e80, 0x303e, 2 },   { 0x3041, 0xa4cf, 2 },
                 { 0xac00, 0xd7a3, 2 },   { 0xf900, 0xfaff, 2 },
                 { 0xfe00, 0xfe0f, 0 },   { 0xfe30, 0xfe6f, 2 },
                 { 0xff00, 0xff60, 2 },   { 0xffe0, 0xffe6, 2 },
                 { 0x1f300, 0x1f64f, 2 }, { 0x1f680, 0x1f6ff, 2 },
                 { 0x1f900, 0x1faff, 2 }, { 0x20000, 0x3fffd, 2 } };

  for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++)
    if (c >= ranges[i].first && c <= ranges[i].last)
      return ranges[i].width;
  return 1;
}

bool cli_next_cell(cli_cell *c)
{
  size_t n = cli_utf8_len(c->next, c->left), taken = n > 0 ? n : 1;
  uint32_t code;

  if (c->left == 0)
    return false;
  code = n > 0 ? code_point(c->next, n) : 0;
  if ((*c->next & 0xc0) != 0x80)
    c->character++;
  c->width = 1;
  if (code == '\t') {
    c->width = CLI_TAB - c->column % CLI_TAB;
    (void)snprintf(c->shown, sizeof(c->shown), "%*s", (int)c->width, "");
  } else if (is_control(code)) { /* also for invalid UTF-8 */
    (void)snprintf(c->shown, sizeof(c->shown), "\xef\xbf\xbd");
  } else {
    c->width = width_of(code);
    (void)snprintf(c->shown, sizeof(c->shown), "%.*s", (int)n, c->next);
  }
  c->column += c->width;
  c->next += taken;
  c->left -= taken;
  return true;
}

int cli_width(const char *text)
{
  cli_cell c = { .next = text, .left = strlen(text) };

  while (cli_next_cell(&c))
    ;
  return (int)c.column;
}

static void print(FILE *out, const char *text, size_t len)
{
  cli_cell c = { .next = text, .left = len };

  while (cli_next_cell(&c))
    (void)fputs(c.shown, out);
}

void cli_print(FILE *out, const char *text)
{
  print(out, text, strlen(text));
}

void cli_print_lines(FILE *out, const char *text)
{
  size_t len;

  for (; *text != '\0'; text += len) {
    len = strcspn(text, "\n");
    print(out, text, len);
    if (text[len] == '\n') {
      (void)fputc('\n', out);
      len++;
    }
  }
}

const char *cli_bytes(char *out, size_t size, int64_t n)
{
  static const char *const units[] = {
    "B", "KiB", "MiB", "GiB", "TiB", "PiB"
  };
  size_t u = 0;
  int64_t tenths = n < INT64_MAX / 10 ? n * 10 : INT64_MAX;

  if (n < 0)
    return "?";
  for (; tenths >= 10240 && u + 1 < sizeof(units) / sizeof(units[0]); u++)
    tenths = (tenths + 512) / 1024;
  if (u == 0)
    (void)snprintf(out, size, "%lld B", (long long)n);
  else
    (void)snprintf(out, size, "%lld.%lld %s", (long long)(tenths / 10),
                   (long long)(tenths % 10), units[u]);
  return out;
}

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
  /* per stream: 1 colours, -1 none, 0 undecided */
  static signed char decided[2];
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
      continue; /* the cause was printed already */
    (void)fprintf(stderr, "  because: ");
    cli_print(stderr, pai_error_message(c));
    (void)fputc('\n', stderr);
  }
  if (help != NULL)
    cli_help(stderr, help);
}

int cli_fail_with(const char *file, pai_error *err)
{
  cli_error(file, err);
  pai_error_free(err);
  return CLI_NO;
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

/* Whether SIGPIPE reports a closed pipe, so that no error message is
 * needed. */
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
  /* If an earlier write inside stdio failed, only the fact is known, not
   * errno. */
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

/* Returns the length of a UTF-8 sequence by its first byte, or 0 if the byte
 * cannot begin one. */
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

    if (n == 0) /* output of a job may be any bytes, but JSON must be UTF-8 */
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
