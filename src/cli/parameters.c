/*
 * parameters.c - parameters that stand on the command line
 *
 * A value means what it says: only what is JSON for certain becomes more than
 * a text, and a number only if it is shown as it was given.  1.10, 007, 12:30
 * or "a: b" would be something else to YAML.
 */
#include "parameters.h"

#include "draft.h"
#include "json.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_DIGITS = 15, MOST_ZEROS = 6 };

/* "/parameters/NAME" of "NAME=VALUE", as a JSON pointer. */
static void parameter_path(char *out, size_t size, const char *word)
{
  (void)cli_json_pointer(out, size, "/parameters", word, strcspn(word, "="));
}

/* --- what a value is -------------------------------------------------------- */

/* Whether it is a number that a template writes as it stands here. */
static bool is_number(const char *s)
{
  const char *start = s + (*s == '-'), *point;
  size_t whole = strspn(start, "0123456789"), part;

  if (whole == 0 || (whole > 1 && *start == '0') || strcmp(s, "-0") == 0)
    return false;
  if (start[whole] == '\0')
    return whole <= MOST_DIGITS;
  point = start + whole;
  part = strspn(point + 1, "0123456789");
  return *point == '.' && part > 0 && point[part] != '0' &&
         point[part + 1] == '\0' && whole + part <= MOST_DIGITS &&
         strspn(point + 1, "0") < MOST_ZEROS;
}

static bool can_be_read(const char *value, int version)
{
  pai_spec_options options = PAI_SPEC_OPTIONS_INIT;
  pai_draft *draft;
  int rc;

  options.version = version;
  rc = pai_draft_new(&draft, value, strlen(value), &options, NULL);
  pai_draft_free(draft);
  return rc == PAI_OK;
}

/* Version 1 is nothing but JSON; comments are none in version 2. */
static bool is_json(const char *value)
{
  return can_be_read(value, 1) && can_be_read(value, 2);
}

static bool is_typed(const char *value)
{
  if (strcmp(value, "true") == 0 || strcmp(value, "false") == 0 ||
      strcmp(value, "null") == 0 || is_number(value))
    return true;
  return *value != '\0' && strchr("[{\"", *value) != NULL && is_json(value);
}

/* --- putting it in ---------------------------------------------------------- */

static int set_parameter(pai_draft *draft, const char *word, pai_error **err)
{
  const char *value = strchr(word, '=') + 1;
  char path[1024];

  parameter_path(path, sizeof(path), word);
  if (is_typed(value))
    return pai_draft_set(draft, path, value, err);
  return pai_draft_set_text(draft, path, value, strlen(value), err);
}

int cli_parameters_set(pai_draft *draft, pai_error **err)
{
  int rc = PAI_OK;

  for (size_t i = 0; rc == PAI_OK && i < cli_parameters.count; i++)
    rc = set_parameter(draft, cli_parameters.words[i], err);
  return rc;
}

/* --- telling what is of no use ---------------------------------------------- */

/* Moves behind a string of JSON. */
static const char *skip_string(const char *p)
{
  for (p++; *p != '"'; p++)
    p += *p == '\\';
  return p + 1;
}

/* The keys of a mapping, JSON on one line, become text with commas between
 * them, in the same room. */
static void keep_keys(char *json)
{
  const char *p = json, *end;
  char *to = json;
  unsigned depth = 0;
  bool key = false;

  for (; *p != '\0'; p = end) {
    end = p + 1;
    if (*p == '"') {
      end = skip_string(p);
      if (key && to > json) { /* a key is longer by its quotes and colon */
        *to++ = ',';
        *to++ = ' ';
      }
      if (key) {
        memmove(to, p + 1, (size_t)(end - p) - 2);
        to += end - p - 2;
      }
      key = false;
    } else if (*p == '{' || *p == '[') {
      key = ++depth == 1;
    } else if (*p == '}' || *p == ']') {
      depth--;
    } else if (*p == ',') {
      key = depth == 1;
    }
  }
  *to = '\0';
}

char *cli_parameters_names(const pai_draft *draft)
{
  char *names = cli_draft_value(draft, "/parameters");

  if (names != NULL && names[0] != '{') {
    free(names);
    return NULL;
  }
  if (names != NULL)
    keep_keys(names);
  return names;
}

static bool is_unused(const pai_report *report, const char *path)
{
  const pai_diagnostic *d;

  for (size_t i = 0; (d = pai_report_get(report, i)) != NULL; i++)
    if (strcmp(d->code, "unused-parameter") == 0 &&
        strcmp(d->pointer, path) == 0)
      return true;
  return false;
}

void cli_parameters_tell(const pai_report *report, const char *names)
{
  char path[1024], what[1100];
  bool told = false;

  for (size_t i = 0; i < cli_parameters.count; i++) {
    const char *word = cli_parameters.words[i];

    parameter_path(path, sizeof(path), word);
    if (!is_unused(report, path))
      continue;
    (void)snprintf(what, sizeof(what), "nothing uses parameter '%.*s'",
                   (int)strcspn(word, "="), word);
    cli_say(PAI_LOG_WARNING, what);
    told = true;
  }
  if (told && names != NULL && names[0] != '\0') {
    (void)snprintf(what, sizeof(what), "the file's own are: %s", names);
    cli_help(stderr, what);
  }
}
