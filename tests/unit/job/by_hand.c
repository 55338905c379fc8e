/* by_hand.c - a job moved by hand, by calls or as a text tells */
#include "by_hand.h"

#include <openpai/platform.h>

#include <stdio.h>
#include <stdlib.h>

static const char *const events[] = {
  "placed", "started", "end", "preempt", "stop", "impatient", "due", "undone",
};
static const char *const actions[] = {
  "nothing", "queue",  "return", "release", "resume",
  "wait",    "finish", "start",  "stop",    "kill",
};
static const char *const job_states[] = {
  "", "queued", "starting", "running", "ending", "backoff", "done",
};
static const char *const task_states[] = {
  "",       "waiting", "placed", "starting", "running",
  "ending", "backoff", "done",   "gone",
};

enum { LINE = 256 };

void hand_form(by_hand *h, uint32_t first, uint32_t second, int32_t retries)
{
  *h = (by_hand){ .name = "a job", .now = 1000 };
  h->roles[0] = (pai__form_role){ .tasks = first,
                                  .min_failed = 1,
                                  .min_succeeded = (int32_t)first };
  h->roles[1] = (pai__form_role){ .tasks = second,
                                  .min_failed = 1,
                                  .min_succeeded = (int32_t)second };
  h->form = (pai__job_form){ .roles = h->roles,
                             .nroles = second > 0 ? 2 : 1,
                             .retry = { true, retries } };
}

void hand_begin(by_hand *h)
{
  assert_ok(pai__job_init(&h->job, &pai__libc_alloc, &h->form, 1));
}

void hand_start(by_hand *h, uint32_t first, uint32_t second, int32_t retries)
{
  hand_form(h, first, second, retries);
  hand_begin(h);
}

void hand_dispose(by_hand *h)
{
  pai__action a;

  assert_false(pai__job_has_next(&h->job));
  assert_false(pai__job_next(&h->job, UINT32_MAX, &a));
  pai__job_dispose(&h->job);
}

/* --- events --------------------------------------------------------------- */

int hand_event(by_hand *h, enum pai__event_kind kind, uint32_t task,
               uint32_t count, int code)
{
  pai__job before = h->job;
  int rc = pai__job_handle(
    &h->job, &(pai__job_event){ kind, task, count, code, h->now });

  if (rc < 0)
    assert_memory_equal(&h->job, &before, sizeof(before));
  return rc;
}

static void take_range(const char *text, uint32_t *task, uint32_t *count)
{
  char *end;

  *task = (uint32_t)strtoul(text, &end, 10);
  *count = end == text ? 0 : 1;
  if (*end == '-')
    *count = (uint32_t)strtoul(end + 1, NULL, 10) + 1 - *task;
}

/* The event of a step; what is answered. */
static int take_event(by_hand *h, const char *text)
{
  char name[LINE] = "", range[LINE] = "";
  uint32_t task, count;
  size_t kind = 0;
  int code = 0;

  (void)sscanf(text, "%s %s %d", name, range, &code);
  take_range(range, &task, &count);
  if (name[0] == '\0')
    return PAI_OK;
  if (strcmp(name, "scale") == 0)
    return pai__job_rescale(&h->job, task, (uint32_t)code, h->now);
  if (strcmp(name, "pass") == 0) {
    h->now += (pai_time)(strtod(range, NULL) * 1e6);
    return PAI_OK;
  }
  if (strcmp(name, "early") == 0) {
    h->now = h->job.due - 1;
    return hand_event(h, PAI__EV_DUE, 0, 0, 0);
  }
  while (kind < PAI__LEN(events) && strcmp(name, events[kind]) != 0)
    kind++;
  if (kind == PAI__LEN(events))
    fail_msg("%s: no event \"%s\"", h->name, text);
  if (kind == PAI__EV_STOP)
    return hand_event(h, PAI__EV_STOP, 0, 0, (int)strtol(range, NULL, 10));
  if (kind == PAI__EV_DUE && h->job.due != INT64_MAX && h->job.due > h->now)
    h->now = h->job.due;
  return hand_event(h, (enum pai__event_kind)kind, task, count, code);
}

/* --- actions -------------------------------------------------------------- */

static void put_action(pai__buf *out, const by_hand *h, const pai__action *a)
{
  assert_true(!a->whole || (a->task == 0 && a->count == h->job.ntasks));
  pai__buf_printf(out, "%s%s", out->len > 0 ? ", " : "", actions[a->kind]);
  if (!a->whole)
    pai__buf_printf(out, " %u", a->task);
  if (!a->whole && a->count > 1)
    pai__buf_printf(out, "-%u", a->task + a->count - 1);
  if (a->until != 0)
    pai__buf_printf(out, " +%g", (double)(a->until - h->now) / 1e6);
}

/* Whether the text is as wanted, where "+?" is a time drawn for a conflict. */
static bool is_as_wanted(const char *text, const char *wanted)
{
  for (; *wanted != '\0'; wanted++) {
    if (wanted[0] == '?' && text[-1] == '+') {
      double seconds = strtod(text, (char **)&text);

      if (seconds < 60 || seconds > 900)
        return false;
    } else if (*text++ != *wanted) {
      return false;
    }
  }
  return *text == '\0';
}

static void expect_actions(by_hand *h, const char *wanted, const char *line)
{
  pai__action a;
  pai__buf text = test_buf();

  if (strcmp(wanted, "...") == 0)
    return;
  while (pai__job_has_next(&h->job)) {
    assert_true(pai__job_next(&h->job, UINT32_MAX, &a));
    put_action(&text, h, &a);
  }
  assert_false(pai__job_next(&h->job, UINT32_MAX, &a));
  if (!is_as_wanted(pai__buf_text(&text), wanted))
    fail_msg("%s: \"%s\" is followed by \"%s\"", h->name, line,
             pai__buf_text(&text));
  pai__buf_dispose(&text);
}

