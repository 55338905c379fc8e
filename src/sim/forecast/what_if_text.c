/* what_if_text.c - writes what-ifs and shapes as text and JSON */
#include "sim/forecast/forecast.h"

#include "sim/report/format.h"

/* --- text ---------------------------------------------------------------- */

static void say_turned(pai__buf *out, const pai_what_if *w)
{
  static const char *const words[] = { "", "starts", "stops", "moves" };

  for (size_t i = 0; i < w->nturned; i++) {
    const pai__turned *x = &w->turned[i];

    pai__buf_printf(out, "  %s at once: ", words[x->what]);
    pai__say_who(out, x->id, x->name, x->user);
    if (x->instance != 0)
      pai__buf_printf(out, ", instance %u", x->instance);
    if (x->node)
      pai__buf_str(out, ", as its node is lost");
    pai__buf_char(out, '\n');
  }
}

static void say_start(pai__buf *out, const pai_forecast *f, pai_time t)
{
  if (t == INT64_MAX)
    pai__buf_str(out, "never");
  else if (t == f->now)
    pai__buf_str(out, "now");
  else
    pai__spell_at(out, f->now, t);
}

static void say_difference(pai__buf *out, const pai_what_if *w,
                           const pai__future_wait *a,
                           const pai__future_wait *b)
{
  pai_time longer;
  bool both;

  pai__buf_str(out, "  ");
  pai__say_who(out, b->id, b->name, b->user);
  pai__buf_str(out, ": ");
  if (a == NULL) {
    pai__say_band(out, w->after, b);
    pai__buf_char(out, '\n');
    return;
  }
  both = a->p50 != INT64_MAX && b->p50 != INT64_MAX;
  longer = both ? pai__waits_longer(w, a) : 0;
  say_start(out, w->after, both ? a->p50 + longer : b->p50);
  pai__buf_str(out, " rather than ");
  say_start(out, w->before, a->p50);
  if (both) {
    pai__buf_str(out, ", ");
    pai__spell_span(out, longer < 0 ? -longer : longer);
    pai__buf_str(out, longer < 0 ? " sooner" : " later");
  }
  pai__buf_char(out, '\n');
}

/* Two times with the same text are written once. */
static void say_waits(pai__buf *out, pai_time now, pai_time before)
{
  static const char other[] = " rather than ";
  size_t begin = out->len, end, len;

  pai__spell_span(out, now);
  end = out->len;
  pai__buf_str(out, other);
  pai__spell_span(out, before);
  len = out->len - end;
  if (pai__buf_ok(out) && len == sizeof(other) - 1 + (end - begin) &&
      memcmp(out->data + begin, out->data + out->len - (end - begin),
             end - begin) == 0)
    pai__buf_cut(out, end);
}

static void say_waiting(pai__buf *out, const pai_what_if *w)
{
  const pai_what_if_view *v = &w->view;

  pai__buf_printf(out, "Waiting jobs: %u start sooner, %u later, %u unchanged",
                  v->sooner, v->later, v->same);
  if (v->never != 0)
    pai__buf_printf(out, ", %u never", v->never);
  pai__buf_str(out, "; mean of their median waits: ");
  say_waits(out, v->wait_after, v->wait_before);
  pai__buf_str(out, ".\n");
  for (uint32_t i = 0; i < w->after->nwaits; i++) {
    const pai__future_wait *b = &w->after->waits[i];
    const pai__future_wait *a = pai__forecast_find(w->before, b->id);

    if (a == NULL || pai__compare_starts(w, a, b) != 0)
      say_difference(out, w, a, b);
  }
}

static void say_parts(pai__buf *out, const char *what, uint32_t hundredths)
{
  pai__buf_printf(out, "%s%u.%02u", what, hundredths / 100, hundredths % 100);
}

static void say_what_if(pai__buf *out, const void *what)
{
  const pai_what_if *w = what;
  const pai_what_if_view *v = &w->view;

  if (v->unsafe)
    pai__buf_str(out, "Not safe: running jobs are stopped or moved.\n");
  if (w->nturned == 0)
    pai__buf_str(out, "At once nothing starts, stops or moves.\n");
  else
    pai__buf_printf(out, "At once %u start, %u stop, %u move.\n", v->start_now,
                    v->stop_now, v->move);
  say_turned(out, w);
  if (w->before->nwaits != 0 || w->after->nwaits != 0)
    say_waiting(out, w);
  if (w->before->nwaits == 0 && w->after->nwaits == 0) {
    pai__buf_str(out,
                 "No request is waiting.\n"); /* there is nothing to count */
    return;
  }
  say_parts(out, "Preemptions: ", v->preempted_after);
  say_parts(out, " rather than ", v->preempted_before);
  say_parts(out, "; GPUs in use until then: ", v->used_after / 100);
  say_parts(out, " % rather than ", v->used_before / 100);
  pai__buf_str(out, " %.\n");
  pai__say_assumed(out, w->after, NULL);
}

/* --- JSON ---------------------------------------------------------------- */

static void put_turned(pai__json_writer *j, const pai__turned *x)
{
  static const char *const words[] = { "", "start", "stop", "move" };

  pai__json_begin_object(j);
  pai__json_put_id(j, "id", x->id);
  pai__json_put_int(j, "instance", x->instance);
  pai__json_put_known(j, "what", words[x->what]);
  pai__json_put_bool(j, "asked", x->asked);
  pai__json_put_bool(j, "node_lost", x->node);
  pai__json_end_object(j);
}

