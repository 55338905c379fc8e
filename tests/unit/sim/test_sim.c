/* Simulations: the lives of jobs, what they cost, nodes, and what is not taken. */
#include "cases.h"
#include "simulated.h"

#include <openpai/platform.h>

#include <stdio.h>
#include <stdlib.h>

#define SECOND INT64_C(1000000)
#define ONE "nodes:1 gpu:4 cpus:64 mem:512G"

static test_sim t;

/* --- lives ---------------------------------------------------------------- */

/*
 * Records, and what becomes of them.  A line is a job, "TIME TASKSxGPUS
 * DURATION KEY=VALUE... => FATE", or what is done to a job or a node, as "20
 * kill a"; the last one tells all numbers of the report that are not 0.
 */
static const struct {
  const char *name, *cluster;
  pai_sim_options opts;
  const char *text;
} cases[] = {
  { "jobs start in their turn and end",
    ONE,
    { .strict = 0 },
    "10 1x3 100 => 10 to 110 succeeded\n"
    "10 2x2 50 => 110 to 160 succeeded\n"
    "20 1x1 5 code=7 => 160 to 165 failed code 7\n"
    "30 1x5 5 => -1 to -1 rejected\n"
    "fifo: jobs 4 rejected 1 started 3 finished 3 failed 1 makespan 155 mean "
    "wait 80 median 100 longest 140 use 814516 lines told 1\n" },
  { "what fails is tried again in its turn; for the platform's sake not for "
    "ever",
    ONE,
    { .strict = 0 },
    "0 1x4 10 code=1 retries=2 => 0 to 30 failed code 1 attempts 3 lost 80\n"
    "100 1x4 10 code=1 then=20 => 100 to 130 succeeded attempts 2 lost 40\n"
    "100 1x4 5 => 130 to 135 succeeded\n"
    "200 1x4 100 code=200 => 200 to 400 failed code 1 attempts 2 lost 400\n"
    "fifo: jobs 4 started 4 finished 4 failed 2 retries 4 makespan 400 mean "
    "wait 7 longest 30 use 662500 lost 520\n" },
  { "owners kill and lose patience",
    ONE,
    { .stop_cost = 5 * SECOND },
    "0 1x4 100 id=a => 0 to 55 stopped code -210\n"
    "1 1x4 10 id=b => -1 to 20 stopped code -210\n"
    "2 1x4 10 patience=30 => -1 to 32 stopped code -210\n"
    "3 1x4 99 limit=20 => 55 to 80 stopped code -210\n"
    "20 kill b\n"
    "50 kill a\n"
    "60 kill nobody\n"
    "fifo: jobs 4 started 2 killed 4 makespan 80 mean wait 26 longest 52 use "
    "1000000 lines told 1\n" },
  { "what is to come after another waits",
    ONE,
    { .policy_options = "{\"greedy\":true}" },
    "0 1x1 50 id=a => 0 to 50 succeeded\n"
    "0 1x1 20 id=b code=1 => 0 to 20 failed code 1\n"
    "0 1x1 5 after=a => 50 to 55 succeeded\n"
    "0 1x1 5 after=b => -1 to -1 waiting\n"
    "60 1x1 5 after=a => 60 to 65 succeeded\n"
    "60 1x1 5 after=b => -1 to -1 rejected\n"
    "fifo: jobs 6 rejected 1 started 4 finished 4 failed 1 left 1 makespan 65 "
    "mean wait 12 longest 50 use 307692 lines told 1\n" },
  /* FNV-1a gives both ids 0x4eac0c95540867e4. */
  { "two ids with the same hash are two jobs",
    ONE,
    { .strict = 0 },
    "0 1x1 50 id=8yn0iYCKYHlIj4-BwPqk => 0 to 50 succeeded\n"
    "0 1x1 5 id=GReLUrM4wMqfg9yzV3KQ code=1 => 0 to 5 failed code 1\n"
    "10 1x1 5 after=8yn0iYCKYHlIj4-BwPqk => 50 to 55 succeeded\n"
    "60 1x1 9 after=8yn0iYCKYHlIj4-BwPqk => 60 to 69 succeeded\n"
    "fifo: jobs 4 started 4 finished 4 failed 1 makespan 69 mean wait 10 "
    "longest 40 use 250000\n" },
  { "what is preempted goes on from its checkpoint",
    ONE,
    { .policy = "priority",
      .start_cost = 3 * SECOND,
      .restart_cost = 7 * SECOND,
      .stop_cost = 5 * SECOND,
      .checkpoint = 20 * SECOND },
    /* It works from 3 to 45, of which 40 are saved; the other one from 45 on,
     * with 3 to begin; then 7 to begin again, and 60 of work are left. */
    "0 1x4 100 => 0 to 125 succeeded attempts 2 preemptions 1 lost 8\n"
    "40 1x4 10 urgent=9 => 45 to 58 succeeded\n"
    "priority: jobs 2 started 2 finished 2 preemptions 1 makespan 125 mean "
    "wait 2 longest 5 use 1000000 lost 8\n" },
  { "without checkpoints it begins anew",
    ONE,
    { .policy = "priority",
      .start_cost = 3 * SECOND,
      .restart_cost = 7 * SECOND,
      .stop_cost = 5 * SECOND },
    "0 1x4 100 => 0 to 165 succeeded attempts 2 preemptions 1 lost 168\n"
    "40 1x4 10 urgent=9 => 45 to 58 succeeded\n"
    "priority: jobs 2 started 2 finished 2 preemptions 1 makespan 165 mean "
    "wait 2 longest 5 use 1000000 lost 168\n" },
  { "what would be done anyway is not stopped",
    ONE,
    { .policy = "priority", .stop_cost = 5 * SECOND },
    "0 1x4 42 => 0 to 42 succeeded\n"
    "40 1x4 10 urgent=9 => 42 to 52 succeeded\n"
    "priority: jobs 2 started 2 finished 2 makespan 52 mean wait 1 longest 2 "
    "use 1000000\n" },
  { "nodes that fail disturb and come back",
    "nodes:2 gpu:4 cpus:64 mem:512G",
    { .checkpoint = 25 * SECOND },
    "0 2x4 100 => 0 to 155 succeeded attempts 2 lost 40\n"
    "30 sick node0001\n"
    "80 up node0001\n"
    "90 up moon\n"
    "fifo: jobs 1 started 1 finished 1 retries 1 makespan 155 use 677419 lost "
    "40 down 200 lines told 1\n" },
  { "nodes that fail all the time end the job: it has so many retries",
    ONE,
    { .node_up = SECOND, .node_down = SECOND },
    "0 1x4 100000 => 0 to 5800 failed code -1001 attempts 101 lost 410\n"
    "fifo: jobs 1 started 1 finished 1 failed 1 retries 100 makespan 5800 use "
    "17792 lost 410 down 11534\n" },
  { "what is to come after itself is rejected",
    ONE,
    { .strict = 0 },
    "0 1x1 5 id=a after=a => -1 to -1 rejected\n"
    "0 1x1 5 id=b after=moon => 0 to 5 succeeded\n"
    "fifo: jobs 2 rejected 1 started 1 finished 1 makespan 5 use 250000 lines "
    "told 1\n" },
  { "unknown virtual clusters are mapped",
    TEST_TWO_VCS,
    { .strict = 0 },
    "0 1x1 5 vc=ours => 0 to 5 succeeded\n"
    "0 1x1 5 vc=theirs => 0 to 5 succeeded\n"
    "0 1x1 5 => 0 to 5 succeeded\n"
    "fifo: jobs 3 started 3 finished 3 mapped 2 makespan 5 use 187500 lines "
    "told 2 of them used 2\n" },
  { "a simulation ends when it is told to",
    ONE,
    { .until = 150 * SECOND },
    "0 1x4 100 => 0 to 100 succeeded\n"
    "10 1x4 100 => 100 to -1 running\n"
    "200 1x4 100 => 0 to 0 rejected\n"
    "fifo: jobs 2 started 2 finished 1 left 1 makespan 100 mean wait 45 "
    "longest 90 use 1000000\n" },
};

