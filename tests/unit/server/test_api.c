/* Routes of OpenPAI's that a single machine answers in its own way: older ones,
 * lists of Kubernetes', alerts; and a log as events. */
#define _GNU_SOURCE
#include "asked.h"

#include <sys/socket.h>

#include <stdio.h>

#define JOB "/api/v2/jobs/alice~mnist"

IN_SCENE(begin, older_routes)
{
  static const struct {
    const char *path;
    int status;
    const char *body;
  } rows[] = {
    { "/api/v1/jobs", 200, "[{\"name\":\"mnist\"}]" },
    { "/api/v1/user/alice/jobs/mnist", 200, "\"attemptId\":0" },
    { "/api/v1/user/alice/jobs/mnist/config", 200, "{\"a\":1}" },
    { "/api/v1/user/alice/jobs/nist", 404,
      "{\"code\":\"NoJobError\",\"message\":\"Job alice~nist is not "
      "found.\"}" },
    { "/api/v1/user/alice/jobs/mnist/ssh", 200, "\"sshPort\":\"22\"" },
    { "/api/v1/user/alice/jobs/nist/ssh", 404, "NoJobError" },
    { "/api/v2/jobs/protocolversion/config", 404, "NoJobError" },
    { JOB "/ssh", 200, "\"sshPort\":\"22\"" },
    { JOB "/ssh/key", 403, "only the owner" }, /* whoever the platform is */
    { "/api/internal/tail-logs/x?sv=1", 500, "\"code\":\"UnknownError\"" },
    { JOB "/job-attempts/healthz", 200, "ok" },
    { JOB "/job-attempts", 200, "[{\"a\":0}]" },
    { "/api/v2/jobs/alice~none/job-attempts", 404, "null" },
    { JOB "/job-attempts/0", 200, "{\"a\":1}" },
    { JOB "/job-attempts/1", 404, "NoJobError" },
    { JOB "/job-attempts/x", 404, "NoJobError" },
    { "/api/v2/jobs/alice~none/job-attempts/0", 404, "NoJobError" },
    { JOB "/estimate", 200, "{\"start\":null}" },
    { "/api/v2/jobs/alice~none/estimate", 404, "NoJobError" },
    /* a slash or a space in a part is not an end of it */
    { "/api/v2%2Fjobs", 404, "NoApiError" },
    { "/api/v2/jobs%20/api", 404, "NoApiError" },
  };

  for (size_t i = 0; i < PAI__LEN(rows); i++)
    expect(GET(s, rows[i].path), rows[i].status, rows[i].body);
  s->platform.fail = PAI_ENOTFOUND; /* the job has no sshd */
  expect(GET(s, JOB "/ssh"), 404,
         "{\"code\":\"NoJobSshInfoError\",\"message\":\"SSH info of job "
         "alice~mnist is not found.\"}");
  s->platform.fail = PAI_ENOTSUP;
  expect(GET(s, JOB "/estimate"), 501, "NotImplementedError");
  s->platform.fail = PAI_EIO;
  expect(GET(s, JOB "/job-attempts"), 500, "UnknownError");
  expect(SEND(s, "POST", JOB "/ssh", "{}"), 404, "NoApiError");
}

/* What is found out beside the loop, and how many one caller may ask for. */
static const struct beside {
  const char *path, *say, *enough, *found;
  int each;
} beside[] = {
  { JOB "/estimate", "GET " JOB "/estimate HTTP/1.1\r\nHost: x\r\n\r\n",
    "already wait for 4 estimates", "start", 4 },
  { JOB "/why", "GET " JOB "/why HTTP/1.1\r\nHost: x\r\n\r\n",
    "already wait for 32 explanations", "reasons", 32 },
};

enum { MOST_EACH = 32 };

/* Both are made, of one kind at a time. */
static int being_made(const scene *s)
{
  return s->platform.estimates + s->platform.answers;
}

