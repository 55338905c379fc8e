/* The loop in its three modes: own, the host's libuv, a foreign poll(). */
#include "cases.h"

#include "loop/loop.h"

#include <openpai/uv.h>

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

typedef struct ticks {
  pai_loop *loop;
  pai__timer *timer;
  int count, want;
} ticks;

static void on_tick(void *user_data)
{
  ticks *t = user_data;

  if (++t->count < t->want)
    pai__timer_start(t->timer, 1);
  else
    pai__timer_close(t->timer); /* in its own callback */
}

static void begin(ticks *t, pai_loop *loop)
{
  *t = (ticks){ .loop = loop, .want = 3 };
  assert_ok(pai__timer_new(&t->timer, &pai__libc_alloc, loop, on_tick, t));
  pai__timer_start(t->timer, 0);
}

TEST(own_loop_runs_until_nothing_waits)
{
  pai_loop *loop;
  ticks t;

  assert_ok(pai_loop_new(&loop, NULL, NULL));
  assert_int_equal(pai_loop_run_once(loop), 0); /* nothing: no hanging */
  begin(&t, loop);
  assert_ok(pai_loop_run(loop));
  assert_int_equal(t.count, 3);
  begin(&t, loop);
  while (pai_loop_run_once(loop) == 1)
    assert_in_range(t.count, 0, 3);
  assert_int_equal(t.count, 3);
  pai_loop_free(loop);
}

TEST(host_runs_its_own_libuv)
{
  pai_loop *loop;
  uv_loop_t uv;
  ticks t;

  assert_int_equal(uv_loop_init(&uv), 0);
  assert_ok(pai_loop_attach_uv(&loop, &uv, NULL, NULL));
  begin(&t, loop);
  assert_int_equal(pai_loop_run(loop), PAI_EINVAL); /* not ours to run */
  assert_int_equal(pai_loop_run_once(loop), PAI_EINVAL);
  assert_int_equal(pai_loop_dispatch(loop), PAI_EINVAL);
  assert_int_equal(uv_run(&uv, UV_RUN_DEFAULT), 0);
  assert_int_equal(t.count, 3);
  pai_loop_free(loop);
  assert_int_equal(uv_run(&uv, UV_RUN_DEFAULT), 0);
  assert_int_equal(uv_loop_close(&uv), 0); /* nothing of ours is left */
}

TEST(foreign_loop_polls_us)
{
  pai_loop *loop;
  ticks t;
  int more = 1;

  assert_ok(pai_loop_new(&loop, NULL, NULL));
  begin(&t, loop);
  while (more == 1) {
    struct pollfd p = { .fd = pai_loop_fd(loop), .events = POLLIN };
    assert_true(poll(&p, 1, pai_loop_timeout_ms(loop)) >= 0);
    more = pai_loop_dispatch(loop);
  }
  assert_int_equal(more, 0);
  assert_int_equal(t.count, 3);
  pai_loop_free(loop);
}

static void on_late(void *user_data)
{
  (void)user_data;
  fail_msg("nobody woke the loop");
}

static void *wake(void *loop)
{
  pai_loop_wake(loop);
  return NULL;
}

TEST(another_thread_wakes_a_waiting_loop)
{
  pai__timer *timer;
  pthread_t thread;
  pai_loop *loop;

  assert_ok(pai_loop_new(&loop, NULL, NULL));
  assert_ok(pai__timer_new(&timer, &pai__libc_alloc, loop, on_late, NULL));
  pai__timer_start(timer, (pai_time)3600 * 1000000);
  assert_int_equal(pthread_create(&thread, NULL, wake, loop), 0);
  assert_int_equal(pai_loop_run_once(loop), 1);
  assert_int_equal(pthread_join(thread, NULL), 0);
  pai__timer_close(timer);
  assert_ok(pai_loop_run(loop));
  pai_loop_free(loop);
}

static void on_reenter(void *user_data)
{
  ticks *t = user_data;

  assert_int_equal(pai_loop_run(t->loop), PAI_EBUSY);
  assert_int_equal(pai_loop_run_once(t->loop), PAI_EBUSY);
  assert_int_equal(pai_loop_dispatch(t->loop), PAI_EBUSY);
  t->count++;
  pai_loop_stop(t->loop);
  pai__timer_start(t->timer, (pai_time)3600 * 1000000);
}

TEST(reentry_is_refused_and_stop_stops)
{
  ticks t = { 0 };

  assert_ok(pai_loop_new(&t.loop, NULL, NULL));
  assert_ok(
    pai__timer_new(&t.timer, &pai__libc_alloc, t.loop, on_reenter, &t));
  pai__timer_start(t.timer, 0);
  assert_ok(pai_loop_run(t.loop));
  assert_int_equal(t.count, 1);
  pai__timer_close(t.timer);
  pai_loop_free(t.loop);
}

static void on_end(void *user_data)
{
  *(uint64_t *)user_data = uv_hrtime();
}

