/* facade_replay.c - logs that are read again */
#include "facade_sim.h"
#include "options.h"
#include "sched_shared.h"
#include "shared.h"

#include <stdlib.h>
#include <string.h>

struct Replay {
  pai_replay *replay;
  Scheduler *view; /* and our lock */
  job_text text;   /* of one that was parsed */
  bool raised;     /* by the handler of a signal, as Ctrl-C */
};

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

/* One without its replay; takes the policy. */
static Replay *make(pai_replay_options *o, words list, policy_ref policy,
                    failure *f)
{
  static const option known[] = {
    OPTION(pai_replay_options, policy_options, OPTION_TEXT),
    OPTION(pai_replay_options, check, OPTION_INT),
  };
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
    (void)options_read(o, known, sizeof(known) / sizeof(*known), &list, f);
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
    return PAI_EIO; /* nobody asks for that */
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

/* --- going on -------------------------------------------------------------- */

static bool begin(Replay *r, failure *f)
{
  r->raised = false;
  return view_begin(r->view, f);
}

static void end(Replay *r, failure *f)
{
  if (r->raised) { /* what the handler has raised is told */
    pai_error_free(f->err);
    f->err = NULL;
    f->code = PAI_EUSER;
  }
  view_end(r->view, pai_replay_sched(r->replay), false, f);
}

Scheduler *facade_replay_view(Replay *r)
{
  return r->view;
}

listing facade_replay_range(Replay *r, failure *f)
{
  pai_time first = 0, last = 0;
  json j;

  if (!begin(r, f))
    return (listing){ { NULL, 0 } };
  f->code = pai_replay_range(r->replay, &first, &last, &f->err);
  end(r, f);
  if (f->code < 0)
    return (listing){ { NULL, 0 } };
  json_start(&j);
  json_begin(&j, NULL, '[');
  json_number(&j, NULL, first);
  json_number(&j, NULL, last);
  json_end(&j, ']');
  return json_finish(&j, f);
}

void facade_replay_to(Replay *r, int64_t time, failure *f)
{
  if (!begin(r, f))
    return;
  f->code = pai_replay_to(r->replay, time, &f->err);
  end(r, f);
}

bool facade_replay_step(Replay *r, int64_t until, failure *f)
{
  int rc;

  if (!begin(r, f))
    return false;
  rc = pai_replay_step_until(r->replay, until, &f->err);
  f->code = rc < 0 ? rc : PAI_OK;
  end(r, f);
  return rc > 0;
}

listing facade_replay_decisions(Replay *r, failure *f)
{
  listing made = { { NULL, 0 } };

  if (!begin(r, f))
    return made;
  made = sched_put_decisions(pai_replay_sched(r->replay),
                             pai_replay_decisions(r->replay) > 0, f);
  end(r, f);
  return made;
}

uint64_t facade_replay_line(Replay *r, failure *f)
{
  uint64_t line = 0;

  if (!begin(r, f))
    return 0;
  line = pai_replay_line(r->replay);
  end(r, f);
  return line;
}

uint64_t facade_replay_skipped(Replay *r, failure *f)
{
  uint64_t skipped = 0;

  if (!begin(r, f))
    return 0;
  skipped = pai_replay_skipped(r->replay);
  end(r, f);
  return skipped;
}

/* --- times, stories -------------------------------------------------------- */

int64_t facade_replay_time(Replay *r, const char *text, failure *f)
{
  pai_time time = 0;

  if (!begin(r, f))
    return 0;
  f->code = pai_replay_time(r->replay, text, &time, &f->err);
  end(r, f);
  return time;
}

job_text facade_replay_show_time(Replay *r, int64_t time, failure *f)
{
  char text[PAI_REPLAY_TIME];
  job_text t = { NULL, 0 };

  if (!begin(r, f))
    return t;
  (void)pai_replay_show_time(r->replay, time, text);
  f->code = facade_collect(&t, text, strlen(text));
  end(r, f);
  return facade_finished(t, f);
}

job_text facade_replay_story(Replay *r, uint64_t id, words list,
                             const char *name, failure *f)
{
  static const option known[] = {
    OPTION(pai_story_options, policy, OPTION_TEXT),
    OPTION(pai_story_options, policy_options, OPTION_TEXT),
    OPTION(pai_story_options, grain, OPTION_TIME),
  };
  pai_story_options o = { .struct_size = sizeof(o) };
  int format = options_format(name, f);
  job_text t = { NULL, 0 };

  if (format < 0 ||
      !options_read(&o, known, sizeof(known) / sizeof(*known), &list, f) ||
      !begin(r, f))
    return t;
  f->code =
    pai_replay_story(r->replay, id, &o, format, facade_collect, &t, &f->err);
  end(r, f);
  return facade_finished(t, f);
}