static void ask_beside(peer *p, scene *s, const struct beside *x)
{
  int before = being_made(s);

  come(p, s);
  say(p, x->say);
  while (being_made(s) == before)
    turn(s);
}

static void nobody_fills_the_line(scene *s, const struct beside *x)
{
  peer p[MOST_EACH];

  for (int i = 0; i < x->each; i++)
    ask_beside(&p[i], s, x);
  expect(GET(s, x->path), 503, x->enough);
  leave(&p[0]);
  while (being_made(s) == x->each)
    turn(s);
  s->platform.slow = 0;
  expect(GET(s, x->path), 200, x->found);
  s->platform.slow = 1;
  for (int i = 1; i < x->each; i++)
    leave(&p[i]);
  while (being_made(s) > 0)
    turn(s);
}

static void give_up(const struct beside *x)
{
  peer p;
  scene s;

  begin(&s);
  s.platform.slow = 1;
  ask_beside(&p, &s, x);
  leave(&p);
  while (being_made(&s) > 0)
    turn(&s);
  /* So has one who only says no more; the platform is not ending. */
  ask_beside(&p, &s, x);
  assert_int_equal(shutdown(p.fd, SHUT_WR), 0);
  hear_all(&p);
  assert_int_equal(p.seen.len, 0);
  leave(&p);
  nobody_fills_the_line(&s, x);
  ask_beside(&p, &s, x);
  close_server(&s);
  hear(&p, "HTTP/1.1 503 ");
  while (being_made(&s) > 0)
    turn(&s);
  leave(&p);
  end(&s);
}

/* An estimate or an explanation takes its time: who hangs up meanwhile has it
 * given up, and so has a server that ends. */
TEST(what_is_found_beside_is_given_up)
{
  for (size_t i = 0; i < PAI__LEN(beside); i++)
    give_up(&beside[i]);
}

/* --- lists of Kubernetes', alerts --------------------------------------------------- */

#define STATUS                                                     \
  "{\"machine\":{\"name\":\"box\",\"ip\":\"10.0.0.1\",\"cpus\":8," \
  "\"gpus\":2,\"sickGpus\":1,\"memory\":1048576},"                 \
  "\"trouble\":\"the disk is full\"}"

static const pai_task_view tasks[] = {
  { .struct_size = sizeof(pai_task_view),
    .job = 7,
    .user = "alice",
    .name = "mnist",
    .framework = "f00",
    .virtual_cluster = "default",
    .role = "w",
    .attempt_id = "at",
    .id = "pod",
    .state = PAI_STATE_RUNNING,
    .node = "box",
    .ip = "10.0.0.1",
    .image = "i/x:1",
    .gpus = 2,
    .wants_gpus = 1,
    .cpus = 3,
    .memory = 64 << 20,
    .created = 1767323045000000,
    .started = 1767323046000000 },
  { .struct_size = sizeof(pai_task_view),
    .job = 8,
    .user = "bob",
    .name = "old",
    .framework = "f01",
    .role = "v",
    .index = 2,
    .attempt_id = "bt",
    .state = PAI_STATE_WAITING,
    .created = 1767323045000000 },
  { .struct_size = sizeof(pai_task_view),
    .job = 9,
    .user = "bob",
    .name = "bad",
    .framework = "f02",
    .role = "v",
    .attempt = 4,
    .attempt_id = "ct",
    .state = PAI_STATE_RUNNING,
    .created = 1767323045000000 },
};

static void begin_watched(scene *s)
{
  begin(s);
  s->platform.tasks = tasks;
  s->platform.ntasks = PAI__LEN(tasks);
  s->platform.status = STATUS;
}

#define PODS "/api/v2/kubernetes/pods?"

static int count(const char *text, const char *part)
{
  int n = 0;

  while ((text = strstr(text, part)) != NULL) {
    n++;
    text++;
  }
  return n;
}

