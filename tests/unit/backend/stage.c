/* stage.c - what is told of tasks is kept, and the stage is left clean */
#define _XOPEN_SOURCE 700

#include "stage.h"

#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static size_t fds_before;
static char roots[32][64];
static size_t nroots;

static void on_output(void *user_data, uint64_t task, int stream,
                      const char *data, size_t len)
{
  stage *s = user_data;

  assert_in_range(stream, 1, 2);
  assert_int_equal(s->tasks[task].ended, 0); /* all of it comes before */
  pai__buf_add(&s->tasks[task].out[stream - 1], data, len);
  if (s->on_output != NULL)
    s->on_output(s, task);
}

static void keep(char *out, size_t size, const char *text, size_t len)
{
  (void)snprintf(out, size, "%.*s", (int)len, text);
}

static void on_ended(void *user_data, uint64_t task, const pai_task_end *end)
{
  stage *s = user_data;
  stage_task *t = &s->tasks[task];

  assert_int_equal(end->struct_size, sizeof(*end));
  t->end = *end;
  keep(t->log, sizeof(t->log), end->log, end->log_len);
  keep(t->runtime, sizeof(t->runtime), end->runtime, end->runtime_len);
  keep(t->text, sizeof(t->text), end->text, strlen(end->text));
  t->ended++;
  s->ended++;
  if (s->on_ended != NULL)
    s->on_ended(s, task);
}

static void on_log(void *user_data, int level, const char *line)
{
  stage *s = user_data;
  size_t used = strlen(s->said);

  (void)snprintf(s->said + used, sizeof(s->said) - used, "%d %s\n", level,
                 line);
}

static void on_closed(void *user_data)
{
  ((stage *)user_data)->closed++;
}

void stage_init(stage *s)
{
  memset(s, 0, sizeof(*s));
  assert_ok(pai_loop_new(&s->loop, NULL, NULL));
  pai_loop_free(s->loop); /* libuv keeps two for good */
  fds_before = stage_fds();
  (void)snprintf(s->root, sizeof(s->root), "/tmp/openpai-stage-XXXXXX");
  assert_non_null(mkdtemp(s->root));
  (void)snprintf(roots[nroots++], sizeof(roots[0]), "%s", s->root);
  s->tasks = calloc(STAGE_TASKS, sizeof(*s->tasks));
  assert_non_null(s->tasks);
  for (size_t i = 0; i < STAGE_TASKS; i++)
    for (int k = 0; k < 2; k++)
      pai__buf_init(&s->tasks[i].out[k], &pai__libc_alloc);
  assert_ok(pai_loop_new(&s->loop, NULL, NULL));
  test_tally_init(&s->tally);
  s->host = (pai_backend_host){ .struct_size = sizeof(s->host),
                                .user_data = s,
                                .alloc = &s->tally.alloc,
                                .loop = s->loop,
                                .root = s->root,
                                .output = on_output,
                                .ended = on_ended,
                                .log = on_log };
}

/* The session of a task folder's supervisor is its own. */
static int end_one(const char *path, const struct stat *info, int kind,
                   struct FTW *at)
{
  static const char word[] = "supervisor ";
  char line[128] = "";
  long pid = 0;
  FILE *f;

  (void)info;
  if (kind != FTW_F || strcmp(path + at->base, "status") != 0)
    return 0;
  f = fopen(path, "r");
  if (f != NULL && fgets(line, sizeof(line), f) != NULL &&
      strncmp(line, word, strlen(word)) == 0)
    pid = strtol(line + strlen(word), NULL, 10);
  if (pid > 1 && stage_lives(pid)) {
    (void)kill((pid_t)pid, SIGUSR1);
    stage_pause(200000);
  }
  if (f != NULL)
    (void)fclose(f);
  return 0;
}

int stage_clean(void **state)
{
  (void)state;
  for (size_t i = 0; i < nroots; i++)
    if (access(roots[i], F_OK) == 0) {
      (void)nftw(roots[i], end_one, 16, FTW_PHYS);
      (void)test_remove(roots[i]);
    }
  return 0;
}

void stage_open(stage *s)
{
  pai_error *err;

  if (pai__backend_local.open(&s->backend, NULL, &s->host, &err) < 0)
    fail_msg("%s", pai_error_message(err));
}

void stage_begin(stage *s)
{
  stage_init(s);
  stage_open(s);
}

