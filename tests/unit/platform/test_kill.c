/*
 * A platform is killed at moments that nobody chose, again and again, while
 * jobs come, run, fail, are stopped and forgotten.  What was acknowledged is
 * there afterwards, and nothing ran twice.
 *
 * `./dev soak` does it more often, OPENPAI_SEED sets the seed.
 */
#include "cases.h"
#include "durable.h"

#include "base/map.h"
#include "base/prng.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <uv.h>

enum { KILLS = 20, SOAK_KILLS = 500, AT_ONCE = 8, LONGEST = 150 /* ms */ };

/* What a job is to do; its name begins with the letter. */
enum kind {
  WELL = 'w',    /* ends well */
  RETRIED = 'r', /* fails, and once more */
  STOPPED = 's', /* runs until it is stopped */
  PARTIAL = 'p', /* two tasks that are placed alone end well */
  ALONE = 'a',   /* a task that is placed alone fails, and once more */
  KINDS = 5
};

static char root[300], starts[320];

/* --- the platform that is killed ------------------------------------------------ */

typedef struct load {
  durable d;
  pai__prng prng;
  int round, jobs, live;
  int tell; /* where what is acknowledged is written */
  char asked[64][32];
  int nasked;
} load;

/* One line; a pipe takes it whole or not at all. */
static void acknowledge(const load *l, const char *what, const char *name)
{
  char line[64];
  int len = snprintf(line, sizeof(line), "%s %s\n", what, name);

  if (write(l->tell, line, (size_t)len) != len)
    _exit(3);
}

static void on_accepted(void *user_data, int status, const pai_error *err)
{
  load *l = user_data;

  (void)err;
  if (status != PAI_OK)
    _exit(4);
  for (int i = 0; i < l->nasked; i++)
    acknowledge(l, "accepted", l->asked[i]);
  l->nasked = 0;
}

static const char *command_of(int kind)
{
  switch (kind) {
  case PARTIAL:
  case WELL: return "sleep 0.0%d";
  case ALONE:
  case RETRIED: return "sleep 0.0%d; exit 7";
  default: return "exec sleep 10%d";
  }
}

static const char *fields_of(int kind)
{
  if (kind == RETRIED)
    return "jobRetryCount: 1,";
  return kind == PARTIAL || kind == ALONE ? "extras: {gangAllocation: false},"
                                          : "";
}

static const char *role_of(int kind)
{
  if (kind == ALONE)
    return "taskRetryCount: 1,";
  return kind == PARTIAL ? "instances: 2," : "";
}

static void submit_one(load *l)
{
  static const char kinds[KINDS] = { WELL, RETRIED, STOPPED, PARTIAL, ALONE };
  char kind = kinds[pai__prng_below(&l->prng, KINDS)];
  char name[32], command[600];
  int used;

  (void)snprintf(name, sizeof(name), "%c-%d-%d", kind, l->round, l->jobs++);
  used = snprintf(command, sizeof(command), "echo %s >> %s; ", name, starts);
  (void)snprintf(command + used, sizeof(command) - (size_t)used,
                 command_of(kind), (int)pai__prng_below(&l->prng, 5));
  l->d.cpus = kind == PARTIAL || kind == ALONE; /* so some wait for room */
  if (durable_submit(&l->d, name, fields_of(kind), role_of(kind), command) ==
      0) {
    (void)fprintf(stderr, "%s: %s\n", name, l->d.code);
    _exit(5);
  }
  l->live++;
  (void)snprintf(l->asked[l->nasked++], sizeof(l->asked[0]), "%s", name);
}

static void fill(load *l)
{
  if (l->live >= AT_ONCE || l->nasked > 0)
    return;
  while (l->live < AT_ONCE)
    submit_one(l);
  if (pai_platform_sync(l->d.platform, on_accepted, l) < 0)
    _exit(6);
}

/* Names are taken from what the records say, so these have to be there. */
static void name_of(load *l, pai_job_id id, char *out)
{
  const char *dir = pai_platform_job_dir(l->d.platform, id);

  if (dir == NULL || strchr(dir, '~') == NULL)
    _exit(7);
  (void)snprintf(out, 32, "%s", strchr(dir, '~') + 1);
}

