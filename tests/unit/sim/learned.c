/* learned.c - histories, schedulers and forecasts in few words */
#include "learned.h"

#include <stdio.h>
#include <stdlib.h>

/* What tests have made, which lives until the last of them has ended. */
static struct {
  enum learned_kind kind;
  void *object;
} kept[400];
static size_t nkept;

void learned_keep(enum learned_kind kind, void *object)
{
  assert_true(nkept < PAI__LEN(kept));
  assert_non_null(object);
  kept[nkept].kind = kind;
  kept[nkept++].object = object;
}

int learned_free(void **state)
{
  (void)state;
  while (nkept-- > 0) {
    void *object = kept[nkept].object;

    switch (kept[nkept].kind) {
    case LEARNED_HISTORY: pai_history_free(object); break;
    case LEARNED_SCHED: pai_sched_free(object); break;
    case LEARNED_FORECAST: pai_forecast_free(object); break;
    case LEARNED_WHAT_IF: pai_what_if_free(object); break;
    case LEARNED_SHAPES: pai_shapes_free(object); break;
    case LEARNED_TEXT: pai__strfree(&pai__libc_alloc, object); break;
    }
  }
  nkept = 0;
  return 0;
}

const char *learned_text(pai__buf *out)
{
  char *text = pai__buf_take(out);

  learned_keep(LEARNED_TEXT, text);
  return text;
}

pai_history *learned_new(void)
{
  pai_history *h;

  assert_ok(pai_history_new(&h, NULL, NULL));
  learned_keep(LEARNED_HISTORY, h);
  return h;
}

int learned_add(pai_history *h, const char *user, const char *name,
                uint64_t gpus, int64_t seconds)
{
  return pai_history_add(h,
                         &(pai_past){ .struct_size = sizeof(pai_past),
                                      .user = user,
                                      .name = name,
                                      .gpus = gpus,
                                      .duration = seconds * SECOND },
                         NULL);
}

pai_history *learned_range(const char *user, int n, int64_t from)
{
  pai_history *h = learned_new();

  for (int i = 0; i < n; i++)
    assert_ok(learned_add(h, user, "train-7", 4, from + i));
  return h;
}

pai_guess learned_guess(const pai_history *h, const char *user,
                        const char *name, uint64_t gpus, int64_t ran)
{
  pai_guess g = { .struct_size = sizeof(g) };
  pai_past p = {
    .struct_size = sizeof(p), .user = user, .name = name, .gpus = gpus
  };

  assert_ok(pai_history_guess(h, &p, ran * SECOND, &g));
  return g;
}

void learned_request(pai_history *h, const pai_request *request, uint32_t gpus,
                     pai_time time)
{
  const pai_want want = scene_want(1, gpus);
  pai_request q = *request;

  q.struct_size = sizeof(q);
  q.id = 1;
  q.wants = &want;
  q.nwants = 1;
  assert_ok(pai_history_came(h, &q, time, NULL));
}

void learned_came(pai_history *h, const char *user, uint32_t gpus,
                  pai_time time)
{
  learned_request(h, &(pai_request){ .user = user }, gpus, time);
}

/* --- schedulers ----------------------------------------------------------- */

/* Decides; what starts is told to have started. */
static int go(pai_sched *s)
{
  pai_decision d = { .struct_size = sizeof(d) }, started[16];
  size_t n = 0;
  int rc = pai_sched_decide(s, scene_now(s), NULL);

  for (int i = 0; i < rc; i++)
    if (pai_sched_decision(s, (size_t)i, &d) == PAI_OK &&
        d.kind == PAI_DECISION_START && n < PAI__LEN(started))
      started[n++] = d;
  for (size_t i = 0; i < n && rc >= 0; i++)
    rc = scene_event(s,
                     (pai_sched_event){ .kind = PAI_SCHED_STARTED,
                                        .id = started[i].id,
                                        .instance = started[i].instance },
                     NULL);
  return rc < 0 ? rc : PAI_OK;
}

/* "5:30", hours and minutes, or seconds. */
static pai_time read_time(const char *text)
{
  long long hours, minutes;

  if (sscanf(text, "%lld:%lld", &hours, &minutes) == 2)
    return (hours * 60 + minutes) * 60 * SECOND;
  return strtoll(text, NULL, 10) * SECOND;
}