/* One word of a record, KEY=VALUE; keys differ in their first letter. */
static void take_word(test_job *j, char *word)
{
  char *value = strchr(word, '=') + 1;
  long number = strtol(value, NULL, 10);

  switch (word[0]) {
  case 'i': j->id = value; break;
  case 'a': j->after = value; break;
  case 'v': j->vc = value; break;
  case 'c': j->code = (int)number; break;
  case 'r': j->retries = (uint32_t)number; break;
  case 't': j->then = number; break;
  case 'l': j->limit = number; break;
  case 'p': j->patience = number; break;
  default: j->priority = (int)number; /* urgent=9 */
  }
}

static test_job read_record(char *line)
{
  char *rest = line, *word;
  test_job j = { .time = strtol(strtok_r(NULL, " ", &rest), NULL, 10) };

  word = strtok_r(NULL, " ", &rest);
  if (sscanf(word, "%ux%u", &j.tasks, &j.gpus) == 2) {
    j.duration = strtol(strtok_r(NULL, " ", &rest), NULL, 10);
    while ((word = strtok_r(NULL, " ", &rest)) != NULL)
      take_word(&j, word);
  } else if (strcmp(word, "kill") == 0) {
    j.kind = PAI_RECORD_KILL;
    j.id = strtok_r(NULL, " ", &rest);
  } else {
    j.kind = PAI_RECORD_NODE;
    j.code = strcmp(word, "sick") == 0 ? PAI_NODE_SICK : PAI_NODE_UP;
    j.node = strtok_r(NULL, " ", &rest);
  }
  return j;
}

