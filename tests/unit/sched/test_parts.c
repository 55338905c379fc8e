/*
 * Virtual clusters that have a part of the whole: what is started keeps to
 * that under each policy, whatever comes, also while the parts change; and the
 * log does it all again.
 *
 * OPENPAI_SEED begins with another number.
 */
#include "scene.h"

#include "base/buf.h"
#include "base/prng.h"

#include <stdio.h>
#include <stdlib.h>

/* --- the form ------------------------------------------------------------- */

#define BOX                                                        \
  "skus: {box: {gpu: a100, gpus: 8, near: {switch: 4}, cpus: 16, " \
  "memory: 32G}}\n"                                                \
  "nodes: [{name: \"n[1-2]\", sku: box}]\n"

static const char parted[] = BOX "virtualClusters:\n"
                                 "  default: {part: rest}\n"
                                 "  left: {part: 25%, max: 50%}\n"
                                 "  right: {part: \"12.5%\", stopped: true}\n";

static int collect(void *user_data, const char *bytes, size_t len)
{
  pai__buf_add(user_data, bytes, len);
  return PAI_OK;
}

static void parts_are_read_and_written(void **state)
{
  pai_vc_view v = { .struct_size = sizeof(v) };
  pai_cluster *c, *again;
  pai__buf text, second;

  (void)state;
  pai__buf_init(&text, &pai__libc_alloc);
  pai__buf_init(&second, &pai__libc_alloc);
  assert_int_equal(pai_cluster_parse(&c, parted, strlen(parted), NULL, NULL),
                   PAI_OK);
  assert_int_equal(pai_cluster_view_vc(c, 1, &v), PAI_OK);
  assert_int_equal(v.part, 2500);
  assert_int_equal(v.most, 5000);
  assert_int_equal(v.parted, 1);
  assert_int_equal(v.shares, 0);
  assert_int_equal(pai_cluster_view_vc(c, 0, &v), PAI_OK);
  assert_int_equal(v.rest, 1);
  assert_int_equal(pai_cluster_view_vc(c, 2, &v), PAI_OK);
  assert_int_equal(v.part, 1250);
  assert_int_equal(v.stopped, 1);
  assert_int_equal(pai_cluster_write(c, PAI_FORMAT_YAML, collect, &text, NULL),
                   PAI_OK);
  assert_non_null(strstr(pai__buf_text(&text), "12.5%"));
  assert_int_equal(pai_cluster_parse(&again, text.data, text.len, NULL, NULL),
                   PAI_OK);
  assert_int_equal(
    pai_cluster_write(again, PAI_FORMAT_YAML, collect, &second, NULL), PAI_OK);
  assert_string_equal(pai__buf_text(&text), pai__buf_text(&second));
  pai__buf_dispose(&text);
  pai__buf_dispose(&second);
  pai_cluster_free(again);
  pai_cluster_free(c);
}

static void wrong_parts_are_refused(void **state)
{
  static const char *const wrong[] = {
    "{a: {part: 25}}",
    "{a: {part: 101%}}",
    "{a: {part: 1.234%}}",
    "{a: {part: .5%}}",
    "{a: {part: 5.%}}",
    "{a: {part: -5%}}",
    "{a: {part: \"%\"}}",
    "{a: {part: 99999999999%}}",
    "{a: {part: [1]}}",
    "{a: {part: 60%}, b: {part: 40.01%}}",
    "{a: {part: rest}, b: {part: rest}}",
    "{a: {part: 20%, max: 10%}}",
    "{a: {part: rest, max: 10%}}",
    "{a: {max: 10%}}",
    "{a: {part: 20%, cells: {box: 1}}}",
    "{a: {part: 20%}, b: {cells: {box: 1}}}",
    "{a: {part: 20%, stopped: 1}}",
    "{a: {part: 20%, halted: true}}",
  };
  char text[512];

  (void)state;
  for (size_t i = 0; i < PAI__LEN(wrong); i++) {
    pai_cluster *c = NULL;
    pai_error *err = NULL;

    (void)snprintf(text, sizeof(text), BOX "virtualClusters: %s\n", wrong[i]);
    if (pai_cluster_parse(&c, text, strlen(text), NULL, &err) != PAI_EINVAL)
      fail_msg("taken: %s", wrong[i]);
    assert_null(c);
    assert_non_null(err);
    pai_error_free(err);
  }
}

