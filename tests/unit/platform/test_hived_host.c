/* HiveD in Kubernetes: what it asks, answers and binds, and in which order. */
#define _GNU_SOURCE /* memmem() */
#include "cases.h"
#include "backend/fake_kube.h"

#include "platform/hived/kube_config.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static const char config[] =
  "webServerAddress: \":7\"\n"
  "waitingPodSchedulingBlockMilliSec: 20\n"
  "physicalCluster:\n"
  "  cellTypes:\n"
  "    NODE: {childCellType: GPU, childCellNumber: 4, isNodeLevel: true}\n"
  "  physicalCells:\n"
  "  - {cellType: NODE, cellAddress: n0}\n"
  "  - {cellType: NODE, cellAddress: n1}\n"
  "virtualClusters:\n"
  "  vc: {virtualCells: [{cellType: NODE, cellNumber: 2}]}\n";

#define POD(name, gpus)                                                     \
  "{\"kind\":\"Pod\",\"metadata\":{\"name\":\"" name                        \
  "\",\"namespace\":\"ns\",\"uid\":\"" name                                 \
  "\",\"resourceVersion\":\"11\",\"annotations\":{\"hivedscheduler."        \
  "microsoft.com/pod-scheduling-spec\":\"{virtualCluster: vc, "             \
  "leafCellNumber: " gpus "}\"}},\"spec\":{\"containers\":[{\"resources\":" \
  "{\"limits\":{\"hivedscheduler.microsoft.com/pod-scheduling-enable\":"    \
  "\"1\"}}}]},\"status\":{\"phase\":\"Pending\"}}"
#define PODS                                                         \
  "{\"kind\":\"PodList\",\"metadata\":{\"resourceVersion\":\"10\"}," \
  "\"items\":[" POD("a", "4") "," POD("b", "4") "," POD("c", "4") "]}"
#define FILTER(name) \
  "{\"Pod\":" POD(name, "4") ",\"NodeNames\":[\"n0\",\"n1\"]}"
#define BIND(name, node)                                                 \
  "{\"PodName\":\"" name "\",\"PodNamespace\":\"ns\",\"PodUID\":\"" name \
  "\",\"Node\":\"" node "\"}"

typedef struct scene {
  pai_loop *loop;
  fake_kube server;
  pai_cluster *cluster;
  pai_hived_host *host;
  int ready, closed, warnings, oom;
  /* answers, in the order that they came in */
  int n;
  struct {
    int who, status, http;
    char body[512];
  } came[32];
} scene;

typedef struct asker {
  scene *s;
  int who;
  char *body; /* that is lent; NULL: none is, or it is back */
} asker;

static void on_ready(void *user_data)
{
  ((scene *)user_data)->ready++;
}

static void on_log(void *user_data, int level, const char *line)
{
  scene *s = user_data;

  if (level < PAI_LOG_WARNING)
    return;
  s->warnings++;
  if (strstr(line, "memory") != NULL)
    s->oom++;
}

static int new_host(scene *s, const pai_alloc *alloc)
{
  pai_hived_host_options o = PAI_HIVED_HOST_OPTIONS_INIT;

  o.alloc = alloc;
  o.kube_url = s->server.url;
  o.on_log = on_log;
  o.on_ready = on_ready;
  o.user_data = s;
  return pai_hived_host_new(&s->host, s->loop, s->cluster, &o, NULL);
}

static void begin_empty(scene *s)
{
  *s = (scene){ 0 };
  assert_ok(pai_loop_new(&s->loop, NULL, NULL));
  assert_ok(
    pai_cluster_parse(&s->cluster, config, strlen(config), NULL, NULL));
  fake_begin(&s->server, s->loop);
  s->server.pods = PODS;
}

static void begin(scene *s)
{
  begin_empty(s);
  assert_ok(new_host(s, NULL));
}

static void until(scene *s, const int *what, int n)
{
  while (*what < n)
    assert_int_equal(pai_loop_run_once(s->loop), 1);
}

static void on_closed(void *user_data)
{
  ((scene *)user_data)->closed++;
}

static void close_host(scene *s)
{
  pai_hived_host_close(s->host, on_closed, s);
  assert_int_equal(s->closed, 0);
  until(s, &s->closed, 1);
}

static void end(scene *s)
{
  if (s->closed == 0)
    close_host(s);
  fake_end(&s->server);
  assert_ok(pai_loop_run(s->loop));
  assert_int_equal(s->closed, 1);
  pai_loop_free(s->loop);
  pai_cluster_free(s->cluster);
}

