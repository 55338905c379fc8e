/* cmd_alert.c - silences of alerts */
#include "quantity.h"
#include "remote.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Prints the parts of NAME=VALUE, NAME!=VALUE, NAME=~REGEX or NAME!~REGEX as a
 * matcher; returns false if the text is none. */
static bool print_matcher(FILE *out, const char *text)
{
  size_t name = strcspn(text, "=!"), len;
  const char *value = text + name;
  bool differs = *value == '!', regex;

  regex = value[0] != '\0' && value[1] == '~';
  if (name == 0 || *value == '\0' ||
      (differs && value[1] != '=' && value[1] != '~'))
    return false;
  value += differs || regex ? 2 : 1;
  len = strlen(value);
  if (len >= 2 && value[0] == '"' && value[len - 1] == '"') {
    value++;
    len -= 2;
  }
  cli_json_print(out, "{\"name\":%.*s,\"value\":%.*s,\"isRegex\":", (int)name,
                 text, (int)len, value);
  (void)fprintf(out, "%s,\"isEqual\":%s}", regex ? "true" : "false",
                differs ? "false" : "true");
  return true;
}

static void print_end(FILE *out, int64_t us)
{
  time_t end = time(NULL) + (time_t)(us / 1000000);
  char text[40];
  struct tm tm;

  if (gmtime_r(&end, &tm) != NULL &&
      strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm) > 0)
    (void)fprintf(out, ",\"endsAt\":\"%s\"", text);
}

/* Returns the arguments of the call, for free(); NULL after printing an
 * error. */
static char *make_silence(const cli_alert_silence_args *a, int64_t us)
{
  char *text = NULL;
  size_t len = 0;
  FILE *out = open_memstream(&text, &len);
  int good = out != NULL;

  if (good)
    (void)fputs("{\"matchers\":[", out);
  for (int i = 0; good && i < a->count; i++) {
    if (i > 0)
      (void)fputc(',', out);
    good = print_matcher(out, a->words[i]);
    if (!good)
      (void)cli_misused("not a matcher: write NAME=VALUE, NAME!=VALUE, "
                        "NAME=~REGEX or NAME!~REGEX",
                        a->words[i]);
  }
  if (good) {
    (void)fputc(']', out);
    print_end(out, us);
    if (a->comment != NULL)
      cli_json_print(out, ",\"comment\":%s", a->comment);
    (void)fputc('}', out);
  }
  if (out != NULL && fclose(out) == 0 && good)
    return text;
  free(text);
  return NULL;
}

int cli_do_alert_silence(const cli_alert_silence_args *a)
{
  int64_t us = 0;
  char *arguments;
  pai_json *j = NULL;
  cli_remote r;

  if (!cli_read_span(a->duration, &us) || us < 1000000)
    return cli_misused("--duration: not a time such as 30m, 2h or 7d",
                       a->duration);
  arguments = make_silence(a, us);
  if (arguments == NULL)
    return CLI_USAGE;
  if (!cli_remote_open(&r, true)) {
    free(arguments);
    return CLI_NO;
  }
  if (cli_call_read(&r, &j, "silences.create", arguments)) {
    (void)printf("%s\n", cli_json_text(j, 0, "silenceID"));
    pai_json_free(j);
    cli_remote_close(&r);
    return CLI_OK;
  }
  cli_remote_close(&r);
  return CLI_NO;
}
