/* compat_job.c - the jobs of `opai`: listed, shown, stopped, submitted */
#include "compat.h"

#include "cells.h"
#include "job_file.h"
#include "jobs.h"

#include <stdlib.h>
#include <string.h>

enum {
  FOLD = 80, /* where PyYAML breaks a line at its next space */
  MOST_PLACE = 1024
};

/* --- list, status, stop ---------------------------------------------------------------- */

static void print_states(const cli_json *j)
{
  for (size_t i = cli_json_first(j, 0); i != 0; i = cli_json_next(j, 0, i)) {
    const char *name = cli_json_text(j, i, "name");
    const char *state = cli_json_text(j, i, "state");

    (void)printf("- ");
    cli_print(stdout, name);
    (void)printf(strlen(name) + 2 > FOLD ? "\n  [" : " [");
    cli_print(stdout, state[0] != '\0' ? state : "UNKNOWN");
    (void)printf("]\n");
  }
  if (cli_json_first(j, 0) != 0)
    (void)printf("\n");
}

int cli_opai_job_list(cli_old *old)
{
  const char *user = old->value[OLD_USER];
  int code = CLI_NO;
  cli_remote r;
  cli_json j;
  char *path;

  if (!cli_old_open(old, &r))
    return CLI_NO;
  if (user == NULL)
    (void)printf("if not set, only your job will be listed, user `--user "
                 "__all__` to list jobs of all users\n");
  if (user == NULL)
    user = cli_user();
  path = cli_old_jobs_path(strcmp(user, "__all__") != 0 ? user : NULL);
  if (cli_remote_get(&r, &j, path)) {
    print_states(&j);
    cli_json_free(&j);
    code = CLI_OK;
  }
  free(path);
  cli_remote_close(&r);
  return code;
}

/* The job's file, as it is. */
static int print_config(cli_remote *r, const char *path)
{
  int code = CLI_NO;
  cli_answer a;

  cli_remote_ask(r, &a, "GET", path, NULL, NULL, 0);
  if (a.status == PAI_OK) {
    cli_print_lines(stdout, a.body);
    if (a.len == 0 || a.body[a.len - 1] != '\n')
      (void)printf("\n");
    code = CLI_OK;
  } else {
    cli_answer_tell(&a);
  }
  cli_answer_free(&a);
  return code;
}

int cli_opai_job_status(cli_old *old)
{
  const char *query = old->count > 1 ? old->words[1] : "";
  bool config = strcmp(query, "config") == 0, ssh = strcmp(query, "ssh") == 0;
  char *job, *path = NULL;
  int code = CLI_NO;
  cli_remote r;

  if (query[0] != '\0' && !config && !ssh)
    return cli_old_refuse(old, "this is neither config nor ssh", query);
  if (!cli_old_open(old, &r))
    return CLI_NO;
  job = cli_old_job(old, old->words[0]);
  if (job != NULL)
    path = cli_job_path(job, config ? "/config" : ssh ? "/ssh" : "");
  if (path != NULL)
    code = config ? print_config(&r, path) : cli_old_answer(&r, path);
  free(path);
  free(job);
  cli_remote_close(&r);
  return code;
}

int cli_opai_job_stop(cli_old *old)
{
  int code = CLI_OK;
  cli_remote r;

  for (int i = 0; i < old->count; i++)
    if (!cli_job_name(old->words[i]))
      return CLI_USAGE;
  if (!cli_old_open(old, &r))
    return CLI_NO;
  for (int i = 0; i < old->count; i++)
    if (!cli_stop_job(&r, old->words[i], false))
      code = CLI_NO;
  cli_remote_close(&r);
  return code;
}

/* --- submitting a file that is whole ------------------------------------------------------ */

void cli_old_file_free(cli_old_file *f)
{
  if (f->code != NULL)
    cli_remove_code(f->code);
  free(f->code);
  free(f->text);
  *f = (cli_old_file){ 0 };
}

void cli_old_print_job(const cli_remote *r, const char *job)
{
  static const char below[] = "/rest-server";
  const char *url = r->site.url;
  size_t len = url != NULL ? strlen(url) : 0, end = sizeof(below) - 1;
  const char *tilde = strchr(job, '~'); /* another user's */
  char *whose = tilde != NULL ? strndup(job, (size_t)(tilde - job)) : NULL;
  char *name = cli_escape(tilde != NULL ? tilde + 1 : job);
  char *user = cli_escape(whose != NULL ? whose : cli_user());

  while (len > 0 && url[len - 1] == '/')
    len--;
  if (len > end && strncmp(url + len - end, below, end) == 0)
    len -= end;
  if (url != NULL && name != NULL && user != NULL)
    (void)printf("job_link: %.*s/job-detail.html?username=%s&jobName=%s\n",
                 (int)len, url, user, name);
  (void)printf("job_name: ");
  cli_old_scalar(stdout, job);
  (void)printf("\n");
  free(whose);
  free(name);
  free(user);
}

static int hand_over(cli_remote *r, const cli_old_file *f, const char *name,
                     char **job)
{
  const cli_submission s = { .text = f->text,
                             .len = f->len,
                             .wanted = name,
                             .name = name,
                             .code = f->code,
                             .quiet = true };

  (void)printf("submit job %s to cluster %s\n", name,
               r->site.alias != NULL ? r->site.alias
               : r->site.url != NULL ? r->site.url
                                     : CLI_HERE);
  (void)fflush(stdout);
  return cli_submit(r, &s, job);
}