/* What a part comes to in cells is there, whatever the parts are. */
static void parts_become_cells(void **state)
{
  pai__prng r = { .state = 5 };

  (void)state;
  for (int i = 0; i < 200; i++) {
    unsigned a = (unsigned)pai__prng_below(&r, 10001);
    unsigned b = (unsigned)pai__prng_below(&r, 10001 - a);
    pai_cluster *c, *hived;
    char text[512];
    pai__buf out;

    pai__buf_init(&out, &pai__libc_alloc);
    (void)snprintf(text, sizeof(text),
                   BOX "virtualClusters: {default: {part: rest}, a: {part: "
                       "%u.%02u%%}, b: {part: %u.%02u%%}}\n",
                   a / 100, a % 100, b / 100, b % 100);
    assert_int_equal(pai_cluster_parse(&c, text, strlen(text), NULL, NULL),
                     PAI_OK);
    assert_int_equal(
      pai_cluster_write_hived(c, PAI_FORMAT_YAML, collect, &out, NULL),
      PAI_OK);
    if (pai_cluster_parse(&hived, out.data, out.len, NULL, NULL) < 0)
      fail_msg("%s", pai__buf_text(&out));
    pai_cluster_free(hived);
    pai_cluster_free(c);
    pai__buf_dispose(&out);
  }
}

/* --- one after the other -------------------------------------------------- */

static int submit(pai_sched *s, uint64_t id, const char *vc, pai_want want,
                  pai_error **err)
{
  want.struct_size = sizeof(want);
  return scene_request(
    s, &(pai_request){ .id = id, .vc = vc, .wants = &want, .nwants = 1 }, err);
}

static pai_want some(uint32_t gpus, uint32_t cpus, uint64_t gib)
{
  return (
    pai_want){ .tasks = 1, .gpus = gpus, .cpus = cpus, .memory = gib << 30 };
}

static void expect_quota(const pai_sched *s, uint64_t id, int of,
                         uint64_t wanted, uint64_t found)
{
  pai_reason r = { .struct_size = sizeof(r) };

  assert_int_equal(pai_sched_reason(s, id, &r), PAI_OK);
  assert_int_equal(r.lack, PAI_LACK_QUOTA);
  assert_int_equal(r.of, of);
  assert_int_equal(r.wanted, wanted);
  assert_int_equal(r.found, found);
}

static const char *explain(const pai_sched *s, uint64_t id)
{
  static char text[1024];
  pai__buf out;

  pai__buf_init(&out, &pai__libc_alloc);
  assert_int_equal(
    pai_sched_explain(s, id, PAI_FORMAT_TEXT, collect, &out, NULL), PAI_OK);
  (void)snprintf(text, sizeof(text), "%s", pai__buf_text(&out));
  pai__buf_dispose(&out);
  return text;
}

/* 16 GPUs, 32 CPUs, 64 GiB: left has up to half of that, 8, 16 and 32. */
static void parts_are_of_everything(void **state)
{
  pai_sched *s = scene_new(parted, NULL, NULL, NULL);
  pai_sched_vc_view v = { .struct_size = sizeof(v) };
  pai_error *err;
  pai_want two;

  (void)state;
  assert_non_null(s);
  assert_int_equal(submit(s, 1, "left", some(8, 4, 4), NULL), PAI_OK);
  assert_int_equal(submit(s, 2, "left", some(1, 1, 1), NULL), PAI_OK);
  assert_string_equal(scene_decide(s), "start 1");
  expect_quota(s, 2, PAI_LACK_QUOTA, 1, 0);
  assert_int_equal(submit(s, 3, "default", some(8, 8, 8), NULL), PAI_OK);
  assert_string_equal(scene_decide(s), "start 3");
  assert_int_equal(scene_finish(s, 1), PAI_OK);
  assert_string_equal(scene_decide(s), "start 2");
  assert_int_equal(scene_finish(s, 3), PAI_OK);
  assert_int_equal(submit(s, 4, "left", some(0, 16, 1), NULL), PAI_OK);
  assert_string_equal(scene_decide(s), "");
  expect_quota(s, 4, PAI_LACK_CPU, 16, 15);
  assert_non_null(strstr(explain(s, 4),
                         "it takes 16 CPUs, and of its own virtual cluster "
                         "'left' has 15 left"));
  assert_int_equal(scene_change(s, 4, "cpus", 15), PAI_OK);
  assert_string_equal(scene_decide(s), "start 4");
  assert_int_equal(scene_finish(s, 4), PAI_OK);
  assert_int_equal(submit(s, 5, "left", some(0, 1, 32), NULL), PAI_OK);
  assert_string_equal(scene_decide(s), "");
  expect_quota(s, 5, PAI_LACK_MEMORY, UINT64_C(32) << 30, UINT64_C(31) << 30);
  assert_int_equal(pai_sched_view_vc(s, 1, &v), PAI_OK);
  assert_int_equal(v.gpus, 4);
  assert_int_equal(v.most_gpus, 8);
  assert_int_equal(v.most_cpus, 16);
  assert_int_equal(v.used_cpus, 1);
  assert_int_equal(v.used_memory, UINT64_C(1) << 30);
  /* What it never could have is refused at once. */
  two = some(0, 9, 1);
  two.tasks = 2;
  assert_int_equal(submit(s, 6, "left", two, &err), PAI_ENOROOM);
  test_expect_error(err, PAI_ENOROOM,
                    "it asks for 18 CPUs, and virtual cluster 'left' has 16");
  assert_int_equal(submit(s, 7, "left", some(9, 1, 1), &err), PAI_ENOROOM);
  test_expect_error(err, PAI_ENOROOM, "more than 8");
  pai_sched_free(s);
}

