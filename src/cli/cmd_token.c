/*
 * cmd_token.c - tokens, with which programs and browsers ask the platform
 *
 * A token says who it is of, in JSON that anybody can read: its middle part.
 */
#include "accounts.h"
#include "jobs.h"

#include <stdlib.h>
#include <string.h>

#define TOKENS "/api/v2/tokens"
#define OPTIONS(of) (sizeof(of) / sizeof((of)[0]))

enum { ID = 8 }; /* characters of a token's id that are shown */

#define USER_HELP \
  "  --user NAME    owner of the tokens (default: your user name)\n"

/* "/api/v2/tokens/REST?username=NAME", for free(). */
static char *tokens_path(const char *rest, const char *user)
{
  char *escaped = user != NULL ? cli_escape(user) : strdup(""), *path = NULL;
  size_t size = 0;

  if (escaped != NULL)
    size = strlen(TOKENS) + strlen(rest) + strlen(escaped) + 16;
  if (size > 0)
    path = malloc(size);
  if (path != NULL)
    (void)snprintf(path, size, TOKENS "%s%s%s", rest,
                   user != NULL ? "?username=" : "", escaped);
  free(escaped);
  return path;
}

/* --- what a token says ---------------------------------------------------------- */

static int digit(char c)
{
  return c >= 'A' && c <= 'Z'   ? c - 'A'
         : c >= 'a' && c <= 'z' ? c - 'a' + 26
         : c >= '0' && c <= '9' ? c - '0' + 52
         : c == '-'             ? 62
         : c == '_'             ? 63
                                : -1;
}

static bool read_token(const char *token, cli_json *out)
{
  const char *middle = strchr(token, '.');
  char *text = middle != NULL ? malloc(strlen(middle)) : NULL;
  unsigned bits = 0, have = 0;
  size_t len = 0;
  bool good;

  if (text == NULL)
    return false;
  for (middle++; digit(*middle) >= 0; middle++) {
    bits = bits << 6 | (unsigned)digit(*middle);
    have += 6;
    if (have >= 8)
      text[len++] = (char)(bits >> (have -= 8) & 255);
  }
  text[len] = '\0';
  good = *middle == '.' && cli_json_read(out, text, len);
  free(text);
  return good;
}

char *cli_token_user(const char *token)
{
  char *user = NULL;
  cli_json j;

  if (!read_token(token, &j))
    return NULL;
  if (cli_json_text(&j, 0, "username")[0] != '\0')
    user = strdup(cli_json_text(&j, 0, "username"));
  cli_json_free(&j);
  return user;
}

/* --- list ------------------------------------------------------------------------ */

/* How long ago, or until then. */
static void add_time(cli_table *t, const cli_json *j, size_t of,
                     const char *key, int sign, const char *never)
{
  int64_t ms = cli_json_number(j, of, key, 0);
  char text[32];

  if (ms == 0) {
    cli_table_add(t, never);
    return;
  }
  cli_duration(text, sizeof(text), sign * (ms - cli_now()));
  cli_table_add(t, text);
}

static void add_token(cli_table *t, const cli_json *j, size_t i)
{
  const char *name = cli_json_text(j, i, "name");
  char id[ID + 1];

  (void)snprintf(id, sizeof(id), "%s", cli_json_text(j, i, "id"));
  cli_table_add(t, id);
  cli_table_add(t, name[0] != '\0' ? name : "-");
  cli_table_add(t, cli_json_true(j, i, "application") ? "program" : "browser");
  cli_table_add_list(t, j, i, "scopes");
  add_time(t, j, i, "created", -1, "-");
  add_time(t, j, i, "expires", 1, "never");
  add_time(t, j, i, "lastUsed", -1, "never");
}