TEST(a_delay_begins_when_it_is_asked_for)
{
  uint64_t start, end = 0;
  pai__timer *timer;
  pai_loop *loop;

  assert_ok(pai_loop_new(&loop, NULL, NULL));
  assert_ok(pai__timer_new(&timer, &pai__libc_alloc, loop, on_end, &end));
  uv_sleep(50); /* the host is busy, and the loop's own time stands still */
  start = uv_hrtime();
  pai__timer_start(timer, 40000);
  assert_ok(pai_loop_run(loop));
  assert_true(end - start >= 39000000); /* libuv counts whole milliseconds */
  pai__timer_close(timer);
  pai_loop_free(loop);
}

static void on_free(void *user_data)
{
  ticks *t = user_data;

  pai__timer_close(t->timer);
  pai_loop_free(t->loop);
}

TEST(a_callback_may_free_its_loop)
{
  test_tally tally;
  pai_loop_options o = PAI_LOOP_OPTIONS_INIT;
  ticks t = { 0 };

  test_tally_init(&tally);
  o.alloc = &tally.alloc;
  assert_ok(pai_loop_new(&t.loop, &o, NULL));
  assert_ok(pai__timer_new(&t.timer, &tally.alloc, t.loop, on_free, &t));
  pai__timer_start(t.timer, 0);
  assert_int_equal(pai_loop_run_once(t.loop), 0);
  assert_int_equal(tally.live, 0);
}

TEST(a_foreign_loop_may_sleep_when_nothing_waits)
{
  pai__timer *timer;
  pai_loop *loop;

  assert_ok(pai_loop_new(&loop, NULL, NULL));
  assert_int_equal(pai_loop_timeout_ms(loop), -1);
  assert_ok(pai__timer_new(&timer, &pai__libc_alloc, loop, on_late, NULL));
  pai__timer_start(timer, 10000000);
  assert_int_equal(pai_loop_dispatch(loop), 1);
  uv_sleep(50); /* counts, although nobody ran the loop */
  assert_in_range(pai_loop_timeout_ms(loop), 1, 9951);
  pai__timer_close(timer);
  pai_loop_free(loop);
}

/* The number the next descriptor gets. */
static int next_fd(void)
{
  int fd = dup(STDIN_FILENO);

  (void)close(fd);
  return fd;
}

/* A stop that nobody waited for must not keep the loop's descriptors. */
TEST(a_stopped_loop_is_freed_whole)
{
  int before = next_fd();
  ticks t = { 0 };

  assert_ok(pai_loop_new(&t.loop, NULL, NULL));
  assert_ok(
    pai__timer_new(&t.timer, &pai__libc_alloc, t.loop, on_reenter, &t));
  pai__timer_close(t.timer);
  pai_loop_stop(t.loop);
  pai_loop_free(t.loop);
  assert_int_equal(next_fd(), before);
}

TEST(bad_options_are_refused)
{
  pai_loop_options bad = { 3, NULL };
  pai_loop *loop;
  pai_error *err;

  assert_int_equal(pai_loop_new(&loop, &bad, &err), PAI_EINVAL);
  assert_null(loop);
  test_expect_error(err, PAI_EINVAL, "struct_size");
  assert_fails(pai_loop_new(NULL, NULL, &err), err, PAI_EINVAL,
               "pai_loop_new() was called without");
  pai_loop_free(NULL);
}

TEST_FAULTS(failing_memory)
{
  pai_loop_options o = PAI_LOOP_OPTIONS_INIT;
  pai__timer *timer;
  pai_loop *loop;
  int rc;

  o.alloc = alloc;
  rc = pai_loop_new(&loop, &o, NULL);
  if (rc < 0)
    return rc;
  rc = pai__timer_new(&timer, alloc, loop, on_late, NULL);
  pai__timer_close(timer);
  pai_loop_free(loop);
  return rc;
}

static void look_at_mask(void *user_data)
{
  (void)pthread_sigmask(SIG_BLOCK, NULL, user_data);
}

static void nothing_more(void *user_data)
{
  (void)user_data;
}

/* A handler of the program reads what its own threads write. */
TEST(no_signal_of_the_program_comes_beside_the_loop)
{
  pai__work *work;
  pai_loop *loop;
  sigset_t seen, mine;

  assert_ok(pai_loop_new(&loop, NULL, NULL));
  assert_ok(pai__work_new(&work, &pai__libc_alloc, loop, look_at_mask,
                          nothing_more, &seen));
  pai__work_start(work);
  assert_ok(pai_loop_run(loop));
  pai__work_close(work);
  pai_loop_free(loop);
  assert_int_equal(sigismember(&seen, SIGTERM), 1);
  assert_int_equal(sigismember(&seen, SIGINT), 1);
  assert_int_equal(sigismember(&seen, SIGSEGV), 0);
  assert_int_equal(pthread_sigmask(SIG_BLOCK, NULL, &mine), 0);
  assert_int_equal(sigismember(&mine, SIGTERM), 0);
}
