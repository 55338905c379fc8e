/*
 * timeline.c - timeline of a request: follows the log from its submission on
 *
 * After each line, the reason of the wait is looked up; timeline_waits.c sums
 * it up.
 */
#include "sim/replay/timeline.h"
#include "sim/report/format.h"

#include <inttypes.h>

#define HOUR INT64_C(3600000000)

enum {
  LOOKS = 12,  /* lookups of the blockers in a window */
  PLACES = 8,  /* nodes of a start that are named */
  MARKS = 1000 /* most marks of a timeline */
};

/* --- marks --------------------------------------------------------------- */

static int add_mark(pai__timeline *st, const pai__mark *mark)
{
  if (st->marks.len >= MARKS)
    return PAI_OK;
  if (pai__flat_reserve(&st->marks, st->alloc, 1) < 0)
    return PAI_ENOMEM;
  ((pai__mark *)st->marks.data)[pai__flat_push(&st->marks, 1)] = *mark;
  return PAI_OK;
}

/* Adds a list of the nodes, as "a, b and 2 more", to the timeline's texts. */
static int name_places(pai__timeline *st, const pai_sched *s,
                       const pai_decision *d, uint32_t *text)
{
  pai_task_place p = { .struct_size = sizeof(p) };
  pai_sched_node_view node = { .struct_size = sizeof(node) };
  uint32_t last = PAI__NONE, n = 0;
  pai__buf b;
  int rc;

  pai__buf_init(&b, st->alloc);
  for (uint32_t i = 0; pai_sched_task(s, d->id, d->instance, i, &p) == PAI_OK;
       i++) {
    if (p.node == last)
      continue;
    last = p.node;
    if (n++ >= PLACES)
      continue;
    (void)pai_sched_view_node(s, p.node, &node);
    pai__buf_printf(&b, "%s%s", n != 1 ? ", " : "", node.name);
  }
  if (n > PLACES)
    pai__buf_printf(&b, " and %u more", n - PLACES);
  rc = pai__buf_ok(&b)
         ? pai__texts_add(&st->texts, st->alloc, pai__buf_text(&b), text)
         : PAI_ENOMEM;
  pai__buf_dispose(&b);
  return rc;
}

static int on_decision(pai__timeline *st, const pai_sched *s, pai_time now,
                       const pai_decision *d)
{
  static const int kinds[] = { [PAI_DECISION_START] = PAI__MARK_START,
                               [PAI_DECISION_STOP] = PAI__MARK_STOP,
                               [PAI_DECISION_GROW] = PAI__MARK_RESIZE,
                               [PAI_DECISION_SHRINK] = PAI__MARK_RESIZE };
  pai__mark mark = { .time = now,
                     .kind = kinds[d->kind],
                     .cause = d->cause,
                     .instance = d->instance,
                     .tasks = d->tasks,
                     .by = d->by,
                     .text = PAI__NONE };

  if (mark.kind == PAI__MARK_START) {
    if (!st->begun)
      st->first = now;
    st->begun = true;
    if (name_places(st, s, d, &mark.text) < 0)
      return PAI_ENOMEM;
  }
  return add_mark(st, &mark);
}

static int on_event(pai__timeline *st, const pai__line_event *e)
{
  pai__mark mark = { .time = e->time,
                     .instance = e->instance,
                     .code = e->code,
                     .text = PAI__NONE };

  switch (e->kind) {
  case PAI_SCHED_FINISHED: mark.kind = PAI__MARK_FINISH; break;
  case PAI_SCHED_RETURNED: mark.kind = PAI__MARK_RETURN; break;
  case PAI_SCHED_CANCEL: mark.kind = PAI__MARK_CANCEL; break;
  default: return PAI_OK;
  }
  return add_mark(st, &mark);
}

/* --- following ----------------------------------------------------------- */

/* Looks up the reason if it has changed, and from time to time. */
static int look(pai__waits *f, const pai_sched *s, pai_time now)
{
  pai__timeline *st = f->st;
  pai_reason r = { .struct_size = sizeof(r) };
  const char *text = NULL;
  bool waits = pai_sched_reason(s, st->id, &r) == PAI_OK;
  int rc;

  if (f->waits && f->now.cause.text != PAI__NONE)
    text = pai__texts_text(&st->texts, f->now.cause.text);
  if (waits && f->waits && (uint32_t)r.lack == f->now.cause.lack &&
      (uint32_t)r.of == f->now.cause.of &&
      (r.text == NULL) == (text == NULL) &&
      (text == NULL || strcmp(r.text, text) == 0) && r.lack != PAI_LACK_TURN &&
      pai__span(f->looked, now) < st->o.grain / LOOKS)
    return PAI_OK;
  pai__blame_dispose(&f->now, st->alloc);
  pai__blame_init(&f->now);
  f->waits = waits;
  f->looked = now;
  rc = waits ? pai__blame_find(&f->now, st, s) : PAI_OK;
  return rc < 0 ? PAI_ENOMEM : PAI_OK;
}

