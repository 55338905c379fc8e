/* cells.c - text as a terminal can show it */
#include "cells.h"

#include <string.h>

static uint32_t code_point(const char *text, size_t n)
{
  const unsigned char *p = (const unsigned char *)text;
  uint32_t c = n == 1 ? p[0] : p[0] & (0x7fu >> n);

  for (size_t i = 1; i < n; i++)
    c = c << 6 | (p[i] & 0x3fu);
  return c;
}

/* What would act on the terminal, or on the order of what is shown. */
static bool is_control(uint32_t c)
{
  return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x061c ||
         (c >= 0x200e && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
         (c >= 0x2066 && c <= 0x2069) || c == 0xfeff;
}

/* How many cells it takes, roughly. */
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
  } else if (is_control(code)) { /* also what is no UTF-8 */
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