static int set_cluster(pai_sched *s, const char *vcs, pai_error **err)
{
  pai_cluster *c;
  char text[1024];
  int rc;

  (void)snprintf(text, sizeof(text), BOX "virtualClusters: %s\n", vcs);
  assert_int_equal(pai_cluster_parse(&c, text, strlen(text), NULL, NULL),
                   PAI_OK);
  rc = scene_event(
    s, (pai_sched_event){ .kind = PAI_SCHED_CLUSTER, .cluster = c }, err);
  pai_cluster_free(c);
  return rc;
}

static void parts_change_while_requests_wait(void **state)
{
  pai_sched *s = scene_new(parted, NULL, NULL, NULL);
  pai_error *err;

  (void)state;
  assert_int_equal(submit(s, 1, "right", some(2, 1, 1), NULL), PAI_OK);
  assert_int_equal(submit(s, 2, "left", some(8, 1, 1), NULL), PAI_OK);
  assert_string_equal(scene_decide(s), "start 2");
  assert_string_equal(scene_lack(s, 1), "stopped");
  assert_non_null(strstr(explain(s, 1), "'right' is stopped"));
  assert_int_equal(
    set_cluster(s, "{default: {part: rest}, left: {part: 5%}}", &err),
    PAI_EBUSY);
  test_expect_error(err, PAI_EBUSY, "'right' has requests");
  assert_int_equal(set_cluster(s,
                               "{default: {part: rest}, left: {part: 5%}, "
                               "right: {part: 5%}}",
                               NULL),
                   PAI_OK);
  assert_string_equal(scene_decide(s), "");
  expect_quota(s, 1, PAI_LACK_QUOTA, 2, 0); /* 5% of 16 are none */
  assert_int_equal(set_cluster(s,
                               "{default: {part: rest}, left: {part: 50%}, "
                               "right: {part: 50%}}",
                               NULL),
                   PAI_OK);
  assert_string_equal(scene_decide(s), "start 1");
  /* Without parts nothing is counted any more. */
  assert_int_equal(submit(s, 3, "left", some(6, 1, 1), NULL), PAI_OK);
  assert_string_equal(scene_decide(s), "");
  pai_sched_free(s);
}

/* What runs counts, also what began when nobody counted it. */
static void opportunistic_ones_count(void **state)
{
  pai_sched *s = scene_new(parted, "priority", NULL, NULL);
  pai_sched_vc_view v = { .struct_size = sizeof(v) };
  pai_want want = some(8, 1, 1);

  (void)state;
  want.struct_size = sizeof(want);
  assert_int_equal(
    scene_request(s,
                  &(pai_request){ .id = 1,
                                  .vc = "left",
                                  .priority = PAI_SCHED_OPPORTUNISTIC,
                                  .wants = &want,
                                  .nwants = 1 },
                  NULL),
    PAI_OK);
  assert_string_equal(scene_decide(s), "start 1");
  assert_int_equal(pai_sched_view_vc(s, 1, &v), PAI_OK);
  assert_int_equal(v.used, 8);
  assert_int_equal(v.lent, 0);
  assert_int_equal(
    scene_request(s,
                  &(pai_request){ .id = 2,
                                  .vc = "left",
                                  .priority = PAI_SCHED_OPPORTUNISTIC,
                                  .wants = &want,
                                  .nwants = 1 },
                  NULL),
    PAI_OK);
  assert_string_equal(scene_decide(s), "");
  assert_string_equal(scene_lack(s, 2), "quota");
  pai_sched_free(s);
}

/* --- whatever comes ------------------------------------------------------- */

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
  assert_int_equal(set_cluster(p->s, text, NULL), PAI_OK);
}

