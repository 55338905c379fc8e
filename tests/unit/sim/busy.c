/* busy.c - logs that somebody might have written, for tests of replays */
#include "busy.h"

#include "base/prng.h"

#define SECOND INT64_C(1000000)

enum { MOST = 64, KEPT = 600 };

static pai__buf texts[KEPT];
static pai_replay *replays[KEPT];
static size_t ntexts, nreplays;

int busy_free(void **state)
{
  (void)state;
  for (; ntexts > 0; ntexts--)
    pai__buf_dispose(&texts[ntexts - 1]);
  for (; nreplays > 0; nreplays--)
    pai_replay_free(replays[nreplays - 1]);
  return 0;
}

pai__buf *busy_text(void)
{
  assert_true(ntexts < KEPT);
  pai__buf_init(&texts[ntexts], &pai__libc_alloc);
  return &texts[ntexts++];
}

pai__buf *busy_save(const pai_sched *s)
{
  assert_true(ntexts < KEPT);
  scribe_save(s, &texts[ntexts]);
  return &texts[ntexts++];
}

static void answer(pai_sched *s, uint64_t *running, size_t *n)
{
  pai_decision d = { .struct_size = sizeof(d) }, list[MOST];
  size_t decisions = 0;

  while (pai_sched_decision(s, decisions, &d) == PAI_OK && decisions < MOST)
    list[decisions++] = d;
  for (size_t i = 0; i < decisions; i++) {
    bool starts = list[i].kind == PAI_DECISION_START;

    assert_ok(
      scene_event(s,
                  (pai_sched_event){ .kind = starts ? PAI_SCHED_STARTED
                                                    : PAI_SCHED_RETURNED,
                                     .id = list[i].id },
                  NULL));
    for (size_t k = 0; !starts && k < *n; k++)
      if (running[k] == list[i].id)
        running[k--] = running[--*n];
    if (starts)
      running[(*n)++] = list[i].id;
  }
}

static void one_second(pai_sched *s, pai__prng *random, uint64_t id,
                       pai_time now, uint64_t *running, size_t *n)
{
  pai_want want = scene_want(1 + (uint32_t)pai__prng_below(random, 2),
                             1 + (uint32_t)pai__prng_below(random, 4));
  pai_request r = { .id = id,
                    .name = "train",
                    .user = id % 3 != 0 ? "ann" : "bob",
                    .priority = (int)pai__prng_below(random, 3),
                    .duration = 60 * SECOND,
                    .wants = &want,
                    .nwants = 1 };

  assert_ok(scene_event(
    s, (pai_sched_event){ .kind = PAI_SCHED_TIME, .time = now }, NULL));
  if (*n != 0 && pai__prng_below(random, 16) != 0) {
    size_t k = (size_t)pai__prng_below(random, *n);

    assert_ok(scene_finish(s, running[k]));
    running[k] = running[--*n];
  }
  assert_ok(scene_request(s, &r, NULL));
  assert_true(pai_sched_decide(s, now, NULL) >= 0);
  answer(s, running, n);
}

pai__buf *busy_log(const char *policy, int jobs, pai_time begin,
                   uint64_t every)
{
  pai__buf *out = busy_text();
  pai_sched *s =
    scene_new("nodes:4 gpu:4:t4 cpus:8 mem:1G", policy, NULL, NULL);
  pai_sched_log_options o = { .struct_size = sizeof(o),
                              .snapshots = every != 0,
                              .every = every };
  pai__prng random = { 11 };
  uint64_t running[MOST];
  size_t n = 0;

  assert_non_null(s);
  assert_ok(scene_event(
    s, (pai_sched_event){ .kind = PAI_SCHED_TIME, .time = begin }, NULL));
  assert_ok(pai_sched_set_log_options(s, &o, NULL));
  assert_ok(pai_sched_set_log(s, scribe_write, out, NULL));
  for (int i = 1; i <= jobs; i++)
    one_second(s, &random, (uint64_t)i, begin + i * SECOND, running, &n);
  pai_sched_free(s);
  return out;
}

ptrdiff_t busy_read(void *log, uint64_t offset, char *buffer, size_t size)
{
  const pai__buf *text = log;

  assert_true(offset + size <= text->len);
  memcpy(buffer, text->data + offset, size);
  return (ptrdiff_t)size;
}

pai_replay *busy_open(const pai__buf *log, const pai_replay_options *opts)
{
  pai_replay *r;

  assert_ok(pai_replay_new(&r, busy_read, (void *)log, log->len, opts, NULL));
  assert_true(nreplays < KEPT);
  return replays[nreplays++] = r;
}

const char *busy_line(const pai__buf *log, int n)
{
  const char *at = pai__buf_text(log);

  for (; n > 1; n--) {
    at = strchr(at, '\n');
    assert_non_null(at);
    at++;
  }
  return at;
}

int busy_count(const pai__buf *log, const char *part)
{
  int n = 0;

  for (const char *at = pai__buf_text(log); (at = strstr(at, part)) != NULL;
       at++)
    n++;
  return n;
}

pai__buf *busy_read_all(const pai__buf *log, const pai_replay_options *o,
                        pai__buf *decisions)
{
  pai_replay *r = busy_open(log, o);
  int rc;

  while ((rc = pai_replay_step(r, NULL)) == 1)
    for (size_t i = 0; i < pai_replay_decisions(r); i++)
      assert_ok(pai_sched_write_decision(pai_replay_sched(r), i, scribe_write,
                                         decisions, NULL));
  assert_int_equal(rc, 0);
  return busy_save(pai_replay_sched(r));
}
