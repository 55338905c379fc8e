/* logs.c - pai_client_logs(): checks options and starts reading a task's
 * log */
#include "client/logs.h"

enum { MOST_DIGITS = 15 };

/* The API's largest number of lines. */
static const int64_t MOST_LINES = (INT64_C(1) << 53) - 1;

/* The original server has whole logs only, without times. */
static int check_original(const pai__log_reading *r, pai_error **err)
{
  const char *option = r->since != 0               ? "output since a time"
                       : r->timestamps             ? "timestamps"
                       : r->tail != 0 && r->follow ? "following the last lines"
                                                   : NULL;

  if (option == NULL)
    return PAI_OK;
  return pai__fail(err, PAI_ENOTSUP,
                   "%s: not supported by this server, an original OpenPAI",
                   option);
}

/* Begins to read; which start it is may be known already. */
static int begin_reading(pai__log_reading *r, pai_error **err)
{
  if (pai__log_of_ours(r))
    return r->attempt >= 0 && r->retry >= 0 ? pai__log_ask(r, err)
                                            : pai__log_ask_job(r, err);
  r->known = true; /* counted from the beginning of the log */
  return check_original(r, err) == PAI_OK ? pai__log_ask_job(r, err)
                                          : PAI_ENOTSUP;
}

static void on_info(pai__client_sequence *c, int status,
                    const pai_client_answer *a)
{
  pai__log_reading *r = (pai__log_reading *)c;
  pai_error *err = NULL;

  if (status < 0) {
    pai__client_sequence_end(c, status, a);
    return;
  }
  status = pai__client_note_info(c->op.client, a) < 0 ? PAI_ENOMEM
                                                      : begin_reading(r, &err);
  pai__client_sequence_check(c, status, err);
}

static int begin(pai__log_reading *r, pai_error **err)
{
  return r->sequence.op.client->server != PAI__UNKNOWN
           ? begin_reading(r, err)
           : pai__client_sequence_info(&r->sequence, on_info, err);
}

static void dispose(pai__client_sequence *c)
{
  const pai_alloc *alloc = &c->op.client->alloc;
  pai__log_reading *r = (pai__log_reading *)c;

  pai__strfree(alloc, r->job);
  pai__strfree(alloc, r->role);
  pai__strfree(alloc, r->name);
  pai__log_tail_dispose(&r->last);
}

/* Parses a number, -1 for NULL. */
static int read_number(int64_t *out, const char *text, const char *name,
                       pai_error **err)
{
  size_t len = text != NULL ? strspn(text, "0123456789") : 0;

  *out = -1;
  if (text == NULL)
    return PAI_OK;
  if (len == 0 || len > MOST_DIGITS || text[len] != '\0')
    return pai__fail(err, PAI_EINVAL, "%s is not a number: %.64s", name, text);
  for (*out = 0; *text != '\0'; text++)
    *out = *out * 10 + (*text - '0');
  return PAI_OK;
}

/* Checks the other options. */
static int check(pai__log_reading *r, const pai_client_log_options *o,
                 pai_error **err)
{
  int rc = read_number(&r->attempt, o->attempt, "attempt", err);

  if (rc == PAI_OK)
    rc = read_number(&r->retry, o->retry, "retry", err);
  if (rc == PAI_OK && o->tail < -1)
    rc = pai__fail(err, PAI_EINVAL,
                   "pai_client_log_options: tail must be a number of lines, 0 "
                   "or -1, not %lld",
                   (long long)o->tail);
  return rc;
}

static int fill(pai__log_reading *r, const pai_client_log_options *o,
                pai_error **err)
{
  const pai_alloc *alloc = &r->sequence.op.client->alloc;
  int rc;

  r->job = pai__strdup(alloc, o->job);
  r->role = pai__strdup(alloc, o->role);
  r->name = pai__strdup(alloc, o->name != NULL ? o->name : "all");
  r->index = o->index;
  r->offset = o->offset;
  r->follow = o->follow != 0;
  r->timestamps = o->timestamps != 0;
  r->tail = o->tail < MOST_LINES ? o->tail : MOST_LINES;
  r->since = o->since;
  r->known = o->tail == 0 && o->since == 0;
  r->on_data = o->on_data;
  pai__log_tail_init(&r->last, alloc, o->tail > 0 ? (uint64_t)o->tail : 0);
  if (r->job == NULL || r->role == NULL || r->name == NULL)
    return pai__oom(err);
  rc = check(r, o, err);
  return rc == PAI_OK ? begin(r, err) : rc;
}

int pai_client_logs(pai_op **op, pai_client *client,
                    const pai_client_log_options *opts, pai_client_cb cb,
                    void *user_data, pai_error **err)
{
  pai_client_log_options o;
  pai__client_sequence *c;
  int rc;

  rc = pai__op_check(op, client, cb, __func__, err);
  if (rc < 0)
    return rc;
  rc = PAI__OPTIONS_IN(&o, opts, pai_client_log_options, on_data);
  if (rc < 0)
    return pai__fail_struct(err, rc, opts, "pai_client_log_options");
  if (o.job == NULL || o.role == NULL || o.on_data == NULL)
    return pai__fail(err, PAI_EINVAL,
                     "pai_client_log_options: set job, role and on_data");
  rc = pai__client_sequence_new(&c, client, sizeof(pai__log_reading), dispose,
                                cb, user_data, err);
  if (rc < 0)
    return rc;
  rc = fill((pai__log_reading *)c, &o, err);
  return pai__client_sequence_started(c, rc, op);
}