static int on_line(pai__waits *f, pai_error **err)
{
  pai__timeline *st = f->st;
  const pai_sched *s = st->r->s;
  pai_sched_view view = { .struct_size = sizeof(view) };
  pai_decision d = { .struct_size = sizeof(d) };
  pai__request_info known;
  pai__line_text line;
  pai__line_event e = { 0 };
  int rc;

  (void)pai_sched_view_sums(s, &view);
  rc = pai__waits_count(f, view.now);
  if (rc < 0)
    return pai__oom(err);
  rc = pai__lines_next(&st->r->lines, st->r->taken, &line, err);
  if (rc == 1 && line.len != 0)
    rc = pai__line_event_read(&e, &line, st->alloc, err);
  if (rc < 0)
    return rc;
  rc = e.id == st->id ? on_event(st, &e) : PAI_OK;
  for (size_t i = 0; i < st->r->decisions && rc == PAI_OK; i++)
    if (pai_sched_decision(s, i, &d) == PAI_OK && d.id == st->id)
      rc = on_decision(st, s, view.now, &d);
  if (rc == PAI_OK)
    rc = look(f, s, view.now);
  st->end = view.now;
  st->gone = !pai__inspect_request(s, st->id, &known);
  return rc < 0 ? pai__oom(err) : PAI_OK;
}

static int follow(pai__timeline *st, pai_error **err)
{
  pai__waits f;
  int rc, oom;

  pai__waits_begin(&f, st);
  rc = look(&f, st->r->s, st->end) < 0 ? pai__oom(err) : 1;
  while (rc == 1 && !st->gone) {
    rc = pai_replay_step_until(st->r, INT64_MAX, err);
    if (rc == 1) {
      rc = on_line(&f, err);
      rc = rc < 0 ? rc : 1;
    }
  }
  st->waiting = f.waits;
  oom = pai__waits_end(&f);
  return rc < 0 ? rc : oom < 0 ? pai__oom(err) : PAI_OK;
}

/* --- beginning ----------------------------------------------------------- */

static int find_submission(pai__timeline *st, bool *found, pai_error **err)
{
  pai__line_text line = { .next = 0 };
  pai__line_event e = { 0 };
  int rc;

  *found = false;
  do {
    rc = pai__lines_get(&st->r->lines, line.next, &line, err);
    if (rc == 0 || (rc == 1 && line.at > st->r->last))
      return PAI_OK;
    if (rc == 1) {
      int read = pai__line_event_read(&e, &line, st->alloc, err);

      if (read < 0)
        return pai__replay_blame(st->r, line.at, read, err);
    }
    *found = rc == 1 && e.kind == PAI_SCHED_SUBMIT && e.id == st->id;
  } while (rc == 1 && !*found);
  st->place = line.at;
  return rc < 0 ? rc : PAI_OK;
}

static int is_missing(const pai__timeline *st, pai_error **err)
{
  char begin[PAI_REPLAY_TIME], end[PAI_REPLAY_TIME];
  int rc = pai__fail(err, PAI_ENOTFOUND,
                     "there is no request %" PRIu64 " in this log", st->id);

  pai__error_help(err, "the log covers %s to %s",
                  pai__replay_show(st->dated, st->r->begin, begin),
                  pai__replay_show(st->dated, st->r->end, end));
  return rc;
}

static int note_text(pai__timeline *st, const char *text, uint32_t *out,
                     pai_error **err)
{
  return pai__texts_add(&st->texts, st->alloc, text, out) < 0 ? pai__oom(err)
                                                              : PAI_OK;
}

/* Returns the kind of GPU that the request can use; NULL for "gpu", the name
 * of GPUs without a kind. */
static const char *kind_of(const pai_sched *s, const char *type)
{
  const pai__sched_cluster *cluster = pai__sched_cluster_of(s);

  if (type == NULL && cluster->nkinds == 1)
    type = cluster->kinds[0];
  return type != NULL && strcmp(type, "gpu") != 0 ? type : NULL;
}