static void on_answer(void *user_data, int status, const pai_hived_answer *a,
                      const pai_error *err)
{
  asker *k = user_data;
  scene *s = k->s;

  assert_true(s->n < (int)PAI__LEN(s->came));
  assert_int_equal(status, pai_error_code(err));
  assert_int_equal(a == NULL, status < 0);
  assert_null(k->body);
  s->came[s->n].who = k->who;
  s->came[s->n].status = status;
  if (a != NULL) {
    assert_int_equal(a->hold_ms, 0);
    assert_int_equal(a->bind, PAI_HIVED_BIND_NOTHING);
    s->came[s->n].http = a->status;
    (void)snprintf(s->came[s->n].body, sizeof(s->came[0].body), "%.*s",
                   (int)a->body_len, a->body);
  }
  if (status == PAI_ENOMEM)
    s->oom++;
  s->n++;
  free(k);
}

static void take_back(void *user_data)
{
  asker *k = user_data;

  assert_non_null(k->body);
  memset(k->body, 'x', strlen(k->body));
  free(k->body);
  k->body = NULL;
}

static int ask(scene *s, int who, const char *method, const char *target,
               const char *body)
{
  pai_hived_request q = { .struct_size = sizeof(q),
                          .method = method,
                          .target = target,
                          .body = body,
                          .body_len = body != NULL ? strlen(body) : 0 };
  /* Every other one is lent, in memory that is gone as soon as it is back. */
  bool lend = body != NULL && who % 2 == 0;
  asker *k = calloc(1, sizeof(*k));
  int n = s->n, rc;

  assert_non_null(k);
  *k = (asker){ s, who, NULL };
  if (lend) {
    k->body = strdup(body);
    q.body = k->body;
    q.release = take_back;
    q.body_data = k;
  }
  rc = pai_hived_host_ask(s->host, &q, on_answer, k, NULL);
  assert_int_equal(s->n, n); /* not from inside */
  if (rc < 0) {
    free(k->body);
    free(k);
  }
  return rc;
}

static void filter(scene *s, int who, const char *body)
{
  assert_ok(ask(s, who, "POST", "/v1/extender/filter", body));
}

static void binding(scene *s, int who, const char *body)
{
  assert_ok(ask(s, who, "POST", "/v1/extender/bind", body));
}

/* --- the order of things --------------------------------------------------------------- */

TEST(nodes_come_first)
{
  const char *nodes, *pods;
  scene s;

  begin(&s);
  assert_string_equal(pai_hived_host_address(s.host), ":7");
  assert_false(pai_hived_host_ready(s.host));
  assert_ok(ask(&s, 0, "GET", "/", NULL));
  until(&s, &s.n, 1);
  assert_int_equal(s.came[0].http, 503);
  assert_has(s.came[0].body, "not known yet");
  until(&s, &s.ready, 1);
  assert_true(pai_hived_host_ready(s.host));
  nodes =
    strstr(pai__buf_text(&s.server.asked), "GET /api/v1/nodes?limit=500 ");
  pods =
    strstr(pai__buf_text(&s.server.asked), "GET /api/v1/pods?limit=500&field");
  assert_non_null(nodes);
  assert_true(pods > nodes);
  assert_ok(ask(&s, 0, "GET", "/", NULL));
  until(&s, &s.n, 2);
  assert_int_equal(s.came[1].http, 200);
  end(&s);
  assert_int_equal(s.ready, 1);
}

TEST_IN(answers_come_in_order, scene, s, begin, end)
{
  until(s, &s->ready, 1);
  filter(s, 0, FILTER("a"));
  filter(s, 1, FILTER("b"));
  filter(s, 2, FILTER("c")); /* has to wait, and holds up */
  filter(s, 3, FILTER("d")); /* nobody knows it */
  until(s, &s->n, 4);
  for (int i = 0; i < 4; i++)
    assert_int_equal(s->came[i].who, i);
  assert_has(s->came[0].body, "\"NodeNames\":[\"n0\"]");
  assert_has(s->came[1].body, "\"NodeNames\":[\"n1\"]");
  assert_has(s->came[2].body, "Pod is waiting");
  assert_has(s->came[3].body, "not been informed");
}

TEST_IN(a_binding_is_done_first, scene, s, begin, end)
{
  until(s, &s->ready, 1);
  filter(s, 0, FILTER("a"));
  binding(s, 1, BIND("a", "n0"));
  until(s, &s->n, 2);
  assert_string_equal(s->came[1].body, "{\"Error\":\"\"}");
  assert_has(pai__buf_text(&s->server.asked),
             "POST /api/v1/namespaces/ns/pods/a/binding HTTP/1.1\n");
  s->server.post = "HTTP/1.1 403 X\r\nContent-Length: 16\r\n\r\n"
                   "{\"message\":\"no\"}";
  binding(s, 2, BIND("a", "n0"));
  until(s, &s->n, 3);
  assert_int_equal(s->came[2].http, 200);
  assert_has(s->came[2].body, "the API server answered 403: no");
  assert_int_equal(s->warnings, 1);
}

