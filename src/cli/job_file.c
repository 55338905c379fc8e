/* job_file.c - reads a job file and has it checked */
#include "job_file.h"
#include "parameters.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 4 << 20 }; /* what the library takes */

int cli_version(const char *word)
{
  if (word == NULL)
    return 0;
  return strcmp(word, "v1") == 0 ? 1 : strcmp(word, "v2") == 0 ? 2 : 0;
}

int cli_read(char **text, size_t *len, const char *name)
{
  char why[1024];
  int error = cli_read_file(text, len, name, MOST);

  if (error == 0)
    return CLI_OK;
  cli_read_why(why, sizeof(why), name, error);
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
static int check_changed(cli_job_file *job, const char *text, size_t len,
                         const pai_spec_options *options, bool want_spec,
                         pai_error **err)
{
  pai_draft *draft = NULL;
  char *names = NULL;
  int rc = change(&draft, &names, text, len, options, err);

  pai_report_free(job->file.report);
  job->file.report = NULL;
  if (rc == PAI_OK) {
    text = pai_draft_text(draft, &len);
    rc = pai_spec_check(&job->file.report, want_spec ? &job->spec : NULL, text,
                        len, options, err);
  }
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
  bool change = cli_value_count > 0;
  int rc;

  rc =
    pai_spec_check(&job->file.report, want_spec && !change ? &job->spec : NULL,
                   text, len, options, err);
  /* What is wrong without them is told in the file's own words. */
  if (rc < 0 || !change || !pai_report_valid(job->file.report))
    return rc;
  if (pai_report_version(job->file.report) != 1)
    return check_changed(job, text, len, options, want_spec, err);
  pai_report_free(job->file.report);
  job->file.report = NULL;
  (void)snprintf(job->file.why, sizeof(job->file.why),
                 "%s is a job config v1, which has no parameters",
                 cli_shown_name(job->file.name));
  return PAI_OK;
}

void cli_job_file_open(cli_job_file *job, const char *name,
                       const pai_spec_options *options, bool want_spec)
{
  pai_error *err = NULL;
  char *text = NULL;
  size_t len = 0;
  int error;

  *job = (cli_job_file){ .file = { .name = name } };
  error = cli_read_file(&text, &len, name, MOST);
  if (error != 0)
    cli_read_why(job->file.why, sizeof(job->file.why), name, error);
  else if (check(job, text, len, options, want_spec, &err) < 0)
    (void)snprintf(job->file.why, sizeof(job->file.why), "cannot check %s: %s",
                   cli_shown_name(name), pai_error_message(err));
  pai_error_free(err);
  free(text);
}

void cli_job_file_close(cli_job_file *job)
{
  pai_spec_unref(job->spec);
  pai_report_free(job->file.report);
}

int cli_job_file_need(cli_job_file *job, const char *name)
{
  cli_job_file_open(job, name, NULL, true);
  if (job->file.report == NULL) {
    cli_say(PAI_LOG_ERROR, job->file.why);
    return CLI_USAGE;
  }
  if (job->spec != NULL)
    return CLI_OK;
  cli_print_findings(stderr, name, job->file.report);
  return CLI_NO;
}