static int on_event(void *user_data, const pai_event *event)
{
  load *l = user_data;
  int state = pai_event_state(event);
  char name[32];

  if (pai_event_type(event) != PAI_EVENT_JOB)
    return 0;
  name_of(l, pai_event_job(event), name);
  if (state == PAI_STATE_RUNNING && name[0] == STOPPED)
    (void)pai_platform_stop(l->d.platform, pai_event_job(event));
  if (state >= PAI_STATE_SUCCEEDED) {
    l->live--;
    acknowledge(l, test_string("ended-%d", state), name);
  }
  return 0;
}

/* Jobs that run until they are stopped, of a platform before. */
static void stop_what_runs(durable *d)
{
  pai_job_query query = PAI_JOB_QUERY_INIT;
  const char *at;

  query.states = "RUNNING";
  query.keyword = "s-";
  at = durable_list(d, &query);
  while ((at = strstr(at, "\"name\":\"s-")) != NULL) {
    char name[64];
    pai_job_id id;

    at += sizeof("\"name\":\"") - 1;
    (void)snprintf(name, sizeof(name), "ann~%.*s", (int)strcspn(at, "\""), at);
    if (pai_platform_find(&id, d->platform, name, NULL) == PAI_OK)
      (void)pai_platform_stop(d->platform, id);
  }
}

static void be_killed(int round, uint64_t seed, int tell)
{
  load *l = calloc(1, sizeof(*l));
  pai_listener *listener;

  l->round = round;
  l->prng.state = seed;
  l->tell = tell;
  durable_open(&l->d, root);
  if (pai_platform_listen(&listener, l->d.platform, 0, on_event, l, NULL) < 0)
    _exit(8);
  stop_what_runs(&l->d);
  for (;;) {
    fill(l);
    durable_turn(&l->d);
  }
}

/* --- what was acknowledged -------------------------------------------------------- */

/* By name: 1: accepted; above: the state it was told to have ended in. */
typedef struct book {
  pai__map told;
  int accepted, ended;
} book;

static void note(book *b, char *line)
{
  char *name = strchr(line, ' ');
  uintptr_t value = 1;

  assert_non_null(name);
  *name++ = '\0';
  if (strncmp(line, "ended-", 6) == 0)
    value = (uintptr_t)strtol(line + 6, NULL, 10);
  b->accepted += value == 1;
  b->ended += value > 1;
  if (pai__map_get(&b->told, name, strlen(name)) == NULL || value > 1)
    assert_ok(pai__map_set(&b->told, name, strlen(name), (void *)value));
}

static void read_book(book *b, int fd)
{
  FILE *in = fdopen(fd, "r");
  char line[64];

  while (fgets(line, sizeof(line), in) != NULL) {
    assert_int_equal(line[strlen(line) - 1], '\n');
    line[strlen(line) - 1] = '\0';
    note(b, line);
  }
  (void)fclose(in);
}

static void kill_one(book *b, int round, unsigned longest, pai__prng *prng)
{
  uint64_t seed = pai__prng_next(prng);
  unsigned delay = (unsigned)pai__prng_below(prng, longest);
  int ends[2], status;
  pid_t pid;

  assert_int_equal(pipe(ends), 0);
  pid = fork();
  assert_true(pid >= 0);
  if (pid == 0) {
    (void)close(ends[0]);
    be_killed(round, seed, ends[1]);
  }
  (void)close(ends[1]);
  uv_sleep(delay); /* nothing is waited for: any moment will do */
  (void)kill(pid, SIGKILL);
  assert_int_equal(waitpid(pid, &status, 0), pid);
  if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL)
    fail_msg("round %d ended by itself: %x", round, (unsigned)status);
  read_book(b, ends[0]);
}

/* --- what is there --------------------------------------------------------------- */

/* How often each job was started. */
static void read_starts(pai__map *out)
{
  FILE *in = fopen(starts, "r");
  char name[64];

  assert_non_null(in);
  while (fgets(name, sizeof(name), in) != NULL) {
    size_t len = strlen(name) - 1;
    uintptr_t n = (uintptr_t)pai__map_get(out, name, len);

    assert_ok(pai__map_set(out, name, len, (void *)(n + 1)));
  }
  (void)fclose(in);
}

static int state_there(durable *d, const char *name)
{
  pai_job_id id;

  if (pai_platform_find(&id, d->platform, test_string("ann~%s", name), NULL) <
      0)
    return PAI_ENOTFOUND;
  return pai_platform_job_state(NULL, d->platform, id);
}

