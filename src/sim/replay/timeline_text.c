/* timeline_text.c - writes the timeline of a request as text */
#include "sim/replay/timeline.h"

#include "base/text/utf8.h"
#include "job/end/exit.h"
#include "sim/report/format.h"

#include <inttypes.h>
#include <limits.h>

typedef struct telling {
  const pai__timeline *st;
  pai__buf *out;
} telling;

/* --- text ---------------------------------------------------------------- */

static void say(const telling *t, const char *fmt, ...) PAI__PRINTF(2, 3);

static void say(const telling *t, const char *fmt, ...)
{
  va_list ap;

  va_start(ap, fmt);
  pai__buf_vprintf(t->out, fmt, ap);
  va_end(ap);
}

static const char *text_of(const telling *t, uint32_t text)
{
  return pai__texts_text(&t->st->texts, text);
}

/* Writes a user's text on one line, with "?" for control characters. */
static void say_foreign(const telling *t, const char *text)
{
  size_t at = t->out->len;

  pai__buf_str(t->out, text);
  if (pai__buf_ok(t->out) && t->out->len > at)
    pai__defuse(t->out->data + at);
}

/* Writes the two largest units: "3 h 35 min". */
static void say_length(const telling *t, pai_time length)
{
  char text[PAI__CELL];

  say(t, "%s", pai__show_time(text, length));
}

static void say_time(const telling *t, pai_time time)
{
  char when[PAI_REPLAY_TIME];

  say(t, "%s", pai__replay_show(t->st->dated, time, when));
}

/* --- blockers ------------------------------------------------------------ */

static const char *devices(const pai__cause *c, uint64_t n)
{
  return c->cpus ? (n == 1 ? "CPU" : "CPUs") : (n == 1 ? "GPU" : "GPUs");
}

static void say_blocker(const telling *t, const pai__cause *c,
                        const pai__blocker *b)
{
  const char *name = text_of(t, b->name);

  say(t, "%" PRIu64, b->id);
  if (name == NULL && b->most == 0)
    return;
  say(t, " (");
  if (name != NULL)
    say_foreign(t, name);
  if (b->most != 0)
    say(t, "%s%u %s", name != NULL ? ", " : "", b->most, devices(c, b->most));
  say(t, ")");
}

static void say_blockers(const telling *t, const pai__cause *c)
{
  uint32_t n = c->nblockers < PAI__BLOCKERS ? c->nblockers : PAI__BLOCKERS;
  uint32_t more = c->nblockers - n;

  say(t, "%s ", c->nblockers == 1 ? "request" : "requests");
  for (uint32_t i = 0; i < n; i++) {
    if (i != 0)
      say(t, "%s", i + 1 == n && more == 0 && !c->others ? " and " : ", ");
    say_blocker(t, c, &c->blockers[i]);
  }
  if (c->others)
    say(t, " and others");
  else if (more != 0)
    say(t, " and %u more", more);
}

static void say_holders(const telling *t, const pai__cause *c)
{
  const char *type = text_of(t, t->st->kind);
  bool named = c->lack != PAI_LACK_TURN && c->nblockers != 0;

  if (c->held == 0)
    return;
  say(t, "; ");
  if (named) {
    say_blockers(t, c);
    say(t, " held ");
  }
  say(t, "%u", c->held);
  if (c->all != 0)
    say(t, " of the %u", c->all);
  if (type != NULL && !c->cpus) {
    say(t, " ");
    say_foreign(t, type);
  }
  say(t, " %s", devices(c, c->all != 0 ? c->all : c->held));
  if (!named)
    say(t, c->held == 1 ? " was in use" : " were in use");
}

/* --- causes -------------------------------------------------------------- */

static void say_amount(const telling *t, const pai__cause *c)
{
  const char *things = pai__lack_things(c->of);
  size_t len = strlen(things);
  char n[PAI__MILLI_TEXT];

  if (len == 0 || c->wanted == 0) {
    say(t, "no node had enough free capacity");
    return;
  }
  (void)pai__lack_amount(n, c->of, c->wanted);
  if (strcmp(n, "1") == 0 && things[len - 1] == 's')
    len--;
  say(t, "no node had %s %.*s free", n, (int)len, things);
}