int cli_old_submit(const cli_old *old, cli_remote *r, cli_old_file *f,
                   char **job)
{
  cli_job_file file;
  int code;

  *job = NULL;
  cli_job_file_take(&file, "the job", f->text, f->len, NULL, true);
  code = cli_job_file_judge(&file, "the job");
  if (code != CLI_OK) {
    code = CLI_NO;
  } else if (old->value[OLD_PREVIEW] != NULL) {
    cli_print_lines(stdout, f->text);
    if (f->len == 0 || f->text[f->len - 1] != '\n')
      (void)printf("\n");
  } else {
    code = cli_old_open(old, r) ? CLI_OK : CLI_NO;
    if (code == CLI_OK) {
      code = hand_over(r, f, pai_spec_name(file.spec), job);
      if (code != CLI_OK)
        cli_remote_close(r);
    }
  }
  cli_job_file_close(&file);
  return code;
}

/* --- submit: a file with changes ------------------------------------------------------------ */

/* "a:b" as "/a/b".  False: it is too long. */
static bool make_place(char *out, size_t size, const char *keys, size_t len)
{
  char above[MOST_PLACE];
  size_t used = 0, n;

  out[0] = '\0';
  do {
    (void)snprintf(above, sizeof(above), "%s", out);
    for (n = 0; used + n < len && keys[used + n] != ':'; n++)
      ;
    if (!cli_json_pointer(out, size, above, keys + used, n))
      return false;
    used += n + 1;
  } while (used <= len);
  return true;
}

/* Whether there is a text now, which stays one whatever it becomes. */
static bool has_text(const pai_draft *draft, const char *path)
{
  char *now = NULL;
  size_t len = 0;
  FILE *to = open_memstream(&now, &len);
  bool is_text = false;

  if (to != NULL) {
    is_text = pai_draft_get(draft, path, cli_write, to, NULL) == PAI_OK;
    (void)fclose(to);
    is_text = is_text && len > 0 && now[0] == '"';
  }
  free(now);
  return is_text;
}

static bool is_number_or_flag(const char *value)
{
  size_t sign = value[0] == '-', digits = strspn(value + sign, "0123456789");

  return strcmp(value, "true") == 0 || strcmp(value, "false") == 0 ||
         (digits > 0 && value[sign + digits] == '\0');
}

/* "a:b=value" */
static int change(const cli_old *old, pai_draft *draft, const char *word)
{
  const char *equals = strchr(word, '='), *value;
  pai_error *err = NULL;
  char path[MOST_PLACE];
  int rc;

  if (equals == NULL || equals == word ||
      !make_place(path, sizeof(path), word, (size_t)(equals - word)))
    return cli_old_refuse(old, "this is not KEY:KEY=VALUE", word);
  value = equals + 1;
  if (is_number_or_flag(value) && !has_text(draft, path))
    rc = pai_draft_set(draft, path, value, &err);
  else
    rc = pai_draft_set_text(draft, path, value, strlen(value), &err);
  if (rc < 0)
    cli_error(word, err);
  pai_error_free(err);
  return rc < 0 ? CLI_NO : CLI_OK;
}

/* Of both protocols. */
static int set_vc(pai_draft *draft, const char *vc)
{
  pai_error *err = NULL;
  char *version = NULL;
  size_t len = 0;
  FILE *to = open_memstream(&version, &len);
  bool v2 = to != NULL && pai_draft_get(draft, "/protocolVersion", cli_write,
                                        to, NULL) == PAI_OK;
  int rc = pai_draft_set_text(
    draft, v2 ? "/defaults/virtualCluster" : "/virtualCluster", vc, strlen(vc),
    &err);

  if (to != NULL)
    (void)fclose(to);
  free(version);
  if (rc < 0)
    cli_error(NULL, err);
  pai_error_free(err);
  return rc < 0 ? CLI_NO : CLI_OK;
}

static int change_all(const cli_old *old, pai_draft *draft, cli_old_file *out)
{
  const char *vc = cli_old_value(old, OLD_VC);
  int code = CLI_OK;

  for (size_t i = 0; i < old->nlisted && code == CLI_OK; i++)
    if (old->listed[i].option == OLD_UPDATE)
      code = change(old, draft, old->listed[i].value);
  if (code == CLI_OK && vc != NULL)
    code = set_vc(draft, vc);
  if (code == CLI_OK &&
      (out->text = strdup(pai_draft_text(draft, &out->len))) == NULL) {
    cli_fail("out of memory");
    code = CLI_NO;
  }
  return code;
}

int cli_opai_job_submit(cli_old *old)
{
  cli_old_file f = { 0 };
  pai_draft *draft = NULL;
  pai_error *err = NULL;
  char *text = NULL, *job = NULL;
  size_t len = 0;
  cli_remote r;
  int code = cli_read(&text, &len, old->words[0]);

  if (code != CLI_OK)
    return CLI_NO;
  if (pai_draft_new(&draft, text, len, NULL, &err) < 0) {
    cli_error(old->words[0], err);
    code = CLI_NO;
  } else {
    code = change_all(old, draft, &f);
  }
  if (code == CLI_OK)
    code = cli_old_submit(old, &r, &f, &job);
  if (job != NULL) {
    cli_old_print_job(&r, job);
    (void)printf("\n");
    cli_remote_close(&r);
  }
  free(job);
  pai_error_free(err);
  pai_draft_free(draft);
  cli_old_file_free(&f);
  free(text);
  return code;
}
