/* job_file.c - reads a job file and has it checked */
#include "job_file.h"
#include "parameters.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
  CHUNK = 65536,
  /* One byte more than the library takes, so that it may say so. */
  MOST = (4 << 20) + 1
};

int cli_version(const char *word)
{
  if (word == NULL)
    return 0;
  return strcmp(word, "v1") == 0 ? 1 : strcmp(word, "v2") == 0 ? 2 : 0;
}

const char *cli_shown_name(const char *name)
{
  return strcmp(name, "-") == 0 ? "<stdin>" : name;
}

/* All of a stream, up to MOST bytes; returns 0 or an errno. */
static int read_stream(char **text, size_t *len, FILE *in)
{
  size_t cap = 0, n;

  do {
    if (*len == cap) {
      char *more = realloc(*text, cap + CHUNK);
      if (more == NULL)
        return ENOMEM;
      *text = more;
      cap += CHUNK;
    }
    n = cap - *len < MOST - *len ? cap - *len : MOST - *len;
    n = fread(*text + *len, 1, n, in);
    *len += n;
  } while (n > 0 && !feof(in));
  if (!ferror(in))
    return 0;
  return errno != 0 ? errno : EIO;
}

/* Returns 0 or an errno. */
static int read_file(char **text, size_t *len, const char *name)
{
  FILE *in = stdin;
  int error;

  errno = 0;
  if (strcmp(name, "-") != 0)
    in = fopen(name, "rb");
  if (in == NULL)
    return errno;
  (void)setvbuf(in, NULL, _IONBF, 0); /* chunks need no buffer in between */
  error = read_stream(text, len, in);
  if (in != stdin)
    (void)fclose(in);
  return error;
}

/* "cannot read FILE: why". */
static void say_why(char *out, size_t size, const char *name, int error)
{
  (void)snprintf(out, size, "cannot read %s: %s",
                 strcmp(name, "-") == 0 ? "standard input" : name,
                 strerror(error));
}

int cli_read(char **text, size_t *len, const char *name)
{
  char why[1024];
  int error = read_file(text, len, name);

  if (error == 0)
    return CLI_OK;
  say_why(why, sizeof(why), name, error);
  cli_say(PAI_LOG_ERROR, why);
  return CLI_USAGE;
}

/* --- checking ---------------------------------------------------------------- */

/* The text with the command line's parameters in it, as a draft. */
static int change(pai_draft **draft, char **names, const char *text,
                  size_t len, const pai_spec_options *options, pai_error **err)
{
  int rc = pai_draft_new(draft, text, len, options, err);

  if (rc == PAI_OK)
    *names = cli_parameters_names(*draft);
  if (rc == PAI_OK)
    rc = cli_parameters_set(draft, options, err);
  return rc;
}

/* Checks a valid file once more, with the parameters. */
static int check_changed(cli_job_file *file, const char *text, size_t len,
                         const pai_spec_options *options, bool want_spec,
                         pai_error **err)
{
  pai_draft *draft = NULL;
  char *names = NULL;
  int rc = change(&draft, &names, text, len, options, err);

  pai_report_free(file->report);
  file->report = NULL;
  if (rc == PAI_OK) {
    text = pai_draft_text(draft, &len);
    rc = pai_spec_check(&file->report, want_spec ? &file->spec : NULL, text,
                        len, options, err);
  }
  if (rc == PAI_OK)
    cli_parameters_tell(file->report, names);
  pai_draft_free(draft);
  free(names);
  return rc;
}

static int check(cli_job_file *file, const char *text, size_t len,
                 const pai_spec_options *options, bool want_spec,
                 pai_error **err)
{
  bool change = cli_value_count > 0;
  int rc;

  rc = pai_spec_check(&file->report, want_spec && !change ? &file->spec : NULL,
                      text, len, options, err);
  /* What is wrong without them is told in the file's own words. */
  if (rc < 0 || !change || !pai_report_valid(file->report))
    return rc;
  if (pai_report_version(file->report) != 1)
    return check_changed(file, text, len, options, want_spec, err);
  pai_report_free(file->report);
  file->report = NULL;
  (void)snprintf(file->why, sizeof(file->why),
                 "%s is a job config v1, which has no parameters",
                 cli_shown_name(file->name));
  return PAI_OK;
}

void cli_job_file_open(cli_job_file *file, const char *name,
                       const pai_spec_options *options, bool want_spec)
{
  pai_error *err = NULL;
  char *text = NULL;
  size_t len = 0;
  int error;

  *file = (cli_job_file){ .name = name };
  error = read_file(&text, &len, name);
  if (error != 0)
    say_why(file->why, sizeof(file->why), name, error);
  else if (check(file, text, len, options, want_spec, &err) < 0)
    (void)snprintf(file->why, sizeof(file->why), "cannot check %s: %s",
                   cli_shown_name(name), pai_error_message(err));
  pai_error_free(err);
  free(text);
}

void cli_job_file_close(cli_job_file *file)
{
  pai_spec_unref(file->spec);
  pai_report_free(file->report);
}

int cli_job_file_need(cli_job_file *file, const char *name)
{
  cli_job_file_open(file, name, NULL, true);
  if (file->report == NULL) {
    cli_say(PAI_LOG_ERROR, file->why);
    return CLI_USAGE;
  }
  if (file->spec != NULL)
    return CLI_OK;
  cli_print_findings(stderr, name, file->report);
  return CLI_NO;
}
