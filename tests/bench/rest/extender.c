/*
 * extender.c - HiveD's extender, to be asked with bodies that are made to
 * take long, and what plays Kubernetes' API server for it
 */
#define _GNU_SOURCE
#include "api.h"
#include "bench.h"

#include <openpai/hived_host.h>

#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NODES = 2000, BODY = 4 << 20, NOTES = 250 << 10 };

/* --- rows ------------------------------------------------------------------------- */

#define POST(verb) "POST", "/v1/extender/" verb, "application/json", BODY
#define POST_SPEC "POST", "/v1/extender/filter", "application/json", NOTES
#define NOTE "hivedscheduler.microsoft.com/"
#define SPEC "\"" NOTE "pod-scheduling-spec\":\""
/* A pod that is known, which may say something else of itself now. */
#define POD                                                                \
  "\"Pod\":{\"spec\":{\"containers\":[{\"resources\":{\"limits\":{\"" NOTE \
  "pod-scheduling-enable\":1}}}]},\"metadata\":{\"name\":\"p\","           \
  "\"namespace\":\"d\",\"uid\":\"u\",\"annotations\":{" SPEC
#define GOOD                                                          \
  "virtualCluster: v\\nleafCellNumber: 1\\naffinityGroup: {name: g, " \
  "members: "                                                         \
  "[{podNumber: 1, leafCellNumber: 1}]}\\n"
#define END "\"}}}"

const api_worst_row api_extender_rows[] = {
  { "extender-names", POST("filter"), "{" POD GOOD END ",\"NodeNames\":[",
    "\"n%ld\",", "\"z\"]}" },
  { "extender-too-many", POST("filter"), "{\"NodeNames\":[", "1,", "1]}" },
  { "extender-long-name", POST("filter"),
    "{" POD GOOD END ",\"NodeNames\":[\"", "x", "\"]}" },
  { "extender-escapes", POST("filter"), "{" POD GOOD END ",\"NodeNames\":[\"",
    "\\u00e9", "\"]}" },
  { "extender-deep", POST("filter"), "", "[", "" },
  { "extender-digits", POST("filter"), "{\"Pod\":1", "0", "}" },
  { "extender-fraction", POST("filter"), "{\"Pod\":0.", "1", "}" },
  { "extender-spaces", POST("filter"), "{", " ", "}" },
  { "extender-long-uid", POST("filter"), "{\"Pod\":{\"metadata\":{\"uid\":\"",
    "x", "\"}}}" },
  { "extender-no-pod", POST("filter"), "{\"NodeNames\":[\"", "\\u0000",
    "\"]}" },
  { "extender-keys", POST("filter"), "{\"Pod\":{", "\"k\":1,", "\"k\":1}}" },
  { "extender-spec-text", POST("filter"), "{" POD, "x", END "}" },
  { "extender-spec-lines", POST_SPEC, "{" POD, "- x\\n", END "}" },
  { "extender-spec-sets", POST_SPEC, "{" POD "!!set\\n", "? a\\n", END "}" },
  { "extender-spec-colons", POST_SPEC, "{" POD, "a: 1\\n", END "}" },
  { "extender-spec-comments", POST_SPEC, "{" POD, "#\\n", END "}" },
  { "extender-spec-flow", POST_SPEC, "{" POD "{", "a,", "}" END "}" },
  { "extender-spec-members", POST_SPEC, "{" POD "affinityGroup: {members: [",
    "{},", "]}" END "}" },
  { "extender-spec-anchors", POST_SPEC, "{" POD, "- &a%ld 1\\n", END "}" },
  { "extender-spec-keys", POST_SPEC, "{" POD, "k%ld: 1\\n", END "}" },
  { "extender-spec-names", POST_SPEC, "{" POD, "gpuTyp", END "}" },
  { "extender-bind", POST("bind"), "{\"PodUID\":\"u\",\"Node\":\"", "x",
    "\"}" },
  { "extender-victims", POST("preempt"),
    "{" POD GOOD END ",\"NodeNameToMetaVictims\":{", "\"n%ld\":{},",
    "\"z\":{}}}" },
  { "extender-none", "POST", "/v1/extender/none", "application/json", BODY, "",
    "x", "" },
  { "extender-path", "GET", "/v1/inspect/affinitygroups/", "", 0, "", "", "" },
  { "extender-cells", "GET", "/v1/inspect/clusterstatus", "", 0, "", "", "" },
  { NULL, NULL, NULL, NULL, 0, NULL, NULL, NULL }
};

/* --- the API server ----------------------------------------------------------------- */

static void put_nodes(pai__buf *out)
{
  for (int i = 0; i < NODES; i++)
    pai__buf_printf(out,
                    "%s{\"metadata\":{\"name\":\"n%d\"},\"status\":{"
                    "\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}"
                    "]}}",
                    i > 0 ? "," : "", i);
}

