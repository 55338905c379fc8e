/*
 * fuzz_replay.c - logs that are replayed, as somebody might have changed them
 *
 * What is no snapshot gets one in front.  All lines are taken, then times are
 * gone to and stories told; where there is no snapshot in the middle, any time
 * is as if read from the beginning.
 */
#include "check.h"

#include <openpai/replay.h>

#include "base/buf.h"

static const char begin[] =
  "{\"snapshot\":1,\"time\":0,\"events\":0,\"turns\":0,\"orders\":0,"
  "\"first_port\":20000,\"last_port\":20009,\"next_port\":20000,\"cluster\":{"
  "\"skus\":{\"a\":{\"gpu\":\"t4\",\"gpus\":4,\"cpus\":8,\"memory\":"
  "\"8Gi\"}},\"nodes\":[{\"name\":\"n[1-2]\",\"sku\":\"a\"}]},\"policy\":{"
  "\"name\":\"priority\",\"options\":{},\"state\":null}}\n";

/* Not more than a few bytes at a time are there. */
static ptrdiff_t read_at(void *user_data, uint64_t offset, char *buffer,
                         size_t size)
{
  const pai__buf *log = user_data;

  CHECK(size != 0 && offset + size <= log->len);
  if (size > 1000)
    size = 1000;
  memcpy(buffer, log->data + offset, size);
  return (ptrdiff_t)size;
}

static pai_replay *open_log(pai__buf *log)
{
  pai_replay *r;

  CHECK(pai_replay_new(&r, read_at, log, log->len, NULL, NULL) == PAI_OK);
  return r;
}

static void check_failed(int rc, pai_error *err)
{
  CHECK((rc < 0) == (err != NULL));
  if (rc < 0)
    check_error(err, rc);
  pai_error_free(err);
}

/* How many lines can be taken; -1: it takes too long, or one is wrong. */
static int take_all(pai__buf *log)
{
  pai_replay *r = open_log(log);
  pai_error *err = NULL;
  int n = 0, rc;

  while ((rc = pai_replay_step(r, &err)) == 1) {
    n++;
    if (pai_replay_sched(r) != NULL && !check_small(pai_replay_sched(r)))
      break;
  }
  check_failed(rc < 0 ? rc : 0, err);
  pai_replay_free(r);
  return rc == 0 ? n : -1;
}

/* As it is then, from the beginning; false: that fails. */
static bool fold(pai__buf *log, pai_time time, pai__buf *out)
{
  pai_replay *r = open_log(log);
  int rc;

  do
    rc = pai_replay_step_until(r, time, NULL);
  while (rc == 1);
  pai__buf_init(out, &pai__libc_alloc);
  if (rc == 0)
    CHECK(pai_sched_save(pai_replay_sched(r), test_collect, out, NULL) ==
          PAI_OK);
  pai_replay_free(r);
  return rc == 0;
}

static void go(pai_replay *r, pai__buf *log, pai_time time, bool same)
{
  pai__buf want, got;
  pai_error *err = NULL;
  int rc = pai_replay_to(r, time, &err);

  check_failed(rc, err);
  if (rc < 0 || !same)
    return;
  pai__buf_init(&got, &pai__libc_alloc);
  CHECK(pai_sched_save(pai_replay_sched(r), test_collect, &got, NULL) ==
        PAI_OK);
  if (fold(log, time, &want))
    CHECK(want.len == got.len &&
          memcmp(pai__buf_text(&want), pai__buf_text(&got), got.len) == 0);
  pai__buf_dispose(&want);
  pai__buf_dispose(&got);
}

static void tell(pai_replay *r, uint64_t id, int format)
{
  pai_story_options o = { .struct_size = sizeof(o), .policy = "backfill" };
  pai_error *err = NULL;
  pai__buf out;
  int rc;

  pai__buf_init(&out, &pai__libc_alloc);
  rc = pai_replay_story(r, id, id % 2 != 0 ? &o : NULL, format, test_collect,
                        &out, &err);
  check_failed(rc, err);
  CHECK((rc < 0) == (out.len == 0));
  pai__buf_dispose(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  pai__buf log;
  pai_replay *r;
  pai_time from, to;
  pai_error *err = NULL;
  bool more; /* snapshots, which may say anything */
  int rc;

  pai__buf_init(&log, &pai__libc_alloc);
  if (size < 12 || memcmp(data, begin, 12) != 0)
    pai__buf_str(&log, begin);
  pai__buf_add(&log, data, size);
  if (take_all(&log) < 0) {
    pai__buf_dispose(&log);
    return 0;
  }
  more = log.len < 12;
  for (size_t i = 12; !more && i + 10 < log.len; i++)
    more = memcmp(log.data + i, "\"snapshot\"", 10) == 0;
  r = open_log(&log);
  rc = pai_replay_range(r, &from, &to, &err);
  check_failed(rc, err);
  if (rc == PAI_OK) {
    go(r, &log, to, !more);
    go(r, &log, from, !more);
    go(r, &log, from / 2 + to / 2, !more);
    for (uint64_t id = 6; id <= 9; id++)
      tell(r, id, id / 2 % 2 != 0 ? PAI_FORMAT_TEXT : PAI_FORMAT_JSON);
  }
  pai_replay_free(r);
  pai__buf_dispose(&log);
  return 0;
}
