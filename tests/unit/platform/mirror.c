/* mirror.c - a scheduler that follows a platform's */
#include "mirror.h"

#include "base/buf.h"

static const char snapshot[] = "{\"snapshot\"";

static void begin_anew(mirror *m, const char *line, size_t len)
{
  pai_sched_event shadow = { .struct_size = sizeof(shadow),
                             .kind = PAI_SCHED_SHADOW,
                             .text = "fifo",
                             .options = "{\"greedy\": true}" };
  pai_sched_view now = { .struct_size = sizeof(now) };

  pai_sched_free(m->sched);
  assert_ok(pai_sched_load(&m->sched, line, len, NULL, NULL));
  assert_ok(pai_sched_view_sums(m->sched, &now));
  shadow.time = now.now;
  assert_ok(pai_sched_send(m->sched, &shadow, NULL));
  m->snapshots++;
}

/* If the last line let it decide. */
static void count(mirror *m)
{
  const pai_sched *beside = pai_sched_shadow(m->sched);
  pai_decision d = { .struct_size = sizeof(d) };

  if (beside == NULL)
    return;
  for (size_t i = 0; pai_sched_decision(m->sched, i, &d) == PAI_OK; i++)
    if (d.kind == PAI_DECISION_START && d.id > m->latest) {
      m->starts++;
      m->latest = d.id;
    }
  for (size_t i = 0; pai_sched_decision(beside, i, &d) == PAI_OK; i++)
    m->differ += d.kind == PAI_DECISION_START && !d.agreed;
}

static int take(void *user_data, const char *bytes, size_t len)
{
  mirror *m = user_data;
  const char *end = bytes + len;

  while (bytes != end) {
    const char *newline = memchr(bytes, '\n', (size_t)(end - bytes));
    size_t n;
    int rc;

    assert_non_null(newline); /* whole lines only */
    n = (size_t)(newline - bytes);
    if (n > strlen(snapshot) &&
        memcmp(bytes, snapshot, strlen(snapshot)) == 0) {
      begin_anew(m, bytes, n);
    } else {
      rc = pai_sched_send_json(m->sched, bytes, n, NULL);
      assert_true(rc >= 0);
      count(m);
    }
    bytes = newline + 1;
  }
  return PAI_OK;
}

int mirror_follow(mirror *m, pai_platform *p)
{
  *m = (mirror){ 0 };
  return pai_platform_follow(&m->follower, p, NULL);
}

int mirror_look(mirror *m)
{
  return pai_follower_read(m->follower, take, m, NULL);
}

void mirror_leave(mirror *m)
{
  pai_platform_unfollow(m->follower);
  pai_sched_free(m->sched);
}

static int collect(void *user_data, const char *bytes, size_t len)
{
  pai__buf_add(user_data, bytes, len);
  return PAI_OK;
}

void mirror_expect_same(const mirror *m, pai_platform *p)
{
  pai_follower *other;
  pai__buf theirs = test_buf(), ours = test_buf();
  pai_sched *copy;

  assert_ok(pai_platform_follow(&other, p, NULL));
  assert_int_equal(pai_follower_read(other, collect, &theirs, NULL), 1);
  pai_platform_unfollow(other);
  assert_ok(pai_sched_fork(&copy, m->sched, NULL));
  assert_ok(pai_sched_save(copy, collect, &ours, NULL));
  pai_sched_free(copy);
  /* One event more: the one that named the shadow. */
  assert_has(pai__buf_text(&ours), ",\"cluster\":");
  assert_has(pai__buf_text(&theirs), ",\"cluster\":");
  assert_string_equal(strstr(pai__buf_text(&ours), ",\"cluster\":"),
                      strstr(pai__buf_text(&theirs), ",\"cluster\":"));
  pai__buf_dispose(&theirs);
  pai__buf_dispose(&ours);
}
