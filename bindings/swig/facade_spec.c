/* facade_spec.c - job files: reading, checking, writing, drafts */
#include "facade.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
  CHUNK = 65536,
  /* One byte more than the library takes, so that it may say so. */
  MOST = (4 << 20) + 1
};

/* A pai_write_cb. */
static int collect(void *user_data, const char *bytes, size_t len)
{
  job_text *t = user_data;
  char *more = realloc(t->bytes, t->len + len + 1);

  if (more == NULL)
    return PAI_ENOMEM;
  t->bytes = more;
  memcpy(more + t->len, bytes, len);
  t->len += len;
  more[t->len] = '\0';
  return PAI_OK;
}

static int discard(void *user_data, const char *bytes, size_t len)
{
  (void)user_data;
  (void)bytes;
  (void)len;
  return PAI_OK;
}

/* What a call has written, if it has not failed. */
static job_text finished(job_text t, const failure *f)
{
  if (f->code >= 0)
    return t;
  free(t.bytes);
  return (job_text){ NULL, 0 };
}

/* --- files -------------------------------------------------------------- */

/* Not pai_spec_load(): the text is wanted for a report, too. */
static int read_all(job_text *t, int fd)
{
  char chunk[CHUNK];
  ssize_t n;

  do {
    n = read(fd, chunk, sizeof(chunk));
    if (n < 0 && errno != EINTR)
      return errno;
    if (n > 0 && collect(t, chunk, (size_t)n) < 0)
      return ENOMEM;
  } while (n != 0 && t->len < MOST);
  return 0;
}

static void fail_to_read(failure *f, const char *name, int error)
{
  const char *why = strerror(error);
  size_t size = strlen("cannot read : ") + strlen(name) + strlen(why) + 1;

  f->error = error;
  f->code = PAI_EIO;
  if (error == ENOENT || error == ENOTDIR)
    f->code = PAI_ENOTFOUND;
  else if (error == EACCES || error == EPERM)
    f->code = PAI_EPERM;
  else if (error == ENOMEM)
    f->code = PAI_ENOMEM;
  f->made = malloc(size);
  if (f->made != NULL)
    (void)snprintf(f->made, size, "cannot read %s: %s", name, why);
}

static job_text read_file(const char *path, failure *f)
{
  bool is_stdin = strcmp(path, "-") == 0;
  int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
  job_text t = { NULL, 0 };
  int error = fd < 0 ? errno : collect(&t, "", 0) < 0 ? ENOMEM : 0;

  if (error == 0)
    error = read_all(&t, fd);
  if (error != 0)
    fail_to_read(f, is_stdin ? "standard input" : path, error);
  f->file = strdup(is_stdin ? "<stdin>" : path); /* or it is not told */
  if (fd >= 0 && !is_stdin)
    (void)close(fd);
  return finished(t, f);
}

/* Only a failure is told by its file. */
static void forget_file(failure *f)
{
  if (f->code < 0)
    return;
  free(f->file);
  f->file = NULL;
}

/* --- reading and checking ----------------------------------------------- */

Job *facade_parse(const char *text, size_t len, failure *f)
{
  pai_report *report;
  pai_spec *spec;

  f->code = pai_spec_check(&report, &spec, text, len, NULL, &f->err);
  if (f->code == PAI_OK && spec == NULL) {
    f->code = pai_spec_parse(&spec, text, len, NULL, &f->err);
    f->report = report;
  } else {
    pai_report_free(report);
  }
  return spec;
}

Job *facade_load(const char *path, failure *f)
{
  job_text t = read_file(path, f);
  Job *job = t.bytes != NULL ? facade_parse(t.bytes, t.len, f) : NULL;

  free(t.bytes);
  forget_file(f);
  return job;
}

