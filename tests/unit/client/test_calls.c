/* Typed calls, with a server of this library and with OpenPAI's own. */
#define _GNU_SOURCE
#include "client/caller.h"

#include <openpai/spec.h>

#include <stdio.h>
#include <stdlib.h>

#define FILE_TEXT                                                       \
  "protocolVersion: 2\nname: one\ntype: job\nsecrets:\n  key: hidden\n" \
  "prerequisites:\n  - {name: x, type: dockerimage, uri: x}\n"          \
  "taskRoles:\n  a:\n    dockerImage: x\n    commands: [\"true\"]\n"    \
  "    resourcePerInstance: {cpu: 1, memoryMB: 64, gpu: 0}\n"
#define CONFIG(name)                                                      \
  "{\"taskRoles\":{\"a\":{\"dockerImage\":\"x\",\"commands\":[\"true\"]," \
  "\"resourcePerInstance\":{\"gpu\":0,\"cpu\":1,\"memoryMB\":64}}},"      \
  "\"secrets\":\"******\",\"protocolVersion\":2,\"type\":\"job\","        \
  "\"prerequisites\":[{\"name\":\"x\",\"type\":\"dockerimage\","          \
  "\"uri\":\"x\"}],\"name\":\"" name "\"}"

/* --- one request --------------------------------------------------------------------- */

static void simple(played *p, const char *request, pai__buf *out)
{
  caller *w = p->user_data;

  if (!caller_info(w, request, out))
    say(out, "200 OK", "{\"totalCount\":12,\"data\":[]}");
}

static void what_calls_ask_for(void **state)
{
  pai_job_query q = PAI_JOB_QUERY_INIT;
  static caller w;
  outcome *o = &w.o;

  (void)state;
  caller_begin(&w, false, simple);
  assert_int_equal(pai_client_info(NULL, w.client, on_outcome, o, NULL), 0);
  wait_for(w.loop, o, 1);
  q.users = "a b,c";
  q.limit = 5;
  q.with_total = 1;
  assert_int_equal(pai_client_jobs(NULL, w.client, &q, on_outcome, o, NULL),
                   0);
  wait_for(w.loop, o, 2);
  assert_int_equal(o->total, 12);
  assert_int_equal(pai_client_jobs(NULL, w.client, NULL, on_outcome, o, NULL),
                   0);
  wait_for(w.loop, o, 3);
  assert_int_equal(o->total, -1);
  assert_int_equal(
    pai_client_stop(NULL, w.client, "ann~one", on_outcome, o, NULL), 0);
  wait_for(w.loop, o, 4);
  assert_int_equal(
    pai_client_tag(NULL, w.client, "ann~one", "t\"", 1, on_outcome, o, NULL),
    0);
  wait_for(w.loop, o, 5);
  assert_int_equal(
    pai_client_tag(NULL, w.client, "ann~one", "t", 0, on_outcome, o, NULL), 0);
  wait_for(w.loop, o, 6);
  assert_int_equal(pai_client_users(NULL, w.client, on_outcome, o, NULL), 0);
  wait_for(w.loop, o, 7);
  assert_int_equal(
    pai_client_config(NULL, w.client, "ann~o?e", on_outcome, o, NULL), 0);
  wait_for(w.loop, o, 8);
  static const char *const seen[] = {
    ("GET /rest-server/api/v2/jobs?username=a%20b%2Cc&limit=5&withTotalCount="
     "true HTTP"),
    "GET /rest-server/api/v2/jobs HTTP",
    "PUT /rest-server/api/v2/jobs/ann~one/executionType HTTP",
    "{\"value\":\"STOP\"}",
    "PUT /rest-server/api/v2/jobs/ann~one/tag HTTP",
    "{\"value\":\"t\\\"\"}",
    "DELETE /rest-server/api/v2/jobs/ann~one/tag HTTP",
    "GET /rest-server/api/v2/users HTTP",
    "GET /rest-server/api/v2/jobs/ann~o%3Fe/config HTTP",
  };
  for (size_t i = 0; i < PAI__LEN(seen); i++)
    assert_non_null(
      memmem(w.p.seen.data, w.p.seen.len, seen[i], strlen(seen[i])));
  caller_end(&w);
}

/* --- submitting ------------------------------------------------------------------------ */

/* Its first answer is lost, and so it finds itself. */
static void forgetful(played *p, const char *request, pai__buf *out)
{
  caller *w = p->user_data;

  if (asks_for(request, "POST /api/v2/jobs")) {
    w->posts++;
    if (w->posts > 1)
      say(out, "409 Conflict",
          "{\"code\":\"ConflictJobError\",\"message\":\"Job exists.\"}");
    else if (w->step == 0)
      say(out, "202 Accepted", "{\"status\":202}");
    /* else nothing, and the connection ends */
  } else if (asks_for(request, "GET /api/v2/jobs/ann~one/config ") ||
             asks_for(request, "GET /api/v2/jobs/ann~two/config ")) {
    say(out, "200 OK", w->config);
  } else {
    say(out, "200 OK", "{\"codeDir\":\"/code/7\"}");
  }
}

