/* replay.c - replays of scheduler logs */
#include "options.h"
#include "shared.h"
#include "sim_shared.h"

#include <stdlib.h>
#include <string.h>

/* --- life ------------------------------------------------------------------ */

void facade_replay_free(Replay *r)
{
  pai_replay_free(r->replay);
  facade_sched_free(r->view);
  free(r->text.bytes);
  free(r);
}

static int on_stop(void *user_data)
{
  Replay *r = user_data;

  r->raised = r->raised || script_signals();
  return r->raised;
}

/* Makes a Replay without its pai_replay; takes the policy. */
static Replay *make(pai_replay_options *o, words list, policy_ref policy,
                    failure *f)
{
  Scheduler *view = view_make(f);
  Replay *r = calloc(1, sizeof(*r));

  o->policy = policy.object == NULL ? policy.name : NULL;
  o->table = sched_keep(view, policy, f);
  if (r == NULL || view == NULL) {
    facade_fail(f, PAI_ENOMEM, "out of memory");
    if (view != NULL)
      facade_sched_free(view);
    free(r);
    return NULL;
  }
  r->view = view;
  o->stop = on_stop;
  o->stop_data = r;
  if (f->code == PAI_OK)
    (void)options_read(o, options_replay, &list, f);
  return r;
}

static Replay *finish(Replay *r, failure *f)
{
  if (r == NULL || f->code == PAI_OK)
    return r;
  facade_replay_free(r);
  return NULL;
}

Replay *facade_replay_open(const char *path, words list, policy_ref policy,
                           failure *f)
{
  pai_replay_options o = PAI_REPLAY_OPTIONS_INIT;
  Replay *r = make(&o, list, policy, f);

  if (f->code == PAI_OK)
    f->code = pai_replay_open(&r->replay, path, &o, &f->err);
  return finish(r, f);
}

static ptrdiff_t read_at(void *user_data, uint64_t offset, char *buffer,
                         size_t size)
{
  const job_text *t = user_data;
  size_t n = offset < t->len ? t->len - (size_t)offset : 0;

  if (n == 0)
    return PAI_EIO; /* past the end, which the library never reads */
  if (n > size)
    n = size;
  memcpy(buffer, t->bytes + offset, n);
  return (ptrdiff_t)n;
}

Replay *facade_replay_parse(const char *text, size_t len, words list,
                            policy_ref policy, failure *f)
{
  pai_replay_options o = PAI_REPLAY_OPTIONS_INIT;
  Replay *r = make(&o, list, policy, f);

  if (f->code == PAI_OK)
    f->code = facade_collect(&r->text, text, len);
  if (f->code == PAI_OK)
    f->code = pai_replay_new(&r->replay, read_at, &r->text, len, &o, &f->err);
  return finish(r, f);
}

/* --- stepping ------------------------------------------------------------ */

bool replay_begin(Replay *r, failure *f)
{
  r->raised = false;
  return view_begin(r->view, f);
}

void replay_end(Replay *r, failure *f)
{
  if (r->raised) { /* report the error of the signal handler instead */
    pai_error_free(f->err);
    f->err = NULL;
    f->code = PAI_EUSER;
  }
  view_end(r->view, pai_replay_sched(r->replay), false, f);
}

listing facade_replay_range(Replay *r, failure *f)
{
  pai_time first = 0, last = 0;
  json j;

  if (!replay_begin(r, f))
    return (listing){ { NULL, 0 } };
  f->code = pai_replay_range(r->replay, &first, &last, &f->err);
  replay_end(r, f);
  if (f->code < 0)
    return (listing){ { NULL, 0 } };
  json_start(&j);
  json_begin(&j, NULL, '[');
  json_number(&j, NULL, first);
  json_number(&j, NULL, last);
  json_end(&j, ']');
  return json_finish(&j, f);
}

bool facade_replay_step(Replay *r, int64_t until, failure *f)
{
  int rc;

  if (!replay_begin(r, f))
    return false;
  rc = pai_replay_step_until(r->replay, until, &f->err);
  f->code = rc < 0 ? rc : PAI_OK;
  replay_end(r, f);
  return rc > 0;
}

listing facade_replay_decisions(Replay *r, failure *f)
{
  listing made = { { NULL, 0 } };

  if (!replay_begin(r, f))
    return made;
  made = sched_put_decisions(pai_replay_sched(r->replay),
                             pai_replay_decisions(r->replay) > 0, f);
  replay_end(r, f);
  return made;
}

/* --- times and timelines ------------------------------------------------- */

int64_t facade_replay_time(Replay *r, const char *text, failure *f)
{
  pai_time time = 0;

  if (!replay_begin(r, f))
    return 0;
  f->code = pai_replay_time(r->replay, text, &time, &f->err);
  replay_end(r, f);
  return time;
}

job_text facade_replay_show_time(Replay *r, int64_t time, failure *f)
{
  char text[PAI_REPLAY_TIME];
  job_text t = { NULL, 0 };

  if (!replay_begin(r, f))
    return t;
  (void)pai_replay_show_time(r->replay, time, text);
  f->code = facade_collect(&t, text, strlen(text));
  replay_end(r, f);
  return facade_finished(t, f);
}

job_text facade_replay_story(Replay *r, uint64_t id, words list,
                             const char *name, failure *f)
{
  pai_story_options o = { .struct_size = sizeof(o) };
  int format = options_format(name, f);
  job_text t = { NULL, 0 };

  if (format < 0 || !options_read(&o, options_story, &list, f) ||
      !replay_begin(r, f))
    return t;
  f->code =
    pai_replay_story(r->replay, id, &o, format, facade_collect, &t, &f->err);
  replay_end(r, f);
  return facade_finished(t, f);
}
