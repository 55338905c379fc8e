/* term.c - what is said to a person: errors, colour; and JSON strings */
#include "cli.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool cli_is_terminal(FILE *out)
{
  return isatty(fileno(out)) == 1;
}

static bool may_color(FILE *out)
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
  return may_color(out) ? sgr : "";
}

static void print_error(const char *what)
{
  (void)fprintf(stderr, "%serror:%s %s\n", cli_style(stderr, "\033[1;31m"),
                cli_style(stderr, "\033[0m"), what);
}

void cli_error(const char *file, const pai_error *err)
{
  const char *help = pai_error_help(err);

  if (file == NULL || (pai_error_line(err) == 0 &&
                       strstr(pai_error_message(err), file) != NULL))
    (void)fprintf(stderr, "openpai: ");
  else if (pai_error_line(err) == 0)
    (void)fprintf(stderr, "%s: ", file);
  else
    (void)fprintf(stderr, "%s:%u:%u: ", file, pai_error_line(err),
                  pai_error_column(err));
  print_error(pai_error_message(err));
  for (const pai_error *c = pai_error_cause(err); c != NULL;
       c = pai_error_cause(c))
    (void)fprintf(stderr, "  because: %s\n", pai_error_message(c));
  if (help != NULL)
    (void)fprintf(stderr, "  %shelp:%s %s\n", cli_style(stderr, "\033[1;36m"),
                  cli_style(stderr, "\033[0m"), help);
}

void cli_fail(const char *fmt, ...)
{
  char what[1024];
  va_list ap;

  va_start(ap, fmt);
  (void)vsnprintf(what, sizeof(what), fmt, ap);
  va_end(ap);
  (void)fprintf(stderr, "openpai: ");
  print_error(what);
}

/* Length of the UTF-8 sequence at p, or 0 when it is none. */
static size_t utf8_len(const unsigned char *p, size_t left)
{
  size_t n = p[0] < 0x80   ? 1
             : p[0] < 0xc2 ? 0
             : p[0] < 0xe0 ? 2
             : p[0] < 0xf0 ? 3
             : p[0] < 0xf5 ? 4
                           : 0;

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

void cli_json_string(FILE *out, const char *text, size_t len)
{
  (void)fputc('"', out);
  for (size_t i = 0; i < len;) {
    const unsigned char *p = (const unsigned char *)text + i;
    size_t n = utf8_len(p, len - i);

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