void stage_leave(stage *s, int how)
{
  int before = s->closed;

  pai__backend_local.close(s->backend, how, on_closed);
  assert_ok(pai_loop_run(s->loop));
  assert_int_equal(s->closed, before + 1);
  assert_int_equal(s->tally.live, 0);
}

void stage_close(stage *s)
{
  stage_leave(s, PAI_CLOSE_STOP);
  pai_loop_free(s->loop);
  for (size_t i = 0; i < STAGE_TASKS; i++)
    for (int k = 0; k < 2; k++)
      pai__buf_dispose(&s->tasks[i].out[k]);
  free(s->tasks);
  assert_int_equal(test_remove(s->root), 0);
  assert_int_equal(stage_fds(), fds_before);
}

pai_launch_plan stage_plan(stage *s, uint64_t task, const char *script)
{
  static char dir[96];

  (void)snprintf(dir, sizeof(dir), "%s/%llu", s->root,
                 (unsigned long long)task);
  return (pai_launch_plan){ .struct_size = sizeof(pai_launch_plan),
                            .dir = dir,
                            .script = script,
                            .runtime = PAI_RUNTIME_PROCESS };
}

void stage_start(stage *s, uint64_t task, const pai_launch_plan *plan)
{
  pai_error *err;

  if (pai__backend_local.start(s->backend, task, plan, &err) < 0)
    fail_msg("%s", pai_error_message(err));
}

void stage_follow(stage *s, uint64_t task, int from)
{
  pai_error *err;

  if (pai__backend_local.follow(s->backend, task, from, &err) < 0)
    fail_msg("%s", pai_error_message(err));
}

void stage_wait(stage *s, int ended)
{
  while (s->ended < ended)
    assert_true(pai_loop_run_once(s->loop) >= 0);
}

const char *stage_out(stage *s, uint64_t task)
{
  return pai__buf_text(&s->tasks[task].out[0]);
}

void stage_wait_for(stage *s, uint64_t task, const char *text)
{
  while (strstr(stage_out(s, task), text) == NULL) {
    assert_int_equal(s->tasks[task].ended, 0);
    assert_true(pai_loop_run_once(s->loop) >= 0);
  }
}

stage_task *stage_run(stage *s, uint64_t task, const char *script)
{
  pai_launch_plan plan = stage_plan(s, task, script);

  stage_start(s, task, &plan);
  stage_follow(s, task, PAI_FOLLOW_ALL);
  while (s->tasks[task].ended == 0)
    assert_true(pai_loop_run_once(s->loop) >= 0);
  return &s->tasks[task];
}

const char *stage_file(stage *s, uint64_t task, const char *name)
{
  static char text[65536];
  char path[128];
  size_t n;
  FILE *f;

  (void)snprintf(path, sizeof(path), "%s/%s%llu/%s", s->root,
                 strcmp(name, "status") == 0 ? "own/" : "",
                 (unsigned long long)task, name);
  text[0] = '\0';
  f = fopen(path, "r");
  if (f == NULL)
    return text;
  n = fread(text, 1, sizeof(text) - 1, f);
  text[n] = '\0';
  (void)fclose(f);
  return text;
}

/* The status may still be being written. */
long stage_status(stage *s, uint64_t task, const char *word, int which)
{
  for (int i = 0; i < 5000; i++) {
    const char *at = strstr(stage_file(s, task, "status"), word);
    if (at != NULL && strchr(at, '\n') != NULL) {
      for (int k = 0; k < which; k++)
        at += strcspn(at, " ") + 1;
      return strtol(at, NULL, 10);
    }
    stage_pause(1000);
  }
  fail_msg("no %s in the status", word);
  return 0;
}

/* A zombie is none. */
bool stage_lives(long pid)
{
  const char *text = test_file(test_string("/proc/%ld/stat", pid));
  const char *at = text != NULL ? strrchr(text, ')') : NULL;

  return at != NULL && at[2] != 'Z' && at[2] != 'X';
}

size_t stage_fds(void)
{
  DIR *dir = opendir("/proc/self/fd");
  size_t n = 0;

  assert_non_null(dir);
  while (readdir(dir) != NULL)
    n++;
  (void)closedir(dir);
  return n;
}

void stage_pause(long us)
{
  const struct timespec t = { us / 1000000, us % 1000000 * 1000 };

  (void)nanosleep(&t, NULL);
}
