/*
 * log.c - the log: a snapshot, followed by a line for each event and decision
 *
 * A line is prepared before its event is handled, and written afterwards, so
 * that without memory for the line nothing has happened.
 */

#include "sched/log/event_form.h"
#include "sched/core.h"
#include "sched/sched.h"
#include "sched/log/snapshot_form.h"

#include "json/json.h"
#include "resource/bits.h"

/* --- places --------------------------------------------------------------- */

void pai__mask_put(pai__json_writer *w, const char *key, uint64_t mask)
{
  pai__json_put_array(w, key);
  for (int i = 0; mask != 0; i++, mask >>= 1)
    if (mask & 1)
      pai__json_int(w, i);
  pai__json_end_array(w);
}

void pai__ports_put(pai__json_writer *w, const char *key,
                    const uint32_t *ports, uint32_t n)
{
  pai__json_put_array(w, key);
  for (uint32_t i = 0; i < n; i++)
    pai__json_int(w, ports[i]);
  pai__json_end_array(w);
}

void pai__place_put(pai__json_writer *w, pai__buf *list,
                    const pai__place_form *p)
{
  pai__json_put_text(w, "node", p->node);
  if (p->gpus != 0)
    pai__mask_put(w, "gpus", p->gpus);
  if (p->cpu_words != 0) {
    if (pai__buf_ok(list)) /* if not, the error is found at the end */
      pai__buf_cut(list, 0);
    pai__bits_write_list(list, p->cpus, p->cpu_words);
    pai__json_put_text(w, "cpus", pai__buf_text(list));
  }
  if (p->nports != 0)
    pai__ports_put(w, "ports", p->ports, p->nports);
}

/* --- decisions ------------------------------------------------------------ */

static void put_task(pai__json_writer *w, pai__buf *list, const pai_sched *s,
                     const char *role, const pai_task_place *p)
{
  pai__json_begin_object(w);
  pai__json_put_known(w, "name", role);
  pai__json_put_int(w, "want", p->want);
  pai__json_put_int(w, "index", p->index);
  pai__place_put(w, list,
                 &(pai__place_form){ .node = s->cluster->nodes[p->node].name,
                                     .gpus = p->gpus,
                                     .cpus = p->cpus,
                                     .cpu_words = (uint32_t)p->cpu_words,
                                     .ports = p->ports,
                                     .nports = (uint32_t)p->nports });
  if (p->memory != 0)
    pai__json_put_int(w, "memory", (int64_t)p->memory);
  pai__json_end_object(w);
}

static void put_tasks(pai__json_writer *w, pai__buf *list, const pai_sched *s,
                      const pai_decision *d)
{
  pai_task_place p = { .struct_size = sizeof(p) };

  pai__json_put_array(w, "places");
  for (uint32_t i = 0; pai_sched_task(s, d->id, d->instance, i, &p) == PAI_OK;
       i++) {
    pai_want want = { .struct_size = sizeof(want) };

    (void)pai_sched_view_want(s, d->id, p.want, &want);
    put_task(w, list, s, want.name, &p);
  }
  pai__json_end_array(w);
}

static void put_decision(pai__json_writer *w, pai__buf *list,
                         const pai_sched *s, const pai_decision *d)
{
  pai__json_begin_object(w);
  pai__json_put_int(w, "time", s->m.now);
  pai__json_put_text(w, "decision", pai__decision_words[d->kind]);
  pai__json_put_id(w, "id", d->id);
  pai__json_put_int(w, "instance", d->instance);
  if (d->cause != 0)
    pai__json_put_text(w, "cause", pai__cause_words[d->cause]);
  if (d->by != 0) {
    pai__json_put_id(w, "by", d->by);
  }
  if (d->kind == PAI_DECISION_GROW || d->kind == PAI_DECISION_SHRINK)
    pai__json_put_int(w, "want", d->want);
  pai__json_put_int(w, "tasks", d->tasks);
  if (d->kind != PAI_DECISION_STOP)
    put_tasks(w, list, s, d);
  pai__json_end_object(w);
}