static void say_quota(const telling *t, const pai__cause *c)
{
  const char *text = text_of(t, c->text), *vc = text_of(t, t->st->vc);
  const char *things = pai__lack_things(c->of);
  char wanted[PAI__MILLI_TEXT], found[PAI__MILLI_TEXT];

  (void)pai__lack_amount(wanted, c->of, c->wanted);
  (void)pai__lack_amount(found, c->of, c->found);
  if (text != NULL) {
    say_foreign(t, text);
    say(t, ": it needed %s, available: %s", wanted, found);
    return;
  }
  say(t, "quota of virtual cluster '");
  say_foreign(t, vc != NULL ? vc : "default");
  say(t, "': it needed %s %s, available: %s", wanted,
      *things != '\0' ? things : "GPUs", found);
}

static void say_behind(const telling *t, const pai__cause *c, const char *what,
                       const char *nobody)
{
  if (c->nblockers == 0) {
    say(t, "%s", nobody);
    return;
  }
  say(t, "%s ", what);
  say_blockers(t, c);
}

static void say_text(const telling *t, const pai__cause *c, const char *usual)
{
  const char *text = text_of(t, c->text);

  if (text != NULL)
    say_foreign(t, text);
  else
    say(t, "%s", usual);
}

/* Texts of lacks without details. */
static const char *const lacks[] = {
  [PAI_LACK_NOTHING] = "the scheduler had not considered it yet",
  [PAI_LACK_RELEASE] = "it was held",
  [PAI_LACK_STOPPED] = "its virtual cluster was stopped",
  [PAI_LACK_THROTTLE] = "the limit of its running instances was reached",
  [PAI_LACK_TYPE] = "no node had GPUs of this type",
  [PAI_LACK_HEALTH] = "all suitable nodes were drained or sick",
  [PAI_LACK_PIN] = "its pinned cells did not have enough free capacity",
  [PAI_LACK_RESERVATION] = "all suitable nodes were reserved for others",
  [PAI_LACK_TOPOLOGY] =
    "enough was free, but not within the topology that it needs",
  [PAI_LACK_VICTIMS] = "the jobs that make room for it had not stopped yet",
  [PAI_LACK_LATER] = "it would have delayed jobs that were planned before it",
};

static void say_cause(const telling *t, const pai__cause *c)
{
  switch (c->lack) {
  case PAI_LACK_AFTER:
    say_behind(t, c, "it depended on", "it depended on other requests");
    break;
  case PAI_LACK_TURN:
    say_behind(t, c, "it was not its turn, behind", "it was not its turn");
    if (c->front != 0)
      say(t, "; the first in the queue lacked %s",
          pai_lack_name((int)c->front));
    break;
  case PAI_LACK_QUOTA: say_quota(t, c); break;
  case PAI_LACK_GANG:
    say(t, "only %u of its %u tasks had a place", c->placed, c->tasks);
    break;
  case PAI_LACK_PREEMPTION:
    say_text(t, c, "the running jobs had the same or a higher priority");
    break;
  case PAI_LACK_POLICY: say_text(t, c, "the policy refused it"); break;
  default:
    if (c->lack < PAI__LEN(lacks) && lacks[c->lack] != NULL)
      say(t, "%s", lacks[c->lack]);
    else
      say_amount(t, c);
    break;
  }
  say_holders(t, c);
}

/* --- events -------------------------------------------------------------- */

static void say_episode(const telling *t, const pai__episode *e)
{
  say_time(t, e->from);
  say(t, "  ");
  say_length(t, pai__span(e->from, e->to));
  if (e->ncauses == 1) {
    say(t, ": ");
    say_cause(t, &e->causes[0]);
    say(t, "\n");
    return;
  }
  say(t, ", alternating:\n");
  for (uint32_t i = 0; i < e->ncauses; i++) {
    say(t, "%23s", "");
    say_length(t, e->causes[i].time);
    say(t, ": ");
    say_cause(t, &e->causes[i]);
    say(t, "\n");
  }
}

static void say_stop(const telling *t, const pai__mark *m)
{
  static const char *const causes[] = { "", ": it was preempted",
                                        ": it was cancelled",
                                        ": its limit was reached" };

  say(t, "a stop was requested%s", causes[m->cause]);
  if (m->by != 0)
    say(t, " for request %" PRIu64, m->by);
}

/* Codes below 0 are completion codes of the platform, which have texts. */
static void say_finish(const telling *t, int64_t code)
{
  const pai__exit *e =
    code < 0 && code >= INT_MIN ? pai__exit_find((int)code) : NULL;

  if (code == 0)
    say(t, "it succeeded");
  else
    say(t, "it finished with code %" PRId64, code);
  if (e != NULL && e->code == code)
    say(t, ": %s", e->phrase);
}

