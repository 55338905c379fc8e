/*
 * story.c - how a request waited: its log is followed from its submission on
 *
 * What it lacks is looked at after each line, and added up in windows of an
 * hour.  A window in which that changed more often than some times is told as
 * a whole; windows that tell the same become one.
 */
#include "sim/story.h"

#include "sched/queue.h"

#include <inttypes.h>
#include <stdlib.h>

#define HOUR INT64_C(3600000000)

enum {
  TOLD = 3,     /* changes of a window that are told one by one */
  LOOKS = 12,   /* of a window, at those who have what it needs */
  PLACES = 8,   /* nodes of a start that are named */
  MARKS = 1000, /* of one story */
  ROWS = 24     /* of a text, where its reader does not say how fine it is */
};

/* One reason, in the window that is open. */
typedef struct raw {
  pai_time from, to;
  pai__blame blame;
} raw;

typedef struct following {
  pai__story *st;
  pai__flat raws; /* of the window */
  pai_time until; /* where it ends */
  pai__blame now; /* what it lacks now, if it waits */
  bool waits;
  pai_time since;  /* what is before is counted */
  pai_time looked; /* at those who have what it needs */
} following;

/* --- episodes ------------------------------------------------------------- */

static pai__episode *episode_at(const pai__story *st, uint32_t i)
{
  return (pai__episode *)st->episodes.data + i;
}

static raw *raw_at(const following *f, uint32_t i)
{
  return (raw *)f->raws.data + i;
}

static bool has_blocker(const pai__cause *c, uint64_t id, uint32_t n)
{
  for (uint32_t i = 0; i < n; i++)
    if (c->blockers[i].id == id)
      return true;
  return false;
}

/* The worst of both are the same, in whatever order. */
static bool same_blockers(const pai__cause *a, const pai__cause *b)
{
  uint32_t n = a->nblockers < TOLD ? a->nblockers : TOLD;

  if (n != (b->nblockers < TOLD ? b->nblockers : TOLD))
    return false;
  for (uint32_t i = 0; i < n; i++)
    if (!has_blocker(b, a->blockers[i].id, n))
      return false;
  return true;
}

static bool goes_on(const pai__episode *a, const pai__episode *b)
{
  if (a->to != b->from || a->ncauses != b->ncauses)
    return false;
  for (uint32_t i = 0; i < a->ncauses; i++)
    if (!pai__cause_same(&a->causes[i], &b->causes[i]))
      return false;
  return a->ncauses != 1 || same_blockers(&a->causes[0], &b->causes[0]);
}

static void join(pai__cause *to, const pai__cause *more)
{
  to->time = pai__later(to->time, more->time);
  if (more->held > to->held)
    to->held = more->held;
  if (more->all > to->all)
    to->all = more->all;
  if (more->nblockers > to->nblockers)
    to->nblockers = more->nblockers;
}

static int push_episode(pai__story *st, const pai__episode *e)
{
  pai__episode *last =
    st->episodes.len != 0 ? episode_at(st, st->episodes.len - 1) : NULL;

  if (last != NULL && goes_on(last, e)) {
    last->to = e->to;
    for (uint32_t i = 0; i < e->ncauses; i++)
      join(&last->causes[i], &e->causes[i]);
    return PAI_OK;
  }
  if (pai__flat_reserve(&st->episodes, st->alloc, 1) < 0)
    return PAI_ENOMEM;
  *episode_at(st, pai__flat_push(&st->episodes, 1)) = *e;
  return PAI_OK;
}

/* --- windows -------------------------------------------------------------- */

static int by_time(const void *a, const void *b)
{
  const pai__cause *x = a, *y = b;

  if (x->time != y->time)
    return x->time > y->time ? -1 : 1;
  if (x->lack != y->lack)
    return x->lack < y->lack ? -1 : 1;
  return x->text < y->text ? -1 : x->text > y->text;
}