pai_report *facade_check(const char *text, size_t len, int version, bool hived,
                         failure *f)
{
  pai_spec_options options = PAI_SPEC_OPTIONS_INIT;
  pai_report *report;

  if (version < 0 || version > 2) {
    f->code = PAI_EINVAL;
    f->text = "there are versions 1 and 2";
    return NULL;
  }
  options.version = version;
  options.hived = hived;
  f->code = pai_spec_check(&report, NULL, text, len, &options, &f->err);
  return report;
}

pai_report *facade_check_file(const char *path, int version, bool hived,
                              failure *f)
{
  job_text t = read_file(path, f);
  pai_report *report = NULL;

  if (t.bytes != NULL)
    report = facade_check(t.bytes, t.len, version, hived, f);
  free(t.bytes);
  forget_file(f);
  return report;
}

/* --- writing ------------------------------------------------------------ */

job_text facade_write(const Job *job, int format, int version, bool secrets,
                      failure *f)
{
  pai_spec_write_options options = PAI_SPEC_WRITE_OPTIONS_INIT;
  job_text t = { NULL, 0 };

  options.format = format;
  options.version = version;
  options.secrets = secrets;
  f->code = pai_spec_write(job, &options, collect, &t, &f->err);
  return finished(t, f);
}

job_text facade_explain(const Job *job, int format, failure *f)
{
  job_text t = { NULL, 0 };

  f->code = pai_spec_explain(job, format, collect, &t, &f->err);
  return finished(t, f);
}

job_text facade_job_get(const Job *job, const char *place, failure *f)
{
  job_text t = { NULL, 0 };

  f->code = pai_spec_get(job, place, collect, &t, &f->err);
  return finished(t, f);
}

job_text facade_docker_config(const Job *job, failure *f)
{
  job_text t = { NULL, 0 };

  f->code = pai_spec_docker_config(job, collect, &t, &f->err);
  return finished(t, f);
}

pai_report *facade_v1_report(const Job *job, failure *f)
{
  pai_spec_write_options options = PAI_SPEC_WRITE_OPTIONS_INIT;
  pai_report *report = NULL;

  options.version = 1;
  options.report = &report;
  f->code = pai_spec_write(job, &options, discard, NULL, &f->err);
  return report;
}

job_text facade_schema(int version, failure *f)
{
  job_text t = { NULL, 0 };

  f->code = pai_spec_schema(version, collect, &t, &f->err);
  return finished(t, f);
}

/* --- comparing ---------------------------------------------------------- */

static int collect_change(void *user_data, const pai_spec_change *c)
{
  const char *const parts[] = { facade_change_name(c->kind), c->pointer,
                                c->old_value, c->new_value };

  for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
    const char *part = parts[i] != NULL ? parts[i] : "";
    int rc = collect(user_data, part, strlen(part) + 1);
    if (rc < 0)
      return rc;
  }
  return PAI_OK;
}

job_text facade_diff(const Job *a, const Job *b, failure *f)
{
  job_text t = { NULL, 0 };

  f->code = pai_spec_diff(a, b, collect_change, &t, &f->err);
  return finished(t, f);
}

/* --- drafts ------------------------------------------------------------- */

void facade_set(Draft *draft, const char *place, draft_value value, failure *f)
{
  if (value.is_text)
    f->code = pai_draft_set_text(draft, place, value.text, value.len, &f->err);
  else
    f->code = pai_draft_set(draft, place, value.text, &f->err);
}

job_text facade_get(const Draft *draft, const char *place, failure *f)
{
  job_text t = { NULL, 0 };

  f->code = pai_draft_get(draft, place, collect, &t, &f->err);
  return finished(t, f);
}

Job *facade_draft_job(const Draft *draft, failure *f)
{
  size_t len;
  const char *text = pai_draft_text(draft, &len);

  return facade_parse(text, len, f);
}

pai_report *facade_draft_check(const Draft *draft, int version, bool hived,
                               failure *f)
{
  size_t len;
  const char *text = pai_draft_text(draft, &len);

  return facade_check(text, len, version, hived, f);
}