static void say_mark(const telling *t, const pai__mark *m)
{
  say_time(t, m->time);
  say(t, "  ");
  if (t->st->instances > 1 && m->kind != PAI__MARK_CANCEL)
    say(t, "instance %u: ", m->instance);
  switch (m->kind) {
  case PAI__MARK_START:
    say(t, "it started on ");
    say_foreign(t, text_of(t, m->text) != NULL ? text_of(t, m->text) : "");
    break;
  case PAI__MARK_STOP: say_stop(t, m); break;
  case PAI__MARK_RESIZE:
    say(t, "its number of tasks changed to %u", m->tasks);
    break;
  case PAI__MARK_RETURN: say(t, "it left its nodes and waited again"); break;
  case PAI__MARK_FINISH: say_finish(t, m->code); break;
  default: say(t, "it was cancelled"); break;
  }
  say(t, "\n");
}

/* Writes episodes and events in order of time; at the same time the events
 * first. */
static void say_all(const telling *t)
{
  const pai__episode *episodes = t->st->episodes.data;
  const pai__mark *marks = t->st->marks.data;
  uint32_t i = 0, k = 0;

  while (i < t->st->episodes.len || k < t->st->marks.len)
    if (k < t->st->marks.len &&
        (i == t->st->episodes.len || marks[k].time <= episodes[i].from))
      say_mark(t, &marks[k++]);
    else
      say_episode(t, &episodes[i++]);
}

/* --- head and end -------------------------------------------------------- */

static void say_request(const telling *t)
{
  const pai__timeline *st = t->st;
  const char *type = text_of(t, st->type);

  if (text_of(t, st->name) != NULL) {
    say_foreign(t, text_of(t, st->name));
    say(t, " (request %" PRIu64 ")", st->id);
  } else {
    say(t, "Request %" PRIu64, st->id);
  }
  if (text_of(t, st->user) != NULL) {
    say(t, " of ");
    say_foreign(t, text_of(t, st->user));
  }
  if (text_of(t, st->vc) != NULL) {
    say(t, " in virtual cluster '");
    say_foreign(t, text_of(t, st->vc));
    say(t, "'");
  }
  say(t, ": ");
  if (st->instances > 1)
    say(t, "%u instances of ", st->instances);
  say(t, "%" PRIu64 " task%s", st->tasks, st->tasks == 1 ? "" : "s");
  if (st->gpus != 0) {
    say(t, ", %" PRIu64, st->gpus);
    if (type != NULL) {
      say(t, " ");
      say_foreign(t, type);
    }
    say(t, " GPU%s", st->gpus == 1 ? "" : "s");
  }
  say(t, ".\n\n");
  say_time(t, st->submitted);
  say(t, "  it was submitted%s\n",
      !st->before ? ""
      : st->ran   ? ", and ran when the log begins"
                  : ", before the log begins");
}

static void say_end(const telling *t)
{
  const pai__timeline *st = t->st;

  if (!st->gone) {
    say_time(t, st->end);
    say(t, "  the log ends, and it %s\n",
        st->waiting ? "still waits" : "still runs");
  }
  say(t, "\nIt waited ");
  say_length(t, st->waited);
  say(t, " in total.\n");
}

static void say_other(const telling *t)
{
  const pai__timeline *st = t->st;
  const pai__other *o = &st->other;

  if (!o->asked)
    return;
  say(t, "Under %s it would ", st->o.policy);
  if (!o->begun) {
    say(t, "not have started by ");
    say_time(t, o->end);
    if (o->lack != 0)
      say(t, ": it lacks %s", pai_lack_name((int)o->lack));
    say(t,
        o->given_up
          ? "; later events were not simulated, as too many requests wait.\n"
          : ".\n");
    return;
  }
  say(t, "have started at ");
  say_time(t, o->started);
  if (!st->begun) {
    say(t, "; in the log it has not started.\n");
  } else if (o->started == st->first) {
    say(t, ", the same time as in the log.\n");
  } else {
    bool earlier = o->started < st->first;

    say(t, ", ");
    say_length(t, earlier ? pai__span(o->started, st->first)
                          : pai__span(st->first, o->started));
    say(t, " %s.\n", earlier ? "earlier" : "later");
  }
}

int pai__timeline_text(const pai__timeline *st, pai__buf *out)
{
  telling t = { st, out };

  say_request(&t);
  say_all(&t);
  say_end(&t);
  say_other(&t);
  return pai__buf_ok(out) ? PAI_OK : PAI_ENOMEM;
}