static int list(cli_remote *r, const char *user)
{
  static const char *const heads[] = { "ID",      "NAME", "KIND",
                                       "SCOPES",  "AGE",  "EXPIRES IN",
                                       "USED AGO" };
  cli_table t;
  char *path = tokens_path("", user);
  size_t tokens;
  cli_json j;
  bool good = cli_remote_get(r, &j, path);

  free(path);
  if (!good)
    return CLI_NO;
  tokens = cli_json_get(&j, 0, "details");
  cli_table_begin(&t, OPTIONS(heads), heads);
  for (size_t i = tokens != 0 ? cli_json_first(&j, tokens) : 0; i != 0;
       i = cli_json_next(&j, tokens, i))
    add_token(&t, &j, i);
  cli_table_end(&t, stdout);
  cli_json_free(&j);
  return CLI_OK;
}

static int run_list(int argc, char **argv)
{
  const char *user = NULL;
  bool json = false;
  const cli_option options[] = { { "json", 0, &json, NULL },
                                 { "user", 0, NULL, &user },
                                 { "root", 0, NULL, &cli_root } };
  int words =
        cli_options(&cli_token_list, options, OPTIONS(options), argc, argv),
      code;
  cli_remote r;
  char *path;

  if (words == -2)
    return CLI_OK;
  if (!cli_want_words(&cli_token_list, words, argv, 0, 0,
                      "list takes no argument"))
    return CLI_USAGE;
  if (!cli_remote_open(&r, true))
    return CLI_NO;
  path = tokens_path("", user);
  code = json ? cli_print_answer(&r, path) : list(&r, user);
  free(path);
  cli_remote_close(&r);
  return code;
}

const cli_verb cli_token_list = {
  .name = "token list",
  .brief = "List a user's tokens",
  .usage = "[--json] [--user NAME] [--root DIR]",
  .help = "A token is shown only once, when it is created.\n\n"
          "  --json         the answer of GET /api/v2/tokens\n" USER_HELP
            CLI_ROOT_HELP CLI_DONE_HELP,
  .run = run_list,
};

/* --- create ---------------------------------------------------------------------- */

typedef struct token_options {
  const char *user, *name, *scopes, *expires;
} token_options;

/* "30d" in seconds; 0: it is none. */
static long read_span(const char *text)
{
  static const char units[] = "smhdw";
  static const long seconds[] = { 1, 60, 3600, 86400, 604800 };
  char *end;
  long n = strtol(text, &end, 10);
  const char *unit = *end != '\0' ? strchr(units, *end) : NULL;

  return text[0] >= '0' && text[0] <= '9' && unit != NULL && end[1] == '\0' &&
             n > 0 && n < 100000
           ? n * seconds[unit - units]
           : 0;
}

static char *write_request(const token_options *o)
{
  cli_text t;

  if (!cli_text_begin(&t))
    return NULL;
  cli_put_object(&t);
  cli_put_text(&t, "name", o->name);
  if (strcmp(o->scopes, "all") != 0)
    cli_put_list(&t, "scopes", o->scopes);
  if (o->expires != NULL) {
    cli_put_key(&t, "expiration");
    (void)fprintf(t.out, "%ld", read_span(o->expires));
  }
  cli_put_end(&t);
  return cli_text_end(&t);
}

static int create(cli_remote *r, const token_options *o)
{
  char *path = tokens_path("/application", o->user), *body = write_request(o);
  int code = CLI_NO;
  cli_answer a;
  cli_json j;

  cli_remote_ask(r, &a, "POST", body != NULL ? path : NULL, NULL, body,
                 body != NULL ? strlen(body) : 0);
  if (a.status != PAI_OK) {
    cli_answer_tell(&a);
  } else if (cli_json_read(&j, a.body, a.len)) {
    (void)printf("%s\n", cli_json_text(&j, 0, "token"));
    cli_json_free(&j);
    code = CLI_OK;
  }
  cli_answer_free(&a);
  free(body);
  free(path);
  return code;
}