TEST(a_binding_holds_nobody_up)
{
  scene s;

  begin(&s);
  until(&s, &s.ready, 1);
  s.server.post = ""; /* it never answers */
  filter(&s, 0, FILTER("a"));
  binding(&s, 1, BIND("a", "n0"));
  filter(&s, 2, FILTER("b"));
  until(&s, &s.n, 2);
  assert_int_equal(s.came[1].who, 2);
  end(&s);
  assert_int_equal(s.came[2].who, 1);
  assert_int_equal(s.came[2].status, PAI_ECANCELED);
}

/* Asked for the fourth time, it binds beside its answer. */
TEST_IN(a_pod_is_bound_by_force, scene, s, begin, end)
{
  until(s, &s->ready, 1);
  for (int i = 0; i < 4; i++)
    filter(s, i, FILTER("a"));
  until(s, &s->n, 4);
  while (strstr(pai__buf_text(&s->server.asked), "POST") == NULL)
    assert_int_equal(pai_loop_run_once(s->loop), 1);
}

TEST_IN(calls_that_are_wrong, scene, s, begin, end)
{
  pai_hived_request q = { .struct_size = sizeof(q), .method = "GET" };
  pai_hived_host *host;
  pai_error *err;

  assert_fails(pai_hived_host_ask(s->host, &q, on_answer, NULL, &err), err,
               PAI_EINVAL, "a method and a target");
  q.struct_size = 3;
  assert_int_equal(pai_hived_host_ask(s->host, &q, on_answer, NULL, &err),
                   PAI_EINVAL);
  pai_error_free(err);
  assert_int_equal(pai_hived_host_new(&host, s->loop, NULL, NULL, &err),
                   PAI_EINVAL);
  assert_null(host);
  pai_error_free(err);
  pai_hived_host_close(NULL, NULL, NULL);
  pai_hived_host_close(s->host, on_closed, s);
  pai_hived_host_close(s->host, on_closed, s); /* again is nothing */
  assert_int_equal(ask(s, 0, "GET", "/", NULL), PAI_EBUSY);
  until(s, &s->closed, 1);
}

/* --- its end ----------------------------------------------------------------------------- */

TEST(it_is_closed_at_any_time)
{
  for (int turns = 0; turns < 60; turns++) {
    scene s;
    begin(&s);
    for (int i = 0; i < turns; i++) {
      if (i % 7 == 3)
        filter(&s, 0, FILTER("a"));
      if (i % 7 == 5)
        binding(&s, 1, BIND("a", "n0"));
      if (i == 40)
        filter(&s, 2, FILTER("b"));
      if (i == 50)
        filter(&s, 3, FILTER("c"));
      (void)!pai_loop_dispatch(s.loop);
    }
    close_host(&s);
    end(&s); /* each asker was told, or leaks */
  }
}

/* --- memory ------------------------------------------------------------------------------- */

/* Until it is ready, or memory was short. */
TEST_FAULTS(memory_may_be_short)
{
  scene s;
  int rc, want = 0;

  begin_empty(&s);
  rc = new_host(&s, alloc);
  if (rc == PAI_OK) {
    while (s.ready == 0 && s.warnings == 0)
      assert_int_equal(pai_loop_run_once(s.loop), 1);
    want += ask(&s, 0, "POST", "/v1/extender/filter", FILTER("a")) == PAI_OK;
    want += ask(&s, 1, "POST", "/v1/extender/bind", BIND("a", "n0")) == PAI_OK;
    want += ask(&s, 2, "POST", "/v1/extender/filter", FILTER("b")) == PAI_OK;
    want += ask(&s, 3, "POST", "/v1/extender/filter", FILTER("c")) == PAI_OK;
    until(&s, &s.n, want);
    if (want < 4 || s.oom > 0 || s.warnings > 0)
      rc = PAI_ENOMEM;
    close_host(&s);
  } else {
    assert_null(s.host);
    s.closed = 1;
  }
  end(&s);
  return rc;
}

/* --- where the API server is ----------------------------------------------------------------- */

static const char kubeconfig[] =
  "current-context: a\n"
  "contexts: [{name: a, context: {cluster: c, user: u}}]\n"
  "clusters: [{name: c, cluster: {server: 'https://x:6443//',\n"
  "  certificate-authority-data: YWJj}}]\n"
  "users: [{name: u, user: {tokenFile: here, username: me, password: '1',\n"
  "  client-certificate-data: YWI=, client-key-data: YQ==}}]\n";

