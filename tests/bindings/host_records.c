/*
 * host_records.c - a C host that reads all that a live platform and its server
 * tell, as structs: <openpai/json.h> against what is really written
 */
#include "check.h"

#include <openpai/openpai.h>
#include <openpai/server.h>

#include <string.h>
#include <unistd.h>

#define IS(text, want) CHECK((text) != NULL && strcmp((text), (want)) == 0)

/* Of so many CPUs and one command. */
static const char job_text[] =
  "{\"protocolVersion\": 2, \"name\": \"x\", \"type\": \"job\","
  "\"prerequisites\": [{\"name\": \"x\", \"type\": \"dockerimage\","
  "\"uri\": \"x\"}], \"taskRoles\": {\"w\": {\"instances\": 1,"
  "\"dockerImage\": \"x\", \"resourcePerInstance\": {\"cpu\": %d,"
  "\"memoryMB\": 64, \"gpu\": 0}, \"commands\": [\"%s\"]}}}";

enum { SIZE = 1 << 20 };

typedef struct host {
  pai_loop *loop;
  pai_platform *platform;
  pai_server *server;
  pai_client *client;
  int ended, closed, asked;
  char *text; /* what was written, or answered */
  size_t len;
} host;

static int collect(void *user_data, const char *bytes, size_t len)
{
  host *h = user_data;

  CHECK(len < SIZE - h->len);
  memcpy(h->text + h->len, bytes, len);
  h->len += len;
  return PAI_OK;
}

static pai_json *taken(host *h)
{
  pai_error *err = NULL;
  pai_json *json;

  if (pai_json_read(&json, h->text, h->len, NULL, &err) < 0) {
    (void)printf("%s: %.*s\n", pai_error_message(err), (int)h->len, h->text);
    exit(1);
  }
  h->len = 0;
  return json;
}

static int on_event(void *user_data, const pai_event *event)
{
  host *h = user_data;

  h->ended += pai_event_type(event) == PAI_EVENT_JOB &&
              pai_event_state(event) >= PAI_STATE_SUCCEEDED;
  return 0;
}

static void on_answer(void *user_data, int status, const pai_client_answer *a)
{
  host *h = user_data;

  if (status < 0)
    (void)printf("%d: %s\n", status, pai_error_message(a->err));
  CHECK(status == PAI_OK);
  CHECK(collect(h, a->body, a->body_len) == PAI_OK);
  h->asked--;
}

static pai_json *ask(host *h, const char *path)
{
  pai_client_request request = PAI_CLIENT_REQUEST_INIT;

  request.path = path;
  h->asked++;
  CHECK(pai_client_ask(NULL, h->client, &request, on_answer, h, NULL) ==
        PAI_OK);
  while (h->asked > 0)
    CHECK(pai_loop_run_once(h->loop) >= 0);
  return taken(h);
}

static void on_sync(void *user_data, int status, const pai_error *err)
{
  host *h = user_data;

  (void)err;
  CHECK(status == PAI_OK);
  h->asked--;
}

/* Its name has the process's number: the root is used again. */
static pai_job_id submit(host *h, const char *what, int cpus,
                         const char *command)
{
  pai_submit_options options = PAI_SUBMIT_OPTIONS_INIT;
  char text[1024], name[64];
  pai_job_id job;
  pai_spec *spec;

  (void)snprintf(name, sizeof(name), "%s_%d", what, (int)getpid());
  (void)snprintf(text, sizeof(text), job_text, cpus, command);
  options.name = name;
  CHECK(pai_spec_parse(&spec, text, strlen(text), NULL, NULL) == PAI_OK);
  CHECK(pai_platform_submit_as(&job, h->platform, spec, &options, NULL) ==
        PAI_OK);
  pai_spec_unref(spec);
  h->asked++;
  CHECK(pai_platform_sync(h->platform, on_sync, h) == PAI_OK);
  while (h->asked > 0)
    CHECK(pai_loop_run_once(h->loop) >= 0);
  return job;
}

static int cpus(host *h)
{
  pai_node_record node = { .struct_size = sizeof(node) };
  pai_json *json = ask(h, "/api/v2/nodes");

  CHECK(pai_json_node(&node, json, pai_json_item(json, 0, 0)) == PAI_OK);
  IS(node.state, "up");
  CHECK(node.name != NULL && node.cpus > 0 && node.memory > 0);
  pai_json_free(json);
  return (int)node.cpus;
}

/* --- what is told ----------------------------------------------------------------- */