int pai_sched_write_decision(const pai_sched *s, size_t i, pai_write_cb write,
                             void *user_data, pai_error **err)
{
  pai_decision d = { .struct_size = sizeof(d) };
  pai__json_writer w;
  pai__buf text, list;
  int rc;

  PAI__CHECK_ARG_ERR(s != NULL && write != NULL, err);
  if (pai_sched_decision(s, i, &d) < 0)
    return pai__fail(err, PAI_ENOTFOUND, "there is no decision %zu", i);
  pai__buf_init(&text, &s->alloc);
  pai__buf_init(&list, &s->alloc);
  pai__json_writer_init(&w, &text, false);
  put_decision(&w, &list, s, &d);
  rc = pai__json_finish(&w);
  pai__buf_char(&text, '\n');
  if (rc < 0 || !pai__buf_ok(&text) || !pai__buf_ok(&list)) {
    rc = pai__oom(err);
  } else {
    rc = write(user_data, pai__buf_text(&text), text.len);
    rc = rc < 0 ? pai__fail(err, rc, "the decision could not be written")
                : PAI_OK;
  }
  pai__buf_dispose(&text);
  pai__buf_dispose(&list);
  return rc;
}

/* What pai__log_taken() may append. */
#define ENDING "\"failed\":true}\n"

enum { LEAST = 65536 }; /* default of log_every, in bytes */

/* --- writing -------------------------------------------------------------- */

static int make_line(pai_sched *s, const pai_sched_event *e, pai_error **err)
{
  pai__json_writer w;
  int rc;

  pai__buf_clear(&s->line);
  pai__json_writer_init(&w, &s->line, false);
  rc = pai__event_put(&w, &s->alloc, e, err);
  if (rc < 0)
    return rc;
  if (pai__json_finish(&w) < 0 || !pai__buf_reserve(&s->line, sizeof(ENDING)))
    return pai__oom(err);
  return PAI_OK;
}

int pai__log_event(pai_sched *s, const pai_sched_event *e, pai_error **err)
{
  return s->log != NULL ? make_line(s, e, err) : PAI_OK;
}

int pai__log_decide(pai_sched *s, pai_time now, pai_error **err)
{
  pai_sched_event e = { .kind = PAI__LINE_DECIDE, .time = now };

  return pai__log_event(s, &e, err);
}

static int write_snapshot(pai_sched *s, pai_error **err)
{
  int rc;

  pai__buf_clear(&s->line);
  s->log_since = 0;
  rc = pai__save(s, &s->line, err);
  if (rc < 0)
    return rc;
  s->log_last = s->line.len;
  rc = s->log(s->log_data, pai__buf_text(&s->line), s->line.len);
  return rc < 0 ? pai__fail(err, rc, "the snapshot could not be written")
                : PAI_OK;
}

/* Writes a snapshot in the middle of the log, where readers may start, once
 * enough lines have been written since the last one.  If it cannot be saved,
 * the log goes on without it. */
static int add_snapshot(pai_sched *s)
{
  s->log_since += s->line.len;
  if (s->log_every == 0 || s->log_since < s->log_every ||
      s->log_since / 2 < s->log_last)
    return PAI_OK;
  pai__buf_clear(&s->line);
  s->log_since = 0;
  if (pai__save_lean(s, &s->line, NULL) < 0)
    return PAI_OK;
  s->log_last = s->line.len;
  return s->log(s->log_data, pai__buf_text(&s->line), s->line.len);
}

/* After a failure a snapshot is written, so that a reader can go on without
 * having to fail in the same way. */
