/* timeline_json.c - writes the timeline of a request as JSON */
#include "sim/replay/timeline.h"

#include "sim/report/format.h"
#include "json/writer.h"

typedef struct telling {
  const pai__timeline *st;
  pai__json_writer w;
} telling;

static void put_text(telling *t, const char *key, uint32_t text)
{
  pai__json_put_word(&t->w, key, pai__texts_text(&t->st->texts, text));
}

/* --- causes -------------------------------------------------------------- */

static void put_blocker(telling *t, const pai__blocker *b)
{
  pai__json_begin_object(&t->w);
  pai__json_put_id(&t->w, "id", b->id);
  put_text(t, "name", b->name);
  if (b->most != 0)
    pai__json_put_int(&t->w, "most", b->most);
  pai__json_end_object(&t->w);
}

/* Amounts of CPUs are decimal numbers. */
static void put_amount(telling *t, const char *key, uint32_t of,
                       uint64_t amount)
{
  if (of == PAI_LACK_CPU)
    pai__json_put_milli(&t->w, key, amount);
  else
    pai__json_put_id(&t->w, key, amount);
}

static void put_cause(telling *t, const pai__cause *c)
{
  uint32_t n = c->nblockers < PAI__BLOCKERS ? c->nblockers : PAI__BLOCKERS;

  pai__json_begin_object(&t->w);
  pai__json_put_word(&t->w, "lack", pai_lack_name((int)c->lack));
  if (c->of != c->lack)
    pai__json_put_word(&t->w, "of", pai_lack_name((int)c->of));
  pai__json_put_word(&t->w, "first_lacks", pai_lack_name((int)c->front));
  put_text(t, "text", c->text);
  pai__json_put_int(&t->w, "time", c->time);
  if (c->wanted != 0) {
    put_amount(t, "wanted", c->of, c->wanted);
    put_amount(t, "found", c->of, c->found);
  }
  if (c->lack == PAI_LACK_GANG) {
    pai__json_put_int(&t->w, "placed", c->placed);
    pai__json_put_int(&t->w, "tasks", c->tasks);
  }
  if (c->held != 0)
    pai__json_put_int(&t->w, c->cpus ? "cpus_held" : "gpus_held", c->held);
  if (c->all != 0)
    pai__json_put_int(&t->w, c->cpus ? "cpus" : "gpus", c->all);
  if (n != 0) {
    pai__json_put_int(&t->w, "blockers_in_all", c->nblockers);
    pai__json_put_array(&t->w, "blockers");
    for (uint32_t i = 0; i < n; i++)
      put_blocker(t, &c->blockers[i]);
    pai__json_end_array(&t->w);
  }
  pai__json_end_object(&t->w);
}

static void put_episode(telling *t, const pai__episode *e)
{
  pai__json_begin_object(&t->w);
  pai__json_put_int(&t->w, "from", e->from);
  pai__json_put_int(&t->w, "to", e->to);
  pai__json_put_array(&t->w, "causes");
  for (uint32_t i = 0; i < e->ncauses; i++)
    put_cause(t, &e->causes[i]);
  pai__json_end_array(&t->w);
  pai__json_end_object(&t->w);
}

/* --- events -------------------------------------------------------------- */

static void put_mark(telling *t, const pai__mark *m)
{
  static const char *const kinds[] = {
    [PAI__MARK_START] = "start",   [PAI__MARK_STOP] = "stop",
    [PAI__MARK_RESIZE] = "resize", [PAI__MARK_RETURN] = "return",
    [PAI__MARK_FINISH] = "finish", [PAI__MARK_CANCEL] = "cancel"
  };
  static const char *const causes[] = { "", "preempted", "cancelled",
                                        "limit" };

  pai__json_begin_object(&t->w);
  pai__json_put_int(&t->w, "time", m->time);
  pai__json_put_word(&t->w, "what", kinds[m->kind]);
  if (m->kind != PAI__MARK_CANCEL || m->instance != PAI_SCHED_ALL)
    pai__json_put_int(&t->w, "instance", m->instance);
  pai__json_put_word(&t->w, "cause", causes[m->cause]);
  if (m->by != 0)
    pai__json_put_id(&t->w, "by", m->by);
  if (m->tasks != 0)
    pai__json_put_int(&t->w, "tasks", m->tasks);
  put_text(t, "nodes", m->text);
  if (m->kind == PAI__MARK_FINISH)
    pai__json_put_int(&t->w, "code", m->code);
  pai__json_end_object(&t->w);
}

static void put_other(telling *t)
{
  const pai__timeline *st = t->st;
  const pai__other *o = &st->other;

  if (!o->asked)
    return;
  pai__json_put_object(&t->w, "other");
  pai__json_put_word(&t->w, "policy", st->o.policy);
  if (o->begun)
    pai__json_put_int(&t->w, "started", o->started);
  if (o->begun && st->begun)
    pai__json_put_int(&t->w, "earlier",
                      st->first >= o->started
                        ? pai__span(o->started, st->first)
                        : -pai__span(st->first, o->started));
  if (!o->begun) {
    pai__json_put_int(&t->w, "until", o->end);
    pai__json_put_word(&t->w, "lack", pai_lack_name((int)o->lack));
    pai__json_put_bool(&t->w, "given_up", o->given_up);
  }
  pai__json_put_int(&t->w, "skipped", (int64_t)o->skipped);
  pai__json_end_object(&t->w);
}

/* --- entry point --------------------------------------------------------- */

static void put_request(telling *t)
{
  const pai__timeline *st = t->st;

  pai__json_put_id(&t->w, "id", st->id);
  put_text(t, "name", st->name);
  put_text(t, "user", st->user);
  put_text(t, "vc", st->vc);
  put_text(t, "type", st->type);
  pai__json_put_int(&t->w, "instances", st->instances);
  pai__json_put_int(&t->w, "tasks", (int64_t)st->tasks);
  pai__json_put_int(&t->w, "gpus", (int64_t)st->gpus);
  pai__json_put_int(&t->w, "submitted", st->submitted);
  if (st->begun)
    pai__json_put_int(&t->w, "started", st->first);
  pai__json_put_int(&t->w, st->gone ? "ended" : "until", st->end);
  pai__json_put_word(&t->w, "state",
                     st->gone      ? "done"
                     : st->waiting ? "waiting"
                                   : "running");
  pai__json_put_bool(&t->w, "before_log", st->before);
  pai__json_put_int(&t->w, "waited", st->waited);
}

int pai__timeline_json(const pai__timeline *st, pai__buf *out)
{
  telling t = { .st = st };
  int rc;

  pai__json_writer_init(&t.w, out, false);
  pai__json_begin_object(&t.w);
  put_request(&t);
  pai__json_put_array(&t.w, "waits");
  for (uint32_t i = 0; i < st->episodes.len; i++)
    put_episode(&t, (const pai__episode *)st->episodes.data + i);
  pai__json_end_array(&t.w);
  pai__json_put_array(&t.w, "marks");
  for (uint32_t i = 0; i < st->marks.len; i++)
    put_mark(&t, (const pai__mark *)st->marks.data + i);
  pai__json_end_array(&t.w);
  put_other(&t);
  pai__json_end_object(&t.w);
  rc = pai__json_finish(&t.w);
  pai__buf_char(out, '\n');
  return rc < 0 || !pai__buf_ok(out) ? PAI_ENOMEM : PAI_OK;
}