/* The records of a text, which stay in the copy of it. */
static size_t read_records(test_job *jobs, char *copy)
{
  size_t n = 0;
  char *line, *rest = copy;

  while ((line = strtok_r(NULL, "\n", &rest)) != NULL && *rest != '\0') {
    char *end = strstr(line, " => ");

    if (end != NULL)
      *end = '\0';
    jobs[n++] = read_record(line);
  }
  return n;
}

static void put_number(pai__buf *out, const char *name, int64_t value)
{
  if (value != 0)
    pai__buf_printf(out, " %s %lld", name, (long long)value);
}

static void put_fate(pai__buf *out, const test_fate *f)
{
  pai__buf_printf(out, "%lld to %lld %s",
                  (long long)(f->started / SECOND - (f->started < 0)),
                  (long long)(f->ended / SECOND - (f->ended < 0)),
                  f->state != 0 ? pai_state_name(f->state) : "rejected");
  put_number(out, "code", f->code);
  put_number(out, "attempts", f->attempts > 1 ? f->attempts : 0);
  put_number(out, "preemptions", f->preemptions);
  put_number(out, "lost", f->lost / SECOND);
}

static void put_report(pai__buf *out, const pai_sim_report *r)
{
  pai_sim_view v = { .struct_size = sizeof(v) };

  assert_ok(pai_sim_look(r, &v));
  pai__buf_printf(out, "%s:", v.policy);
  put_number(out, "jobs", (int64_t)v.jobs);
  put_number(out, "rejected", (int64_t)v.rejected);
  put_number(out, "started", (int64_t)v.started);
  put_number(out, "finished", (int64_t)v.finished);
  put_number(out, "failed", (int64_t)v.failed);
  put_number(out, "killed", (int64_t)v.killed);
  put_number(out, "left", (int64_t)v.left);
  put_number(out, "mapped", (int64_t)v.mapped_vcs);
  put_number(out, "preemptions", (int64_t)v.preemptions);
  put_number(out, "retries", (int64_t)v.retries);
  put_number(out, "makespan", v.makespan / SECOND);
  put_number(out, "mean wait", v.wait_mean / SECOND);
  put_number(out, "median", v.wait_p50 / SECOND);
  put_number(out, "longest", v.wait_max / SECOND);
  put_number(out, "use", v.utilization);
  put_number(out, "lost", v.lost / SECOND);
  put_number(out, "down", r->outside / SECOND);
  put_number(out, "lines told", (int64_t)t.told);
  put_number(out, "of them used", (int64_t)t.lines_used);
  pai__buf_char(out, '\n');
}

/* The text of a case as it came out. */
static void put_all(pai__buf *out, const char *text, const pai_sim_report *r)
{
  size_t job = 0;

  for (; *text != '\0' && strchr(text, '\n')[1] != '\0';
       text = strchr(text, '\n') + 1) {
    const char *end = strstr(text, " => ");
    size_t len = strcspn(text, "\n");

    if (end != NULL && end < text + len) {
      pai__buf_add(out, text, (size_t)(end + 4 - text));
      put_fate(out, &t.fates[t.numbers[++job]]);
    } else {
      pai__buf_add(out, text, len);
    }
    pai__buf_char(out, '\n');
  }
  put_report(out, r);
}

TEST(jobs_live_as_told)
{
  for (size_t i = 0; i < PAI__LEN(cases); i++) {
    pai_sim_options o = cases[i].opts;
    char *copy = strdup(cases[i].text);
    test_job jobs[8];
    pai_sim_report *r;
    pai__buf out = test_buf();

    assert_non_null(copy);
    o.struct_size = sizeof(o);
    r = test_sim_all(&t, cases[i].cluster, jobs, read_records(jobs, copy), &o);
    put_all(&out, cases[i].text, r);
    if (strcmp(pai__buf_text(&out), cases[i].text) != 0)
      fail_msg("%s:\n%s", cases[i].name, pai__buf_text(&out));
    pai__buf_dispose(&out);
    test_sim_done(&t, r);
    free(copy);
  }
}

