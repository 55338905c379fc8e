/* Routes of virtual clusters, SKUs and nodes, over a platform that does what a
 * test wants. */
#include "asked.h"

#include <stdio.h>

IN_SCENE(begin, what_is_read)
{
  static const struct {
    const char *path;
    int status;
    const char *body;
  } rows[] = {
    { "/api/v2/virtual-clusters", 200, "{\"default\":{},\"research\":{}}" },
    { "/api/v2/virtual-clusters?nodes", 200, "{\"box\":{\"gpuUsed\":1}}" },
    { "/api/v2/virtual-clusters?nodes=x", 200, "{\"box\":" },
    { "/api/v2/virtual-clusters/research", 200, "{\"capacity\":25}" },
    { "/API/V2/Virtual-Clusters/research/", 200, "{\"capacity\":25}" },
    { "/api/v2/virtual-clusters/none", 404,
      "\"code\":\"NoVirtualClusterError\"" },
    { "/api/v2/virtual-clusters/no-name", 400,
      "\"code\":\"InvalidParametersError\"" },
    { "/api/v2/virtual-clusters/a%2Fb", 400, "InvalidParametersError" },
    { "/api/v2/cluster/sku-types", 200, "{\"gpu\":{}}" },
    { "/api/v2/cluster/sku-types?vc=research", 200, "{\"gpu\":{}}" },
    { "/api/v2/cluster/sku-types?vc=none", 404, "NoVirtualClusterError" },
    { "/api/v2/nodes", 200, "[{}]" },
    { "/api/v2/nodes/box", 200, "{\"name\":\"box\"}" },
    { "/api/v2/nodes/bag", 404, "\"code\":\"NoNodeError\"" },
    { "/api/v2/virtual-clusters/research/status", 404, "NoApiError" },
  };

  for (size_t i = 0; i < PAI__LEN(rows); i++)
    expect(GET(s, rows[i].path), rows[i].status, rows[i].body);
  s->platform.fail = PAI_ENOMEM;
  expect(GET(s, "/api/v2/virtual-clusters"), 503, "UnknownError");
  expect(GET(s, "/api/v2/cluster/sku-types"), 503, "UnknownError");
  expect(GET(s, "/api/v2/nodes"), 503, "UnknownError");
}

/* Answered when the database has it, and not before. */
static const char *change(scene *s, const char *method, const char *path,
                          const char *body)
{
  static char answer[1 << 14];
  char head[512];
  peer p;

  s->platform.submitted[0] = '\0';
  come(&p, s);
  (void)snprintf(head, sizeof(head),
                 "%s %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
                 "Content-Length: %zu\r\n\r\n",
                 method, path, strlen(body));
  say(&p, head);
  say(&p, body);
  while (s->platform.nsyncs == 0 && !p.over)
    turn(s);
  if (s->platform.nsyncs != 0)
    assert_int_equal(p.seen.len, 0);
  fake_synced(&s->platform, PAI_OK);
  hear_all(&p);
  (void)snprintf(answer, sizeof(answer), "%s", pai__buf_text(&p.seen));
  leave(&p);
  return answer;
}

#define RESEARCH "/api/v2/virtual-clusters/research"