static void submit(caller *w, const char *name, const char *code)
{
  pai_client_job_file job = PAI_CLIENT_JOB_FILE_INIT;
  int calls = w->o.calls;

  job.text = FILE_TEXT;
  job.name = name;
  job.code = code;
  job.code_len = code != NULL ? strlen(code) : 0;
  assert_int_equal(
    pai_client_submit(NULL, w->client, &job, on_outcome, &w->o, NULL), PAI_OK);
  wait_for(w->loop, &w->o, calls + 1);
}

static void a_job_is_submitted(void **state)
{
  pai_client_job_file job = PAI_CLIENT_JOB_FILE_INIT;
  static caller w;
  pai_spec *spec;

  (void)state;
  caller_begin(&w, true, forgetful);
  submit(&w, NULL, NULL);
  assert_int_equal(w.o.status, PAI_OK);
  assert_non_null(strstr(w.p.seen.data, "Content-Type: text/yaml\r\n"));
  submit(&w, "two", NULL); /* there is one: and this is the first try */
  assert_int_equal(w.o.status, PAI_EEXISTS);
  assert_string_equal(w.o.code, "ConflictJobError");
  assert_non_null(strstr(w.p.seen.data, "name: two\n"));
  w.posts = 0;
  submit(&w, NULL, "a tar archive");
  assert_int_equal(w.o.status, PAI_OK);
  assert_non_null(
    strstr(w.p.seen.data, "PUT /rest-server/api/v2/jobs/ann~one/code"));
  assert_non_null(strstr(w.p.seen.data, "/jobs?codeDir=%2Fcode%2F7 "));

  assert_int_equal(
    pai_spec_parse(&spec, FILE_TEXT, strlen(FILE_TEXT), NULL, NULL), PAI_OK);
  job.spec = spec;
  w.posts = 0;
  assert_int_equal(
    pai_client_submit(NULL, w.client, &job, on_outcome, &w.o, NULL), PAI_OK);
  pai_spec_unref(spec);
  wait_for(w.loop, &w.o, 4);
  assert_int_equal(w.o.status, PAI_OK);
  job.text = FILE_TEXT; /* not both */
  assert_int_equal(
    pai_client_submit(NULL, w.client, &job, on_outcome, &w.o, NULL),
    PAI_EINVAL);
  caller_end(&w);
}

static uint64_t sent;
static int progressed;

static void on_progress(void *user_data, uint64_t so_much, uint64_t total)
{
  (void)user_data;
  assert_int_equal(total, 3 << 20);
  assert_true(so_much > sent && so_much <= total);
  sent = so_much;
  progressed++;
}

static void code_is_sent_piece_by_piece(void **state)
{
  pai_client_job_file job = PAI_CLIENT_JOB_FILE_INIT;
  char *code = calloc(3, 1 << 20);
  static caller w;

  (void)state;
  caller_begin(&w, true, forgetful);
  sent = 0;
  progressed = 0;
  job.text = FILE_TEXT;
  job.code = code;
  job.code_len = 3 << 20;
  job.on_progress = on_progress;
  assert_int_equal(
    pai_client_submit(NULL, w.client, &job, on_outcome, &w.o, NULL), PAI_OK);
  free(code);
  wait_for(w.loop, &w.o, 1);
  assert_int_equal(w.o.status, PAI_OK);
  assert_int_equal(sent, 3 << 20);
  assert_true(progressed > 1);
  caller_end(&w);
}

static void an_answer_is_lost(void **state)
{
  static const struct {
    const char *name, *config;
    int status;
  } rows[] = {
    { NULL, CONFIG("one"), PAI_OK },      { "two", CONFIG("two"), PAI_OK },
    { NULL, CONFIG("two"), PAI_EEXISTS }, { NULL, "{}", PAI_EEXISTS },
    { NULL, "[1", PAI_EEXISTS },
  };
  static caller w;

  (void)state;
  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    caller_begin(&w, true, forgetful);
    w.step = 1;
    w.config = rows[i].config;
    w.p.fault = CUT;
    w.p.fault_connections = 1;
    submit(&w, rows[i].name, NULL);
    assert_int_equal(w.o.status, rows[i].status);
    assert_int_equal(w.posts, 2);
    assert_null(strstr(w.o.message, "hidden"));
    caller_end(&w);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(what_calls_ask_for),
    cmocka_unit_test(a_job_is_submitted),
    cmocka_unit_test(code_is_sent_piece_by_piece),
    cmocka_unit_test(an_answer_is_lost),
  };
  return run_on_all_loops(tests, PAI__LEN(tests));
}