static void a_failed_job(host *h, pai_job_id id)
{
  pai_job_record job = { .struct_size = sizeof(job) };
  pai_task_record task = { .struct_size = sizeof(task) };
  pai_why_record why = { .struct_size = sizeof(why) };
  pai_event_record event = { .struct_size = sizeof(event) };
  pai_json *json;
  size_t tasks;

  CHECK(pai_platform_show(h->platform, id, -1, collect, h, NULL) == PAI_OK);
  json = taken(h);
  CHECK(pai_json_job(&job, json, 0) == PAI_OK);
  CHECK(strncmp(job.name, "fails_", 6) == 0);
  CHECK(job.state == PAI_STATE_FAILED && job.user_exit_code == 3);
  IS(job.failed_role, "w");
  CHECK(job.failed_index == 0);
  IS(job.failure, "module-missing");
  CHECK(job.submitted > 0 && job.started >= job.submitted);
  CHECK(job.ended >= job.started);
  tasks = pai_json_tasks(json, pai_json_item(json, job.roles, 0));
  CHECK(pai_json_task(&task, json, pai_json_item(json, tasks, 0)) == PAI_OK);
  CHECK(task.state == PAI_STATE_FAILED && task.user_exit_code == 3);
  IS(task.failure, "module-missing");
  CHECK(task.node != NULL && task.log != NULL && task.address != NULL);
  CHECK(pai_json_count(json, task.ports) > 0);
  pai_json_free(json);
  CHECK(pai_platform_why(h->platform, id, collect, h, NULL) == PAI_OK);
  json = taken(h);
  CHECK(pai_json_why(&why, json, 0) == PAI_OK);
  CHECK(why.state == PAI_STATE_FAILED);
  IS(why.failure, "module-missing");
  CHECK(pai_json_count(json, why.failure_solution) > 0);
  pai_json_free(json);
  CHECK(pai_platform_events(h->platform, id, NULL, collect, h, NULL) ==
        PAI_OK);
  json = taken(h);
  CHECK(pai_json_event(&event, json,
                       pai_json_item(json, pai_json_page(json), 0)) == PAI_OK);
  CHECK(event.type != NULL && event.reason != NULL && event.message != NULL);
  CHECK(event.time != NULL && event.count > 0);
  pai_json_free(json);
}

static void a_waiting_job(host *h, pai_job_id id)
{
  pai_explanation_record found = { .struct_size = sizeof(found) };
  pai_change_record change = { .struct_size = sizeof(change) };
  pai_estimate_record estimate = { .struct_size = sizeof(estimate) };
  pai_reason_record reason = { .struct_size = sizeof(reason) };
  pai_why_record why = { .struct_size = sizeof(why) };
  pai_json *json;

  json = NULL;
  do { /* until the scheduler has considered it */
    pai_json_free(json);
    CHECK(pai_loop_run_once(h->loop) >= 0);
    CHECK(pai_platform_why(h->platform, id, collect, h, NULL) == PAI_OK);
    json = taken(h);
    CHECK(pai_json_why(&why, json, 0) == PAI_OK);
    CHECK(why.state == PAI_STATE_WAITING && why.explanation != NULL);
    CHECK(pai_json_reason(&reason, json,
                          pai_json_item(json, why.reasons, 0)) == PAI_OK);
  } while (strcmp(reason.code, "cpu") != 0);
  CHECK(strstr(reason.text, "CPU") != NULL && reason.nodes == 1);
  IS(why.queue, "default");
  IS(why.order, "arrival");
  CHECK(why.place == 1 && why.waiting == 1);
  CHECK(pai_json_explanation(&found, json, why.change) == PAI_OK);
  IS(found.lack, "cpu");
  CHECK(found.wanted > 0 && found.found == 0);
  CHECK(pai_json_count(json, found.other_changes) == 1);
  CHECK(pai_json_change(&change, json,
                        pai_json_item(json, found.other_changes, 0)) ==
        PAI_OK);
  IS(change.event, "finished");
  pai_json_free(json);
  CHECK(pai_platform_estimate(h->platform, id, collect, h, NULL) == PAI_OK);
  json = taken(h);
  CHECK(pai_json_estimate(&estimate, json, 0) == PAI_OK);
  CHECK(estimate.state == PAI_STATE_WAITING && estimate.now > 0);
  pai_json_free(json);
}

static void a_list(host *h)
{
  pai_job_query query = PAI_JOB_QUERY_INIT;
  pai_job_item item = { .struct_size = sizeof(item) };
  pai_json *json;
  size_t page;

  query.with_total = 1;
  query.limit = 3;
  CHECK(pai_platform_list(h->platform, &query, collect, h, NULL) == PAI_OK);
  json = taken(h);
  page = pai_json_page(json);
  CHECK(pai_json_count(json, page) == 3);
  CHECK(pai_json_job_item(&item, json, pai_json_item(json, page, 2)) ==
        PAI_OK);
  CHECK(strncmp(item.name, "fails_", 6) == 0);
  IS(item.virtual_cluster, "default");
  CHECK(item.state == PAI_STATE_FAILED && item.tasks == 1 && item.roles == 1);
  pai_json_free(json);
}