static void pods_by_selectors(scene *s)
{
  static const struct {
    const char *query;
    int pods; /* -1: it is none */
  } rows[] = {
    { "labelSelector=", 3 },
    { "labelSelector=jobName%3Dmnist", 1 },
    { "labelSelector=jobName%3D%3Dmnist,userName%3Dbob", 0 },
    { "labelSelector=userName%21%3Dbob", 1 },
    { "labelSelector=jobName%20in%20(mnist,%20bad)", 2 },
    { "labelSelector=jobName%20notin%20(mnist,bad)", 1 },
    { "labelSelector=jobName", 3 },
    { "labelSelector=%21jobName", 0 },
    { "labelSelector=%21nothing,type", 3 },
    { "labelSelector=nothing%21%3Dx,nothing%20notin%20(x)", 3 },
    { "labelSelector=FC_TASK_INDEX%3D2", 1 },
    { "fieldSelector=status.phase%3DRunning", 1 },
    { "fieldSelector=status.phase!%3DRunning,spec.nodeName%3D", 2 },
    { "fieldSelector=metadata.name%3D%3Df00-w-0", 1 },
    { "fieldSelector=spec.nodeName%3Dbox&labelSelector=userName%3Dbob", 0 },
    { "labelSelector=%3Da", -1 },
    { "labelSelector=a%3Db,", -1 },
    { "labelSelector=a%20in%20b", -1 },
    { "labelSelector=a%20in%20(b", -1 },
    { "labelSelector=a%3Eb", -1 },
    { "labelSelector=a%3Db%20c", -1 },
    { "labelSelector=%21", -1 },
    { "fieldSelector=status.phase", -1 },
    { "fieldSelector=spec.nodeName%20in%20(box)", -1 },
    { "fieldSelector=metadata.uid%3Dx", -1 },
    { "fieldSelector=%21metadata.name", -1 },
  };
  char path[200];

  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    const char *answer;

    (void)snprintf(path, sizeof(path), PODS "%s", rows[i].query);
    answer = GET(s, path);
    if (rows[i].pods < 0)
      expect(answer, 400, "fieldSelector ");
    else if (count(answer, "{\"metadata\":{\"name\"") != rows[i].pods)
      fail_msg("%s: %s", rows[i].query, answer);
  }
}

IN_SCENE(begin_watched, lists_of_kubernetes)
{
  const char *answer;

  answer = GET(s, "/api/v2/kubernetes/nodes");
  expect(answer, 200, "{\"kind\":\"NodeList\",\"apiVersion\":\"v1\"");
  expect(answer, 200,
         "\"capacity\":{\"cpu\":\"8\",\"memory\":\"1024Ki\","
         "\"nvidia.com/gpu\":\"2\"},\"allocatable\":{\"cpu\":\"8\","
         "\"memory\":\"1024Ki\",\"nvidia.com/gpu\":\"1\"}");
  expect(answer, 200, "{\"type\":\"DiskPressure\",\"status\":\"True\"}");
  answer = GET(s, "/api/v1/kubernetes/pods");
  expect(answer, 200,
         "{\"metadata\":{\"name\":\"f00-w-0\",\"namespace\":"
         "\"default\",\"uid\":\"pod\",\"creationTimestamp\":"
         "\"2026-01-02T03:04:05Z\"");
  expect(answer, 200, "\"phase\":\"Running\",\"hostIP\":\"10.0.0.1\"");
  expect(answer, 200, "\"phase\":\"Pending\",\"conditions\"");
  expect(GET(s, "/api/v2/kubernetes/pods?namespace=kube-system"), 200,
         "\"items\":[]}");
  pods_by_selectors(s);
  s->platform.fail = PAI_EIO;
  expect(GET(s, "/api/v2/kubernetes/pods"), 500, "UnknownError");
  expect(GET(s, "/api/v2/kubernetes/nodes"), 500, "UnknownError");
}