static void any_request(play *p)
{
  static const int priorities[] = { 0, 10, 100, PAI_SCHED_OPPORTUNISTIC };
  pai_want want =
    some((uint32_t)below(p, 5), (uint32_t)below(p, 6), below(p, 6));
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
  assert_int_equal(rc, PAI_OK);
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

  assert_int_equal(
    scene_event(
      p->s, (pai_sched_event){ .kind = PAI_SCHED_RETURNED, .id = id }, NULL),
    PAI_OK);
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
    assert_int_equal(
      pai_sched_write_decision(p->s, (size_t)i, collect, &p->decisions, NULL),
      PAI_OK);
    assert_int_equal(pai_sched_decision(p->s, (size_t)i, &d), PAI_OK);
    if (d.kind == PAI_DECISION_STOP)
      stops[nstops++] = d.id;
  }
  for (int i = 0; i < n; i++) {
    assert_int_equal(pai_sched_decision(p->s, (size_t)i, &d), PAI_OK);
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
      assert_int_equal(scene_finish(p->s, p->requests[i].id), PAI_OK);
      p->requests[i] = p->requests[--p->n];
      return;
    }
}

static int add_line(void *user_data, const char *bytes, size_t len)
{
  pai__buf_add(user_data, bytes, len);
  return PAI_OK;
}

/* The log, on a scheduler made of its first line: the same decisions. */
static void do_again(play *p)
{
  const char *at = p->log.data, *end = at + p->log.len;
  pai_sched *s = NULL;
  pai__buf again;

  pai__buf_init(&again, &pai__libc_alloc);
  while (at < end) {
    const char *newline = memchr(at, '\n', (size_t)(end - at));
    size_t len = (size_t)(newline - at);
    int n = 0;

    assert_non_null(newline);
    if (s == NULL)
      assert_int_equal(pai_sched_load(&s, at, len, NULL, NULL), PAI_OK);
    else
      n = pai_sched_send_json(s, at, len, NULL);
    assert_true(n >= 0);
    if (strstr(at, "\"decide\"") == at + 2 || n > 0)
      for (int i = 0; i < n; i++)
        assert_int_equal(
          pai_sched_write_decision(s, (size_t)i, collect, &again, NULL),
          PAI_OK);
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
  p.s = scene_new(parted, policy, NULL, NULL);
  assert_non_null(p.s);
  pai__buf_init(&p.decisions, &pai__libc_alloc);
  pai__buf_init(&p.log, &pai__libc_alloc);
  assert_int_equal(pai_sched_set_log(p.s, add_line, &p.log, NULL), PAI_OK);
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

static void each_policy_keeps_to_parts(void **state)
{
  const char *seed = getenv("OPENPAI_SEED");
  const pai_policy *policy;

  (void)state;
  for (size_t i = 0; (policy = pai_policy_builtin(i)) != NULL; i++)
    for (uint64_t k = 0; k < 60; k++)
      play_with(policy->name,
                (seed != NULL ? strtoull(seed, NULL, 10) : 1) * 100 + k);
}

/* --- without memory ------------------------------------------------------- */

static int with_parts(const pai_alloc *alloc, void *user_data)
{
  pai_sched *s = scene_new(parted, user_data, NULL, alloc);
  pai_want want = some(4, 2, 1);
  pai_cluster_options o = PAI_CLUSTER_OPTIONS_INIT;
  pai_cluster *c = NULL;
  int rc = PAI_ENOMEM;

  if (s == NULL)
    return PAI_ENOMEM;
  o.alloc = alloc;
  rc = submit(s, 1, "left", want, NULL);
  if (rc == PAI_OK)
    rc = submit(s, 2, "left", want, NULL);
  if (rc == PAI_OK)
    rc = submit(s, 3, "left", want, NULL);
  if (rc == PAI_OK)
    rc = pai_sched_decide(s, 1, NULL);
  if (rc >= 0)
    rc = pai_cluster_parse(&c, parted, strlen(parted), &o, NULL);
  if (rc == PAI_OK)
    rc = pai_sched_send(
      s,
      &(pai_sched_event){ .struct_size = sizeof(pai_sched_event),
                          .kind = PAI_SCHED_CLUSTER,
                          .time = 1,
                          .cluster = c },
      NULL);
  if (rc == PAI_OK)
    rc = pai_sched_decide(s, 2, NULL);
  if (rc >= 0) {
    assert_string_equal(scene_lack(s, 3), "quota");
    rc = PAI_OK;
  }
  pai_cluster_free(c);
  pai_sched_free(s);
  return rc;
}

static void memory_may_lack(void **state)
{
  (void)state;
  test_faults(with_parts, (void *)"fifo");
  test_faults(with_parts, (void *)"backfill");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(parts_are_read_and_written),
    cmocka_unit_test(wrong_parts_are_refused),
    cmocka_unit_test(parts_become_cells),
    cmocka_unit_test(parts_are_of_everything),
    cmocka_unit_test(parts_change_while_requests_wait),
    cmocka_unit_test(opportunistic_ones_count),
    cmocka_unit_test(each_policy_keeps_to_parts),
    cmocka_unit_test(memory_may_lack),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
