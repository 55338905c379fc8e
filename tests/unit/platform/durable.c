/* durable.c - platforms that are closed, left and opened again */
#include "durable.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

const char *durable_policy;

static void on_log(void *user_data, int level, const char *line)
{
  durable *d = user_data;
  size_t used = strlen(d->log);

  (void)snprintf(d->log + used, sizeof(d->log) - used, "%d %s\n", level, line);
}

static int on_event(void *user_data, const pai_event *event)
{
  durable *d = user_data;
  size_t len;
  const char *text = pai_event_text(event, &len);

  if (pai_event_type(event) == PAI_EVENT_TASK &&
      pai_event_state(event) == PAI_STATE_WAITING &&
      strstr(text, "; retry 2 of at most 2") != NULL)
    d->last_retries++;
  return PAI_OK;
}

int durable_try(durable *d, const char *root, pai_error **err)
{
  pai_platform_options o = PAI_PLATFORM_OPTIONS_INIT;
  int rc;

  memset(d, 0, sizeof(*d));
  (void)snprintf(d->root, sizeof(d->root), "%s", root);
  assert_ok(pai_loop_new(&d->loop, NULL, NULL));
  o.root = root;
  o.durable = 1;
  o.user = "ann";
  o.runtime = "process";
  o.on_log = on_log;
  o.on_event = on_event;
  o.user_data = d;
  o.seed = 7;
  o.policy = durable_policy;
  rc = pai_platform_new(&d->platform, d->loop, &o, err);
  if (rc < 0) {
    (void)!pai_loop_run(d->loop);
    pai_loop_free(d->loop);
  }
  return rc;
}

void durable_open(durable *d, const char *root)
{
  pai_error *err = NULL;

  if (durable_try(d, root, &err) < 0)
    fail_msg("%s", pai_error_message(err));
}

void durable_begin(durable *d)
{
  static int n;

  durable_open(d, story_in(test_string("own%d", n++)));
}

void durable_turn(durable *d)
{
  struct pollfd fd = { pai_loop_fd(d->loop), POLLIN, 0 };
  int wait = pai_loop_timeout_ms(d->loop);

  (void)poll(&fd, 1, wait < 0 || wait > 10 ? 10 : wait);
  assert_true(pai_loop_dispatch(d->loop) >= 0);
}

static void on_closed(void *user_data)
{
  ((durable *)user_data)->closed = true;
}

static void end(durable *d)
{
  while (!d->closed)
    durable_turn(d);
  assert_ok(pai_loop_run(d->loop));
  pai_loop_free(d->loop);
}

void durable_close(durable *d)
{
  pai_platform_close(d->platform, on_closed, d);
  end(d);
}

void durable_leave(durable *d)
{
  pai_platform_leave(d->platform, on_closed, d);
  end(d);
}

void durable_again(durable *d)
{
  char root[sizeof(d->root)];

  memcpy(root, d->root, sizeof(root));
  durable_leave(d);
  durable_open(d, root);
}

pai_job_id durable_submit_text(durable *d, const char *text)
{
  pai_submit_options o = { .struct_size = sizeof(o) };
  pai_error *err = NULL;
  pai_spec *spec = story_parse(text);
  pai_job_id id;

  o.text = text;
  if (pai_platform_submit_as(&id, d->platform, spec, &o, &err) < 0) {
    (void)snprintf(d->code, sizeof(d->code), "%s", pai_error_message(err));
    pai_error_free(err);
  }
  pai_spec_unref(spec);
  return id;
}

pai_job_id durable_submit(durable *d, const char *name, const char *fields,
                          const char *role, const char *command)
{
  char cpus[16];

  (void)snprintf(cpus, sizeof(cpus), "%d", d->cpus);
  return durable_submit_text(
    d, test_string("{protocolVersion: 2, name: %s, type: job, " STORY_IMAGE
                   ", %s taskRoles: {a: {dockerImage: x, %s "
                   "resourcePerInstance: {cpu: %s, memoryMB: 64, gpu: 0}, "
                   "commands: [\"%s\"]}}}",
                   name, fields, role, d->part != NULL ? d->part : cpus,
                   command));
}

static void on_sync(void *user_data, int status, const pai_error *err)
{
  durable *d = user_data;

  d->synced = status;
  (void)snprintf(d->code, sizeof(d->code), "%s", pai_error_message(err));
}