typedef struct place {
  pai_cluster *cluster;
  char path[32];
} place;

static int find_by_file(const pai_alloc *alloc, void *user_data)
{
  const place *at = user_data;
  pai_hived_host_options o = PAI_HIVED_HOST_OPTIONS_INIT;
  pai__kube_config c;
  int rc;

  o.kube_config = at->path;
  rc = pai__kube_config_find(&c, alloc, at->cluster, &o, NULL);
  if (rc == PAI_OK) {
    assert_string_equal(c.url, "https://x:6443");
    assert_string_equal(c.ca, "abc");
    assert_string_equal(c.certificate, "ab");
    assert_string_equal(c.key, "a");
    assert_string_equal(c.token_file, "/tmp/here"); /* beside it */
    assert_null(c.token);
    assert_string_equal(c.user, "me");
  }
  pai__kube_config_dispose(&c);
  return rc;
}

static int find_by_pod(const pai_alloc *alloc, void *user_data)
{
  const place *at = user_data;
  pai_hived_host_options o = PAI_HIVED_HOST_OPTIONS_INIT;
  pai__kube_config c;
  int rc;

  o.kube_ca_file = at->path; /* any text */
  rc = pai__kube_config_find(&c, alloc, at->cluster, &o, NULL);
  if (rc == PAI_OK) {
    assert_string_equal(c.url, "https://[fd00::1]:443");
    assert_string_equal(c.ca, kubeconfig);
    assert_string_equal(c.token_file,
                        "/var/run/secrets/kubernetes.io/serviceaccount/token");
  }
  pai__kube_config_dispose(&c);
  return rc;
}

/* --- a host that forks ------------------------------------------------------ */

static void want(bool holds, const char *what)
{
  if (holds)
    return;
  print_error("in the child: not %s\n", what);
  _exit(1);
}
#define EXPECT(check) want((check), #check)

static void on_reloaded(void *user_data, int status, const pai_error *err)
{
  (void)user_data;
  (void)status;
  (void)err;
}

static void child_does_nothing(scene *s)
{
  pai_hived_request q = { .struct_size = sizeof(q),
                          .method = "GET",
                          .target = "/v1/inspect/clusterstatus" };
  pai_hived_host_options o = PAI_HIVED_HOST_OPTIONS_INIT;
  pai_hived_host *other = NULL;
  pai_error *err = NULL;
  int closed = s->closed;

  EXPECT(pai_hived_host_ask(s->host, &q, on_answer, NULL, &err) == PAI_EBUSY);
  EXPECT(strstr(pai_error_message(err), "fork()") != NULL);
  pai_error_free(err);
  EXPECT(pai_hived_host_reload(s->host, s->cluster, on_reloaded, s, NULL) ==
         PAI_EBUSY);
  o.kube_url = s->server.url;
  EXPECT(pai_hived_host_new(&other, s->loop, s->cluster, &o, NULL) ==
         PAI_EBUSY);
  EXPECT(other == NULL);
  EXPECT(pai_loop_run_once(s->loop) == PAI_EBUSY);
  pai_hived_host_close(s->host, on_closed, s);
  pai_loop_free(s->loop);
  EXPECT(s->closed == closed);
}

TEST_IN(the_parent_of_a_fork_goes_on, scene, s, begin, end)
{
  int status;
  pid_t child;

  until(s, &s->ready, 1);
  child = fork();
  if (child == 0) {
    (void)alarm(240);
    child_does_nothing(s);
    _exit(0);
  }
  assert_true(child > 0);
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
  assert_ok(ask(s, 1, "GET", "/v1/inspect/clusterstatus", NULL));
  until(s, &s->n, 1);
  assert_int_equal(s->came[0].http, 200);
}

TEST(the_api_server_is_found)
{
  place at = { .path = "/tmp/test-host-XXXXXX" };
  int fd = mkstemp(at.path);

  assert_int_equal(write(fd, kubeconfig, sizeof(kubeconfig) - 1),
                   sizeof(kubeconfig) - 1);
  (void)close(fd);
  assert_ok(
    pai_cluster_parse(&at.cluster, config, strlen(config), NULL, NULL));
  (void)unsetenv("KUBECONFIG");
  (void)unsetenv("KUBE_APISERVER_ADDRESS");
  (void)setenv("HOME", "/no/such/home", 1);
  (void)setenv("KUBERNETES_SERVICE_HOST", "fd00::1", 1);
  (void)setenv("KUBERNETES_SERVICE_PORT", "443", 1);
  test_faults(find_by_file, &at);
  test_faults(find_by_pod, &at);
  pai_cluster_free(at.cluster);
  (void)unlink(at.path);
}