static void a_cluster(host *h)
{
  pai_vc_record vc = { .struct_size = sizeof(vc) };
  pai_user_record user = { .struct_size = sizeof(user) };
  pai_json *json = ask(h, "/api/v2/virtual-clusters");

  CHECK(pai_json_vc(&vc, json, pai_json_member(json, 0, "default")) == PAI_OK);
  IS(vc.state, "running");
  CHECK(vc.capacity > 0 && vc.cpus > 0 && vc.memory_mb > 0);
  CHECK(vc.jobs_waiting == 1);
  pai_json_free(json);
  json = ask(h, "/api/v2/users");
  for (size_t i = 0; i < pai_json_count(json, 0); i++) {
    CHECK(pai_json_user(&user, json, pai_json_item(json, 0, i)) == PAI_OK);
    CHECK(user.name != NULL);
  }
  pai_json_free(json);
}

/* Of an earlier run that failed. */
static void stop_left_jobs(host *h)
{
  pai_job_query query = PAI_JOB_QUERY_INIT;
  pai_json *json;
  size_t n;

  query.states = "WAITING,RUNNING,STOPPING";
  do {
    CHECK(pai_platform_list(h->platform, &query, collect, h, NULL) == PAI_OK);
    json = taken(h);
    n = pai_json_count(json, 0);
    for (size_t i = 0; i < n; i++) {
      pai_job_item item = { .struct_size = sizeof(item) };
      char name[300];
      pai_job_id id;

      CHECK(pai_json_job_item(&item, json, pai_json_item(json, 0, i)) ==
            PAI_OK);
      (void)snprintf(name, sizeof(name), "%s~%s", item.user, item.name);
      CHECK(pai_platform_find(&id, h->platform, name, NULL) == PAI_OK);
      (void)pai_platform_stop(h->platform, id);
    }
    pai_json_free(json);
    CHECK(n == 0 || pai_loop_run_once(h->loop) >= 0);
  } while (n > 0);
  h->ended = 0;
}

/* --- the host ---------------------------------------------------------------------- */

static void open_all(host *h, const char *root)
{
  pai_platform_options of_platform = PAI_PLATFORM_OPTIONS_INIT;
  pai_server_options of_server = PAI_SERVER_OPTIONS_INIT;
  pai_client_options of_client = PAI_CLIENT_OPTIONS_INIT;
  char socket[512];

  *h = (host){ .text = malloc(SIZE) };
  CHECK(h->text != NULL);
  (void)snprintf(socket, sizeof(socket), "%s/socket", root);
  CHECK(pai_loop_new(&h->loop, NULL, NULL) == PAI_OK);
  of_platform.root = root;
  of_platform.durable = 1;
  of_platform.wait_impossible = 1;
  of_platform.on_event = on_event;
  of_platform.user_data = h;
  CHECK(pai_platform_new(&h->platform, h->loop, &of_platform, NULL) == PAI_OK);
  of_server.socket = socket;
  CHECK(pai_server_new(&h->server, h->loop, h->platform, &of_server, NULL) ==
        PAI_OK);
  of_client.socket = socket;
  CHECK(pai_client_new(&h->client, h->loop, &of_client, NULL) == PAI_OK);
}

static void on_closed(void *user_data)
{
  host *h = user_data;

  h->closed++;
}

static void close_all(host *h)
{
  pai_client_close(h->client, on_closed, h);
  pai_server_close(h->server, on_closed, h);
  while (h->closed < 2)
    CHECK(pai_loop_run_once(h->loop) >= 0);
  pai_platform_close(h->platform, on_closed, h);
  CHECK(pai_loop_run(h->loop) == PAI_OK && h->closed == 3);
  pai_loop_free(h->loop);
  free(h->text);
}

int main(int argc, char **argv)
{
  pai_job_id fails, runs, waits;
  host h;

  if (argc != 2)
    return 2;
  open_all(&h, argv[1]);
  stop_left_jobs(&h);
  fails = submit(&h, "fails", 1,
                 "echo \\\"ModuleNotFoundError: No module named 'numpy'\\\" "
                 ">&2; exit 3");
  while (h.ended < 1)
    CHECK(pai_loop_run_once(h.loop) >= 0);
  a_failed_job(&h, fails);
  runs = submit(&h, "runs", cpus(&h), "sleep 1000");
  while (pai_platform_job_state(NULL, h.platform, runs) != PAI_STATE_RUNNING)
    CHECK(pai_loop_run_once(h.loop) >= 0);
  waits = submit(&h, "waits", 1, "true");
  a_waiting_job(&h, waits);
  a_cluster(&h);
  a_list(&h);
  CHECK(pai_platform_stop(h.platform, waits) == PAI_OK);
  close_all(&h);
  return 0;
}
