/* GET /metrics: the numbers that are told, and that text is what Prometheus
 * reads. */
#define _GNU_SOURCE
#include "asked.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define STATUS                                                            \
  "{\"machine\":{\"name\":\"b\\\"o\\\\x\",\"ip\":\"10.0.0.1\","           \
  "\"cpus\":8,\"freeCpus\":2.5,\"gpus\":2,\"freeGpus\":1,\"sickGpus\":0," \
  "\"memory\":1048576,\"freeMemory\":4096},\"trouble\":null}"

/* Plays a task.  It has a session of its own: the test's has no number where
 * who began it lives outside of the container. */
static pid_t player;

static int play(void **state)
{
  int ready[2];
  char byte = 0;

  (void)state;
  if (pipe(ready) != 0 || (player = fork()) < 0)
    return -1;
  if (player == 0) {
    if (setsid() < 0 || write(ready[1], &byte, 1) != 1)
      _exit(1);
    for (;;)
      pause();
  }
  close(ready[1]);
  if (read(ready[0], &byte, 1) != 1)
    return -1;
  return close(ready[0]);
}

static int played(void **state)
{
  (void)state;
  if (kill(player, SIGKILL) != 0)
    return -1;
  return waitpid(player, NULL, 0) == player ? 0 : -1;
}

static pai_task_view task(void)
{
  return (pai_task_view){ .struct_size = sizeof(pai_task_view),
                          .job = 7,
                          .user = "alice",
                          .name = "mnist",
                          .framework = "f00",
                          .role = "w",
                          .attempt_id = "at",
                          .state = PAI_STATE_RUNNING,
                          .node = "box",
                          .ip = "10.0.0.1",
                          .memory = 64 << 20,
                          .started = 1,
                          .session = player };
}

/* Each line is a comment, or a name, labels and a number. */
static void check_text(const char *text)
{
  const char *line = strstr(text, "\r\n\r\n");

  assert_non_null(line);
  for (line += 4; *line != '\0'; line = strchr(line, '\n') + 1) {
    const char *eol = strchr(line, '\n'), *value;
    char *stop;

    assert_non_null(eol);
    if (*line == '#') {
      assert_true(strncmp(line, "# HELP ", 7) == 0 ||
                  strncmp(line, "# TYPE ", 7) == 0);
      continue;
    }
    value = memrchr(line, ' ', (size_t)(eol - line));
    assert_non_null(value);
    (void)strtod(value + 1, &stop);
    if (stop != eol)
      print_error("no number: %.*s\n", (int)(eol - line), line);
    assert_ptr_equal(stop, eol);
  }
}

IN_SCENE(begin, numbers)
{
  static const char *const wanted[] = {
    "openpai_jobs{state=\"waiting\"} 4\n",
    "openpai_jobs_ended_total{state=\"failed\"} 8\n",
    "openpai_jobs_submitted_total 70\n",
    "openpai_queue_length 6\n",
    "openpai_store_commit_seconds_sum 2.5\n",
    "openpai_store_commit_seconds_count 10\n",
    "process_error_log_total{type=\"database\"} 1\n",
    "node_name=\"b\\\"o\\\\x\",disk_pressure=\"false\"",
    "k8s_node_gpu_total{host_ip=\"10.0.0.1\"} 2\n",
    "k8s_node_gpu_available{host_ip=\"10.0.0.1\"} 1\n",
    "configured_gpu_count 2\n",
    "openpai_cpus_free 2.5\n",
    "pai_job_pod_count{name=\"f00-w-0\",phase=\"running\"",
    "task_mem_limit_byte{username=\"alice\",job_name=\"alice~mnist\","
    "role_name=\"w\",task_index=\"0\",job_instance_id=\"at\","
    "virtual_cluster=\"default\"} 67108864\n",
    "task_mem_usage_byte{username=\"alice\"",
    "openpai_requests_total{route=\"/api/v2/info\",method=\"GET\","
    "status=\"200\"} 2\n",
    "openpai_requests_total{route=\"\",method=\"other\",status=\"404\"} "
    "1\n",
    "openpai_request_seconds_bucket{le=\"+Inf\"} 4\n",
    "openpai_request_seconds_count 4\n",
  };
  const pai_task_view mine = task();
  const char *text;

  s->platform.status = STATUS;
  s->platform.tasks = &mine;
  s->platform.ntasks = 1;
  expect(GET(s, "/api/v2/info"), 200, "");
  expect(SEND(s, "HEAD", "/api/v2/info", ""), 200, "");
  expect(GET(s, "/nothing"), 404, "");
  expect(GET(s, "/metrics"), 200, "");
  text = GET(s, "/metrics");
  expect(text, 200, "");
  check_text(text);
  for (size_t i = 0; i < PAI__LEN(wanted); i++) {
    if (strstr(text, wanted[i]) == NULL)
      print_error("want %s\nhave %s\n", wanted[i], text);
    assert_has(text, wanted[i]);
  }
  assert_has(text, "text/plain; version=0.0.4");
  /* It has ended: nothing is told of it. */
  s->platform.ntasks = 0;
  assert_null(strstr(GET(s, "/metrics"), "alice"));
  s->platform.fail = PAI_EIO;
  expect(GET(s, "/metrics"), 500, "UnknownError");
}

/* A session that is not there any more is no mistake. */
IN_SCENE(begin, tasks_that_have_gone)
{
  pai_task_view gone[] = { task(), task(), task() };

  gone[0].session = INT32_MAX;
  gone[1].session = 0;
  gone[2].session = 0;
  gone[2].cgroup = "/there/is/none";
  s->platform.status = "{}";
  s->platform.tasks = gone;
  s->platform.ntasks = PAI__LEN(gone);
  for (int i = 0; i < 3; i++)
    check_text(GET(s, "/metrics"));
}

static bool are_all_told(scene *s)
{
  static const char *const paths[] = { "/metrics", "/api/v2/alerts",
                                       "/api/v2/kubernetes/nodes",
                                       "/api/v2/kubernetes/pods" };
  const pai_task_view mine = task();
  bool ok = true;

  s->platform.tasks = &mine;
  s->platform.ntasks = 1;
  for (size_t i = 0; i < PAI__LEN(paths) && ok; i++)
    ok = strstr(GET(s, paths[i]), "HTTP/1.1 200") != NULL;
  return ok;
}

IN_SCENE(begin_empty, no_memory_is_survived)
{
  s->platform.status = STATUS;
  serve_faults(s, are_all_told);
}

TEST_AROUND_ALL(play, played);