TEST(outages_are_drawn)
{
  static test_job jobs[200];
  pai_sim_options o = PAI_SIM_OPTIONS_INIT;
  pai_sim_report *r;
  pai_sim_view v = { .struct_size = sizeof(v) };

  for (size_t i = 0; i < 200; i++)
    jobs[i] = (test_job){
      .time = (int64_t)i * 100, .tasks = 1, .gpus = 2, .duration = 1000
    };
  o.node_up = 10000 * SECOND;
  o.node_down = 500 * SECOND;
  o.seed = 5;
  r = test_sim_all(&t, "nodes:8 gpu:4 cpus:64 mem:512G", jobs, 200, &o);
  assert_ok(pai_sim_look(r, &v));
  assert_int_equal(v.finished, 200);
  assert_true(v.retries > 5 && v.retries < 100);
  assert_true(r->outside > 0);
  test_sim_done(&t, r);
}

TEST(unknown_virtual_clusters_may_be_refused)
{
  const test_job jobs[] = {
    { .tasks = 1, .gpus = 1, .duration = 5, .vc = "ours" },
    { .tasks = 1, .gpus = 1, .duration = 5, .vc = "theirs" },
  };
  pai_sim_options o = PAI_SIM_OPTIONS_INIT;
  pai_error *err = NULL;

  o.strict = 1;
  assert_ok(test_sim_new(&t, TEST_TWO_VCS, jobs, 2, &o, NULL));
  assert_int_equal(pai_sim_step(t.sim, INT64_MAX, &err), PAI_EINVAL);
  assert_int_equal(pai_error_line(err), 2);
  test_expect_error(err, PAI_EINVAL, "there is no virtual cluster 'theirs'");
  assert_fails(pai_sim_step(t.sim, INT64_MAX, &err), err, PAI_EINVAL,
               "has failed before");
  test_sim_done(&t, NULL);
}

TEST(options_are_checked)
{
  static const struct {
    pai_sim_options opts;
    int code;
    const char *part;
  } rows[] = {
    { { .policy = "lottery" }, PAI_ENOTFOUND, "lottery" },
    { { .fail = 1001 }, PAI_EINVAL, "is in thousandths" },
    { { .stop_cost = -1 }, PAI_EINVAL, "stop_cost is negative" },
  };
  const test_job job = { .tasks = 1, .gpus = 1, .duration = 5 };

  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    pai_sim_options o = rows[i].opts;
    pai_error *err = NULL;

    o.struct_size = sizeof(o);
    assert_fails(test_sim_new(&t, ONE, &job, 1, &o, &err), err, rows[i].code,
                 rows[i].part);
    test_sim_done(&t, NULL);
  }
}

/* What ran when the simulation ended has a bar until then. */
TEST(what_still_runs_is_in_the_report)
{
  const test_job jobs[] = {
    { .tasks = 1, .gpus = 4, .duration = 100 },
    { .time = 10, .tasks = 1, .gpus = 4, .duration = 100 },
  };
  pai_sim_options o = PAI_SIM_OPTIONS_INIT;
  pai_sim_report *r;

  o.until = 150 * SECOND;
  r = test_sim_all(&t, ONE, jobs, 2, &o);
  assert_int_equal(r->groups[PAI__BY_USER].list[0].used, 600 * SECOND);
  assert_int_equal(r->nbars, 2);
  assert_int_equal(r->bars[1].end, PAI_STATE_RUNNING);
  assert_int_equal(r->bars[1].gpus, 0xf);
  test_sim_done(&t, r);
}

/* --- a policy without an end ----------------------------------------------- */

/* Whoever has a place loses it as long as somebody waits. */
static int swap_all(void *state, void *data, const pai_policy_host *host)
{
  uint64_t id = 0;
  uint32_t instance = 0;

  (void)state;
  (void)data;
  if (host->next_waiting(host, 0) != 0)
    (void)host->start(host, host->next_waiting(host, 0), NULL);
  if (host->next_waiting(host, 0) != 0 &&
      host->next_placed(host, &id, &instance) == 1)
    (void)host->preempt(host, id, instance, 0);
  return PAI_OK;
}

TEST(preemptions_without_an_end_are_an_error)
{
  static const pai_policy swapping = { .struct_size = sizeof(swapping),
                                       .version = PAI_POLICY_VERSION,
                                       .name = "swapping",
                                       .decide = swap_all };
  static const test_job jobs[] = { { .tasks = 1, .gpus = 4, .duration = 9 },
                                   { .tasks = 1, .gpus = 4, .duration = 9 } };
  pai_sim_options o = PAI_SIM_OPTIONS_INIT;
  pai_sim_report *report = NULL;
  pai_error *err = NULL;

  o.table = &swapping;
  assert_ok(test_sim_new(&t, ONE, jobs, PAI__LEN(jobs), &o, NULL));
  assert_fails(test_sim_run(&t, &report, &err), err, PAI_ELIMIT,
               "policy 'swapping' preempted");
  test_sim_done(&t, report);
}