/* Raws of the same lack become the first of them. */
static int gather(following *f, pai__episode *e)
{
  uint32_t n = 0;

  for (uint32_t i = 0; i < f->raws.len; i++) {
    raw *from = raw_at(f, i);
    uint32_t k = 0;

    while (k < n &&
           !pai__cause_same(&raw_at(f, k)->blame.cause, &from->blame.cause))
      k++;
    if (k < n) {
      if (pai__blame_add(&raw_at(f, k)->blame, &from->blame, f->st->alloc) < 0)
        return PAI_ENOMEM;
      continue;
    }
    if (n != i) {
      raw swap = *raw_at(f, n);

      *raw_at(f, n) = *from;
      *from = swap;
    }
    n++;
  }
  for (uint32_t i = 0; i < n; i++) {
    pai__blame_rank(&raw_at(f, i)->blame);
    if (i < PAI__CAUSES)
      e->causes[e->ncauses++] = raw_at(f, i)->blame.cause;
  }
  qsort(e->causes, e->ncauses, sizeof(e->causes[0]), by_time);
  return PAI_OK;
}

static int close_window(following *f)
{
  pai__episode e = { 0 };
  uint32_t n = f->raws.len;
  int rc = PAI_OK;

  if (n > TOLD) {
    e.from = raw_at(f, 0)->from;
    e.to = raw_at(f, n - 1)->to;
    rc = gather(f, &e);
    if (rc == PAI_OK)
      rc = push_episode(f->st, &e);
  }
  for (uint32_t i = 0; i < n && n <= TOLD && rc == PAI_OK; i++) {
    pai__blame_rank(&raw_at(f, i)->blame);
    e = (pai__episode){ .from = raw_at(f, i)->from,
                        .to = raw_at(f, i)->to,
                        .ncauses = 1,
                        .causes = { raw_at(f, i)->blame.cause } };
    rc = push_episode(f->st, &e);
  }
  for (uint32_t i = 0; i < n; i++)
    pai__blame_dispose(&raw_at(f, i)->blame, f->st->alloc);
  f->raws.len = 0;
  return rc;
}

/* It lacked what it lacks from `since` to `to`, which is in the window. */
static int add_raw(following *f, pai_time to)
{
  raw *last = f->raws.len != 0 ? raw_at(f, f->raws.len - 1) : NULL;

  pai__blame_weigh(&f->now, pai__span(f->since, to));
  if (last == NULL || last->to != f->since ||
      !pai__cause_same(&last->blame.cause, &f->now.cause)) {
    if (pai__flat_reserve(&f->raws, f->st->alloc, 1) < 0)
      return PAI_ENOMEM;
    last = raw_at(f, pai__flat_push(&f->raws, 1));
    pai__blame_init(&last->blame);
    last->from = f->since;
    last->blame.cause = f->now.cause;
    last->blame.cause.time = 0;
  }
  last->to = to;
  return pai__blame_add(&last->blame, &f->now, f->st->alloc);
}

/* Counts what was up to now. */
static int count(following *f, pai_time now)
{
  int rc = PAI_OK;

  if (f->waits)
    f->st->waited = pai__later(f->st->waited, pai__span(f->since, now));
  if (f->raws.len != 0 && f->since >= f->until)
    rc = close_window(f);
  while (f->waits && f->since < now && rc == PAI_OK) {
    pai_time left = pai__span(f->since, now), to = now;

    if (f->raws.len == 0) /* whole hours of silence are one window */
      f->until = pai__later(f->since, left > f->st->o.grain
                                        ? left - left % f->st->o.grain
                                        : f->st->o.grain);
    if (to > f->until)
      to = f->until;
    if (to > f->since)
      rc = add_raw(f, to);
    f->since = to;
    if (rc == PAI_OK && to == f->until)
      rc = close_window(f);
  }
  f->since = now;
  return rc;
}

/* --- what happens to it --------------------------------------------------- */

static int add_mark(pai__story *st, const pai__mark *mark)
{
  if (st->marks.len >= MARKS)
    return PAI_OK;
  if (pai__flat_reserve(&st->marks, st->alloc, 1) < 0)
    return PAI_ENOMEM;
  ((pai__mark *)st->marks.data)[pai__flat_push(&st->marks, 1)] = *mark;
  return PAI_OK;
}

