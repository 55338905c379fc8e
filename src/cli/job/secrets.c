/*
 * secrets.c - secrets that a job file lacks, from files or a prompt
 *
 * Secrets are never words of a command line, which all users of a machine can
 * read.
 */
#include "draft.h"
#include "secrets.h"
#include "environment.h"
#include "file.h"
#include "json.h"

#include <stdlib.h>
#include <string.h>

#define MASK "\"******\""
enum { MOST = 1 << 20, PATH = 1024 };

typedef struct filling {
  const pai_spec *spec;
  pai_draft *draft;
  bool changed;
} filling;

/* --- places -------------------------------------------------------------- */

/* Formats the JSON pointer of a secret's name; a name that begins with / is a
 * pointer itself. */
static bool find_place(char *out, size_t size, const char *name, size_t len)
{
  if (name[0] != '/')
    return cli_json_pointer(out, size, "/secrets", name, len);
  (void)snprintf(out, size, "%.*s", (int)len, name);
  return len < size;
}

static const char *shown(const char *pointer)
{
  return strncmp(pointer, "/secrets/", 9) == 0 ? pointer + 9 : pointer;
}

static bool is_masked(const pai_draft *draft, const char *pointer)
{
  char *value = cli_draft_value(draft, pointer);
  bool masked = value != NULL && strcmp(value, MASK) == 0;

  free(value);
  return masked;
}

static bool is_needed(const filling *f, const char *pointer)
{
  const char *other;

  for (size_t i = 0;
       (other = pai_spec_missing_secret(f->spec, i, NULL)) != NULL; i++)
    if (strcmp(other, pointer) == 0)
      return true;
  return false;
}

/* --- putting them in ----------------------------------------------------- */

static bool tell(pai_error *err)
{
  if (err == NULL)
    return true;
  (void)cli_fail_with(NULL, err);
  return false;
}

/* Sets a secret.  Returns 1: set; 0: the job does not use it; -1 after
 * printing an error.  `json`: the value is JSON. */
static int put(filling *f, const char *pointer, const char *value, size_t len,
               bool json)
{
  pai_error *err = NULL;
  char *there = cli_draft_value(f->draft, pointer);
  bool needed = there != NULL || is_needed(f, pointer);

  free(there);
  if (!needed)
    return 0;
  f->changed = true;
  if (json)
    (void)!pai_draft_set(f->draft, pointer, value, &err);
  else
    (void)!pai_draft_set_text(f->draft, pointer, value, len, &err);
  return tell(err) ? 1 : -1;
}

/* --- sources ------------------------------------------------------------- */

static int put_all(filling *f, const pai_draft *secrets, const pai_json *names,
                   const char *file)
{
  char pointer[PATH];

  for (cli_each i = cli_each_of(names, 0); cli_next(&i);) {
    const char *name = i.key;
    char from[PATH], *value;
    int rc;

    if (!find_place(pointer, sizeof(pointer), name, strlen(name)) ||
        !cli_json_pointer(from, sizeof(from), "", name, strlen(name))) {
      cli_fail("%s: this name is too long: %.40s...", file, name);
      return CLI_NO;
    }
    value = cli_draft_value(secrets, from);
    rc = value != NULL ? put(f, pointer, value, strlen(value), true) : 0;
    free(value);
    if (rc < 0)
      return CLI_NO;
  }
  return CLI_OK;
}

static int take_file(filling *f, const char *file)
{
  pai_error *err = NULL;
  pai_draft *secrets = NULL;
  pai_json *names = NULL;
  char *text = NULL, *json = NULL;
  size_t len = 0;
  int code = CLI_USAGE;

  if (cli_read(&text, &len, file, MOST) != CLI_OK)
    return code;
  if (pai_draft_new(&secrets, text, len, NULL, &err) < 0) {
    /* The parser's message might quote a secret of the file. */
    cli_fail("%s is neither YAML nor JSON, line %u", cli_shown_name(file),
             pai_error_line(err));
    cli_help(stderr, "write lines such as 'NAME: \"VALUE\"'");
  } else if ((json = cli_draft_value(secrets, "")) == NULL || json[0] != '{' ||
             !cli_json_read(&names, json, strlen(json))) {
    cli_fail("%s is not a mapping of names to secrets", cli_shown_name(file));
    cli_help(stderr, "write lines such as 'NAME: \"VALUE\"'");
  } else {
    code = put_all(f, secrets, names, cli_shown_name(file));
  }
  cli_json_free(&names);
  pai_draft_free(secrets);
  pai_error_free(err);
  free(json);
  free(text);
  return code;
}

