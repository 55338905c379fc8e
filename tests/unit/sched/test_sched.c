/* The scheduler core and fifo: gangs, reasons, resources given back. */
#include "testing.h"

#include "sched/sched.h"

typedef struct log {
  uint64_t ids[32];
  const pai__slot *slots[32];
  size_t len;
} log;

static void on_place(void *user_data, const pai__placement *place)
{
  log *l = user_data;

  l->ids[l->len] = place->id;
  l->slots[l->len++] = place->slots;
}

static const pai__machine box = { .name = "box",
                                  .ip = "10.0.0.1",
                                  .cpus = 8,
                                  .memory_mb = 1000,
                                  .gpus = 4,
                                  .port_first = 20000,
                                  .port_last = 20009 };

static pai__sched *new_sched(const pai_alloc *alloc, size_t nodes)
{
  pai__sched *s;

  if (pai__sched_new(&s, alloc, NULL, NULL) < 0)
    return NULL;
  for (size_t i = 0; i < nodes; i++)
    if (pai__sched_add_node(s, &box) < 0) {
      pai__sched_free(s);
      return NULL;
    }
  return s;
}

static int submit(pai__sched *s, uint64_t id, uint32_t tasks, uint32_t gpus)
{
  pai__want want = { .tasks = tasks, .cpus = 1, .gpus = gpus };

  return pai__sched_submit(s, &(pai__request){ id, 1, &want }, NULL);
}

static void a_gang_is_placed_whole_or_not_at_all(void **state)
{
  pai__sched *s = new_sched(&pai__libc_alloc, 2);
  log l = { .len = 0 };

  (void)state;
  assert_int_equal(submit(s, 1, 3, 2), PAI_OK); /* 2 + 1 nodes */
  assert_int_equal(submit(s, 2, 2, 2), PAI_OK); /* only one task fits now */
  assert_int_equal(submit(s, 3, 1, 2), PAI_OK); /* would fit, but behind 2 */
  pai__sched_run(s, on_place, &l);
  assert_int_equal(l.len, 1);
  assert_int_equal(l.slots[0][0].node, 0);
  assert_int_equal(l.slots[0][0].gpus, 0x3);
  assert_int_equal(l.slots[0][1].node, 0);
  assert_int_equal(l.slots[0][1].gpus, 0xc);
  assert_int_equal(l.slots[0][2].node, 1);
  assert_null(pai__sched_reason(s, 1));
  assert_int_equal(pai__sched_reason(s, 2)->lack, PAI__LACK_GPU);
  assert_int_equal(pai__sched_reason(s, 2)->wanted, 2);
  assert_int_equal(pai__sched_reason(s, 2)->placed, 1);
  assert_int_equal(pai__sched_reason(s, 2)->free, 0);
  assert_int_equal(pai__sched_reason(s, 3)->lack, PAI__LACK_TURN);
  assert_int_equal(pai__sched_reason(s, 3)->behind, 2);
  assert_int_equal(pai__sched_finish(s, 1), PAI_OK);
  pai__sched_run(s, on_place, &l);
  assert_int_equal(l.len, 3); /* nothing had leaked from the tries */
  assert_int_equal(l.ids[1], 2);
  assert_int_equal(l.ids[2], 3);
  assert_int_equal(pai__sched_finish(s, 2), PAI_OK);
  assert_int_equal(pai__sched_finish(s, 3), PAI_OK);
  assert_int_equal(submit(s, 4, 8, 1), PAI_OK); /* all there is */
  pai__sched_run(s, on_place, &l);
  assert_int_equal(l.len, 4);
  pai__sched_free(s);
}

static void the_impossible_is_refused_with_its_reason(void **state)
{
  static const struct {
    pai__want want;
    const char *says;
  } rows[] = {
    { { .tasks = 1, .gpus = 5 }, "5 GPUs" },
    { { .tasks = 1, .cpus = 9 }, "9 CPUs" },
    { { .tasks = 1, .memory_mb = 1001 }, "1001 MiB of memory" },
    { { .tasks = 1, .ports = 11 }, "11 ports" },
    { { .tasks = 5, .gpus = 1 },
      "beside 4 other tasks of it no machine has more than 0" },
  };
  pai__sched *s = new_sched(&pai__libc_alloc, 1);

  (void)state;
  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    pai_error *err;
    pai__request r = { 1, 1, &rows[i].want };
    assert_int_equal(pai__sched_submit(s, &r, &err), PAI_ENOROOM);
    test_expect_error(err, PAI_ENOROOM, rows[i].says);
  }
  assert_int_equal(submit(s, 1, 4, 1), PAI_OK); /* the most there is */
  pai__sched_free(s);
}

static void ports_are_given_once_and_rest_before_they_return(void **state)
{
  pai__sched *s = new_sched(&pai__libc_alloc, 1);
  pai__want want = { .tasks = 2, .ports = 3 };
  log l = { .len = 0 };
  uint32_t seen = 0;

  (void)state;
  pai__sched_lose_port(s, 0, 20001); /* somebody else's */
  assert_int_equal(pai__sched_submit(s, &(pai__request){ 1, 1, &want }, NULL),
                   PAI_OK);
  pai__sched_run(s, on_place, &l);
  for (size_t t = 0; t < 2; t++)
    for (size_t i = 0; i < 3; i++) {
      uint32_t bit = 1u << (l.slots[0][t].ports[i] - 20000);
      assert_int_equal(seen & bit, 0);
      seen |= bit;
    }
  assert_int_equal(seen & 2u, 0);
  assert_int_equal(pai__sched_requeue(s, 1), PAI_OK);
  assert_int_equal(pai__sched_requeue(s, 1), PAI_ENOTFOUND);
  pai__sched_run(s, on_place, &l);
  assert_int_equal(l.len, 2);
  assert_int_equal(l.slots[1][0].ports[0], 20007); /* not the old ones yet */
  pai__sched_free(s);
}