/* "a[0-1] b[0]" as a text of the story. */
static int name_places(pai__story *st, const pai_sched *s,
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

static int on_decision(pai__story *st, const pai_sched *s, pai_time now,
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

static int on_event(pai__story *st, const pai__line_event *e)
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

/* --- following ------------------------------------------------------------ */

/* What it lacks, looked at anew if that has changed, or now and then. */
static int look(following *f, const pai_sched *s, pai_time now)
{
  pai__story *st = f->st;
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

static int on_line(following *f, pai_error **err)
{
  pai__story *st = f->st;
  const pai_sched *s = st->r->s;
  pai_sched_view view = { .struct_size = sizeof(view) };
  pai_decision d = { .struct_size = sizeof(d) };
  pai__line_text line;
  pai__line_event e = { 0 };
  int rc;

  (void)pai_sched_view_sums(s, &view);
  rc = count(f, view.now);
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
  st->gone = pai__req_find(s, st->id) == PAI__NONE;
  return rc < 0 ? pai__oom(err) : PAI_OK;
}

static int follow(pai__story *st, pai_error **err)
{
  following f = { .st = st, .since = st->end, .looked = st->end };
  int rc, oom;

  pai__flat_init(&f.raws, sizeof(raw));
  pai__blame_init(&f.now);
  rc = look(&f, st->r->s, st->end) < 0 ? pai__oom(err) : 1;
  while (rc == 1 && !st->gone) {
    rc = pai_replay_step_until(st->r, INT64_MAX, err);
    if (rc == 1) {
      rc = on_line(&f, err);
      rc = rc < 0 ? rc : 1;
    }
  }
  st->waiting = f.waits;
  oom = close_window(&f);
  pai__flat_dispose(&f.raws, st->alloc);
  pai__blame_dispose(&f.now, st->alloc);
  return rc < 0 ? rc : oom < 0 ? pai__oom(err) : PAI_OK;
}

/* --- long waits ----------------------------------------------------------- */

/* Both become the first one, if that can have all causes. */
static bool unite(pai__episode *a, const pai__episode *b)
{
  pai__episode both = *a;

  for (uint32_t i = 0; i < b->ncauses; i++) {
    uint32_t k = 0;

    while (k < both.ncauses &&
           !pai__cause_same(&both.causes[k], &b->causes[i]))
      k++;
    if (k < both.ncauses)
      pai__cause_join(&both.causes[k], &b->causes[i]);
    else if (k < PAI__CAUSES)
      both.causes[both.ncauses++] = b->causes[i];
    else
      return false;
  }
  qsort(both.causes, both.ncauses, sizeof(both.causes[0]), by_time);
  both.to = b->to;
  *a = both;
  return true;
}

/* A wait of days is not told by the hour: what lies within two hours becomes
 * one, or within four, and so on, until a page has it. */
static void coarsen(pai__story *st)
{
  pai_time span = st->o.grain;

  while (st->episodes.len > ROWS && span < INT64_MAX / 4) {
    uint32_t n = 0, len = st->episodes.len;

    span *= 2;
    for (uint32_t i = 0; i < len; i++) {
      const pai__episode *e = episode_at(st, i);
      pai__episode *last = n != 0 ? episode_at(st, n - 1) : NULL;

      if (last != NULL && last->to == e->from &&
          pai__span(last->from, e->to) <= span && unite(last, e))
        continue;
      *episode_at(st, n++) = *e;
    }
    st->episodes.len = n;
  }
}

/* --- where it begins ------------------------------------------------------ */

static int find_submission(pai__story *st, bool *found, pai_error **err)
{
  pai__line_text line = { .next = 0 };
  pai__line_event e = { 0 };
  int rc;

  *found = false;
  do {
    rc = pai__lines_get(&st->r->lines, line.next, &line, err);
    if (rc == 0 || (rc == 1 && line.at > st->r->last))
      return PAI_OK;
    if (rc == 1 && pai__line_event_read(&e, &line, st->alloc, err) < 0)
      return pai__replay_blame(st->r, line.at, PAI_EINVAL, err);
    *found = rc == 1 && e.kind == PAI_SCHED_SUBMIT && e.id == st->id;
  } while (rc == 1 && !*found);
  st->place = line.at;
  return rc < 0 ? rc : PAI_OK;
}

static int is_missing(const pai__story *st, pai_error **err)
{
  char begin[PAI_REPLAY_TIME], end[PAI_REPLAY_TIME];
  int rc = pai__fail(err, PAI_ENOTFOUND,
                     "there is no request %" PRIu64 " in this log", st->id);

  pai__error_help(err, "it goes from %s to %s",
                  pai__replay_show(st->dated, st->r->begin, begin),
                  pai__replay_show(st->dated, st->r->end, end));
  return rc;
}

static int note_text(pai__story *st, const char *text, uint32_t *out,
                     pai_error **err)
{
  return pai__texts_add(&st->texts, st->alloc, text, out) < 0 ? pai__oom(err)
                                                              : PAI_OK;
}

/* Of the GPUs that it can use; "gpu" is what those are called of which nobody
 * has said more. */
static const char *kind_of(const pai_sched *s, const char *type)
{
  if (type == NULL && s->park->nkinds == 1)
    type = s->park->kinds[0];
  return type != NULL && strcmp(type, "gpu") != 0 ? type : NULL;
}

/* What it is, as soon as it is there. */
static int introduce(pai__story *st, pai_error **err)
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

static int begin(pai__story *st, pai_error **err)
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

/* --- the call ------------------------------------------------------------- */

static int tell(const pai__story *st, int format, pai_write_cb write,
                void *user_data, pai_error **err)
{
  pai__buf out;
  int rc;

  pai__buf_init(&out, st->alloc);
  rc = format == PAI_FORMAT_JSON ? pai__story_json(st, &out)
                                 : pai__story_text(st, &out);
  rc = rc < 0 ? pai__oom(err) : write(user_data, pai__buf_text(&out), out.len);
  pai__buf_dispose(&out);
  return rc < 0 ? rc : PAI_OK;
}

static int set_options(pai_story_options *o, const pai_story_options *opts,
                       int format, pai_error **err)
{
  if (opts != NULL && PAI__COPY_IN(o, opts, pai_story_options, grain) < 0)
    return pai__fail(err, PAI_EINVAL, "the options have no struct_size");
  if (format != 0 && format != PAI_FORMAT_TEXT && format != PAI_FORMAT_JSON)
    return pai__fail(err, PAI_EINVAL, "stories are told as text or JSON");
  if (o->grain <= 0)
    o->grain = HOUR;
  return PAI_OK;
}

int pai_replay_story(pai_replay *r, uint64_t id, const pai_story_options *opts,
                     int format, pai_write_cb write, void *user_data,
                     pai_error **err)
{
  pai__story *st;
  pai_story_options o = { 0 };
  bool coarse;
  int rc;

  if (err != NULL)
    *err = NULL;
  PAI__CHECK_ARG_ERR(r != NULL && write != NULL, err);
  rc = set_options(&o, opts, format, err);
  if (rc < 0)
    return rc;
  coarse = opts == NULL || opts->grain <= 0; /* checked: it has it */
  st = pai__zalloc(&r->alloc, sizeof(*st));
  if (st == NULL)
    return pai__oom(err);
  *st = (pai__story){ .r = r, .alloc = &r->alloc, .o = o, .id = id };
  pai__texts_init(&st->texts);
  pai__flat_init(&st->episodes, sizeof(pai__episode));
  pai__flat_init(&st->marks, sizeof(pai__mark));
  rc = begin(st, err);
  if (rc == PAI_OK)
    rc = follow(st, err);
  if (rc == PAI_OK && o.policy != NULL && !st->ran)
    rc = pai__story_other(st, err);
  if (format != PAI_FORMAT_JSON && coarse)
    coarsen(st);
  if (rc == PAI_OK)
    rc = tell(st, format, write, user_data, err);
  pai__texts_dispose(&st->texts, st->alloc);
  pai__flat_dispose(&st->episodes, st->alloc);
  pai__flat_dispose(&st->marks, st->alloc);
  pai__free(&r->alloc, st, sizeof(*st));
  return rc;
}
