/* The supervisor's orders, written and read; garbage is refused.  And what it
 * writes: the status. */
#include "cases.h"

#include "backend/local/order.h"
#include "backend/local/status.h"
#include "base/prng.h"
#include "task/order.h"

#include <stdlib.h>

static const char *const argv[] = { "/bin/bash", "/dev/fd/3", NULL };
static const char *const env[] = { "A=1", "EMPTY=", "LONG=two words", NULL };
static const char *const groups[] = { "/g/1", NULL };
static const char *const none[] = { NULL };

static const pai__backend_order full = { .argv = argv,
                                         .env = env,
                                         .cleanup = argv,
                                         .procs = groups,
                                         .groups = groups,
                                         .enter = argv,
                                         .enter_tty = env,
                                         .enter_env = argv,
                                         .workdir = "/w",
                                         .script = "echo hi\n",
                                         .oom_file = "/g/1/events",
                                         .note = "a note",
                                         .tmp = "/t",
                                         .cpus = "0-3,8",
                                         .numa_nodes = "1",
                                         .log_limit = 4096,
                                         .memory = 1 << 20,
                                         .nice = 5,
                                         .flags = PAI_ORDER_SPARE_FIRST };

/* A copy of just its size, so that whoever reads beyond is caught. */
static char *copy_of(const pai__buf *b)
{
  char *copy = malloc(b->len);

  assert_non_null(copy);
  memcpy(copy, b->data, b->len);
  return copy;
}

static void expect_list(char **list, const char *const *want)
{
  for (; *want != NULL; want++, list++)
    assert_string_equal(*list, *want);
  assert_null(*list);
}

TEST(what_is_written_is_read)
{
  pai__buf b = test_buf();
  char *bytes;
  pai_order *o;

  assert_ok(pai__order_write(&b, &full));
  bytes = copy_of(&b);
  assert_int_equal(pai_order_open(bytes, b.len), 0);
  o = (void *)bytes;
  expect_list(o->argv.texts, argv);
  expect_list(o->env.texts, env);
  expect_list(o->cleanup.texts, argv);
  expect_list(o->procs.texts, groups);
  expect_list(o->groups.texts, groups);
  expect_list(o->enter.texts, argv);
  expect_list(o->enter_tty.texts, env);
  expect_list(o->enter_env.texts, argv);
  assert_string_equal(o->workdir.text, "/w");
  assert_string_equal(o->script.text, "echo hi\n");
  assert_string_equal(o->oom_file.text, "/g/1/events");
  assert_string_equal(o->note.text, "a note");
  assert_string_equal(o->tmp.text, "/t");
  assert_string_equal(o->cpus.text, "10f");
  assert_string_equal(o->nodes.text, "2");
  assert_int_equal(o->log_limit, 4096);
  assert_int_equal(o->memory, 1 << 20);
  assert_int_equal(o->nice, 5);
  assert_int_equal(o->flags, PAI_ORDER_SPARE_FIRST);
  free(bytes);
  pai__buf_dispose(&b);
}

TEST(little_is_enough)
{
  const pai__backend_order order = { .argv = argv, .env = none, .script = "" };
  pai__buf b = test_buf();
  char *bytes;
  pai_order *o;

  assert_ok(pai__order_write(&b, &order));
  bytes = copy_of(&b);
  assert_int_equal(pai_order_open(bytes, b.len), 0);
  o = (void *)bytes;
  assert_null(o->env.texts[0]);
  assert_null(o->cleanup.texts);
  assert_null(o->workdir.text);
  assert_null(o->cpus.text);
  assert_int_equal(o->log_limit, 256 << 20);
  free(bytes);
  pai__buf_dispose(&b);
}

TEST(masks)
{
  static const struct {
    const char *list, *mask; /* NULL: refused */
  } rows[] = {
    { "0", "1" },
    { "3", "8" },
    { "4", "10" },
    { "0-7", "ff" },
    { "64", "10000000000000000" },
    { "1,0,2", "7" },
    { "8-8,0", "101" },
    { "", "none" },
    { "4096", NULL },
    { "99999999999999999999", NULL },
    { "3-1", NULL },
    { "-1", NULL },
    { "1-", NULL },
    { "1,", NULL },
    { ",1", NULL },
    { "a", NULL },
    { "1 2", NULL },
    { "0-3\n", NULL },
  };
  pai__buf b = test_buf();

  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    pai__backend_order order = {
      .argv = argv, .env = none, .script = "", .cpus = rows[i].list
    };
    int rc = pai__order_write(&b, &order);
    print_message("%s\n", rows[i].list);
    assert_int_equal(rc, rows[i].mask != NULL ? PAI_OK : PAI_EINVAL);
    if (rc == PAI_OK) {
      char *bytes = copy_of(&b);
      assert_int_equal(pai_order_open(bytes, b.len), 0);
      if (rows[i].list[0] == '\0')
        assert_null(((pai_order *)bytes)->cpus.text);
      else
        assert_string_equal(((pai_order *)bytes)->cpus.text, rows[i].mask);
      free(bytes);
    }
  }
  pai__buf_dispose(&b);
}