static void bring_up(by_hand *h)
{
  uint32_t n = h->job.ntasks;
  char start[LINE];

  if (!h->job.asked)
    expect_actions(h, "queue", "up");
  assert_ok(hand_event(h, PAI__EV_PLACED, 0, 0, 0));
  (void)snprintf(start, sizeof(start), n > 1 ? "start 0-%u" : "start %u",
                 n - 1);
  expect_actions(h, start, "up");
  assert_ok(hand_event(h, PAI__EV_TASK_STARTED, 0, n, 0));
  assert_int_equal(pai__job_public_state(&h->job), PAI_STATE_RUNNING);
}

/* --- what can be seen ----------------------------------------------------- */

/* What a key is called by: a word, or else a number. */
typedef struct seen {
  const char *key, *word;
  long long number;
} seen;

static const char *find(const seen *list, size_t n, const char *key, char *out)
{
  for (size_t i = 0; i < n; i++) {
    if (strcmp(list[i].key, key) != 0)
      continue;
    (void)snprintf(out, LINE, "%lld", list[i].number);
    return list[i].word != NULL ? list[i].word : out;
  }
  return "no such key";
}

static const char *look_at_task(const by_hand *h, uint32_t i, const char *key,
                                char *out)
{
  const pai__task *t = &pai__job_tasks(&h->job)[i];
  const seen list[] = {
    { "state", pai_state_name(pai__job_task_state(&h->job, i)), 0 },
    { "phase", pai__job_task_contract_state(&h->job, i), 0 },
    { "inner", task_states[t->state], 0 },
    { "code", NULL, t->code },
    { "retries", NULL, t->retries },
    { "counted", NULL, t->counted },
    { "index", NULL, t->index },
    { "role", NULL, t->role },
  };

  assert_true(i < h->job.ntasks);
  return find(list, PAI__LEN(list), key, out);
}

static const char *look(const by_hand *h, const char *key, char *out)
{
  const pai__job *j = &h->job;
  const seen list[] = {
    { "state", pai_state_name(pai__job_public_state(j)), 0 },
    { "phase", pai__job_contract_state(j), 0 },
    { "inner", job_states[j->state], 0 },
    { "code", NULL, j->code },
    { "attempt", NULL, j->attempt },
    { "retries", NULL, j->retries },
    { "counted", NULL, j->counted },
    { "preempted", NULL, j->preempted },
    { "done", NULL, j->done },
    { "tasks", NULL, j->ntasks },
    { "decided", NULL, j->decided },
    { "stop_asked", NULL, j->stop_asked },
    { "trigger", NULL, (int32_t)j->trigger },
  };

  return find(list, PAI__LEN(list), key, out);
}

/* KEY=VALUE, where a task may stand before the key. */
static void expect_key(const by_hand *h, const char *text, const char *line)
{
  char key[LINE], wanted[LINE], number[LINE], *dot;
  const char *is;

  assert_int_equal(sscanf(text, "%[^=]=%s", key, wanted), 2);
  dot = strchr(key, '.');
  is = dot != NULL
         ? look_at_task(h, (uint32_t)strtoul(key, NULL, 10), dot + 1, number)
         : look(h, key, number);
  if (strcmp(is, wanted) != 0)
    fail_msg("%s: behind \"%s\" %s is \"%s\"", h->name, line, key, is);
}

/* --- plays ---------------------------------------------------------------- */

/* Cuts what stands behind a mark off a text; "" where there is no mark. */
static char *cut(char *text, const char *mark)
{
  char *at = strstr(text, mark);

  if (at == NULL)
    return text + strlen(text);
  *at = '\0';
  return at + strlen(mark);
}

static void play_line(by_hand *h, const char *line)
{
  char text[LINE + 1], *wanted, *result, *values;
  int rc;

  (void)snprintf(text, sizeof(text), " %s", line);
  values = cut(text, " | ");
  wanted = cut(text, " -> ");
  result = cut(text, " = ");
  if (strcmp(text, " up") == 0) {
    bring_up(h);
  } else {
    rc = take_event(h, text);
    if (strcmp(pai_code_name(rc), *result != '\0' ? result : "PAI_OK") != 0)
      fail_msg("%s: \"%s\" answers %s", h->name, line, pai_code_name(rc));
  }
  expect_actions(h, wanted, line);
  for (char *next; *values != '\0'; values = next) {
    next = cut(values, " ");
    expect_key(h, values, line);
  }
}

void hand_play(by_hand *h, const char *text)
{
  char line[LINE];

  for (size_t len; *text != '\0'; text += len + (text[len] == '\n')) {
    len = strcspn(text, "\n");
    assert_true(len < sizeof(line));
    (void)snprintf(line, sizeof(line), "%.*s", (int)len, text);
    play_line(h, line);
  }
}

void hand_play_all(const hand_case *cases, size_t count)
{
  for (size_t i = 0; i < count; i++) {
    const hand_case *c = &cases[i];
    by_hand h;

    hand_form(&h, c->form.tasks, c->form.others, c->form.retries);
    h.name = c->name;
    h.form.partial = c->form.partial;
    h.roles[0].retry = c->form.retry;
    if (c->form.never_succeeds)
      h.roles[0].min_succeeded = -1;
    hand_begin(&h);
    hand_play(&h, c->play);
    hand_dispose(&h);
  }
}