int durable_sync(durable *d)
{
  d->synced = 1;
  assert_ok(pai_platform_sync(d->platform, on_sync, d));
  while (d->synced == 1)
    durable_turn(d);
  return d->synced;
}

pai_job_id durable_accept(durable *d, const char *name, const char *command)
{
  pai_job_id id = durable_submit(d, name, "", "", command);

  if (id == 0)
    fail_msg("%s", d->code);
  assert_ok(durable_sync(d));
  return id;
}

int durable_wait(durable *d, pai_job_id job, int state)
{
  int now;

  while ((now = pai_platform_job_state(NULL, d->platform, job)) != state &&
         now < PAI_STATE_SUCCEEDED && now > 0)
    durable_turn(d);
  assert_ok(durable_sync(d));
  return now;
}

void durable_wait_file(durable *d, const char *path, size_t bytes)
{
  struct stat st;

  while (stat(path, &st) != 0 || (size_t)st.st_size < bytes)
    durable_turn(d);
}

/* --- what is answered -------------------------------------------------------- */

int durable_write(void *user_data, const char *bytes, size_t len)
{
  durable *d = user_data;

  if (d->len + len >= sizeof(d->text))
    len = sizeof(d->text) - d->len - 1;
  memcpy(d->text + d->len, bytes, len);
  d->len += len;
  d->text[d->len] = '\0';
  return 0;
}

static void begin(durable *d)
{
  d->len = 0;
  d->text[0] = '\0';
}

static const char *result(durable *d, int rc, pai_error *err)
{
  if (rc < 0)
    (void)snprintf(d->text, sizeof(d->text), "%s: %s", pai_code_name(rc),
                   pai_error_message(err));
  pai_error_free(err);
  return d->text;
}

const char *durable_node(durable *d)
{
  static char name[128];
  const char *at;

  d->len = 0;
  assert_ok(
    pai_platform_write_nodes(d->platform, NULL, durable_write, d, NULL));
  at = strstr(d->text, "\"name\":\"");
  assert_non_null(at);
  (void)snprintf(name, sizeof(name), "%.*s", (int)strcspn(at + 8, "\""),
                 at + 8);
  return name;
}

const char *durable_show(durable *d, pai_job_id job, int attempt)
{
  pai_error *err = NULL;

  begin(d);
  return result(
    d, pai_platform_show(d->platform, job, attempt, durable_write, d, &err),
    err);
}

const char *durable_why(durable *d, pai_job_id job)
{
  pai_error *err = NULL;

  begin(d);
  return result(d, pai_platform_why(d->platform, job, durable_write, d, &err),
                err);
}

const char *durable_list(durable *d, const pai_job_query *query)
{
  pai_error *err = NULL;

  begin(d);
  return result(
    d, pai_platform_list(d->platform, query, durable_write, d, &err), err);
}

const char *durable_events(durable *d, pai_job_id job)
{
  pai_error *err = NULL;

  begin(d);
  return result(
    d, pai_platform_events(d->platform, job, NULL, durable_write, d, &err),
    err);
}

static void on_data(void *user_data, int status, uint64_t offset,
                    const char *bytes, size_t len)
{
  durable *d = user_data;

  assert_ok(status);
  (void)offset;
  d->closed = len == 0; /* for the time being */
  (void)durable_write(d, bytes, len);
}

const char *durable_log(durable *d, pai_job_id job,
                        const pai_log_options *opts)
{
  pai_error *err = NULL;
  pai_log_reader *reader;
  int rc;

  begin(d);
  rc = pai_log_open(&reader, d->platform, job, opts, on_data, d, &err);
  while (rc == PAI_OK && !d->closed)
    durable_turn(d);
  d->closed = false;
  pai_log_close(reader);
  return result(d, rc, err);
}

bool durable_has(const durable *d, const char *part)
{
  if (strstr(d->text, part) == NULL)
    fail_msg("no %s in %s", part, d->text);
  return true;
}

/* --- the scheduler's ---------------------------------------------------------- */

int durable_requests(pai_platform *p)
{
  static durable copy; /* for its text */
  pai_sched_options o = PAI_SCHED_OPTIONS_INIT;
  pai_sched *sched;
  uint64_t id = 0;
  int n = 0;

  copy.len = 0;
  assert_ok(pai_platform_snapshot(p, durable_write, &copy, NULL));
  assert_ok(pai_sched_load(&sched, copy.text, copy.len, &o, NULL));
  while ((id = pai_sched_next(sched, id)) != 0)
    n++;
  pai_sched_free(sched);
  return n;
}