/* All ports there are are wanted, and one is somebody else's for a while. */
static void a_lost_port_is_missed_until_it_is_regained(void **state)
{
  pai__sched *s = new_sched(&pai__libc_alloc, 1);
  pai__want want = { .tasks = 1, .ports = 10 };
  log l = { .len = 0 };

  (void)state;
  assert_int_equal(pai__sched_submit(s, &(pai__request){ 1, 1, &want }, NULL),
                   PAI_OK);
  pai__sched_run(s, on_place, &l);
  assert_int_equal(l.len, 1);
  assert_false(pai__sched_has_waiting(s));
  pai__sched_lose_port(s, 0, 20003); /* while it is held */
  assert_int_equal(pai__sched_requeue(s, 1), PAI_OK);
  pai__sched_run(s, on_place, &l);
  assert_int_equal(l.len, 1);
  assert_true(pai__sched_has_waiting(s));
  assert_int_equal(pai__sched_reason(s, 1)->lack, PAI__LACK_PORT);
  assert_int_equal(pai__sched_reason(s, 1)->free, 9);
  pai__sched_regain_ports(s);
  pai__sched_run(s, on_place, &l);
  assert_int_equal(l.len, 2);
  pai__sched_free(s);
}

static void what_is_queued_again_keeps_its_place(void **state)
{
  pai__sched *s = new_sched(&pai__libc_alloc, 1);
  log l = { .len = 0 };

  (void)state;
  for (uint64_t id = 1; id <= 3; id++)
    assert_int_equal(submit(s, id, 1, 1), PAI_OK);
  pai__sched_run(s, on_place, &l);
  assert_int_equal(submit(s, 4, 1, 4), PAI_OK);
  assert_int_equal(submit(s, 5, 1, 1), PAI_OK);
  pai__sched_run(s, on_place, &l);
  assert_int_equal(pai__sched_reason(s, 5)->behind, 4);
  assert_int_equal(pai__sched_requeue(s, 2), PAI_OK);
  assert_int_equal(pai__sched_requeue(s, 1), PAI_OK);
  assert_int_equal(pai__sched_finish(s, 4), PAI_OK);
  assert_int_equal(pai__sched_reason(s, 5)->lack, PAI__LACK_NOTHING);
  pai__sched_run(s, on_place, &l);
  assert_int_equal(l.len, 6);
  assert_int_equal(l.ids[3], 1);
  assert_int_equal(l.ids[4], 2);
  assert_int_equal(l.ids[5], 5);
  pai__sched_free(s);
}

static void misuse_changes_nothing(void **state)
{
  pai__machine bad = box;
  pai__sched *s;
  pai_error *err;

  (void)state;
  assert_int_equal(pai__sched_new(&s, &pai__libc_alloc, "magic", &err),
                   PAI_ENOTFOUND);
  assert_null(s);
  test_expect_error(err, PAI_ENOTFOUND, "'magic'");
  s = new_sched(&pai__libc_alloc, 1);
  bad.port_first = 3;
  bad.port_last = 2;
  assert_int_equal(pai__sched_add_node(s, &bad), PAI_EINVAL);
  assert_int_equal(submit(s, 7, 1, 0), PAI_OK);
  assert_int_equal(submit(s, 7, 1, 0), PAI_EEXISTS);
  assert_int_equal(submit(s, 0, 1, 0), PAI_EINVAL);
  assert_int_equal(pai__sched_finish(s, 8), PAI_ENOTFOUND);
  assert_null(pai__sched_reason(s, 8));
  assert_null(pai__sched_node(s, 1));
  assert_int_equal(pai__sched_finish(s, 7), PAI_OK);
  assert_int_equal(submit(s, 7, 1, 0), PAI_OK); /* the tail is right again */
  pai__sched_free(s);
  pai__sched_free(NULL);
}

static int body(const pai_alloc *alloc, void *user_data)
{
  pai__sched *s = new_sched(alloc, 2);
  log l = { .len = 0 };
  int rc = PAI_OK;

  (void)user_data;
  if (s == NULL)
    return PAI_ENOMEM;
  for (uint64_t id = 1; id <= 4 && rc == PAI_OK; id++)
    rc = submit(s, id, 2, 1);
  pai__sched_run(s, on_place, &l); /* works on what got in */
  if (rc == PAI_OK)
    assert_int_equal(l.len, 4);
  pai__sched_free(s);
  return rc;
}

static void failing_memory_leaves_it_usable(void **state)
{
  (void)state;
  test_faults(body, NULL);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_gang_is_placed_whole_or_not_at_all),
    cmocka_unit_test(the_impossible_is_refused_with_its_reason),
    cmocka_unit_test(ports_are_given_once_and_rest_before_they_return),
    cmocka_unit_test(a_lost_port_is_missed_until_it_is_regained),
    cmocka_unit_test(what_is_queued_again_keeps_its_place),
    cmocka_unit_test(misuse_changes_nothing),
    cmocka_unit_test(failing_memory_leaves_it_usable),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