static void put_view(pai__json_writer *j, const pai_what_if_view *v)
{
  pai__json_put_int(j, "start_now", v->start_now);
  pai__json_put_int(j, "stop_now", v->stop_now);
  pai__json_put_int(j, "move", v->move);
  pai__json_put_int(j, "sooner", v->sooner);
  pai__json_put_int(j, "later", v->later);
  pai__json_put_int(j, "same", v->same);
  pai__json_put_int(j, "never", v->never);
  pai__put_time(j, "wait_before", v->wait_before);
  pai__put_time(j, "wait_after", v->wait_after);
  pai__json_put_int(j, "preempted_before", v->preempted_before);
  pai__json_put_int(j, "preempted_after", v->preempted_after);
  pai__json_put_int(j, "used_before", v->used_before);
  pai__json_put_int(j, "used_after", v->used_after);
  pai__json_put_bool(j, "unsafe", v->unsafe != 0);
  pai__json_put_bool(j, "unlike", v->unlike != 0);
}

/* How the start of a request changes, as the text says it. */
static void put_difference(pai__json_writer *j, const pai_what_if *w,
                           const pai__future_wait *b)
{
  const pai__future_wait *a = pai__forecast_find(w->before, b->id);
  int order = a != NULL ? pai__compare_starts(w, a, b) : 0;
  bool both = a != NULL && a->p50 != INT64_MAX && b->p50 != INT64_MAX;

  pai__json_begin_object(j);
  pai__json_put_id(j, "id", b->id);
  pai__json_put_known(j, "change",
                      a == NULL             ? "new"
                      : order < 0           ? "sooner"
                      : order == 0          ? "same"
                      : b->p50 == INT64_MAX ? "never"
                                            : "later");
  pai__put_time(j, "longer", both ? pai__waits_longer(w, a) : INT64_MAX);
  pai__json_end_object(j);
}

static void put_what_if(pai__json_writer *j, const void *what)
{
  const pai_what_if *w = what;

  put_view(j, &w->view);
  pai__json_put_array(j, "at_once");
  for (size_t i = 0; i < w->nturned; i++)
    put_turned(j, &w->turned[i]);
  pai__json_end_array(j);
  pai__json_put_array(j, "waits");
  for (uint32_t i = 0; i < w->after->nwaits; i++)
    put_difference(j, w, &w->after->waits[i]);
  pai__json_end_array(j);
  pai__json_put_object(j, "before");
  pai__put_forecast(j, w->before);
  pai__json_end_object(j);
  pai__json_put_object(j, "after");
  pai__put_forecast(j, w->after);
  pai__json_end_object(j);
}

int pai_what_if_write(const pai_what_if *what_if, int format,
                      pai_write_cb write, void *user_data, pai_error **err)
{
  PAI__CHECK_ARG_ERR(what_if != NULL, err);
  return pai__say_or_put(&what_if->alloc, format, say_what_if, put_what_if,
                         what_if, write, user_data, err);
}

/* --- shapes -------------------------------------------------------------- */

static void say_shapes(pai__buf *out, const void *what)
{
  const pai_shapes *s = what;
  const pai__future_wait *w = &s->as_is->waits[0];

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
      pai__buf_str(out, " (P90: ");
      say_start(out, s->as_is, x->p90);
      pai__buf_str(out, ")");
    }
    pai__buf_printf(out, ": %s", x->what);
    if (x->share != 1000)
      pai__buf_printf(out, " (%u %% of its GPUs)", (x->share + 5) / 10);
    pai__buf_char(out, '\n');
  }
  if (s->n > 1)
    pai__buf_str(out, "How this changes its run time is not known.\n");
  pai__say_assumed(out, s->as_is, w);
}

static void put_shape(pai__json_writer *j, const pai_shape *x)
{
  pai__json_begin_object(j);
  pai__json_put_known(j, "what", x->what);
  pai__json_put_known(j, "vc", x->vc);
  pai__json_put_known(j, "type", x->type);
  pai__json_put_int(j, "want", x->want);
  pai__json_put_int(j, "tasks", x->tasks);
  pai__json_put_int(j, "gpus", x->gpus);
  pai__put_time(j, "p50", x->p50);
  pai__put_time(j, "p90", x->p90);
  pai__json_put_int(j, "share", x->share);
}

/* Writes the events that change the request. */
static void put_changes(pai__json_writer *j, const pai_shapes *s,
                        const pai__sim_trial *x)
{
  pai__json_put_array(j, "changes");
  for (uint32_t i = 0; i < x->nchanges; i++) {
    const pai__shape_change *c = &x->changes[i];

    pai__json_begin_object(j);
    pai__json_put_known(j, "event", "change");
    pai__json_put_id(j, "id", s->as_is->waits[0].id);
    pai__json_put_known(j, "key", c->key);
    pai__json_put_int(j, "want", c->want);
    pai__json_member(j, "value");
    if (c->text != NULL)
      pai__json_string(j, c->text);
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

  pai__json_put_id(j, "id", s->as_is->waits[0].id);
  pai__put_time(j, "now", s->as_is->now);
  pai__json_put_int(j, "runs", s->as_is->runs);
  pai__json_put_bool(j, "unlike", pai__curves_unlike(&s->as_is->curves));
  pai__json_put_array(j, "shapes");
  for (size_t i = 0; i < s->n; i++) {
    put_shape(j, &s->list[i].view);
    put_changes(j, s, &s->list[i]);
  }
  pai__json_end_array(j);
}

int pai_shapes_write(const pai_shapes *shapes, int format, pai_write_cb write,
                     void *user_data, pai_error **err)
{
  PAI__CHECK_ARG_ERR(shapes != NULL, err);
  return pai__say_or_put(&shapes->alloc, format, say_shapes, put_shapes,
                         shapes, write, user_data, err);
}
