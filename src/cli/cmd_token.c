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

#define USER_HELP "  --user NAME    of this user, not of one's own name\n"

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

static void add_time(cli_table *t, const cli_json *j, const char *key,
                     int sign, const char *never)
{
  int64_t seconds = cli_json_number(j, 0, key, 0);
  char text[32];

  if (seconds == 0) {
    cli_table_add(t, never);
    return;
  }
  cli_duration(text, sizeof(text), sign * (seconds * 1000 - cli_now()));
  cli_table_add(t, text);
}

static void add_token(cli_table *t, const char *token)
{
  char id[ID + 1];
  cli_json j;

  if (!read_token(token, &j))
    return;
  (void)snprintf(id, sizeof(id), "%s", cli_json_text(&j, 0, "jti"));
  cli_table_add(t, id);
  cli_table_add(t, cli_json_text(&j, 0, "username"));
  cli_table_add(t,
                cli_json_true(&j, 0, "application") ? "program" : "browser");
  add_time(t, &j, "iat", -1, "-");
  add_time(t, &j, "exp", 1, "never");
  cli_json_free(&j);
}

static int list(cli_remote *r, const char *user)
{
  static const char *const heads[] = { "ID", "USER", "KIND", "AGE",
                                       "EXPIRES IN" };
  cli_table t;
  char *path = tokens_path("", user);
  size_t tokens;
  cli_json j;
  bool good = cli_remote_get(r, &j, path);

  free(path);
  if (!good)
    return CLI_NO;
  tokens = cli_json_get(&j, 0, "tokens");
  cli_table_begin(&t, OPTIONS(heads), heads);
  for (size_t i = tokens != 0 ? cli_json_first(&j, tokens) : 0; i != 0;
       i = cli_json_next(&j, tokens, i))
    add_token(&t, j.values[i].text);
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
  .help =
    "What is shown opens nothing; --json shows the tokens themselves.\n\n"
    "  --json         the answer of GET /api/v2/tokens\n" USER_HELP
      CLI_ROOT_HELP CLI_DONE_HELP,
  .run = run_list,
};

/* --- create ---------------------------------------------------------------------- */

static int run_create(int argc, char **argv)
{
  const char *user = NULL;
  const cli_option options[] = { { "user", 0, NULL, &user },
                                 { "root", 0, NULL, &cli_root } };
  int words =
        cli_options(&cli_token_create, options, OPTIONS(options), argc, argv),
      code = CLI_NO;
  cli_answer a;
  cli_remote r;
  cli_json j;
  char *path;

  if (words == -2)
    return CLI_OK;
  if (!cli_want_words(&cli_token_create, words, argv, 0, 0,
                      "create takes no argument"))
    return CLI_USAGE;
  if (!cli_remote_open(&r, true))
    return CLI_NO;
  path = tokens_path("/application", user);
  cli_remote_ask(&r, &a, "POST", path, NULL, "{}", 2);
  if (a.status != PAI_OK) {
    cli_answer_tell(&a);
  } else if (cli_json_read(&j, a.body, a.len)) {
    (void)printf("%s\n", cli_json_text(&j, 0, "token"));
    cli_json_free(&j);
    code = CLI_OK;
  }
  cli_answer_free(&a);
  free(path);
  cli_remote_close(&r);
  return code;
}

const cli_verb cli_token_create = {
  .name = "token create",
  .brief = "Make a token for a program, and print it",
  .usage = "[--user NAME] [--root DIR]",
  .help =
    "It is good until it is revoked, for all that its user may but what\n"
    "persons alone may: as to see to users and tokens.\n\n" USER_HELP
      CLI_ROOT_HELP CLI_DONE_HELP,
  .run = run_create,
};

/* --- revoke ---------------------------------------------------------------------- */

/* Whether a token has an id that begins so, of no less than ID characters. */
static bool has_id(const char *token, const char *id)
{
  bool has = false;
  cli_json j;

  if (strlen(id) < ID || !read_token(token, &j))
    return false;
  has = strncmp(cli_json_text(&j, 0, "jti"), id, strlen(id)) == 0;
  cli_json_free(&j);
  return has;
}

/* The token that is meant, for free(); NULL, and told. */
static char *find_token(cli_remote *r, const char *user, const char *word)
{
  char *path, *found = NULL;
  size_t tokens;
  cli_json j;
  bool good;

  if (strchr(word, '.') != NULL) /* that is one */
    return strdup(word);
  path = tokens_path("", user);
  good = cli_remote_get(r, &j, path);
  free(path);
  if (!good)
    return NULL;
  tokens = cli_json_get(&j, 0, "tokens");
  for (size_t i = tokens != 0 ? cli_json_first(&j, tokens) : 0;
       i != 0 && found == NULL; i = cli_json_next(&j, tokens, i))
    if (has_id(j.values[i].text, word))
      found = strdup(j.values[i].text);
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
  .brief = "Make tokens worthless",
  .usage = "[--user NAME] [--root DIR] ID|TOKEN...",
  .help =
    "An id is what 'openpai token list' shows.\n\n" USER_HELP CLI_ROOT_HELP
      CLI_DONE_HELP,
  .run = run_revoke,
};
