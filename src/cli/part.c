/* part.c - what verbs about parts of the platform's machine share */
#include "part.h"

#include <stdlib.h>
#include <string.h>

bool cli_remote_do(cli_remote *r, const char *method, const char *path,
                   const char *body)
{
  cli_answer a;
  bool good;

  cli_remote_ask(r, &a, method, path, NULL, body,
                 body != NULL ? strlen(body) : 0);
  good = a.status == PAI_OK;
  if (!good)
    cli_answer_tell(&a);
  cli_answer_free(&a);
  return good;
}

bool cli_remote_has(cli_remote *r, const char *path)
{
  cli_answer a;
  bool there;

  cli_remote_ask(r, &a, "GET", path, NULL, NULL, 0);
  there = a.status == PAI_OK;
  cli_answer_free(&a);
  return there;
}

uint32_t cli_hundredths(const cli_json *j, size_t of, const char *key)
{
  size_t i = cli_json_get(j, of, key);

  return i != 0 && j->values[i].type == '0'
           ? (uint32_t)(strtod(j->values[i].text, NULL) * 100 + 0.5)
           : 0;
}

void cli_percent_text(char out[CLI_PERCENT], uint32_t n)
{
  if (n % 100 == 0)
    (void)snprintf(out, CLI_PERCENT, "%u%%", n / 100);
  else if (n % 10 == 0)
    (void)snprintf(out, CLI_PERCENT, "%u.%u%%", n / 100, n / 10 % 10);
  else
    (void)snprintf(out, CLI_PERCENT, "%u.%02u%%", n / 100, n % 100);
}

/* --- how much of something ---------------------------------------------------- */

enum { BAR = 10 };

static const char *use_style(FILE *out, int64_t used, int64_t all)
{
  if (used * 10 > all * 9)
    return cli_style(out, "\033[31m");
  return cli_style(out, used * 2 > all ? "\033[33m" : "\033[32m");
}

void cli_print_use(FILE *out, int64_t used, int64_t all)
{
  char text[48];
  int64_t full = all > 0 ? used * BAR / all : 0;

  if (all > 0)
    (void)snprintf(text, sizeof(text), "%lld/%lld", (long long)used,
                   (long long)all);
  else
    (void)snprintf(text, sizeof(text), "%s", used > 0 ? "over" : "-");
  if (cli_is_terminal(out)) {
    full = full < BAR ? full : BAR;
    if (used > 0 && full == 0)
      full = 1;
    (void)fprintf(out, "  %s", use_style(out, used, all));
    for (int64_t i = 0; i < BAR; i++)
      (void)fputs(i < full ? "#" : ".", out);
    (void)fputs(cli_style(out, "\033[0m"), out);
  }
  (void)fprintf(out, "  %7s", text);
}

void cli_memory_text(char *out, size_t size, int64_t bytes)
{
  static const char units[] = "BKMGTP";
  int64_t tenths = bytes * 10;
  size_t u = 0;

  while (tenths >= 10240 && units[u + 1] != '\0') {
    tenths /= 1024;
    u++;
  }
  (void)snprintf(out, size, "%lld.%lld%c", (long long)(tenths / 10),
                 (long long)(tenths % 10), units[u]);
}
