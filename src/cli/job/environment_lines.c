/*
 * environment_lines.c - a job's variables as lines before its commands
 *
 * A server of the original OpenPAI ignores extras.openpai, so the variables
 * become shell commands.  All its tasks run in containers.
 */
#include "draft.h"
#include "environment.h"
#include "json.h"
#include "secrets.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_PATH = 1024 };

#define PLACE "/extras/openpai/environment"

/* Whether bash reads the word as it is, without quotes. */
static bool is_plain(const char *word)
{
  static const char plain[] =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUV"
    "WXYZ0123456789_./:=@%+,-";

  return word[0] != '\0' && word[strspn(word, plain)] == '\0';
}

void cli_quote(FILE *out, const char *text)
{
  if (is_plain(text)) {
    (void)fputs(text, out);
    return;
  }
  (void)fputc('\'', out);
  for (const char *p = text; *p != '\0'; p++)
    if (*p == '\'')
      (void)fputs("'\\''", out);
    else if (*p == '<' && p[1] == '%')
      (void)fputs("<''", out);
    else
      (void)fputc(*p, out);
  (void)fputc('\'', out);
}

/* A secret is substituted without any quoting, so a quoted here-document
 * protects every value that does not contain its delimiter line. */
static void write_secret(FILE *out, const char *name, const char *secret)
{
  (void)fprintf(out,
                "IFS= read -r -d '' %s <<'OPENPAI_END' || :\n"
                "<%% $secrets.%s %%>\nOPENPAI_END\n"
                "export %s=\"${%s%%?}\"\n",
                name, secret, name, name);
}

static void write_line(FILE *out, const pai_json *j, const char *name,
                       size_t i)
{
  const char *secret = cli_json_text(j, i, "secret"),
             *value = pai_json_text(j, i, NULL);

  if (value == NULL)
    value = cli_json_text(j, i, "value");
  if (cli_json_has(j, i, "container") && !cli_json_true(j, i, "container"))
    return;
  if (secret[0] != '\0') {
    write_secret(out, name, secret);
    return;
  }
  (void)fprintf(out, "export %s=", name);
  cli_quote(out, value);
  (void)fputc('\n', out);
}

/* Returns the lines for a JSON mapping, for free(). */
static char *write_lines(const char *mapping)
{
  char *text = NULL;
  size_t size;
  FILE *out;
  pai_json *j;

  if (!cli_json_read(&j, mapping, strlen(mapping)))
    return NULL;
  out = open_memstream(&text, &size);
  for (cli_each e = cli_each_of(j, out != NULL ? 0 : PAI_JSON_NONE);
       cli_next(&e);)
    write_line(out, j, e.key, e.at);
  cli_json_free(&j);
  if (out == NULL || fclose(out) == 0)
    return text;
  free(text);
  return NULL;
}

/* Puts lines before the first item of `list`, a JSON list that is not
 * empty. */
static char *put_before(const char *list, const char *lines)
{
  char *text = NULL;
  size_t size;
  FILE *out = open_memstream(&text, &size);

  if (out == NULL)
    return NULL;
  cli_json_print(out, "[%s,", lines);
  (void)fputs(strchr(list, '[') + 1, out);
  if (fclose(out) == 0)
    return text;
  free(text);
  return NULL;
}

static int set_commands(pai_draft *draft, const char *role, const char *lines,
                        pai_error **err)
{
  char pointer[MOST_PATH], *list, *text = NULL;
  size_t used;
  int rc = PAI_ENOMEM;

  if (!cli_json_pointer(pointer, sizeof(pointer), "/taskRoles", role,
                        strlen(role)))
    return PAI_ELIMIT;
  used = strlen(pointer);
  (void)snprintf(pointer + used, sizeof(pointer) - used, "/commands");
  list = cli_draft_value(draft, pointer);
  if (list != NULL && list[0] == '[')
    text = put_before(list, lines);
  if (text != NULL)
    rc = pai_draft_set(draft, pointer, text, err);
  free(text);
  free(list);
  return rc;
}

/* Adds the lines to each role.  The variables' place then holds the number of
 * commands that only set variables, so that programs that show the commands
 * can leave them out. */
static int set_lines(pai_draft *draft, const char *lines, pai_error **err)
{
  char *roles = cli_draft_value(draft, "/taskRoles");
  pai_json *names = NULL;
  int rc = roles != NULL && cli_json_read(&names, roles, strlen(roles))
             ? PAI_OK
             : PAI_ENOMEM;

  for (cli_each e = cli_each_of(names, 0); rc == PAI_OK && cli_next(&e);)
    rc = set_commands(draft, e.key, lines, err);
  if (rc == PAI_OK)
    rc = pai_draft_set(draft, PLACE, "1", err);
  cli_json_free(&names);
  free(roles);
  return rc;
}

int cli_environment_lines(pai_draft *draft, pai_error **err)
{
  char *mapping = cli_draft_value(draft, PLACE), *lines;
  int rc;

  if (mapping == NULL || mapping[0] != '{') {
    free(mapping);
    return PAI_OK;
  }
  lines = write_lines(mapping);
  rc = lines != NULL ? set_lines(draft, lines, err) : PAI_ENOMEM;
  free(lines);
  free(mapping);
  return rc;
}