static int submit(pai_sched *s, pai_time time, const char *id, char *rest)
{
  pai_want want = { .struct_size = sizeof(want), .cpus = 1 };
  pai_after after = { 0, PAI_AFTER_OK };
  pai_request q = { .id = strtoull(id, NULL, 10),
                    .wants = &want,
                    .nwants = 1 };
  const char *word = strtok_r(NULL, " ", &rest);

  q.user = strcmp(word, "-") != 0 ? word : NULL;
  word = strtok_r(NULL, " ", &rest);
  assert_int_equal(sscanf(word, "%ux%u", &want.tasks, &want.gpus), 2);
  q.duration = read_time(strtok_r(NULL, " ", &rest));
  while ((word = strtok_r(NULL, " ", &rest)) != NULL) {
    const char *value = strchr(word, '=') + 1;
    uint32_t number = (uint32_t)strtoul(value, NULL, 10);

    switch (word[0]) {
    case 'n': q.name = value; break;
    case 'v': q.vc = value; break;
    case 't': want.type = value; break;
    case 'w': q.within = value; break;
    case 'i': q.instances = number; break;
    case 'o': q.at_once = number; break;
    case 'h': q.held = 1; break;
    case 'p': q.priority = (int)number; break;
    default:
      after.id = number;
      q.after = &after;
      q.nafter = 1;
    }
  }
  q.struct_size = sizeof(q);
  return scene_event(
    s,
    (pai_sched_event){ .kind = PAI_SCHED_SUBMIT, .time = time, .request = &q },
    NULL);
}

int learned_line(pai_sched *s, pai_time begin, char *line)
{
  static const struct {
    const char *word;
    int kind;
  } kinds[] = { { "started", PAI_SCHED_STARTED },
                { "finished", PAI_SCHED_FINISHED },
                { "returned", PAI_SCHED_RETURNED },
                { "cancelled", PAI_SCHED_CANCEL },
                { "held", PAI_SCHED_CHANGE } };
  pai_sched_event e = { .key = "held" };
  char *word = strtok_r(NULL, " ", &line);

  if (strchr(word, ':') != NULL) {
    e.time = begin + read_time(word);
    word = strtok_r(NULL, " ", &line);
  }
  if (strcmp(word, "go") == 0)
    return go(s);
  for (size_t i = 0; i < PAI__LEN(kinds); i++)
    if (strcmp(word, kinds[i].word) == 0) {
      e.kind = kinds[i].kind;
      e.id = strtoull(line, &line, 10);
      e.number = strtol(line, NULL, 10);
      return scene_event(s, e, NULL);
    }
  return submit(s, e.time, word, line);
}

pai_sched *learned_queue(const char *cluster, const char *policy,
                         const char *options, const pai_alloc *alloc,
                         const char *text)
{
  pai_sched *s = scene_new(cluster, policy, options, alloc);
  int rc = s != NULL ? PAI_OK : PAI_ENOMEM;
  char line[200];

  while (rc == PAI_OK && *text != '\0') {
    size_t len = strcspn(text, "\n");

    assert_true(len < sizeof(line));
    (void)snprintf(line, sizeof(line), "%.*s", (int)len, text);
    rc = learned_line(s, 0, line);
    text += len + (text[len] == '\n');
  }
  if (rc == PAI_OK && alloc == NULL)
    learned_keep(LEARNED_SCHED, s);
  if (rc == PAI_OK)
    return s;
  assert_int_equal(rc, PAI_ENOMEM);
  pai_sched_free(s);
  return NULL;
}

void learned_go_to(pai_sched *s, int64_t seconds)
{
  assert_ok(scene_event(
    s, (pai_sched_event){ .kind = PAI_SCHED_TIME, .time = seconds * SECOND },
    NULL));
}

/* --- forecasts ------------------------------------------------------------ */

pai_forecast *learned_forecast(const pai_sched *s, const pai_history *h,
                               const pai_forecast_options *opts)
{
  pai_forecast *f;

  assert_ok(pai_forecast_new(&f, s, h, opts, NULL));
  learned_keep(LEARNED_FORECAST, f);
  return f;
}

pai_when learned_when(const pai_forecast *f, uint64_t id)
{
  pai_when w = { .struct_size = sizeof(w) };

  assert_ok(pai_forecast_when(f, id, &w));
  return w;
}

void learned_says(const char *text, const char *part)
{
  if (strstr(text, part) == NULL)
    fail_msg("no \"%s\" in:\n%s", part, text);
}