int pai__log_taken(pai_sched *s, int rc, pai_error **err)
{
  int put;

  if (s->log == NULL)
    return rc;
  if (rc < 0) {
    pai__buf_cut(&s->line, s->line.len - 1);
    pai__buf_str(&s->line, ",");
    pai__buf_str(&s->line, ENDING);
  } else {
    pai__buf_char(&s->line, '\n');
  }
  put = s->log(s->log_data, pai__buf_text(&s->line), s->line.len);
  if (put >= 0 && rc < 0)
    put = write_snapshot(s, NULL);
  else if (put >= 0)
    put = add_snapshot(s);
  if (put >= 0)
    return rc;
  s->log = NULL;
  return rc < 0 ? rc
                : pai__fail(err, put,
                            "it was taken, but could not be written to the "
                            "log, which ends here");
}

int pai_sched_set_log(pai_sched *s, pai_write_cb write, void *user_data,
                      pai_error **err)
{
  int rc = PAI_OK;

  PAI__CHECK_ARG_ERR(s != NULL, err);
  if (s->deciding)
    return pai__fail(err, PAI_EBUSY, "a policy cannot begin a log");
  s->log = write;
  s->log_data = user_data;
  if (write != NULL)
    rc = write_snapshot(s, err);
  if (rc < 0)
    s->log = NULL;
  return rc;
}

int pai_sched_set_log_options(pai_sched *s, const pai_sched_log_options *opts,
                              pai_error **err)
{
  pai_sched_log_options o = { 0 };

  PAI__CHECK_ARG_ERR(s != NULL && opts != NULL, err);
  if (PAI__OPTIONS_IN(&o, opts, pai_sched_log_options, every) < 0)
    return pai__fail_struct(err, PAI_EINVAL, opts, "pai_sched_log_options");
  s->log_every = o.snapshots == 0 ? 0 : o.every != 0 ? o.every : LEAST;
  return PAI_OK;
}

/* --- reading -------------------------------------------------------------- */

/* Ignores a failure of a call that failed when it was logged, too, if the
 * event was handled.  Returns `instead` in that case. */
static int excuse(int rc, int instead, bool taken, pai_error **err)
{
  if (rc >= 0 || !taken || rc == PAI_ENOMEM)
    return rc;
  if (err != NULL) {
    pai_error_free(*err);
    *err = NULL;
  }
  return instead;
}

static int take(pai_sched *s, const pai__line *line, pai_error **err)
{
  uint64_t before = s->m.events;
  int rc;

  if (line->e.kind != PAI__LINE_DECIDE) {
    rc = pai_sched_send(s, &line->e, err);
    return line->failed ? excuse(rc, PAI_OK, s->m.events != before, err) : rc;
  }
  rc = pai_sched_decide(s, line->e.time, err);
  return line->failed ? excuse(rc, (int)s->told, s->m.events != before, err)
                      : rc;
}

static int read_line(pai_sched *s, const pai__tree *tree, pai_error **err)
{
  pai__form f = { .tree = tree, .err = err };
  pai__line line;
  pai__arena arena;
  int rc;

  if (pai__tree_get(tree, 0, "snapshot") != PAI__NO_NODE)
    return pai__form_fail(&f, 0,
                          "this is a snapshot, with which a log begins, and "
                          "no event");
  pai__arena_init(&arena, &s->alloc);
  rc = pai__line_read(&f, &arena, &line);
  if (rc == PAI_OK)
    rc = take(s, &line, err);
  pai_cluster_free(line.cluster);
  pai__arena_dispose(&arena);
  return rc;
}

int pai_sched_send_json(pai_sched *s, const char *text, size_t len,
                        pai_error **err)
{
  pai__json_options o = { .max_bytes = PAI__TREE_MAX_TEXT };
  pai__tree *tree;
  int rc;

  PAI__CHECK_ARG_ERR(s != NULL && text != NULL, err);
  o.alloc = &s->alloc;
  rc = pai__json_parse(&tree, text, len, &o, err);
  if (rc < 0)
    return rc;
  rc = read_line(s, tree, err);
  pai__tree_free(tree);
  return rc;
}