/* Reads the request once the scheduler has it. */
static int introduce(pai__timeline *st, pai_error **err)
{
  pai_request_view v = { .struct_size = sizeof(v) };
  pai_want want = { .struct_size = sizeof(want) };
  pai_sched_view sums = { .struct_size = sizeof(sums) };
  const pai_sched *s = st->r->s;
  uint32_t instance = PAI_SCHED_ALL;
  int rc;

  if (pai_sched_view_request(s, st->id, &v) < 0)
    return is_missing(st, err);
  (void)pai_sched_view_sums(s, &sums);
  st->submitted = v.submitted;
  st->instances = v.instances;
  st->end = sums.now;
  for (uint32_t i = 0; i < v.wants; i++)
    if (pai_sched_view_want(s, st->id, i, &want) == PAI_OK) {
      st->tasks += want.tasks;
      st->gpus += (uint64_t)want.tasks * want.gpus;
    }
  (void)pai_sched_view_want(s, st->id, 0, &want);
  st->ran = pai_sched_next_running(s, st->id, &instance, &st->first) == PAI_OK;
  st->begun = st->ran;
  rc = note_text(st, want.type, &st->type, err);
  if (rc == PAI_OK)
    rc = note_text(st, kind_of(s, want.type), &st->kind, err);
  if (rc == PAI_OK)
    rc = note_text(st, v.name, &st->name, err);
  if (rc == PAI_OK)
    rc = note_text(st, v.user, &st->user, err);
  if (rc == PAI_OK)
    rc = note_text(st, v.vc, &st->vc, err);
  return rc;
}

static int begin(pai__timeline *st, pai_error **err)
{
  pai_time from, to;
  bool found;
  int rc = pai_replay_range(st->r, &from, &to, err);

  if (rc < 0)
    return rc;
  st->dated = st->r->dated;
  rc = find_submission(st, &found, err);
  if (rc == PAI_OK && !found) {
    st->before = true;
    rc = pai__lines_behind(&st->r->lines, 0, &st->place, err);
  }
  if (rc == PAI_OK)
    rc = pai__replay_seek(st->r, st->place, err);
  if (rc == PAI_OK && found)
    rc = pai_replay_step(st->r, err);
  return rc < 0 ? rc : introduce(st, err);
}

/* --- entry point --------------------------------------------------------- */

static int tell(const pai__timeline *st, int format, pai_write_cb write,
                void *user_data, pai_error **err)
{
  pai__buf out;
  int rc;

  pai__buf_init(&out, st->alloc);
  rc = format == PAI_FORMAT_JSON ? pai__timeline_json(st, &out)
                                 : pai__timeline_text(st, &out);
  return pai__text_write(&out, rc, write, user_data, err);
}

static int set_options(pai_story_options *o, const pai_story_options *opts,
                       int format, pai_error **err)
{
  if (opts != NULL && PAI__OPTIONS_IN(o, opts, pai_story_options, grain) < 0)
    return pai__fail_struct(err, PAI_EINVAL, opts, "pai_story_options");
  if (format != 0 && format != PAI_FORMAT_TEXT && format != PAI_FORMAT_JSON)
    return pai__fail(err, PAI_EINVAL, "the format must be text or JSON");
  if (o->grain <= 0)
    o->grain = HOUR;
  return PAI_OK;
}

int pai_replay_story(pai_replay *r, uint64_t id, const pai_story_options *opts,
                     int format, pai_write_cb write, void *user_data,
                     pai_error **err)
{
  pai__timeline *st;
  pai_story_options o = { 0 };
  bool coarse;
  int rc;

  PAI__CHECK_ARG_ERR(r != NULL && write != NULL, err);
  rc = set_options(&o, opts, format, err);
  if (rc < 0)
    return rc;
  coarse = opts == NULL || opts->grain <= 0; /* checked by set_options() */
  st = pai__zalloc(&r->alloc, sizeof(*st));
  if (st == NULL)
    return pai__oom(err);
  *st = (pai__timeline){ .r = r, .alloc = &r->alloc, .o = o, .id = id };
  pai__texts_init(&st->texts);
  pai__flat_init(&st->episodes, sizeof(pai__episode));
  pai__flat_init(&st->marks, sizeof(pai__mark));
  rc = begin(st, err);
  if (rc == PAI_OK)
    rc = follow(st, err);
  if (rc == PAI_OK && o.policy != NULL && !st->ran)
    rc = pai__timeline_other(st, err);
  if (format != PAI_FORMAT_JSON && coarse)
    pai__waits_coarsen(st);
  if (rc == PAI_OK)
    rc = tell(st, format, write, user_data, err);
  pai__texts_dispose(&st->texts, st->alloc);
  pai__flat_dispose(&st->episodes, st->alloc);
  pai__flat_dispose(&st->marks, st->alloc);
  pai__free(&r->alloc, st, sizeof(*st));
  return rc;
}