static void put_list(pai__buf *out, bool nodes)
{
  pai__buf_printf(out,
                  "{\"kind\":\"%sList\",\"metadata\":{\"resourceVersion\":"
                  "\"1\"},\"items\":[",
                  nodes ? "Node" : "Pod");
  if (nodes)
    put_nodes(out);
  else
    pai__buf_str(out, strchr("{" POD GOOD END, ':') + 1);
  pai__buf_str(out, "]}");
}

static void answer(int fd)
{
  char head[4096] = "";
  pai__buf body, out;

  while (recv(fd, head, sizeof(head) - 1, 0) > 0) {
    pai__buf_init(&body, &pai__libc_alloc);
    pai__buf_init(&out, &pai__libc_alloc);
    if (strstr(head, "watch=1") != NULL) {
      pai__buf_str(&out, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n"
                         "Content-Type: application/json\r\n\r\n");
    } else {
      put_list(&body, strstr(head, "/nodes") != NULL);
      pai__buf_printf(&out,
                      "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                      "Content-Length: %zu\r\n\r\n",
                      body.len);
      pai__buf_add(&out, body.data, body.len);
    }
    for (size_t at = 0; at < out.len;) {
      ssize_t n = send(fd, out.data + at, out.len - at, MSG_NOSIGNAL);
      if (n <= 0)
        return;
      at += (size_t)n;
    }
    pai__buf_dispose(&body);
    pai__buf_dispose(&out);
    memset(head, 0, sizeof(head));
  }
}

/* A process for each connection; they end with their parent's group. */
static void serve(int listener)
{
  (void)signal(SIGCHLD, SIG_IGN);
  (void)setpgid(0, 0);
  for (;;) {
    int fd = accept(listener, NULL, NULL);

    if (fd >= 0 && fork() == 0) {
      (void)close(listener);
      answer(fd);
      _exit(0);
    }
    (void)close(fd);
  }
}

static struct {
  pai_cluster *cluster;
  pai_hived_host *host;
  pid_t kube;
} own;

static int start_kube(char *url, size_t size)
{
  struct sockaddr_in a = { .sin_family = AF_INET };
  socklen_t len = sizeof(a);
  int fd = socket(AF_INET, SOCK_STREAM, 0);

  a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (fd < 0 || bind(fd, (struct sockaddr *)&a, len) < 0 ||
      listen(fd, 16) < 0 || getsockname(fd, (struct sockaddr *)&a, &len) < 0)
    return -1;
  (void)snprintf(url, size, "http://127.0.0.1:%d", ntohs(a.sin_port));
  own.kube = fork();
  if (own.kube == 0)
    serve(fd);
  (void)close(fd);
  return own.kube > 0 ? 0 : -1;
}

/* --- the extender ------------------------------------------------------------------- */

static int read_cluster(void)
{
  pai__buf text;
  int rc;

  pai__buf_init(&text, &pai__libc_alloc);
  pai__buf_str(&text, "physicalCluster:\n  cellTypes:\n    NODE: "
                      "{childCellType: G, childCellNumber: 8, isNodeLevel: "
                      "true}\n  physicalCells:\n");
  for (int i = 0; i < NODES; i++)
    pai__buf_printf(&text, "  - {cellType: NODE, cellAddress: n%d}\n", i);
  pai__buf_printf(&text,
                  "virtualClusters:\n  v: {virtualCells: [{cellType: NODE, "
                  "cellNumber: %d}]}\n",
                  NODES);
  rc = pai_cluster_parse(&own.cluster, pai__buf_text(&text), text.len, NULL,
                         NULL);
  pai__buf_dispose(&text);
  return rc;
}

int api_extender_open(void)
{
  pai_hived_host_options o = PAI_HIVED_HOST_OPTIONS_INIT;
  pai_server_options so = PAI_SERVER_OPTIONS_INIT;
  char url[64];
  int rc = 0;

  if (bench_make_folder(api.root) < 0 || start_kube(url, sizeof(url)) < 0 ||
      read_cluster() < 0 || pai_loop_new(&api.loop, NULL, NULL) < 0)
    return -1;
  (void)snprintf(api.socket, sizeof(api.socket), "%s/socket", api.root);
  o.kube_url = url;
  so.socket = api.socket;
  if (pai_hived_host_new(&own.host, api.loop, own.cluster, &o, NULL) < 0)
    return -1;
  so.hived = own.host;
  if (pai_server_new(&api.server, api.loop, NULL, &so, NULL) < 0)
    return -1;
  while (rc == 0 && pai_hived_host_ready(own.host) == 0)
    rc = pai_loop_run_once(api.loop) > 0 ? 0 : -1;
  return rc;
}

void api_extender_close(void)
{
  pai_server_close(api.server, NULL, NULL);
  if (own.host != NULL)
    pai_hived_host_close(own.host, NULL, NULL);
  if (api.loop != NULL)
    (void)!pai_loop_run(api.loop);
  if (own.kube > 0)
    (void)kill(-own.kube, SIGKILL);
  if (own.kube > 0)
    (void)waitpid(own.kube, NULL, 0);
  pai_loop_free(api.loop);
  pai_cluster_free(own.cluster);
  bench_remove(api.root);
}
