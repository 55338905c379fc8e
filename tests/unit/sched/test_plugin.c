/* Policies in shared objects. */
#include "scene.h"

#include <openpai/policy.h>

static void a_policy_comes_from_a_shared_object(void **state)
{
  pai_sched_options o = PAI_SCHED_OPTIONS_INIT;
  pai_cluster *c;
  pai_sched *s, *fork;

  (void)state;
  assert_int_equal(pai_policy_load(&o.table, PLUGIN_LIFO, NULL), PAI_OK);
  assert_string_equal(o.table->name, "lifo");
  assert_int_equal(pai_cluster_synthetic(&c, "nodes:1 gpu:2", NULL, NULL),
                   PAI_OK);
  assert_int_equal(pai_sched_new(&s, c, &o, NULL), PAI_OK);
  pai_cluster_free(c);
  for (uint64_t id = 1; id <= 3; id++)
    assert_int_equal(scene_submit(s, id, 1, 1), PAI_OK);
  assert_string_equal(scene_decide(s), "start 3, start 2");
  assert_string_equal(scene_lack(s, 1), "gpu");
  assert_int_equal(pai_sched_fork(&fork, s, NULL), PAI_OK); /* has no state */
  assert_int_equal(scene_finish(fork, 3), PAI_OK);
  assert_string_equal(scene_decide(fork), "start 1");
  pai_sched_free(fork);
  pai_sched_free(s);
}

static void what_is_no_policy_is_refused(void **state)
{
  const pai_policy *p;
  pai_error *err = NULL;

  (void)state;
  assert_int_equal(pai_policy_load(&p, "/nowhere/p.so", &err), PAI_ENOTFOUND);
  assert_null(p);
  test_expect_error(err, PAI_ENOTFOUND, "/nowhere/p.so");
  assert_int_equal(pai_policy_load(&p, PLUGIN_FUTURE, &err), PAI_ENOTSUP);
  test_expect_error(err, PAI_ENOTSUP, "ABI 99");
  assert_int_equal(pai_policy_load(&p, "libm.so.6", &err), PAI_EINVAL);
  test_expect_error(err, PAI_EINVAL, "no pai_plugin");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_policy_comes_from_a_shared_object),
    cmocka_unit_test(what_is_no_policy_is_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
