/* cmd_user_quota.c - how much a user may have at a time */
#include "accounts.h"

#include <stdlib.h>
#include <string.h>

#define OPTIONS(of) (sizeof(of) / sizeof((of)[0]))

/* "20G" in bytes, or a number; false: it is none. */
static bool read_amount(const char *text, size_t len, long long *out)
{
  static const char units[] = "KMGT";
  const char *unit;
  char *end;

  *out = len == 4 && strncmp(text, "none", len) == 0 ? -1 : -2;
  if (*out == -1 || (len == 7 && strncmp(text, "default", len) == 0))
    return true;
  if (text[0] < '0' || text[0] > '9')
    return false;
  *out = strtoll(text, &end, 10);
  unit = end < text + len ? strchr(units, *end) : NULL;
  if (unit != NULL && *out < 1LL << 20) {
    *out <<= 10 * (unit - units + 1);
    end++;
  }
  return end == text + len;
}

/* One "jobs=5" of a list. */
static bool put_limit(cli_text *t, const char *item, size_t len)
{
  size_t name = strcspn(item, "=");
  long long most = 0;
  char key[32];

  if (name >= len || name >= sizeof(key) ||
      !read_amount(item + name + 1, len - name - 1, &most))
    return false;
  (void)snprintf(key, sizeof(key), "%.*s", (int)name, item);
  cli_put_key(t, key);
  (void)fprintf(t->out, "%lld", most);
  return true;
}

/* "jobs=5,uploads=20G" as PUT takes it, for free(); NULL: it is no such list. */
static char *write_limits(const char *list)
{
  bool good = list[0] != '\0';
  cli_text t;
  char *text;

  if (!cli_text_begin(&t))
    return NULL;
  cli_put_object(&t);
  while (good && *list != '\0') {
    size_t len = strcspn(list, ",");

    good = put_limit(&t, list, len);
    list += len + (list[len] == ',' ? 1 : 0);
  }
  cli_put_end(&t);
  text = cli_text_end(&t);
  if (good)
    return text;
  free(text);
  return NULL;
}

static int show(cli_remote *r, const char *path)
{
  static const char *const heads[] = { "LIMIT", "MOST" };
  cli_table t;
  cli_json j;

  if (!cli_remote_get(r, &j, path))
    return CLI_NO;
  cli_table_begin(&t, OPTIONS(heads), heads);
  for (size_t i = cli_json_first(&j, 0); i != 0; i = cli_json_next(&j, 0, i)) {
    const char *name = j.values[i].key;
    int64_t most = cli_json_number(&j, 0, name, -1);
    char text[32] = "none";

    if (most >= 0)
      (void)snprintf(text, sizeof(text), "%lld", (long long)most);
    cli_table_add(&t, name);
    cli_table_add(&t, text);
  }
  cli_table_end(&t, stdout);
  cli_json_free(&j);
  return CLI_OK;
}

/* With `limits`, which is freed, they are set. */
static int ask(const char *user, char *limits, bool json)
{
  char *path = user != NULL ? cli_path("/api/v2/users", user, "/quota")
                            : strdup("/api/v2/quota");
  int code = CLI_NO;
  cli_remote r;

  if (path == NULL || !cli_remote_open(&r, true)) {
    free(limits);
    free(path);
    return CLI_NO;
  }
  if (limits == NULL)
    code = json ? cli_print_answer(&r, path) : show(&r, path);
  else if (cli_change(&r, "PUT", path, "", "", limits, true))
    code = CLI_OK;
  cli_remote_close(&r);
  free(path);
  return code;
}

static int run(int argc, char **argv)
{
  const char *set = NULL;
  char *limits = NULL;
  bool json = false;
  const cli_option options[] = { { "set", 0, NULL, &set },
                                 { "json", 0, &json, NULL },
                                 { "root", 0, NULL, &cli_root } };
  int words =
    cli_options(&cli_user_quota, options, OPTIONS(options), argc, argv);

  if (words == -2)
    return CLI_OK;
  if (!cli_want_words(&cli_user_quota, words, argv, 0, 1,
                      "this takes one user's name"))
    return CLI_USAGE;
  if (set != NULL && (limits = write_limits(set)) == NULL) {
    cli_misused(&cli_user_quota, "--set needs NAME=NUMBER, with commas, not",
                set);
    return CLI_USAGE;
  }
  return ask(words > 0 ? argv[0] : NULL, limits, json);
}

const cli_verb cli_user_quota = {
  .name = "user quota",
  .brief = "Show or set the limits of a user",
  .usage = "[--set LIMITS] [--json] [--root DIR] [NAME]",
  .help =
    "Without NAME: the default limits.  The user who runs the platform has "
    "no\n"
    "limits at its socket.\n\n"
    "  --set LIMITS   list of NAME=NUMBER, separated by commas.  Names: jobs\n"
    "                 (not over) and tasks of these; streams of events and\n"
    "                 logs; uploads, as 20G; processes and threads of all\n"
    "                 tasks.  The number may be none, or default\n"
    "  --json         the answer of GET "
    "/api/v2/users/NAME/quota\n" CLI_ROOT_HELP CLI_DONE_HELP,
  .run = run,
};
