/* job_file.c - reading and checking job files, with parameters of the command
 * line */
#include "cli.h"
#include "draft.h"
#include "job_file.h"
#include "job_options.h"
#include "json.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_DIGITS = 15, MOST_ZEROS = 6 };

/* Formats the JSON pointer "/parameters/NAME" of "NAME=VALUE". */
static void parameter_path(char *out, size_t size, const char *word)
{
  (void)cli_json_pointer(out, size, "/parameters", word, strcspn(word, "="));
}

/* --- types of values ----------------------------------------------------- */

/* Whether a value is a number that a template prints unchanged. */
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

/* Whether a value is JSON to both parsers: that of version 1 reads only JSON,
 * and that of version 2 takes no JSON with comments. */
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

/* --- setting parameters -------------------------------------------------- */

static int set_parameter(pai_draft *draft, const char *word, pai_error **err)
{
  const char *value = strchr(word, '=') + 1;
  char path[1024];

  parameter_path(path, sizeof(path), word);
  if (is_typed(value))
    return pai_draft_set(draft, path, value, err);
  return pai_draft_set_text(draft, path, value, strlen(value), err);
}

/* Sets all cli_parameters in the draft.  Returns PAI_OK; PAI_ENOTSUP if a
 * place in the file is shared with another one; or an error code. */
static int cli_parameters_set(pai_draft *draft, pai_error **err)
{
  int rc = PAI_OK;

  for (size_t i = 0; rc == PAI_OK && i < cli_parameters.count; i++)
    rc = set_parameter(draft, cli_parameters.words[i], err);
  return rc;
}

/* --- unused parameters --------------------------------------------------- */

/* Returns the position after a JSON string. */
static const char *skip_string(const char *p)
{
  for (p++; *p != '"'; p++)
    p += *p == '\\';
  return p + 1;
}

/* Replaces a JSON mapping on one line by its keys, separated by commas, in
 * place. */
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
      /* Quotes and colon of the key leave enough space. */
      if (key && to > json) {
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

/* Returns the names of the file's parameters, separated by commas, for free();
 * NULL for none. */
static char *cli_parameters_names(const pai_draft *draft)
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

/* Warns on stderr about unused parameters of the command line. */
static void cli_parameters_tell(const pai_report *report, const char *names)
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
    (void)snprintf(what, sizeof(what), "parameters in the file: %s", names);
    cli_help(stderr, what);
  }
}

/* --- checking ------------------------------------------------------------ */

/* Applies the command line's parameters and options to the file. */
static int change(pai_draft *draft, void *data, pai_error **err)
{
  char **names = data;
  int rc = PAI_OK;

  if (cli_parameters.count > 0) {
    free(*names);
    *names = cli_parameters_names(draft);
    rc = cli_parameters_set(draft, err);
  }
  return rc == PAI_OK ? cli_job_options_set(draft, err) : rc;
}

static bool keep_text(cli_job_file *job, const char *text, size_t len)
{
  job->text = malloc(len + 1);
  if (job->text == NULL)
    return false;
  memcpy(job->text, text, len);
  job->text[len] = '\0';
  job->len = len;
  return true;
}

bool cli_job_file_set(cli_job_file *job, const pai_draft *draft)
{
  size_t len;
  const char *text = pai_draft_text(draft, &len);
  char *old = job->text;

  if (!keep_text(job, text, len)) {
    job->text = old;
    cli_fail("out of memory");
    return false;
  }
  free(old);
  return true;
}

/* Checks a valid file again with the command line applied. */
static int check_changed(cli_job_file *job, const char *text, size_t len,
                         const pai_spec_options *options, bool want_spec,
                         pai_error **err)
{
  pai_draft *draft = NULL;
  char *names = NULL;
  int rc = cli_draft_change(&draft, text, len, options, change, &names, err);

  pai_report_free(job->file.report);
  job->file.report = NULL;
  if (rc == PAI_OK) {
    text = pai_draft_text(draft, &len);
    rc = pai_spec_check(&job->file.report, want_spec ? &job->spec : NULL, text,
                        len, options, err);
  }
  if (rc == PAI_OK && job->spec != NULL)
    rc = keep_text(job, text, len) ? PAI_OK : PAI_ENOMEM;
  if (rc == PAI_OK)
    cli_parameters_tell(job->file.report, names);
  pai_draft_free(draft);
  free(names);
  return rc;
}

static int check(cli_job_file *job, const char *text, size_t len,
                 const pai_spec_options *options, bool want_spec,
                 pai_error **err)
{
  bool change = cli_parameters.count > 0 || cli_job_options_given();
  int rc;

  rc =
    pai_spec_check(&job->file.report, want_spec && !change ? &job->spec : NULL,
                   text, len, options, err);
  /* Check the file alone first, so that errors refer to its own text. */
  if (rc < 0 || !change || !pai_report_valid(job->file.report))
    return rc;
  if (pai_report_version(job->file.report) != 1 ||
      (cli_parameters.count == 0 && !cli_job_options_need_v2()))
    return check_changed(job, text, len, options, want_spec, err);
  pai_report_free(job->file.report);
  job->file.report = NULL;
  (void)snprintf(job->file.why, sizeof(job->file.why),
                 cli_parameters.count > 0
                   ? "%s is a job config v1: it has no parameters"
                   : "%s is a job config v1: its GPUs, CPUs, memory, image, "
                     "time and order can be set in the file only",
                 cli_shown_name(job->file.name));
  return PAI_OK;
}

void cli_job_file_take(cli_job_file *job, const char *name, const char *text,
                       size_t len, const pai_spec_options *options,
                       bool want_spec)
{
  pai_error *err = NULL;
  int rc;

  *job = (cli_job_file){ .file = { .name = name } };
  rc = check(job, text, len, options, want_spec, &err);

  if (rc == PAI_EUSER)
    job->file.why[0] = '\0'; /* the error was printed */
  else if (rc < 0)
    (void)snprintf(job->file.why, sizeof(job->file.why), "cannot check %s: %s",
                   cli_shown_name(name), pai_error_message(err));
  else if (job->spec != NULL && job->text == NULL &&
           !keep_text(job, text, len)) {
    pai_spec_unref(job->spec);
    job->spec = NULL;
    (void)snprintf(job->file.why, sizeof(job->file.why), "out of memory");
  }
  pai_error_free(err);
}

void cli_job_file_open(cli_job_file *job, const char *name,
                       const pai_spec_options *options, bool want_spec)
{
  char *text = NULL;
  size_t len = 0;
  int error = cli_read_file(&text, &len, name, CLI_JOB_FILE);

  if (error == 0) {
    cli_job_file_take(job, name, text, len, options, want_spec);
  } else {
    *job = (cli_job_file){ .file = { .name = name } };
    cli_read_why(job->file.why, sizeof(job->file.why), name, error);
  }
  free(text);
}

void cli_job_file_close(cli_job_file *job)
{
  pai_spec_unref(job->spec);
  pai_report_free(job->file.report);
  free(job->text);
}

int cli_job_file_judge(const cli_job_file *job, const char *name)
{
  if (job->file.report == NULL) {
    if (job->file.why[0] != '\0')
      cli_say(PAI_LOG_ERROR, job->file.why);
    return CLI_USAGE;
  }
  if (job->spec != NULL)
    return CLI_OK;
  cli_print_findings(stderr, name, job->file.report);
  return CLI_NO;
}

int cli_job_file_need(cli_job_file *job, const char *name)
{
  cli_job_file_open(job, name, NULL, true);
  return cli_job_file_judge(job, name);
}