/* Takes each NAME=FILE. */
static int take_files(filling *f)
{
  char pointer[PATH], why[1024];

  for (size_t i = 0; i < cli_secret_files.count; i++) {
    const char *word = cli_secret_files.words[i], *equals = strchr(word, '=');
    char *text = NULL;
    size_t len = 0;
    int rc = 0;

    if (cli_read(&text, &len, equals + 1, MOST) != CLI_OK)
      return CLI_USAGE;

    if (len > 0 && text[len - 1] == '\n')
      len--;
    if (len > 0 && text[len - 1] == '\r')
      len--;
    if (find_place(pointer, sizeof(pointer), word, (size_t)(equals - word)))
      rc = put(f, pointer, text, len, false);
    free(text);
    if (rc < 0)
      return CLI_NO;
    if (rc == 0) {
      (void)snprintf(why, sizeof(why), "the job has no secret %.*s",
                     (int)(equals - word), word);
      cli_say(PAI_LOG_WARNING, why);
    }
  }
  return CLI_OK;
}

/* --- what is still missing ----------------------------------------------- */

static int complain(const filling *f)
{
  const char *pointer, *comma = "", *first = NULL;
  char help[512];

  (void)fflush(stdout);
  cli_level(stderr, PAI_LOG_ERROR, "secrets are missing: ");
  for (size_t i = 0;
       (pointer = pai_spec_missing_secret(f->spec, i, NULL)) != NULL; i++)
    if (is_masked(f->draft, pointer)) {
      (void)fprintf(stderr, "%s%s", comma, shown(pointer));
      comma = ", ";
      first = first != NULL ? first : shown(pointer);
    }
  (void)fputc('\n', stderr);
  (void)snprintf(
    help, sizeof(help),
    "secrets are erased when a job is over; give them again with --secrets "
    "FILE, in a line '%.60s: \"VALUE\"', or --secret-file "
    "%.60s=FILE",
    first != NULL ? first : "", first != NULL ? first : "");
  cli_help(stderr, help);
  return CLI_NO;
}

/* Asks for each secret that is only masked. */
static int ask(filling *f)
{
  const char *pointer;

  for (size_t i = 0;
       (pointer = pai_spec_missing_secret(f->spec, i, NULL)) != NULL; i++) {
    char what[PATH + 16], *line;
    int rc;

    if (!is_masked(f->draft, pointer))
      continue;
    (void)snprintf(what, sizeof(what), "secret %s", shown(pointer));
    line = cli_environment_secret(f->draft, shown(pointer));
    if (line == NULL)
      line = cli_prompt(what);
    if (line == NULL)
      return complain(f);
    rc = put(f, pointer, line, strlen(line), false);
    free(line);
    if (rc < 0)
      return CLI_NO;
  }
  return CLI_OK;
}

static bool any_masked(const filling *f)
{
  int masked = 0;

  for (size_t i = 0;
       !masked && pai_spec_missing_secret(f->spec, i, &masked) != NULL; i++)
    ;
  return masked != 0;
}

static int fill(filling *f, const char *file, bool kept)
{
  int code = file != NULL ? take_file(f, file) : CLI_OK;

  if (code == CLI_OK)
    code = take_files(f);
  return code == CLI_OK && !kept ? ask(f) : code;
}

int cli_secrets_fill(cli_job_file *job, const char *file, bool kept)
{
  filling f = { .spec = job->spec };
  pai_error *err = NULL;
  int code;

  if (file == NULL && cli_secret_files.count == 0 && (kept || !any_masked(&f)))
    return CLI_OK;
  if (pai_draft_new(&f.draft, job->text, job->len, NULL, &err) < 0) {
    (void)tell(err);
    return CLI_NO;
  }
  code = fill(&f, file, kept);
  if (code == CLI_OK && f.changed && !cli_job_file_set(job, f.draft))
    code = CLI_NO;
  pai_draft_free(f.draft);
  return code;
}