static int run_create(int argc, char **argv)
{
  token_options o = { .scopes = "read,submit" };
  const cli_option options[] = { { "user", 0, NULL, &o.user },
                                 { "name", 0, NULL, &o.name },
                                 { "scope", 0, NULL, &o.scopes },
                                 { "expires", 0, NULL, &o.expires },
                                 { "root", 0, NULL, &cli_root } };
  int words =
        cli_options(&cli_token_create, options, OPTIONS(options), argc, argv),
      code;
  cli_remote r;

  if (words == -2)
    return CLI_OK;
  if (!cli_want_words(&cli_token_create, words, argv, 0, 0,
                      "create takes no argument"))
    return CLI_USAGE;
  if (o.expires != NULL && read_span(o.expires) == 0) {
    cli_misused(&cli_token_create, "--expires needs a time, as 30d, not",
                o.expires);
    return CLI_USAGE;
  }
  if (!cli_remote_open(&r, true))
    return CLI_NO;
  code = create(&r, &o);
  cli_remote_close(&r);
  return code;
}

const cli_verb cli_token_create = {
  .name = "token create",
  .brief = "Create a token for a program, and print it",
  .usage = "[--name NAME] [--scope SCOPES] [--expires TIME]\n"
           "             [--user NAME] [--root DIR]",
  .help =
    "The token is printed only once.  No token of this kind can manage "
    "users,\n"
    "groups or tokens, or read backups and exports.\n\n"
    "  --name NAME    what it is for, shown by 'openpai token list'\n"
    "  --scope SCOPES its rights, separated by commas (default:\n"
    "                 read,submit):\n"
    "                   read    read what the user may read\n"
    "                   submit  submit jobs and change the user's own jobs\n"
    "                   admin   an administrator's rights over jobs\n"
    "                 or all\n"
    "  --expires TIME lifetime, as 12h, 30d or 52w\n"
    "                 (default: never)\n" USER_HELP CLI_ROOT_HELP
      CLI_DONE_HELP,
  .run = run_create,
};

/* --- revoke ---------------------------------------------------------------------- */

/* The token that is meant, or its id, for free(); NULL, and told. */
static char *find_token(cli_remote *r, const char *user, const char *word)
{
  char *path, *found = NULL;
  size_t tokens, len = strlen(word);
  cli_json j;
  bool good;

  if (strchr(word, '.') != NULL) /* that is one */
    return strdup(word);
  path = tokens_path("", user);
  good = cli_remote_get(r, &j, path);
  free(path);
  if (!good)
    return NULL;
  tokens = cli_json_get(&j, 0, "details");
  for (size_t i = tokens != 0 ? cli_json_first(&j, tokens) : 0;
       i != 0 && found == NULL; i = cli_json_next(&j, tokens, i))
    if (len >= ID && strncmp(cli_json_text(&j, i, "id"), word, len) == 0)
      found = strdup(cli_json_text(&j, i, "id"));
  cli_json_free(&j);
  if (found == NULL) {
    cli_fail("there is no token %s", word);
    cli_help(stderr, "openpai token list shows their ids; --user NAME says "
                     "whose it is");
  }
  return found;
}

static int run_revoke(int argc, char **argv)
{
  const char *user = NULL;
  const cli_option options[] = { { "user", 0, NULL, &user },
                                 { "root", 0, NULL, &cli_root } };
  int words =
        cli_options(&cli_token_revoke, options, OPTIONS(options), argc, argv),
      code = CLI_OK;
  cli_remote r;

  if (words == -2)
    return CLI_OK;
  if (!cli_want_words(&cli_token_revoke, words, argv, 1, argc,
                      "this takes tokens, or their ids"))
    return CLI_USAGE;
  if (!cli_remote_open(&r, true))
    return CLI_NO;
  for (int i = 0; i < words; i++) {
    char *token = find_token(&r, user, argv[i]);
    if (token == NULL ||
        !cli_change(&r, "DELETE", TOKENS, token, "", NULL, false))
      code = CLI_NO;
    free(token);
  }
  cli_remote_close(&r);
  return code;
}

const cli_verb cli_token_revoke = {
  .name = "token revoke",
  .brief = "Revoke tokens",
  .usage = "[--user NAME] [--root DIR] ID|TOKEN...",
  .help = "ID is as shown by 'openpai token list'.\n\n" USER_HELP CLI_ROOT_HELP
    CLI_DONE_HELP,
  .run = run_revoke,
};
