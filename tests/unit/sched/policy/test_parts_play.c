/*
 * Virtual clusters that have a part of the whole: what is started keeps to
 * that under each policy, whatever comes, also while the parts change; and the
 * log does it all again.
 *
 * OPENPAI_SEED begins with another number.
 */
#include "parted.h"

#include "base/buf.h"
#include "base/prng.h"

#include <stdio.h>
#include <stdlib.h>

enum { VCS = 3, KINDS = 3, MOST = 64, STEPS = 400 };
enum { GPUS, CPUS, MEMORY };

static const char *const names[VCS] = { "default", "left", "right" };

typedef struct play {
  pai_sched *s;
  pai__prng r;
  const char *policy;
  uint64_t last;
  struct {
    uint64_t id;
    int vc;
    bool runs;
    uint64_t of[KINDS];
  } requests[MOST];
  size_t n;
  uint64_t most[VCS][KINDS];
  bool stopped[VCS];
  pai__buf decisions, log;
} play;

static uint64_t below(play *p, uint64_t n)
{
  return pai__prng_below(&p->r, n);
}

static uint64_t used(const play *p, int vc, int kind)
{
  uint64_t sum = 0;

  for (size_t i = 0; i < p->n; i++)
    if (p->requests[i].runs && p->requests[i].vc == vc)
      sum += p->requests[i].of[kind];
  return sum;
}

static void any_parts(play *p)
{
  const uint64_t all[KINDS] = { 16, 32, UINT64_C(64) << 30 };
  unsigned part[VCS], most[VCS];
  char text[512];

  part[1] = (unsigned)below(p, 10001);
  part[2] = (unsigned)below(p, 10001 - part[1]);
  for (int v = 1; v < VCS; v++) {
    most[v] = part[v] + (unsigned)below(p, 10001 - part[v]);
    p->stopped[v] = below(p, 4) == 0;
    for (int k = 0; k < KINDS; k++)
      p->most[v][k] =
        all[k] / 10000 * most[v] + all[k] % 10000 * most[v] / 10000;
  }
  for (int k = 0; k < KINDS; k++) {
    p->most[0][k] = all[k];
    for (int v = 1; v < VCS; v++)
      p->most[0][k] -=
        all[k] / 10000 * part[v] + all[k] % 10000 * part[v] / 10000;
  }
  (void)snprintf(text, sizeof(text),
                 "{default: {part: rest}, left: {part: %u.%02u%%, max: "
                 "%u.%02u%%, stopped: %s}, right: {part: %u.%02u%%, max: "
                 "%u.%02u%%, stopped: %s}}",
                 part[1] / 100, part[1] % 100, most[1] / 100, most[1] % 100,
                 p->stopped[1] ? "true" : "false", part[2] / 100,
                 part[2] % 100, most[2] / 100, most[2] % 100,
                 p->stopped[2] ? "true" : "false");
  assert_ok(parts_change(p->s, text, NULL));
}

static void any_request(play *p)
{
  static const int priorities[] = { 0, 10, 100, PAI_SCHED_OPPORTUNISTIC };
  pai_want want =
    parts_some((uint32_t)below(p, 5), (uint32_t)below(p, 6), below(p, 6));
  int vc = (int)below(p, VCS);
  pai_request q = { .id = ++p->last,
                    .vc = names[vc],
                    .user = below(p, 2) == 0 ? "a" : "b",
                    .priority = priorities[below(p, 4)],
                    .duration = (pai_time)below(p, 3) * 1000000,
                    .wants = &want,
                    .nwants = 1 };
  pai_error *err = NULL;
  int rc;

  want.struct_size = sizeof(want);
  want.tasks = 1 + (uint32_t)below(p, 3);
  if (p->n == MOST)
    return;
  rc = scene_request(p->s, &q, &err);
  if (rc == PAI_ENOROOM || rc == PAI_EINVAL) {
    pai_error_free(err);
    return;
  }
  assert_ok(rc);
  p->requests[p->n].id = q.id;
  p->requests[p->n].vc = vc;
  p->requests[p->n].runs = false;
  p->requests[p->n].of[GPUS] = (uint64_t)want.gpus * want.tasks;
  p->requests[p->n].of[CPUS] = (uint64_t)want.cpus * want.tasks;
  p->requests[p->n].of[MEMORY] = want.memory * want.tasks;
  p->n++;
}

static size_t find(const play *p, uint64_t id)
{
  size_t i = 0;

  while (i < p->n && p->requests[i].id != id)
    i++;
  assert_true(i < p->n);
  return i;
}

