/* job_file.c - reads a job file and has it checked */
#include "job_file.h"

#include "draft.h"
#include "job_options.h"
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

/* What the command line says takes the place of what the file does. */
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

/* Checks a valid file once more, with that. */
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
  /* What is wrong without them is told in the file's own words. */
  if (rc < 0 || !change || !pai_report_valid(job->file.report))
    return rc;
  if (pai_report_version(job->file.report) != 1 ||
      (cli_parameters.count == 0 && !cli_job_options_need_v2()))
    return check_changed(job, text, len, options, want_spec, err);
  pai_report_free(job->file.report);
  job->file.report = NULL;
  (void)snprintf(job->file.why, sizeof(job->file.why),
                 cli_parameters.count > 0
                   ? "%s is a job config v1, which has no parameters"
                   : "%s is a job config v1, whose GPUs, CPUs, memory, image, "
                     "time and order are only in the file",
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
    job->file.why[0] = '\0'; /* it was told */
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
  int error = cli_read_file(&text, &len, name, MOST);

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