/* All that a supervisor would read of it. */
static size_t read_all(const pai_order *o)
{
  char **const lists[] = { o->argv.texts, o->env.texts, o->cleanup.texts,
                           o->procs.texts, o->groups.texts };
  const char *const texts[] = { o->workdir.text,  o->script.text,
                                o->oom_file.text, o->note.text,
                                o->cpus.text,     o->nodes.text,
                                o->tmp.text };
  size_t sum = 0;

  for (size_t i = 0; i < PAI__LEN(lists); i++)
    for (char **at = lists[i]; at != NULL && *at != NULL; at++)
      sum += strlen(*at);
  for (size_t i = 0; i < PAI__LEN(texts); i++)
    sum += texts[i] != NULL ? strlen(texts[i]) : 0;
  return sum;
}

static size_t try_bytes(const pai__buf *b, size_t len)
{
  char *bytes = malloc(len > 0 ? len : 1);
  size_t sum = 0;

  assert_non_null(bytes);
  memcpy(bytes, b->data, len);
  if (pai_order_open(bytes, len) == 0)
    sum = read_all((void *)bytes);
  free(bytes);
  return sum;
}

TEST(garbage_is_refused)
{
  size_t taken = 0;
  pai__prng prng = { 1 };
  pai__buf b = test_buf();

  assert_ok(pai__order_write(&b, &full));
  assert_true(b.len > sizeof(pai_order));
  for (size_t len = 0; len < b.len; len++)
    assert_int_equal(try_bytes(&b, len), 0);
  for (int i = 0; i < 200000; i++) {
    size_t at = pai__prng_below(&prng, b.len);
    size_t also = pai__prng_next(&prng) % sizeof(pai_order);
    char was = b.data[at], was_also = b.data[also];
    b.data[at] = (char)pai__prng_next(&prng);
    if (i % 2 != 0)
      b.data[also] = (char)(pai__prng_next(&prng) % (b.len + 8));
    taken += try_bytes(&b, b.len) > 0;
    b.data[also] = was_also;
    b.data[at] = was;
  }
  assert_true(taken > 1000);        /* and not for its size alone */
  for (int i = 0; i < 20000; i++) { /* nothing right but its head */
    for (size_t at = 16; at < b.len - 1; at++)
      b.data[at] =
        (char)(pai__prng_next(&prng) % 3 == 0 ? pai__prng_next(&prng) : 0);
    (void)try_bytes(&b, b.len);
  }
  pai__buf_dispose(&b);
}

TEST_FAULTS(no_memory_is_survived)
{
  pai__buf b;
  int rc;

  pai__buf_init(&b, alloc);
  rc = pai__order_write(&b, &full);
  pai__buf_dispose(&b);
  return rc;
}

TEST(statuses)
{
  static const struct {
    const char *text;
    enum pai__status_kind kind;
    int number;
  } rows[] = {
    { "", PAI__STATUS_EMPTY, 0 },
    { "super", PAI__STATUS_EMPTY, 0 },
    { "supervisor 1 2 b", PAI__STATUS_EMPTY, 0 }, /* cut */
    { "never\n", PAI__STATUS_NEVER, 0 },
    { "never\nexit 3 1 1 1 1 0\n", PAI__STATUS_NEVER, 0 },
    { "exit 3 1 1 1 1 0\n", PAI__STATUS_EMPTY, 0 }, /* whose? */
    { "supervisor 1 2 b\n", PAI__STATUS_RUNS, 0 },
    { "supervisor 1 2 b\nstarted 3 4 5\nexit 7", PAI__STATUS_RUNS, 0 },
    { "supervisor 1 2 b\nstarted 3 4 5\nexit 7\n", PAI__STATUS_EXIT, 7 },
    { "supervisor 1 2 b\nnews of tomorrow\nexit 7 1\n", PAI__STATUS_EXIT, 7 },
    { "supervisor 1 2 b\nsignal 9 1\nexit 7 1\n", PAI__STATUS_SIGNAL, 9 },
    { "supervisor 1 2 b\nfailed 127 1\n", PAI__STATUS_FAILED, 127 },
    { "supervisor 1 2 b\nexit -3\n", PAI__STATUS_EXIT, 0 },
    { "supervisor 1 2 b\nexit 99999999999999999999\n", PAI__STATUS_EXIT, 0 },
    { "\n\n  \nsupervisor\n", PAI__STATUS_RUNS, 0 },
  };
  static const char all[] = "supervisor 12 345 boot-id\nstarted 13 1000 14\n"
                            "cut stdout\nexit 2 2000 30 40 50 1\n";
  pai__status s;

  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    pai__status_parse(&s, rows[i].text, strlen(rows[i].text));
    print_message("%s\n", rows[i].text);
    assert_int_equal(s.kind, rows[i].kind);
    assert_int_equal(s.number, rows[i].number);
  }
  pai__status_parse(&s, all, sizeof(all) - 1);
  assert_int_equal(s.pid, 12);
  assert_int_equal(s.ticks, 345);
  assert_string_equal(s.boot, "boot-id");
  assert_int_equal(s.first, 13);
  assert_int_equal(s.started, 1000);
  assert_int_equal(s.keeper, 14);
  assert_int_equal(s.ended, 2000);
  assert_int_equal(s.max_rss, 30);
  assert_int_equal(s.user_time, 40);
  assert_int_equal(s.system_time, 50);
  assert_true(s.oom);
  assert_true(s.cut);
}
