/* place_form.c - decisions, and where tasks are, as JSON */
#include "sched/place_form.h"

#include "sched/core.h"
#include "sched/snapshot_form.h"

#include "resource/bits.h"

/* --- places --------------------------------------------------------------- */

void pai__mask_put(pai__json_writer *w, const char *key, uint64_t mask)
{
  pai__form_put_key(w, key);
  pai__json_begin_array(w);
  for (int i = 0; mask != 0; i++, mask >>= 1)
    if (mask & 1)
      pai__json_int(w, i);
  pai__json_end_array(w);
}

void pai__ports_put(pai__json_writer *w, const char *key,
                    const uint32_t *ports, uint32_t n)
{
  pai__form_put_key(w, key);
  pai__json_begin_array(w);
  for (uint32_t i = 0; i < n; i++)
    pai__json_int(w, ports[i]);
  pai__json_end_array(w);
}

void pai__place_put(pai__json_writer *w, pai__buf *list,
                    const pai__place_form *p)
{
  pai__form_put_key(w, "node");
  pai__form_put_text(w, p->node);
  if (p->gpus != 0)
    pai__mask_put(w, "gpus", p->gpus);
  if (p->cpu_words != 0) {
    if (pai__buf_ok(list)) /* else it is to be seen in the end */
      pai__buf_cut(list, 0);
    pai__bits_write_list(list, p->cpus, p->cpu_words);
    pai__form_put_key(w, "cpus");
    pai__form_put_text(w, pai__buf_text(list));
  }
  if (p->nports != 0)
    pai__ports_put(w, "ports", p->ports, p->nports);
}

/* --- decisions ------------------------------------------------------------ */

static void put_task(pai__json_writer *w, pai__buf *list, const pai_sched *s,
                     const char *role, const pai_task_place *p)
{
  pai__json_begin_object(w);
  if (role != NULL) {
    pai__form_put_key(w, "name");
    pai__form_put_text(w, role);
  }
  pai__form_put_key(w, "want");
  pai__json_int(w, p->want);
  pai__form_put_key(w, "index");
  pai__json_int(w, p->index);
  pai__place_put(w, list,
                 &(pai__place_form){ .node = s->park->spots[p->node].name,
                                     .gpus = p->gpus,
                                     .cpus = p->cpus,
                                     .cpu_words = (uint32_t)p->cpu_words,
                                     .ports = p->ports,
                                     .nports = (uint32_t)p->nports });
  if (p->memory != 0) {
    pai__form_put_key(w, "memory");
    pai__json_int(w, (int64_t)p->memory);
  }
  pai__json_end_object(w);
}

static void put_tasks(pai__json_writer *w, pai__buf *list, const pai_sched *s,
                      const pai_decision *d)
{
  pai_task_place p = { .struct_size = sizeof(p) };

  pai__form_put_key(w, "places");
  pai__json_begin_array(w);
  for (uint32_t i = 0; pai_sched_task(s, d->id, d->instance, i, &p) == PAI_OK;
       i++) {
    pai_want want = { .struct_size = sizeof(want) };

    (void)pai_sched_view_want(s, d->id, p.want, &want);
    put_task(w, list, s, want.name, &p);
  }
  pai__json_end_array(w);
}

static void put_number(pai__json_writer *w, const char *key, int64_t n)
{
  pai__form_put_key(w, key);
  pai__json_int(w, n);
}

static void put_decision(pai__json_writer *w, pai__buf *list,
                         const pai_sched *s, const pai_decision *d)
{
  pai__json_begin_object(w);
  put_number(w, "time", s->m.now);
  pai__form_put_key(w, "decision");
  pai__form_put_text(w, pai__decision_words[d->kind]);
  pai__form_put_key(w, "id");
  pai__form_put_id(w, d->id);
  put_number(w, "instance", d->instance);
  if (d->cause != 0) {
    pai__form_put_key(w, "cause");
    pai__form_put_text(w, pai__cause_words[d->cause]);
  }
  if (d->by != 0) {
    pai__form_put_key(w, "by");
    pai__form_put_id(w, d->by);
  }
  if (d->kind == PAI_DECISION_GROW || d->kind == PAI_DECISION_SHRINK)
    put_number(w, "want", d->want);
  put_number(w, "tasks", d->tasks);
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

  if (err != NULL)
    *err = NULL;
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