IN_SCENE(begin_watched, alerts)
{
  const char *answer;

  answer = GET(s, "/api/v2/alerts");
  expect(answer, 200,
         "{\"labels\":{\"alertname\":\"NodeDiskPressure\",\"severity\":"
         "\"error\",\"node_name\":\"box\"}");
  expect(answer, 200, "the disk is full");
  expect(answer, 200,
         "\"alertname\":\"PaiJobPending\",\"severity\":\"warn\","
         "\"node_name\":\"box\",\"job_name\":\"bob~old\",\"username\":"
         "\"bob\",\"virtual_cluster\":\"default\"}");
  expect(answer, 200, "Job bob~bad is in retry number 4.");
  assert_null(strstr(answer, "alice~mnist"));
  s->platform.fail = PAI_EIO;
  expect(GET(s, "/api/v2/alerts"), 500, "UnknownError");
}

/* --- a log as events ---------------------------------------------------------------- */

static pai_log_reader *begin_events(peer *p, scene *s, const char *path,
                                    const char *more)
{
  pai_log_reader *r;
  char head[512];

  come(p, s);
  (void)snprintf(head, sizeof(head),
                 "GET %s HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream"
                 "\r\n%s\r\n",
                 path, more);
  say(p, head);
  while ((r = fake_reader(&s->platform, "all")) == NULL)
    turn(s);
  return r;
}

IN_SCENE(begin, a_log_as_events)
{
  pai_log_reader *r;
  peer p;

  r = begin_events(&p, s, LOG "/all", "");
  assert_int_equal(r->follow, 1);
  assert_int_equal(r->offset, 0);
  /* A character that comes in two pieces is told in one. */
  r->cb(r->user_data, PAI_OK, 10, "a\nb\xc3", 4);
  hear(&p, "id: 13\ndata: {\"offset\":10,\"text\":\"a\\nb\"}\n\n");
  r->cb(r->user_data, PAI_OK, 14, "\xa9", 1);
  hear(&p, "id: 15\ndata: {\"offset\":13,\"text\":\"\xc3\xa9\"}\n\n");
  /* One that never ends is told in the end; so is that it is one. */
  r->cb(r->user_data, PAI_OK, 15, "\xf0\x9f", 2);
  r->cb(r->user_data, PAI_OK, 17, NULL, 0);
  hear(&p, "id: 17\ndata: {\"offset\":15,");
  hear(&p, "event: end\nid: 17\ndata: {\"offset\":17}\n\n");
  hear(&p, "0\r\n\r\n");
  assert_has(pai__buf_text(&p.seen), "Content-Type: text/event-stream\r\n");
  leave(&p);
}

IN_SCENE(begin, events_go_on)
{
  static const struct {
    const char *path, *more;
    int64_t offset;
  } rows[] = {
    { LOG "/all", "Last-Event-ID: 17\r\n", 17 },
    { LOG "/all?offset=5", "Last-Event-ID: 17\r\n", 17 },
    { LOG "/all?offset=5", "", 5 },
    { LOG "/all?tail-mode=true", "", -16384 },
    { LOG "/all?tail-mode=1", "", 0 },
    { LOG "/all", "Last-Event-ID: x\r\n", 0 },
  };
  pai_log_reader *r;
  peer p;

  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    r = begin_events(&p, s, rows[i].path, rows[i].more);
    assert_int_equal(r->offset, rows[i].offset);
    leave(&p);
    while (s->platform.readers != NULL)
      turn(s);
  }
}

/* One that breaks off is not told to have ended. */
IN_SCENE(begin, events_that_break_off)
{
  pai_log_reader *r;
  peer p;

  r = begin_events(&p, s, LOG "/all", "");
  r->cb(r->user_data, PAI_OK, 0, "some", 4);
  hear(&p, "\"some\"");
  r->cb(r->user_data, PAI_EIO, 4, NULL, 0);
  hear_all(&p);
  assert_null(strstr(pai__buf_text(&p.seen), "event: end"));
  leave(&p);
}
