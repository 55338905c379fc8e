/*
 * environment_lines.c - a job's variables as lines in front of its commands
 *
 * A server of the original OpenPAI passes over extras.openpai: it gets what
 * every shell understands.  Its tasks are containers, each and every one.
 */
#include "draft.h"
#include "environment.h"
#include "json.h"
#include "secrets.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_PATH = 1024 };

#define PLACE "/extras/openpai/environment"

/* Means itself to bash. */
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

/* A secret is filled in as it is, whatever it has but this line. */
static void write_secret(FILE *out, const char *name, const char *secret)
{
  (void)fprintf(out,
                "IFS= read -r -d '' %s <<'OPENPAI_END' || :\n"
                "<%% $secrets.%s %%>\nOPENPAI_END\n"
                "export %s=\"${%s%%?}\"\n",
                name, secret, name, name);
}

static void write_line(FILE *out, const cli_json *j, size_t i)
{
  const char *name = j->values[i].key, *secret = "", *value;
  size_t container = 0;

  if (j->values[i].type == '{') {
    container = cli_json_get(j, i, "container");
    secret = cli_json_text(j, i, "secret");
    value = cli_json_text(j, i, "value");
  } else {
    value = j->values[i].text;
  }
  if (container != 0 && j->values[container].type == 'f')
    return;
  if (secret[0] != '\0') {
    write_secret(out, name, secret);
    return;
  }
  (void)fprintf(out, "export %s=", name);
  cli_quote(out, value != NULL ? value : "");
  (void)fputc('\n', out);
}

/* Of a mapping as JSON, for free(). */
static char *write_lines(const char *mapping)
{
  char *text = NULL;
  size_t size;
  FILE *out;
  cli_json j;

  if (!cli_json_read(&j, mapping, strlen(mapping)))
    return NULL;
  out = open_memstream(&text, &size);
  for (size_t i = out != NULL ? cli_json_first(&j, 0) : 0; i != 0;
       i = cli_json_next(&j, 0, i))
    write_line(out, &j, i);
  cli_json_free(&j);
  if (out == NULL || fclose(out) == 0)
    return text;
  free(text);
  return NULL;
}

/* `list` is a JSON list that is not empty. */
static char *put_before(const char *list, const char *lines)
{
  char *text = NULL;
  size_t size;
  FILE *out = open_memstream(&text, &size);

  if (out == NULL)
    return NULL;
  (void)fputc('[', out);
  cli_json_string(out, lines, strlen(lines));
  (void)fprintf(out, ",%s", strchr(list, '[') + 1);
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

/* In the variables' place stands how many commands of each role only set them:
 * whoever shows the job's commands leaves these out. */
static int set_lines(pai_draft *draft, const char *lines, pai_error **err)
{
  char *roles = cli_draft_value(draft, "/taskRoles");
  cli_json names = { 0 };
  int rc = roles != NULL && cli_json_read(&names, roles, strlen(roles))
             ? PAI_OK
             : PAI_ENOMEM;

  for (size_t i = rc == PAI_OK ? cli_json_first(&names, 0) : 0;
       rc == PAI_OK && i != 0; i = cli_json_next(&names, 0, i))
    rc = set_commands(draft, names.values[i].key, lines, err);
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
