/* shapes_text.c - other shapes in words and as JSON */
#include "sim/forecast_text.h"
#include "sim/shapes.h"

#include "sched/form.h"

/* --- words ---------------------------------------------------------------- */

static void say_start(pai__buf *out, const pai_forecast *f, pai_time t)
{
  if (t == INT64_MAX)
    pai__buf_str(out, "never");
  else if (t == f->now)
    pai__buf_str(out, "now");
  else
    pai__spell_at(out, f->now, t);
}

static void say_shapes(pai__buf *out, const void *what)
{
  const pai_shapes *s = what;
  const pai__fwait *w = &s->as_is->waits[0];

  pai__say_who(out, w->id, w->name, w->user);
  pai__buf_str(out, ": ");
  pai__say_band(out, s->as_is, w);
  pai__buf_str(out, s->n == 1 ? "\nNo other shape that was tried starts "
                                "sooner.\n"
                              : "\nIt would start\n");
  for (size_t i = 1; i < s->n; i++) {
    const pai_shape *x = &s->list[i].view;

    pai__buf_str(out, "  ");
    say_start(out, s->as_is, x->p50);
    if (x->p90 != x->p50) {
      pai__buf_str(out, " (nearly certainly ");
      say_start(out, s->as_is, x->p90);
      pai__buf_str(out, ")");
    }
    pai__buf_printf(out, ": %s", x->what);
    if (x->share != 1000)
      pai__buf_printf(out, " (%u %% of its GPUs)", (x->share + 5) / 10);
    pai__buf_char(out, '\n');
  }
  if (s->n > 1)
    pai__buf_str(out, "How much longer it then runs is not known.\n");
  pai__say_assumed(out, s->as_is, w);
}

/* --- JSON ----------------------------------------------------------------- */

static void put_shape(pai__json_writer *j, const pai_shape *x)
{
  pai__json_begin_object(j);
  pai__form_put_key(j, "what");
  pai__form_put_text(j, x->what);
  if (x->vc != NULL) {
    pai__form_put_key(j, "vc");
    pai__form_put_text(j, x->vc);
  }
  if (x->type != NULL) {
    pai__form_put_key(j, "type");
    pai__form_put_text(j, x->type);
  }
  pai__put_number(j, "want", x->want);
  pai__put_number(j, "tasks", x->tasks);
  pai__put_number(j, "gpus", x->gpus);
  pai__put_time(j, "p50", x->p50);
  pai__put_time(j, "p90", x->p90);
  pai__put_number(j, "share", x->share);
}

/* With the events that make it so. */
static void put_changes(pai__json_writer *j, const pai_shapes *s,
                        const pai__trial *x)
{
  pai__form_put_key(j, "changes");
  pai__json_begin_array(j);
  for (uint32_t i = 0; i < x->nchanges; i++) {
    const pai__ask *c = &x->changes[i];

    pai__json_begin_object(j);
    pai__form_put_key(j, "event");
    pai__form_put_text(j, "change");
    pai__form_put_key(j, "id");
    pai__form_put_id(j, s->as_is->waits[0].id);
    pai__form_put_key(j, "key");
    pai__form_put_text(j, c->key);
    pai__put_number(j, "want", c->want);
    pai__form_put_key(j, "value");
    if (c->text != NULL)
      pai__form_put_text(j, c->text);
    else if (strcmp(c->key, "within") == 0)
      pai__json_null(j);
    else
      pai__json_int(j, c->number);
    pai__json_end_object(j);
  }
  pai__json_end_array(j);
  pai__json_end_object(j);
}

static void put_shapes(pai__json_writer *j, const void *what)
{
  const pai_shapes *s = what;

  pai__form_put_key(j, "id");
  pai__form_put_id(j, s->as_is->waits[0].id);
  pai__put_time(j, "now", s->as_is->now);
  pai__put_number(j, "runs", s->as_is->runs);
  pai__form_put_key(j, "unlike");
  pai__json_bool(j, pai__curves_unlike(&s->as_is->curves));
  pai__form_put_key(j, "shapes");
  pai__json_begin_array(j);
  for (size_t i = 0; i < s->n; i++) {
    put_shape(j, &s->list[i].view);
    put_changes(j, s, &s->list[i]);
  }
  pai__json_end_array(j);
}

int pai_shapes_write(const pai_shapes *shapes, int format, pai_write_cb write,
                     void *user_data, pai_error **err)
{
  if (err != NULL)
    *err = NULL;
  PAI__CHECK_ARG_ERR(shapes != NULL, err);
  return pai__say_or_put(&shapes->alloc, format, say_shapes, put_shapes,
                         shapes, write, user_data, err);
}
