/*
 * resubmit.c - submitting a job again like another job
 *
 * The stored file has "******" in place of secrets.  While the other job is
 * live its secrets are stored as well, and replace these; after that the
 * submitter has to supply them.
 */
#include "platform/restore/resubmit.h"

#include "platform/records/fold.h"
#include "platform/records/record.h"

#include <openpai/draft.h>

/* --- facts beside the file ------------------------------------------------ */

typedef struct finding {
  const pai_platform *p;
  pai__platform_like *out;
} finding;

static int take(const finding *f, const char *user, const char *name,
                const char *work_dir)
{
  const pai_alloc *alloc = &f->p->alloc;
  char *code;

  f->out->user = pai__strdup(alloc, user);
  if (work_dir == NULL)
    return f->out->user != NULL ? PAI_OK : PAI_ENOMEM;
  code = pai__platform_path(f->p, "code", user, name);
  f->out->work_dir = pai__strdup(alloc, work_dir);
  f->out->has_code = code != NULL && strcmp(code, work_dir) == 0;
  pai__strfree(alloc, code);
  return code != NULL && f->out->user != NULL && f->out->work_dir != NULL
           ? PAI_OK
           : PAI_ENOMEM;
}

static int on_row(void *user_data, const pai__job_row *row)
{
  return take(user_data, row->user, row->name, pai__fold_work_dir(row->fold));
}

int pai__like_find(pai__platform_like *out, const pai_platform *p,
                   pai_job_id job, pai_error **err)
{
  const pai__pjob *j = pai__platform_find_job(p, job);
  finding f = { p, out };
  int rc;

  *out = (pai__platform_like){ 0 };
  if (j == NULL && pai__is_dropped(p, job))
    return pai__fail(err, PAI_ENOTFOUND, "there is no such job");
  rc = j != NULL ? take(&f, j->user, j->name, j->work_dir)
                 : pai__store_job(p->store, job, on_row, &f, err);
  return rc == PAI_ENOMEM ? pai__oom(err) : rc;
}

void pai__like_dispose(pai__platform_like *like, const pai_platform *p)
{
  pai__strfree(&p->alloc, like->user);
  pai__strfree(&p->alloc, like->work_dir);
  *like = (pai__platform_like){ 0 };
}

/* --- secrets -------------------------------------------------------------- */

typedef struct filling {
  pai_platform *p;
  const pai_spec *spec;
  pai_draft *from; /* the other job's file, or NULL */
  pai_draft *to;
  pai__buf value;
  pai__buf lacking; /* names of missing secrets */
} filling;

static int new_draft(pai_draft **out, const pai_platform *p, const char *text,
                     size_t len, pai_error **err)
{
  pai_spec_options o = PAI_SPEC_OPTIONS_INIT;

  o.alloc = &p->alloc;
  return pai_draft_new(out, text, len, &o, err);
}

/* Reads the other job's file with its secrets, if that job is live. */
static int read_secrets(filling *f, pai_job_id id, pai_error **err)
{
  const pai__pjob *j = pai__platform_find_job(f->p, id);

  if (j == NULL || j->job.state == PAI__JOB_DONE)
    return PAI_OK;
  return new_draft(&f->from, f->p, j->spec->tree->text, j->spec->tree->len,
                   err);
}

static const char *shown(const char *pointer)
{
  static const char root[] = "/secrets/";

  return strncmp(pointer, root, sizeof(root) - 1) == 0
           ? pointer + sizeof(root) - 1
           : pointer;
}

/* Fills in one secret, or notes it as lacking.  PAI_OK or PAI_ENOMEM. */
static int fill_one(filling *f, const char *pointer)
{
  int rc = PAI_ENOTFOUND;

  pai__buf_cut(&f->value, 0);
  if (f->from != NULL && f->to != NULL)
    rc = pai_draft_get(f->from, pointer, pai__buf_write, &f->value, NULL);
  if (rc == PAI_OK)
    rc = pai__buf_ok(&f->value)
           ? pai_draft_set(f->to, pointer, pai__buf_text(&f->value), NULL)
           : PAI_ENOMEM;
  if (rc < 0 && rc != PAI_ENOMEM)
    pai__buf_printf(&f->lacking, "%s%s", f->lacking.len > 0 ? ", " : "",
                    shown(pointer));
  return rc == PAI_ENOMEM || !pai__buf_ok(&f->lacking) ? PAI_ENOMEM : PAI_OK;
}

static int fill(filling *f, pai_error **err)
{
  const char *pointer;
  int masked;

  for (size_t i = 0;
       (pointer = pai_spec_missing_secret(f->spec, i, &masked)) != NULL; i++)
    if (masked && fill_one(f, pointer) < 0)
      return pai__oom(err);
  if (f->lacking.len == 0)
    return PAI_OK;
  (void)pai__fail(err, PAI_EINVAL,
                  "secrets are missing, of which there is only \"" PAI__MASK
                  "\": %s",
                  pai__buf_text(&f->lacking));
  pai__error_help(err, "a platform keeps secrets until their job is over; "
                       "give them with --secrets FILE or --secret-file "
                       "NAME=FILE");
  return PAI_EINVAL;
}

static int fill_draft(filling *f, pai_spec **out, char **text, pai_error **err)
{
  pai_spec_options o = PAI_SPEC_OPTIONS_INIT;
  size_t len;
  const char *made;
  int rc = fill(f, err);

  if (rc < 0)
    return rc;
  made = pai_draft_text(f->to, &len);
  o.alloc = &f->p->alloc;
  *text = pai__strdup(&f->p->alloc, made);
  rc = *text != NULL ? pai_spec_parse(out, made, len, &o, err) : pai__oom(err);
  if (rc < 0) {
    pai__strfree(&f->p->alloc, *text);
    *text = NULL;
  }
  return rc;
}

static bool has_masked(const pai_spec *spec)
{
  int masked = 0;

  for (size_t i = 0;
       !masked && pai_spec_missing_secret(spec, i, &masked) != NULL; i++)
    ;
  return masked != 0;
}

int pai__like_fill(pai_spec **out, char **text, pai_platform *p,
                   pai_job_id job, const pai_spec *spec, const char *own_text,
                   pai_error **err)
{
  filling f = { .p = p, .spec = spec };
  int rc;

  *out = NULL;
  *text = NULL;
  if (!has_masked(spec))
    return PAI_OK;
  pai__buf_init(&f.value, &p->alloc);
  pai__buf_init(&f.lacking, &p->alloc);
  rc = read_secrets(&f, job, err);
  if (rc == PAI_OK && f.from != NULL)
    rc = new_draft(&f.to, p, own_text != NULL ? own_text : spec->tree->text,
                   own_text != NULL ? strlen(own_text) : spec->tree->len, err);
  if (rc == PAI_OK)
    rc = fill_draft(&f, out, text, err);
  pai_draft_free(f.from);
  pai_draft_free(f.to);
  pai__buf_dispose(&f.value);
  pai__buf_dispose(&f.lacking);
  return rc;
}