static void started(play *p, uint64_t id)
{
  size_t i = find(p, id);
  int vc = p->requests[i].vc;

  assert_false(p->requests[i].runs);
  assert_false(p->stopped[vc]);
  p->requests[i].runs = true;
  for (int k = 0; k < KINDS; k++)
    if (p->requests[i].of[k] != 0 && used(p, vc, k) > p->most[vc][k])
      fail_msg("%s: request %d of %s: %llu of kind %d, and %llu is the most",
               p->policy, (int)id, names[vc],
               (unsigned long long)used(p, vc, k), k,
               (unsigned long long)p->most[vc][k]);
}

static void stopped(play *p, uint64_t id)
{
  size_t i = find(p, id);

  assert_ok(scene_event(
    p->s, (pai_sched_event){ .kind = PAI_SCHED_RETURNED, .id = id }, NULL));
  p->requests[i].runs = false;
}

static void decide(play *p)
{
  pai_decision d = { .struct_size = sizeof(d) };
  uint64_t stops[MOST];
  pai_error *err = NULL;
  size_t nstops = 0;
  int n = pai_sched_decide(p->s, scene_now(p->s) + 1000, &err);

  if (n < 0)
    fail_msg("%s: %s", p->policy, pai_error_message(err));
  for (int i = 0; i < n; i++) {
    assert_ok(pai_sched_write_decision(p->s, (size_t)i, test_collect,
                                       &p->decisions, NULL));
    assert_ok(pai_sched_decision(p->s, (size_t)i, &d));
    if (d.kind == PAI_DECISION_STOP)
      stops[nstops++] = d.id;
  }
  for (int i = 0; i < n; i++) {
    assert_ok(pai_sched_decision(p->s, (size_t)i, &d));
    if (d.kind == PAI_DECISION_START)
      started(p, d.id);
  }
  for (size_t i = 0; i < nstops; i++)
    stopped(p, stops[i]);
}

static void finish_one(play *p)
{
  for (size_t i = 0; i < p->n; i++)
    if (p->requests[i].runs && below(p, 3) == 0) {
      assert_ok(scene_finish(p->s, p->requests[i].id));
      p->requests[i] = p->requests[--p->n];
      return;
    }
}

/* The log, on a scheduler made of its first line: the same decisions. */
static void do_again(play *p)
{
  const char *at = p->log.data, *end = at + p->log.len;
  pai_sched *s = NULL;
  pai__buf again = test_buf();

  while (at < end) {
    const char *newline = memchr(at, '\n', (size_t)(end - at));
    size_t len = (size_t)(newline - at);
    int n = 0;

    assert_non_null(newline);
    if (s == NULL)
      assert_ok(pai_sched_load(&s, at, len, NULL, NULL));
    else
      n = pai_sched_send_json(s, at, len, NULL);
    assert_true(n >= 0);
    if (strstr(at, "\"decide\"") == at + 2 || n > 0)
      for (int i = 0; i < n; i++)
        assert_ok(
          pai_sched_write_decision(s, (size_t)i, test_collect, &again, NULL));
    at = newline + 1;
  }
  assert_int_equal(again.len, p->decisions.len);
  assert_memory_equal(again.data, p->decisions.data, again.len);
  pai__buf_dispose(&again);
  pai_sched_free(s);
}

static void play_with(const char *policy, uint64_t seed)
{
  play p = { .policy = policy };
  size_t starts;

  p.r.state = seed;
  p.s = scene_new(parts_box, policy, NULL, NULL);
  assert_non_null(p.s);
  pai__buf_init(&p.decisions, &pai__libc_alloc);
  pai__buf_init(&p.log, &pai__libc_alloc);
  assert_ok(pai_sched_set_log(p.s, test_collect, &p.log, NULL));
  any_parts(&p);
  for (int i = 0; i < STEPS; i++)
    switch (below(&p, 8)) {
    case 0: finish_one(&p); break;
    case 1:
    case 2:
    case 3: any_request(&p); break;
    case 4:
      if (below(&p, 4) == 0)
        any_parts(&p);
      break;
    default: decide(&p); break;
    }
  starts = p.decisions.len;
  assert_true(starts > 0);
  do_again(&p);
  pai__buf_dispose(&p.decisions);
  pai__buf_dispose(&p.log);
  pai_sched_free(p.s);
}

TEST(each_policy_keeps_to_parts)
{
  const char *seed = getenv("OPENPAI_SEED");
  const pai_policy *policy;

  for (size_t i = 0; (policy = pai_policy_builtin(i)) != NULL; i++)
    for (uint64_t k = 0; k < 60; k++)
      play_with(policy->name,
                (seed != NULL ? strtoull(seed, NULL, 10) : 1) * 100 + k);
}
