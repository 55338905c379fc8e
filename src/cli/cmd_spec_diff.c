/* cmd_spec_diff.c - what differs between two job files, by what they mean */
#include "cells.h"
#include "job_file.h"

#include <string.h>

typedef struct diff_state {
  bool json;
  size_t told;
} diff_state;

static const struct {
  const char *name, *sign, *color;
} kinds[] = {
  [PAI_CHANGE_ADDED] = { "added", "+", "\033[32m" },
  [PAI_CHANGE_REMOVED] = { "removed", "-", "\033[31m" },
  [PAI_CHANGE_CHANGED] = { "changed", "~", "\033[33m" },
  [PAI_CHANGE_MOVED] = { "moved", ">", "\033[36m" },
};

/* Two masks tell nothing, and yet the change is told: say of what. */
static bool are_masks(const pai_spec_change *c)
{
  return c->old_value != NULL && c->new_value != NULL &&
         strcmp(c->old_value, "\"******\"") == 0 &&
         strcmp(c->new_value, c->old_value) == 0;
}

/* "+ /parameters/lr: 0.1", or "~ /taskRoles/a/instances: 1 -> 2". */
static void print_text(const pai_spec_change *c)
{
  (void)printf("%s%s ", cli_style(stdout, kinds[c->kind].color),
               kinds[c->kind].sign);
  cli_print(stdout, c->pointer);
  (void)printf(":%s ", cli_style(stdout, "\033[0m"));
  if (c->old_value != NULL)
    cli_print(stdout, c->old_value);
  if (c->old_value != NULL && c->new_value != NULL)
    (void)printf(" -> ");
  if (c->new_value != NULL)
    cli_print(stdout, c->new_value);
  if (are_masks(c))
    (void)printf(" (secret values that differ)");
  (void)printf("\n");
}

/* The values are JSON already. */
static void print_json(const pai_spec_change *c, bool first)
{
  (void)printf("%s\n{\"kind\":\"%s\",\"pointer\":", first ? "" : ",",
               kinds[c->kind].name);
  cli_json_string(stdout, c->pointer, strlen(c->pointer));
  if (c->old_value != NULL)
    (void)printf(",\"old\":%s", c->old_value);
  if (c->new_value != NULL)
    (void)printf(",\"new\":%s", c->new_value);
  (void)printf("}");
}

static int on_change(void *user_data, const pai_spec_change *change)
{
  diff_state *d = user_data;

  if (d->json)
    print_json(change, d->told == 0);
  else
    print_text(change);
  d->told++;
  return PAI_OK;
}

static int compare(const pai_spec *a, const pai_spec *b, bool json)
{
  diff_state d = { .json = json };
  pai_error *err = NULL;
  int rc;

  if (json)
    (void)printf("[");
  rc = pai_spec_diff(a, b, on_change, &d, &err);
  if (json)
    (void)printf("\n]\n");
  if (rc < 0)
    cli_error(NULL, err);
  pai_error_free(err);
  return rc < 0 ? CLI_USAGE : rc > 0 ? CLI_NO : CLI_OK;
}

static int run(int argc, char **argv)
{
  bool json = false;
  const cli_option options[] = { { "json", 0, &json, NULL } };
  int words = cli_options(&cli_spec_diff, options, 1, argc, argv);
  int code = CLI_USAGE;
  cli_job_file a, b;

  if (words < 0)
    return words == -2 ? CLI_OK : CLI_USAGE;
  if (words != 2) {
    cli_misused(&cli_spec_diff, "spec diff", "which two job files?");
    return CLI_USAGE;
  }
  (void)cli_job_file_need(&a, argv[0]);
  (void)cli_job_file_need(&b, argv[1]); /* tell all that is wrong at once */
  if (a.spec != NULL && b.spec != NULL)
    code = compare(a.spec, b.spec, json);
  cli_job_file_close(&a);
  cli_job_file_close(&b);
  return code;
}

const cli_verb cli_spec_diff = {
  .name = "spec diff",
  .brief = "Show the differences between two job files",
  .usage = "[--json] FILE FILE",
  .help =
    "Compare the meaning of the files, not their text: layout, comments, the\n"
    "order of keys and written defaults make no difference.  Secrets are "
    "shown\n"
    "as asterisks.  FILE - is standard input.\n"
    "\n"
    "  --json      print one JSON array with an object for each difference\n"
    "  -h, --help\n"
    "\n"
    "Exit status: 0 no difference, 1 a difference or output cannot be\n"
    "written, 2 a file is invalid or cannot be read, or usage error\n",
  .run = run,
};