/* Until nothing of what there was goes on. */
static void run_to_the_end(durable *d)
{
  pai_job_query query = PAI_JOB_QUERY_INIT;

  query.states = "WAITING,RUNNING,STOPPING";
  while (strcmp(durable_list(d, &query), "[]") != 0) {
    stop_what_runs(d);
    for (int i = 0; i < 20; i++)
      durable_turn(d);
  }
}

/* What is known of a job that is not as it should be. */
static void tell_all(durable *d, const char *name)
{
  pai_job_id id;

  if (pai_platform_find(&id, d->platform, test_string("ann~%s", name), NULL) <
      0)
    return;
  (void)fprintf(stderr, "%s\n", durable_show(d, id, -1));
  (void)fprintf(stderr, "%s\n", durable_events(d, id));
  (void)fprintf(stderr, "%s\n", d->log);
}

static void expect_start(durable *d, const char *name, uintptr_t count,
                         int state)
{
  uintptr_t want =
    name[0] == RETRIED || name[0] == PARTIAL || name[0] == ALONE ? 2 : 1;

  if (count != want && (name[0] != STOPPED || state != PAI_STATE_STOPPED))
    tell_all(d, name);
  if (count > want)
    fail_msg("%s was started %d times", name, (int)count);
  if (count < want && (name[0] != STOPPED || state != PAI_STATE_STOPPED))
    fail_msg("%s was started %d times only, and is %s", name, (int)count,
             pai_state_name(state));
}

static void expect_end(durable *d, const char *name, int told, int state)
{
  int want = name[0] == STOPPED                       ? PAI_STATE_STOPPED
             : name[0] == RETRIED || name[0] == ALONE ? PAI_STATE_FAILED
                                                      : PAI_STATE_SUCCEEDED;

  if (state == want && (told == 1 || told == state))
    return;
  tell_all(d, name);
  fail_msg("%s is %s, was told to be %s", name,
           state > 0 ? pai_state_name(state) : "not there",
           told > 1 ? pai_state_name(told) : "accepted");
}

static void check(const book *b)
{
  const pai__map_entry *e;
  pai__map count;
  durable d;

  durable_open(&d, root);
  run_to_the_end(&d);
  assert_ok(durable_sync(&d));
  pai__map_init(&count, &pai__libc_alloc);
  read_starts(&count);
  for (size_t i = 0; (e = pai__map_next(&b->told, &i)) != NULL;) {
    int state = state_there(&d, e->key);

    expect_end(&d, e->key, (int)(uintptr_t)e->value, state);
    expect_start(&d, e->key, (uintptr_t)pai__map_get(&count, e->key, e->len),
                 state);
  }
  for (size_t i = 0; (e = pai__map_next(&count, &i)) != NULL;) {
    int state = state_there(&d, e->key);

    if (state < 0)
      fail_msg("%s was started, and is on no record", e->key);
    expect_start(&d, e->key, (uintptr_t)e->value, state);
  }
  pai__map_dispose(&count);
  durable_close(&d);
}

TEST(nothing_acknowledged_is_lost_and_nothing_runs_twice)
{
  int kills = getenv("OPENPAI_SOAK") != NULL ? SOAK_KILLS : KILLS;
  const char *from = getenv("OPENPAI_SEED");
  pai__prng prng = { from != NULL ? strtoull(from, NULL, 10) : 1 };
  book b = { .accepted = 0 };

  (void)snprintf(root, sizeof(root), "%s/kill", story_root);
  (void)snprintf(starts, sizeof(starts), "%s/starts", story_root);
  pai__map_init(&b.told, &pai__libc_alloc);
  /* On a slow machine more of them, and each after a longer time. */
  for (int round = 0;
       round < kills || (b.accepted <= kills / 2 && round < 9 * kills);
       round++)
    kill_one(&b, round, LONGEST * (1 + (unsigned)(round / kills)), &prng);
  check(&b);
  print_message("%d kills: %d accepted, %d ended before\n", kills, b.accepted,
                b.ended);
  assert_true(b.accepted > kills / 2);
  pai__map_dispose(&b.told);
}

TEST_AROUND_ALL(story_make_root, story_remove_root);
