/* cmd_usage.c - `usage`: what jobs held and used, as tables or a page */
#include "chart.h"
#include "quantity.h"
#include "remote.h"
#include "table.h"
#include "usage_page.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static bool put_time(FILE *out, const char *member, const char *option,
                     const char *word)
{
  int64_t ms;

  if (word == NULL)
    return true;
  if (!cli_read_since(&ms, word)) {
    cli_fail("--%s: not a time: %s", option, word);
    cli_help(stderr, "as " CLI_SINCE_FORMS);
    return false;
  }
  if (ms < 0)
    ms += (int64_t)time(NULL) * 1000;
  (void)fprintf(out, ",\"%s\":%lld", member, (long long)ms);
  return true;
}

static void put_list(FILE *out, const char *member, const char *list)
{
  char *json = list != NULL ? cli_json_list(list) : NULL;

  if (json != NULL)
    (void)fprintf(out, ",\"%s\":%s", member, json);
  free(json);
}

/* Makes the arguments of the call; NULL after printing an error. */
static char *make_arguments(const cli_usage_args *a)
{
  char *text = NULL;
  size_t len = 0;
  FILE *out = open_memstream(&text, &len);
  bool valid;

  if (out == NULL)
    return NULL;
  (void)fprintf(out, "{\"limit\":%s", a->limit != NULL ? a->limit : "20");
  put_list(out, "username", a->user);
  put_list(out, "vc", a->vc);
  valid = put_time(out, "since", "since", a->since) &&
          put_time(out, "until", "until", a->until);
  (void)fputc('}', out);
  if (fclose(out) == 0 && valid)
    return text;
  free(text);
  return NULL;
}

static void print_tables(const pai_json *j)
{
  char from[32], to[32];

  (void)printf("%s to %s\n\nUsers\n",
               cli_chart_date(from, cli_json_number(j, 0, "from", 0)),
               cli_chart_date(to, cli_json_number(j, 0, "to", 0)));
  cli_print_table(stdout, cli_columns_usage,
                  cli_each_of(j, cli_json_get(j, 0, "users")));
  (void)printf("\nVirtual clusters\n");
  cli_print_table(stdout, cli_columns_usage,
                  cli_each_of(j, cli_json_get(j, 0, "virtualClusters")));
  (void)printf("\nJobs\n");
  cli_print_table(stdout, cli_columns_used_jobs,
                  cli_each_of(j, cli_json_get(j, 0, "jobs")));
  if (pai_json_count(j, cli_json_get(j, 0, "idle")) == 0)
    return;
  (void)printf("\nGPUs that do nothing now\n");
  cli_print_table(stdout, cli_columns_idle_jobs,
                  cli_each_of(j, cli_json_get(j, 0, "idle")));
}

static bool write_page(const char *path, const pai_json *j)
{
  bool here = strcmp(path, "-") == 0;
  FILE *out = here ? stdout : fopen(path, "w");
  bool written;

  if (out == NULL) {
    cli_fail("cannot write %s: %s", path, strerror(errno));
    cli_help(stderr, "choose a folder in which you can create files");
    return false;
  }
  cli_usage_page(out, j);
  if (here)
    return true;
  written = ferror(out) == 0;
  written = fclose(out) == 0 && written;
  if (!written)
    cli_fail("cannot write %s: %s", path, strerror(errno));
  return written;
}

int cli_do_usage(const cli_usage_args *a)
{
  char *arguments = make_arguments(a);
  int code = CLI_NO;
  cli_remote r;
  cli_answer answer;
  pai_json *j;

  if (arguments == NULL)
    return CLI_USAGE;
  if (!cli_remote_open(&r, true)) {
    free(arguments);
    return CLI_NO;
  }
  cli_call(&r, &answer, "usage.show", arguments);
  if (answer.status != PAI_OK) {
    cli_answer_tell(&answer);
  } else if (a->json) {
    (void)printf("%s\n", answer.body);
    code = CLI_OK;
  } else if (cli_json_read(&j, answer.body, answer.len)) {
    if (a->html == NULL)
      print_tables(j);
    code = a->html == NULL || write_page(a->html, j) ? CLI_OK : CLI_NO;
    cli_json_free(&j);
  }
  cli_answer_free(&answer);
  cli_remote_close(&r);
  return code;
}
