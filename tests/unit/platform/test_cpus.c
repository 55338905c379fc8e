/* Tasks have CPUs that no other task has. */
#define _GNU_SOURCE /* sched_setaffinity() */

#include "durable.h"

#include "platform/cores.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Other tests' platforms agree by another file. */
int __wrap_pai__cpus_open(void);
bool __real_pai__cpus_allowed(pai__cpus *out);
bool __wrap_pai__cpus_allowed(pai__cpus *out);

static const char *root(const char *name)
{
  static char path[300];

  (void)snprintf(path, sizeof(path), "%s/%s", story_root, name);
  return path;
}

int __wrap_pai__cpus_open(void)
{
  return open(root("cpus"), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
}

/* Machines with more CPUs seem to have two. */
bool __wrap_pai__cpus_allowed(pai__cpus *out)
{
  uint32_t seen = 0;

  if (!__real_pai__cpus_allowed(out))
    return false;
  for (uint32_t i = 0; i < PAI__MAX_CPUS; i++)
    if (pai__bits_has(out->at, PAI__LEN(out->at), i) && ++seen > 2)
      out->at[i / 64] &= ~(UINT64_C(1) << i % 64);
  return true;
}

static int need_two(void **state)
{
  pai__cpus cpus;

  (void)state;
  if (!__wrap_pai__cpus_allowed(&cpus) ||
      pai__bits_count(cpus.at, PAI__LEN(cpus.at)) < 2)
    exit(77); /* skipped */
  return story_make_root(state);
}

/* A job of a task with so many CPUs; it runs until it is told to end. */
static pai_job_id begin(durable *d, const char *name, int cpus)
{
  char command[1000], path[400];
  pai_job_id id;

  (void)snprintf(path, sizeof(path), "%s/%s.is", story_root, name);
  (void)snprintf(command, sizeof(command),
                 "echo $(grep Cpus_allowed_list /proc/self/status | cut -f 2) "
                 "$(nproc); touch %s; while ! test -e %s/%s.end; "
                 "do sleep 0.01; done",
                 path, story_root, name);
  d->cpus = cpus;
  id = durable_accept(d, name, command);
  durable_wait_file(d, path, 0);
  return id;
}

/* What its task saw: a list of CPUs, and how many. */
static void end(durable *d, pai_job_id id, const char *name, char *list,
                unsigned *count)
{
  char path[400], *space;

  (void)snprintf(path, sizeof(path), "%s/%s.end", story_root, name);
  close(creat(path, 0600));
  assert_int_equal(durable_wait(d, id, PAI_STATE_SUCCEEDED),
                   PAI_STATE_SUCCEEDED);
  (void)snprintf(list, 64, "%s", durable_log(d, id, NULL));
  space = strchr(list, ' ');
  assert_non_null(space);
  *space = '\0';
  *count = (unsigned)strtoul(space + 1, NULL, 10);
}

static void expect_one_each(durable *d, pai_job_id a, const char *a_name,
                            pai_job_id b, const char *b_name)
{
  char one[64], two[64];
  unsigned n;

  end(d, a, a_name, one, &n);
  assert_int_equal(n, 1);
  end(d, b, b_name, two, &n);
  assert_int_equal(n, 1);
  assert_string_not_equal(one, two);
}

static void each_has_its_own(void **state)
{
  pai_job_id a, b;
  char list[64];
  unsigned n;
  durable d;

  (void)state;
  durable_open(&d, root("own"));
  a = begin(&d, "a", 1);
  b = begin(&d, "b", 1);
  expect_one_each(&d, a, "a", b, "b");
  a = begin(&d, "next", 1); /* they were given back */
  end(&d, a, "next", list, &n);
  assert_int_equal(n, 1);
  durable_close(&d);
}

static void also_after_a_restart(void **state)
{
  pai_job_id a, b;
  char list[64];
  unsigned n;
  durable d;

  (void)state;
  durable_open(&d, root("again"));
  a = begin(&d, "c", 1);
  durable_leave(&d);
  durable_open(&d, root("again"));
  b = begin(&d, "d", 1);
  expect_one_each(&d, a, "c", b, "d");
  a = begin(&d, "e", 1);
  end(&d, a, "e", list, &n);
  assert_int_equal(n, 1);
  durable_close(&d);
}

/* Of two users; who finds too few has all. */
static void platforms_agree(void **state)
{
  char list[64], alone[64];
  pai_job_id a, b, c;
  pai__cpus cpus;
  unsigned n, all;
  durable d, e;

  (void)state;
  durable_open(&d, root("mine"));
  durable_open(&e, root("yours"));
  a = begin(&d, "f", 1);
  b = begin(&e, "g", 1);
  c = begin(&e, "h", 1); /* none is left for it */
  end(&d, a, "f", alone, &n);
  assert_int_equal(n, 1);
  end(&e, c, "h", list, &all);
  assert_true(__real_pai__cpus_allowed(&cpus));
  assert_int_equal(all, pai__bits_count(cpus.at, PAI__LEN(cpus.at)));
  c = begin(&e, "j", 1); /* what the other one gave back */
  end(&e, c, "j", list, &n);
  assert_string_equal(alone, list);
  end(&e, b, "g", list, &n);
  assert_int_equal(n, 1);
  assert_string_not_equal(alone, list);
  durable_close(&d);
  durable_close(&e);
}

/* Somebody holds this process to its last CPU. */
static void others_limits_hold(void **state)
{
  char list[64], last[32];
  cpu_set_t all, one;
  pai__cpus cpus;
  size_t cpu = 0;
  pai_job_id id;
  unsigned n;
  durable d;

  (void)state;
  assert_true(__wrap_pai__cpus_allowed(&cpus));
  for (uint32_t i = 0; i < CPU_SETSIZE; i++)
    if (pai__bits_has(cpus.at, PAI__LEN(cpus.at), i))
      cpu = i;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
  assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
  durable_open(&d, root("held"));
  assert_int_equal(sched_setaffinity(0, sizeof(all), &all), 0);
  id = begin(&d, "i", 1);
  end(&d, id, "i", list, &n);
  (void)snprintf(last, sizeof(last), "%zu", cpu);
  assert_string_equal(list, last);
  durable_close(&d);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(each_has_its_own),
    cmocka_unit_test(also_after_a_restart),
    cmocka_unit_test(platforms_agree),
    cmocka_unit_test(others_limits_hold),
  };

  return cmocka_run_group_tests(tests, need_two, story_remove_root);
}
