/* cmd_accounts.c - limits, tokens and passwords of users */
#include "accounts.h"

#include "file.h"
#include "quantity.h"
#include "remote.h"
#include "secrets.h"
#include "table.h"

#include <stdlib.h>
#include <string.h>

enum { ID = 8, MOST_PASSWORD = 4096 }; /* ID: characters of a token's id */

/* --- tokens -------------------------------------------------------------- */

char *cli_token_user(const char *token)
{
  const cli_context nowhere = { .url = (char *)"http://localhost" };
  const char *user;
  char *copy = NULL;
  cli_remote r;

  if (!cli_remote_open_context(&r, &nowhere, token))
    return NULL;
  user = pai_client_user(r.client);
  copy = user != NULL ? strdup(user) : NULL;
  cli_remote_close(&r);
  return copy;
}

/* Returns the token that a word means, or its id, for free(); NULL after
 * printing an error. */
static char *find_token(cli_remote *r, const char *user, const char *word)
{
  size_t len = strlen(word);
  char *found = NULL;
  pai_json *j;

  if (strchr(word, '.') != NULL) /* a whole token */
    return strdup(word);
  if (!cli_call_read(r, &j, "tokens.list",
                     cli_json_make("{\"username\":%s}", user)))
    return NULL;
  for (cli_each e = cli_each_of(j, cli_json_get(j, 0, "details"));
       found == NULL && cli_next(&e);)
    if (len >= ID && strncmp(cli_json_text(j, e.at, "id"), word, len) == 0)
      found = strdup(cli_json_text(j, e.at, "id"));
  pai_json_free(j);
  if (found == NULL) {
    cli_fail("there is no token %s", word);
    cli_help(stderr,
             "'openpai token list' shows the ids; --user NAME is the owner");
  }
  return found;
}

int cli_do_token_revoke(const cli_token_revoke_args *a)
{
  int code = CLI_OK;
  cli_remote r;

  if (!cli_remote_open(&r, true))
    return CLI_NO;
  for (int i = 0; i < a->count; i++) {
    char *token = find_token(&r, a->user, a->words[i]);

    if (token == NULL || !cli_call_do(&r, "tokens.revoke",
                                      cli_json_make("{\"token\":%s}", token)))
      code = CLI_NO;
    free(token);
  }
  cli_remote_close(&r);
  return code;
}

/* --- passwords ----------------------------------------------------------- */

static char *read_password(const char *file)
{
  char *text = NULL;
  size_t len = 0;

  if (cli_read(&text, &len, file, MOST_PASSWORD) == CLI_OK)
    text[strcspn(text, "\r\n")] = '\0';
  return text;
}

static char *ask_twice(const char *user)
{
  char what[128], *first, *second;

  (void)snprintf(what, sizeof(what), "Password for %.64s", user);
  first = cli_prompt(what);
  if (first == NULL) {
    cli_fail("cannot ask for a password: standard input is not a terminal");
    cli_help(stderr, "use --password-file FILE; - is standard input");
    return NULL;
  }
  second = cli_prompt("Repeat it");
  if (second == NULL || strcmp(first, second) != 0) {
    cli_fail("the passwords differ");
    free(first);
    first = NULL;
  }
  free(second);
  return first;
}

char *cli_new_password(const char *user, const char *file)
{
  return file != NULL ? read_password(file) : ask_twice(user);
}

/* --- limits -------------------------------------------------------------- */

/* Parses "20G" into bytes, or a number; returns false if it is invalid. */
static bool read_amount(const char *text, size_t len, int64_t *out)
{
  *out = len == 4 && strncmp(text, "none", len) == 0 ? -1 : -2;
  return *out == -1 || (len == 7 && strncmp(text, "default", len) == 0) ||
         cli_read_bytes(text, len, out);
}

/* Prints "jobs=5,uploads=20G" as members of an object; returns false if it is
 * invalid. */
static bool put_limits(FILE *out, const char *list, const char *comma)
{
  for (size_t len; *list != '\0';
       list += len + (list[len] == ','), comma = ",") {
    size_t name = strcspn(list, "=");
    int64_t most = 0;

    len = strcspn(list, ",");
    if (name >= len || !read_amount(list + name + 1, len - name - 1, &most))
      return false;
    (void)fputs(comma, out);
    cli_json_print(out, "%.*s:%lld", (int)name, list, (long long)most);
  }
  return true;
}

/* Returns the arguments of the call that sets the limits, for free(); NULL if
 * the list is invalid. */
static char *make_limits(const char *user, const char *list)
{
  char *text = NULL;
  size_t len = 0;
  FILE *out = open_memstream(&text, &len);
  bool good = out != NULL && list[0] != '\0';

  if (good && user != NULL)
    cli_json_print(out, "{\"username\":%s", user);
  good = good && put_limits(out, list, user != NULL ? "," : "{");
  if (out != NULL && fputc('}', out) != EOF && fclose(out) == 0 && good)
    return text;
  free(text);
  return NULL;
}

static int show_limits(cli_remote *r, const char *user, bool json)
{
  static const cli_column columns[] = { { .head = "LIMIT", .form = "{#}" },
                                        { .head = "MOST",
                                          .form = "{:count|none}" },
                                        { .head = NULL } };
  cli_answer a;
  pai_json *j = NULL;
  bool good;

  cli_call(r, &a, user != NULL ? "quota.show_user" : "quota.show",
           user != NULL ? cli_json_make("{\"username\":%s}", user)
                        : cli_no_arguments());
  good = a.status == PAI_OK && (json || cli_answer_read(&a, &j));
  if (a.status != PAI_OK) {
    cli_answer_tell(&a);
  } else if (good && json) {
    (void)printf("%s\n", a.body);
  } else if (good) {
    cli_print_table(stdout, columns, cli_each_of(j, 0));
  }
  pai_json_free(j);
  cli_answer_free(&a);
  return good ? CLI_OK : CLI_NO;
}

int cli_do_user_quota(const cli_user_quota_args *a)
{
  const char *user = a->count > 0 ? a->words[0] : NULL;
  char *limits = a->set != NULL ? make_limits(user, a->set) : NULL;
  int code = CLI_NO;
  cli_remote r;

  if (a->set != NULL && limits == NULL)
    return cli_misused("--set: not a list of NAME=NUMBER, separated by commas",
                       a->set);
  if (!cli_remote_open(&r, true)) {
    free(limits);
    return CLI_NO;
  }
  if (limits == NULL)
    code = show_limits(&r, user, a->json);
  else if (cli_call_do(&r, user != NULL ? "quota.set_user" : "quota.set",
                       limits))
    code = CLI_OK;
  cli_remote_close(&r);
  return code;
}
