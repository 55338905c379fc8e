/* story_json.c - how a request waited, for programs */
#include "sim/story.h"

#include "json/writer.h"
#include "sched/form.h"

typedef struct telling {
  const pai__story *st;
  pai__json_writer w;
} telling;

static void put_number(telling *t, const char *key, int64_t n)
{
  pai__form_put_key(&t->w, key);
  pai__json_int(&t->w, n);
}

static void put_id(telling *t, const char *key, uint64_t id)
{
  pai__form_put_key(&t->w, key);
  pai__form_put_id(&t->w, id);
}

static void put_flag(telling *t, const char *key, bool v)
{
  pai__form_put_key(&t->w, key);
  pai__json_bool(&t->w, v);
}

static void put_word(telling *t, const char *key, const char *text)
{
  if (text == NULL || text[0] == '\0')
    return;
  pai__form_put_key(&t->w, key);
  pai__form_put_text(&t->w, text);
}

static void put_text(telling *t, const char *key, uint32_t text)
{
  put_word(t, key, pai__texts_text(&t->st->texts, text));
}

static void put_list(telling *t, const char *key)
{
  pai__form_put_key(&t->w, key);
  pai__json_begin_array(&t->w);
}

/* --- why ------------------------------------------------------------------ */

static void put_blocker(telling *t, const pai__blocker *b)
{
  pai__json_begin_object(&t->w);
  put_id(t, "id", b->id);
  put_text(t, "name", b->name);
  if (b->most != 0)
    put_number(t, "most", b->most);
  pai__json_end_object(&t->w);
}

static void put_cause(telling *t, const pai__cause *c)
{
  uint32_t n = c->nblockers < PAI__BLOCKERS ? c->nblockers : PAI__BLOCKERS;

  pai__json_begin_object(&t->w);
  put_word(t, "lack", pai_lack_name((int)c->lack));
  if (c->of != c->lack)
    put_word(t, "of", pai_lack_name((int)c->of));
  put_word(t, "first_lacks", pai_lack_name((int)c->front));
  put_text(t, "text", c->text);
  put_number(t, "time", c->time);
  if (c->wanted != 0) {
    put_id(t, "wanted", c->wanted);
    put_id(t, "found", c->found);
  }
  if (c->lack == PAI_LACK_GANG) {
    put_number(t, "placed", c->placed);
    put_number(t, "tasks", c->tasks);
  }
  if (c->held != 0)
    put_number(t, c->cpus ? "cpus_held" : "gpus_held", c->held);
  if (c->all != 0)
    put_number(t, c->cpus ? "cpus" : "gpus", c->all);
  if (n != 0) {
    put_number(t, "blockers_in_all", c->nblockers);
    put_list(t, "blockers");
    for (uint32_t i = 0; i < n; i++)
      put_blocker(t, &c->blockers[i]);
    pai__json_end_array(&t->w);
  }
  pai__json_end_object(&t->w);
}

static void put_episode(telling *t, const pai__episode *e)
{
  pai__json_begin_object(&t->w);
  put_number(t, "from", e->from);
  put_number(t, "to", e->to);
  put_list(t, "causes");
  for (uint32_t i = 0; i < e->ncauses; i++)
    put_cause(t, &e->causes[i]);
  pai__json_end_array(&t->w);
  pai__json_end_object(&t->w);
}

/* --- what happened -------------------------------------------------------- */

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
  put_number(t, "time", m->time);
  put_word(t, "what", kinds[m->kind]);
  if (m->kind != PAI__MARK_CANCEL || m->instance != PAI_SCHED_ALL)
    put_number(t, "instance", m->instance);
  put_word(t, "cause", causes[m->cause]);
  if (m->by != 0)
    put_id(t, "by", m->by);
  if (m->tasks != 0)
    put_number(t, "tasks", m->tasks);
  put_text(t, "nodes", m->text);
  if (m->kind == PAI__MARK_FINISH)
    put_number(t, "code", m->code);
  pai__json_end_object(&t->w);
}

static void put_other(telling *t)
{
  const pai__story *st = t->st;
  const pai__other *o = &st->other;

  if (!o->asked)
    return;
  pai__form_put_key(&t->w, "other");
  pai__json_begin_object(&t->w);
  put_word(t, "policy", st->o.policy);
  if (o->begun)
    put_number(t, "started", o->started);
  if (o->begun && st->begun)
    put_number(t, "earlier",
               st->first >= o->started ? pai__span(o->started, st->first)
                                       : -pai__span(st->first, o->started));
  if (!o->begun) {
    put_number(t, "until", o->end);
    put_word(t, "lack", pai_lack_name((int)o->lack));
    put_flag(t, "given_up", o->given_up);
  }
  put_number(t, "skipped", (int64_t)o->skipped);
  pai__json_end_object(&t->w);
}

/* --- the whole ------------------------------------------------------------ */

static void put_request(telling *t)
{
  const pai__story *st = t->st;

  put_id(t, "id", st->id);
  put_text(t, "name", st->name);
  put_text(t, "user", st->user);
  put_text(t, "vc", st->vc);
  put_text(t, "type", st->type);
  put_number(t, "instances", st->instances);
  put_number(t, "tasks", (int64_t)st->tasks);
  put_number(t, "gpus", (int64_t)st->gpus);
  put_number(t, "submitted", st->submitted);
  if (st->begun)
    put_number(t, "started", st->first);
  put_number(t, st->gone ? "ended" : "until", st->end);
  put_word(t, "state",
           st->gone      ? "done"
           : st->waiting ? "waiting"
                         : "running");
  put_flag(t, "before_log", st->before);
  put_number(t, "waited", st->waited);
}

int pai__story_json(const pai__story *st, pai__buf *out)
{
  telling t = { .st = st };
  int rc;

  pai__json_writer_init(&t.w, out, false);
  pai__json_begin_object(&t.w);
  put_request(&t);
  put_list(&t, "waits");
  for (uint32_t i = 0; i < st->episodes.len; i++)
    put_episode(&t, (const pai__episode *)st->episodes.data + i);
  pai__json_end_array(&t.w);
  put_list(&t, "marks");
  for (uint32_t i = 0; i < st->marks.len; i++)
    put_mark(&t, (const pai__mark *)st->marks.data + i);
  pai__json_end_array(&t.w);
  put_other(&t);
  pai__json_end_object(&t.w);
  rc = pai__json_finish(&t.w);
  pai__buf_char(out, '\n');
  return rc < 0 || !pai__buf_ok(out) ? PAI_ENOMEM : PAI_OK;
}
