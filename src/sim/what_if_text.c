/* what_if_text.c - what changes would do, in words and as JSON */
#include "sim/forecast_text.h"
#include "sim/what_if.h"

#include "sched/form.h"

#include <inttypes.h>

/* --- words ---------------------------------------------------------------- */

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
      pai__buf_str(out, ", for it loses its node");
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
                           const pai__fwait *a, const pai__fwait *b)
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

/* What is spelled alike is told once. */
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

  pai__buf_printf(out,
                  "Of those that wait %u start sooner, %u later, %u as "
                  "before",
                  v->sooner, v->later, v->same);
  if (v->never != 0)
    pai__buf_printf(out, ", %u never any more", v->never);
  pai__buf_str(out, "; they wait for ");
  say_waits(out, v->wait_after, v->wait_before);
  pai__buf_str(out, " (mean of the medians).\n");
  for (uint32_t i = 0; i < w->after->nwaits; i++) {
    const pai__fwait *b = &w->after->waits[i];
    const pai__fwait *a = pai__forecast_find(w->before, b->id);

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
    pai__buf_str(out, "Not safe: something that runs is lost.\n");
  if (w->nturned == 0)
    pai__buf_str(out, "At once nothing starts, stops or moves.\n");
  else
    pai__buf_printf(out, "At once %u start, %u stop, %u move.\n", v->start_now,
                    v->stop_now, v->move);
  say_turned(out, w);
  if (w->before->nwaits != 0 || w->after->nwaits != 0)
    say_waiting(out, w);
  if (w->before->nwaits == 0 && w->after->nwaits == 0) {
    pai__buf_str(out, "Nothing waits.\n"); /* so there is nothing to count */
    return;
  }
  say_parts(out, "Preemptions: ", v->preempted_after);
  say_parts(out, " rather than ", v->preempted_before);
  say_parts(out, "; GPUs in use until then: ", v->used_after / 100);
  say_parts(out, " % rather than ", v->used_before / 100);
  pai__buf_str(out, " %.\n");
  pai__say_assumed(out, w->after, NULL);
}

/* --- JSON ----------------------------------------------------------------- */

static void put_turned(pai__json_writer *j, const pai__turned *x)
{
  static const char *const words[] = { "", "start", "stop", "move" };

  pai__json_begin_object(j);
  pai__form_put_key(j, "id");
  pai__form_put_id(j, x->id);
  pai__put_number(j, "instance", x->instance);
  pai__form_put_key(j, "what");
  pai__form_put_text(j, words[x->what]);
  pai__form_put_key(j, "asked");
  pai__json_bool(j, x->asked);
  pai__form_put_key(j, "node_lost");
  pai__json_bool(j, x->node);
  pai__json_end_object(j);
}

static void put_view(pai__json_writer *j, const pai_what_if_view *v)
{
  pai__put_number(j, "start_now", v->start_now);
  pai__put_number(j, "stop_now", v->stop_now);
  pai__put_number(j, "move", v->move);
  pai__put_number(j, "sooner", v->sooner);
  pai__put_number(j, "later", v->later);
  pai__put_number(j, "same", v->same);
  pai__put_number(j, "never", v->never);
  pai__put_time(j, "wait_before", v->wait_before);
  pai__put_time(j, "wait_after", v->wait_after);
  pai__put_number(j, "preempted_before", v->preempted_before);
  pai__put_number(j, "preempted_after", v->preempted_after);
  pai__put_number(j, "used_before", v->used_before);
  pai__put_number(j, "used_after", v->used_after);
  pai__form_put_key(j, "unsafe");
  pai__json_bool(j, v->unsafe != 0);
  pai__form_put_key(j, "unlike");
  pai__json_bool(j, v->unlike != 0);
}

static void put_what_if(pai__json_writer *j, const void *what)
{
  const pai_what_if *w = what;

  put_view(j, &w->view);
  pai__form_put_key(j, "at_once");
  pai__json_begin_array(j);
  for (size_t i = 0; i < w->nturned; i++)
    put_turned(j, &w->turned[i]);
  pai__json_end_array(j);
  pai__form_put_key(j, "before");
  pai__json_begin_object(j);
  pai__put_forecast(j, w->before);
  pai__json_end_object(j);
  pai__form_put_key(j, "after");
  pai__json_begin_object(j);
  pai__put_forecast(j, w->after);
  pai__json_end_object(j);
}

int pai_what_if_write(const pai_what_if *what_if, int format,
                      pai_write_cb write, void *user_data, pai_error **err)
{
  if (err != NULL)
    *err = NULL;
  PAI__CHECK_ARG_ERR(what_if != NULL, err);
  return pai__say_or_put(&what_if->alloc, format, say_what_if, put_what_if,
                         what_if, write, user_data, err);
}