IN_SCENE(begin, what_is_changed)
{
  static const struct {
    const char *method, *path, *body;
    int status;
    const char *answer;
    const char *asked; /* of the platform; "": nothing */
  } rows[] = {
    { "PUT", RESEARCH, "{\"vcCapacity\":25}", 201,
      "{\"status\":201,\"message\":", "research 2500 2500 - -" },
    { "PUT", RESEARCH,
      "{\"vcCapacity\":33.33,\"vcMaxCapacity\":100,\"description\":\"d\","
      "\"externalName\":\"\"}",
      201, "successfully", "research 3333 10000 d " },
    { "PUT", RESEARCH, "{\"vcCapacity\":0}", 201, "success",
      "research 0 0 - -" },
    { "PUT", RESEARCH, "{}", 400, "\\\"vcCapacity\\\" is required", "" },
    { "PUT", RESEARCH, "", 400, "message", "" },
    { "PUT", RESEARCH, "[]", 400, "must be an object", "" },
    { "PUT", RESEARCH, "{\"vcCapacity\":", 400, "message", "" },
    { "PUT", RESEARCH, "{\"vcCapacity\":-1}", 400, "InvalidParameters", "" },
    { "PUT", RESEARCH, "{\"vcCapacity\":100.5}", 400, "less than", "" },
    { "PUT", RESEARCH, "{\"vcCapacity\":1e300}", 400, "less than", "" },
    { "PUT", RESEARCH, "{\"vcCapacity\":1.234}", 400, "decimal", "" },
    { "PUT", RESEARCH, "{\"vcCapacity\":null}", 400, "a number", "" },
    { "PUT", RESEARCH, "{\"vcCapacity\":9,\"more\":1}", 400,
      "\\\"more\\\" is not allowed", "" },
    { "PUT", RESEARCH, "{\"vcCapacity\":9,\"vcMaxCapacity\":8}", 400,
      "vcMaxCapacity", "" },
    { "PUT", RESEARCH, "{\"vcCapacity\":9,\"description\":8}", 400,
      "must be a string", "" },
    { "PUT", "/api/v2/virtual-clusters/default", "{\"vcCapacity\":9}", 403,
      "ForbiddenUserError", "" },
    { "PUT", "/api/v2/virtual-clusters/a-b", "{\"vcCapacity\":9}", 400,
      "InvalidParametersError", "" },
    { "PUT", RESEARCH "/status", "{\"vcStatus\":\"stopped\"}", 201, "stopped",
      "research 1" },
    { "PUT", RESEARCH "/status", "{\"vcStatus\":\"running\"}", 201, "running",
      "research 0" },
    { "PUT", RESEARCH "/status", "{\"vcStatus\":\"idle\"}", 400,
      "one of [stopped, running]", "" },
    { "PUT", RESEARCH "/status", "{}", 400, "is required", "" },
    { "PUT", "/api/v2/virtual-clusters/none/status",
      "{\"vcStatus\":\"running\"}", 404, "NoVirtualClusterError", "none 0" },
    { "PUT", "/api/v2/virtual-clusters/default/status",
      "{\"vcStatus\":\"stopped\"}", 403, "ForbiddenUserError", "" },
    { "DELETE", RESEARCH, "", 201, "successfully", "removed research" },
    { "DELETE", "/api/v2/virtual-clusters/none", "", 404,
      "NoVirtualClusterError", "removed none" },
    { "DELETE", "/api/v2/virtual-clusters/default", "", 403, "Forbidden", "" },
    { "PUT", "/api/v2/nodes/box/status",
      "{\"state\":\"drained\",\"reason\":\"fan\"}", 201, "drained",
      "box 1 fan" },
    { "PUT", "/api/v2/nodes/box/status", "{\"state\":\"up\"}", 201, "up",
      "box 0 -" },
    { "PUT", "/api/v2/nodes/bag/status", "{\"state\":\"up\"}", 404,
      "NoNodeError", "bag 0 -" },
    { "PUT", "/api/v2/nodes/box/status", "{\"state\":\"sick\"}", 400,
      "one of [drained, up]", "" },
  };

  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    expect(change(s, rows[i].method, rows[i].path, rows[i].body),
           rows[i].status, rows[i].answer);
    assert_string_equal(s->platform.submitted, rows[i].asked);
  }
}

IN_SCENE(begin, refusals_have_their_codes)
{
  s->platform.fail = PAI_ENOROOM;
  expect(change(s, "PUT", RESEARCH, "{\"vcCapacity\":9}"), 403,
         "NoEnoughQuotaError");
  s->platform.fail = PAI_EBUSY;
  expect(change(s, "DELETE", RESEARCH, ""), 409, "RemoveRunningVcError");
  s->platform.fail = PAI_EIO;
  expect(change(s, "PUT", RESEARCH, "{\"vcCapacity\":9}"), 500,
         "UnknownError");
  s->platform.fail = PAI_EINVAL;
  expect(change(s, "PUT", RESEARCH, "{\"vcCapacity\":9}"), 400,
         "InvalidParametersError");
}
