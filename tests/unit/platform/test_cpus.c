/* Tasks have CPUs that no other task has. */
#define _GNU_SOURCE /* sched_setaffinity() */

#include "cases.h"
#include "durable.h"

#include "platform/place/cores.h"
#include "platform/place/cores_shared.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Other tests' platforms agree by another file. */
int __wrap_pai__cpus_open(void);
bool __real_pai__cpus_allowed(pai__cpus *out);
bool __wrap_pai__cpus_allowed(pai__cpus *out);

int __wrap_pai__cpus_open(void)
{
  return open(story_in("cpus"), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
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
  char *space;

  close(creat(test_string("%s/%s.end", story_root, name), 0600));
  durable_reaches(d, id, PAI_STATE_SUCCEEDED);
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

DURABLE(each_has_its_own)
{
  pai_job_id a, b;
  char list[64];
  unsigned n;

  a = begin(d, "a", 1);
  b = begin(d, "b", 1);
  expect_one_each(d, a, "a", b, "b");
  a = begin(d, "next", 1); /* they were given back */
  end(d, a, "next", list, &n);
  assert_int_equal(n, 1);
}

DURABLE(also_after_a_restart)
{
  pai_job_id a, b;
  char list[64];
  unsigned n;

  a = begin(d, "c", 1);
  durable_again(d);
  b = begin(d, "d", 1);
  expect_one_each(d, a, "c", b, "d");
  a = begin(d, "e", 1);
  end(d, a, "e", list, &n);
  assert_int_equal(n, 1);
}

/* Of two users; who finds too few has all. */
TEST(platforms_agree)
{
  char list[64], alone[64];
  pai_job_id a, b, c;
  pai__cpus cpus;
  unsigned n, all;
  durable d, e;

  durable_open(&d, story_in("mine"));
  durable_open(&e, story_in("yours"));
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

static pai_job_id begin_part(durable *d, const char *name, const char *part)
{
  pai_job_id id;

  d->part = part;
  id = begin(d, name, 0);
  d->part = NULL;
  return id;
}

/* Halves share a CPU, which no task has that asks for a whole one. */
DURABLE(parts_share_one)
{
  char whole[64], one[64], other[64];
  pai_job_id a, b, c;
  unsigned n;

  a = begin_part(d, "part-a", "0.5");
  b = begin(d, "part-b", 1);
  durable_again(d);
  c = begin_part(d, "part-c", "0.5");
  end(d, a, "part-a", one, &n);
  assert_int_equal(n, 1);
  end(d, c, "part-c", other, &n);
  assert_int_equal(n, 1);
  end(d, b, "part-b", whole, &n);
  assert_int_equal(n, 1);
  assert_string_equal(one, other);
  assert_string_not_equal(one, whole);
  b = begin(d, "part-d", 2); /* it was given back when both had ended */
  end(d, b, "part-d", whole, &n);
  assert_int_equal(n, 2);
  a = begin_part(d, "part-e", "1.5");
  b = begin_part(d, "part-f", "0.5"); /* beside it, wherever there is room */
  end(d, a, "part-e", one, &n);
  assert_int_equal(n, 2);
  end(d, b, "part-f", other, &n);
  assert_int_equal(n, 2);
}

/* --- which ones, without a machine ----------------------------------------- */

static pai__cpus cpus_of(uint64_t mask)
{
  return (pai__cpus){ { mask } };
}

static uint64_t shared_by(pai__shared_cpus *s, uint64_t more, uint64_t millis)
{
  pai__cpus fresh = cpus_of(more), out;

  if (!pai__shared_choose(&out, s, &fresh, millis))
    return 0;
  pai__shared_add(s, &out, millis);
  return out.at[0];
}

/* No more CPUs are shared than the tasks need together. */
TEST(tasks_are_packed)
{
  static pai__shared_cpus s;
  pai__cpus cpus;

  assert_int_equal(pai__shared_more(&s, 500), 1);
  assert_int_equal(shared_by(&s, 0, 500), 0); /* none is left */
  assert_int_equal(shared_by(&s, 0x1, 500), 0x1);
  assert_int_equal(pai__shared_more(&s, 500), 0);
  assert_int_equal(pai__shared_more(&s, 600), 1);
  assert_int_equal(shared_by(&s, 0x2, 600), 0x2);
  assert_int_equal(pai__shared_more(&s, 400), 0);
  assert_int_equal(shared_by(&s, 0, 400), 0x2); /* the fullest with room */
  assert_int_equal(shared_by(&s, 0, 500), 0x1);
  cpus = cpus_of(0x2);
  pai__shared_drop(&s, &cpus, 600);
  assert_int_equal(cpus.at[0], 0); /* somebody is there */
  assert_int_equal(pai__shared_more(&s, 1500), 1);
  /* Without room on two of them it has all. */
  assert_int_equal(shared_by(&s, 0x4, 1500), 0x7);
  cpus = cpus_of(0x7);
  pai__shared_drop(&s, &cpus, 1500);
  assert_int_equal(cpus.at[0], 0x4);
  cpus = cpus_of(0x1);
  pai__shared_drop(&s, &cpus, 500);
  assert_int_equal(cpus.at[0], 0);
  cpus = cpus_of(0x1);
  pai__shared_drop(&s, &cpus, 500);
  assert_int_equal(cpus.at[0], 0x1);
  cpus = cpus_of(0x2);
  pai__shared_drop(&s, &cpus, 400);
  assert_int_equal(cpus.at[0], 0x2);
  assert_int_equal(s.millis, 0);
  assert_int_equal(s.set.at[0], 0);
}

/* Somebody holds this process to its last CPU. */
TEST(others_limits_hold)
{
  char list[64];
  cpu_set_t all, one;
  pai__cpus cpus;
  size_t cpu = 0;
  pai_job_id id;
  unsigned n;
  durable d;

  assert_true(__wrap_pai__cpus_allowed(&cpus));
  for (uint32_t i = 0; i < CPU_SETSIZE; i++)
    if (pai__bits_has(cpus.at, PAI__LEN(cpus.at), i))
      cpu = i;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
  assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
  durable_open(&d, story_in("held"));
  assert_int_equal(sched_setaffinity(0, sizeof(all), &all), 0);
  id = begin(&d, "i", 1);
  end(&d, id, "i", list, &n);
  assert_string_equal(list, test_string("%zu", cpu));
  durable_close(&d);
}

TEST_AROUND_ALL(need_two, story_remove_root);
