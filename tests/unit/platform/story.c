/* story.c - what is told of jobs is noted, and answered */
#include "story.h"

#include <openpai/uv.h>

#include <stdio.h>
#include <stdlib.h>

char story_root[256];

static void on_output(story *s, const char *text, size_t len)
{
  for (size_t i = 0; i < len; i++)
    if (s->output_len + i + 1 < sizeof(s->output))
      s->output[s->output_len + i] = text[i];
  s->output_len += len;
}

static void note_event(story *s, const pai_event *event)
{
  size_t used = strlen(s->events);
  const char *role = pai_event_role(event);

  if (role != NULL)
    (void)snprintf(s->events + used, sizeof(s->events) - used, "%s[%u] %s; ",
                   role, pai_event_index(event),
                   pai_state_name(pai_event_state(event)));
  else
    (void)snprintf(s->events + used, sizeof(s->events) - used, "job %s; ",
                   pai_state_name(pai_event_state(event)));
}

static void on_job(story *s, const pai_event *event)
{
  int state = pai_event_state(event);
  pai_job_id id = pai_event_job(event);
  size_t len;
  const char *text = pai_event_text(event, &len);

  if (len > 0)
    (void)snprintf(s->why, sizeof(s->why), "%s", text);
  if (state == PAI_STATE_WAITING && s->no_retry)
    assert_ok(pai_platform_stop(s->platform, id));
  if (state < PAI_STATE_SUCCEEDED)
    return;
  s->state = state;
  s->code = pai_event_code(event);
  if (s->forget) {
    assert_ok(pai_platform_forget(s->platform, id));
    assert_int_equal(pai_platform_forget(s->platform, id), PAI_ENOTFOUND);
  }
  if (++s->finished == s->want)
    pai_platform_close(s->platform, NULL, NULL);
}

/* Lets the task go on, and returns when it has ended, which nobody was told
 * yet: it is another's child, so its status file is looked at. */
static void wait_for_exit(const char *job_dir)
{
  const char *at, *text, *path;

  test_write_file(story_in("go"), "on\n");
  at = strstr(job_dir, "/jobs/");
  path =
    test_string("%.*s/own%s/0/a-0/status", (int)(at - job_dir), job_dir, at);
  do {
    uv_sleep(1);
    text = test_file(path);
    assert_non_null(text);
  } while (strstr(text, "\nexit 0 ") == NULL);
}

static int on_event(void *user_data, const pai_event *event)
{
  story *s = user_data;
  int state = pai_event_state(event);
  size_t len;
  const char *text = pai_event_text(event, &len);

  assert_true(pai_event_time(event) > 0);
  if (pai_event_type(event) == PAI_EVENT_OUTPUT) {
    assert_in_range(pai_event_stream(event), 1, 2);
    if (s->slow && s->output_len == 0)
      wait_for_exit(pai_platform_job_dir(s->platform, pai_event_job(event)));
    on_output(s, text, len);
    return s->answer;
  }
  note_event(s, event);
  if (pai_event_type(event) == PAI_EVENT_JOB) {
    on_job(s, event);
    return 0;
  }
  s->stopped += pai_event_code(event) == -210;
  if (state == s->stop_at) {
    s->stop_at = 0;
    if (s->close_then)
      pai_platform_close(s->platform, NULL, NULL);
    for (int i = 0; i < s->stops; i++)
      assert_ok(pai_platform_stop(s->platform, pai_event_job(event)));
  }
  return state == PAI_STATE_STOPPING ? s->answer : 0;
}

static void on_log(void *user_data, int level, const char *line)
{
  story *s = user_data;
  size_t used = strlen(s->log);

  (void)snprintf(s->log + used, sizeof(s->log) - used, "%d %s\n", level, line);
}

pai_spec *story_parse(const char *text)
{
  pai_error *err;
  pai_spec *spec;

  if (pai_spec_parse(&spec, text, strlen(text), NULL, &err) < 0)
    fail_msg("%s", pai_error_message(err));
  return spec;
}

pai_spec *story_job(const char *fields, const char *role, const char *command)
{
  return story_parse(
    test_string("{protocolVersion: 2, name: test, type: job, " STORY_IMAGE
                ", %s taskRoles: {a: {dockerImage: x, %s "
                "resourcePerInstance: {cpu: 1, memoryMB: 64, gpu: 0}, "
                "commands: [\"%s\"]}}}",
                fields, role, command));
}

pai_platform_options story_options(story *s)
{
  pai_platform_options o = PAI_PLATFORM_OPTIONS_INIT;

  if (s->alloc.realloc_fn == NULL)
    s->alloc = pai__libc_alloc;
  o.alloc = &s->alloc;
  o.root = story_root;
  o.runtime = s->runtime;
  o.on_event = on_event;
  o.on_log = on_log;
  o.user_data = s;
  o.seed = 1;
  return o;
}

void story_begin(story *s, pai_loop *loop)
{
  pai_platform_options o = story_options(s);

  assert_ok(pai_platform_new(&s->platform, loop, &o, NULL));
}

pai_loop *story_open(story *s)
{
  pai_loop *loop;

  assert_ok(pai_loop_new(&loop, NULL, NULL));
  story_begin(s, loop);
  return loop;
}

void story_close(pai_loop *loop)
{
  assert_ok(pai_loop_run(loop));
  pai_loop_free(loop);
}

pai_job_id story_submit(story *s, pai_spec *spec)
{
  pai_job_id id;

  assert_ok(pai_platform_submit(&id, s->platform, spec, NULL));
  assert_true(id != 0);
  s->want++;
  return id;
}

void story_run(story *s, pai_spec *spec)
{
  pai_loop *loop = story_open(s);

  (void)story_submit(s, spec);
  pai_spec_unref(spec);
  assert_string_equal(s->events, ""); /* nothing from inside the calls */
  story_close(loop);
}

void story_expect_end(const story *s, int state, int code)
{
  if (s->state != state || s->code != code)
    fail_msg("want %s %d, got %s %d: %s%s", pai_state_name(state), code,
             pai_state_name(s->state), s->code, s->events, s->output);
}

int story_logged(const story *s, const char *part)
{
  int n = 0;

  for (const char *at = s->log; (at = strstr(at, part)) != NULL; at++)
    n++;
  return n;
}

const char *story_in(const char *name)
{
  return test_string("%s/%s", story_root, name);
}

int story_make_root(void **state)
{
  const char *tmp = getenv("TMPDIR");

  (void)state;
  (void)snprintf(story_root, sizeof(story_root), "%s/openpai-test-XXXXXX",
                 tmp != NULL ? tmp : "/tmp");
  return mkdtemp(story_root) != NULL ? 0 : -1;
}

int story_remove_root(void **state)
{
  (void)state;
  return system(test_string("rm -rf '%s'", story_root));
}
