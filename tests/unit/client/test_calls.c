/* Typed calls, with a server of this library and with OpenPAI's own. */
#define _GNU_SOURCE
#include "cases.h"
#include "client/caller.h"

#include <openpai/json.h>
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

/* --- by their names ------------------------------------------------------------------ */

static void simple(played *p, const char *request, pai__buf *out)
{
  caller *w = p->user_data;

  if (!caller_info(w, request, out))
    say(out, "200 OK", "{\"totalCount\":12,\"data\":[]}");
}

static void call(caller *w, const char *name, const char *arguments,
                 const char *seen)
{
  int calls = w->o.calls;

  pai__buf_clear(&w->p.seen);
  assert_ok(pai_client_call(NULL, w->client, name, arguments, on_outcome,
                            &w->o, NULL));
  wait_for(w->loop, &w->o, calls + 1);
  assert_ok(w->o.status);
  if (memmem(w->p.seen.data, w->p.seen.len, seen, strlen(seen)) == NULL)
    fail_msg("%s: %s", seen, pai__buf_text(&w->p.seen));
}

CALLING(simple, calls_by_their_names)
{
  call(w, "users.list", NULL, "GET /rest-server/api/v2/users HTTP");
  call(w, "users.show", "{\"username\":\"a/b\"}",
       "GET /rest-server/api/v2/users/a%2Fb HTTP");
  call(w, "jobs.list",
       "{\"username\":[\"a b\",\"c\"],\"limit\":5,\"withTotalCount\":true,"
       "\"vc\":null}",
       ("GET /rest-server/api/v2/jobs?username=a%20b%2Cc&limit=5&"
        "withTotalCount=true HTTP"));
  call(w, "jobs.tag", "{\"job\":\"ann~o?e\",\"value\":\"t\\\"\"}",
       "PUT /rest-server/api/v2/jobs/ann~o%3Fe/tag HTTP");
  assert_has(w->p.seen.data, "{\"value\":\"t\\\"\"}");
  call(w, "jobs.stop", "{\"job\":\"ann~one\",\"value\":\"STOP\"}",
       "PUT /rest-server/api/v2/jobs/ann~one/executionType HTTP");
  assert_has(w->p.seen.data, "{\"value\":\"STOP\"}");
  call(w, "server.info", NULL, "GET /rest-server/api/v2/info HTTP");
  call(w, "jobs.untag", "{\"job\":\"ann~one\",\"value\":\"t\"}",
       "DELETE /rest-server/api/v2/jobs/ann~one/tag HTTP");
  assert_has(w->p.seen.data, "{\"value\":\"t\"}");
  call(w, "groups.set_value",
       "{\"groupname\":\"g\",\"path\":\"a/b c\",\"data\":{\"x\":[1,2.5]}}",
       "PUT /rest-server/api/v2/groups/g/extension/a/b%20c HTTP");
  assert_has(w->p.seen.data, "{\"data\":{\"x\":[1,2.5]}}");
  call(w, "server.shutdown", NULL, "POST /rest-server/api/v2/shutdown HTTP");
  call(w, "jobs.submit", "{\"body\":\"name: x\\n\",\"name\":\"y\"}",
       "POST /rest-server/api/v2/jobs?name=y HTTP");
  assert_has(w->p.seen.data, "Content-Type: text/yaml");
  assert_has(w->p.seen.data, "\r\n\r\nname: x\n");
  assert_has(w->p.seen.data, "Authorization: Bearer ");
  call(w, "server.health", NULL, "GET /rest-server/healthz HTTP");
  assert_null(strstr(w->p.seen.data, "Authorization"));
}

static void refuse(pai_client *client, const char *name, const char *arguments,
                   const char *message, const char *help)
{
  pai_error *err = NULL;

  assert_int_equal(
    pai_client_call(NULL, client, name, arguments, on_outcome, NULL, &err),
    PAI_EINVAL);
  assert_string_equal(pai_error_message(err), message);
  if (help != NULL)
    assert_string_equal(pai_error_help(err), help);
  pai_error_free(err);
}

CALLING(simple, what_no_call_takes)
{
  refuse(w->client, "user.list", NULL, "there is no call 'user.list'",
         "did you mean 'users.list'?");
  refuse(w->client, "users.show", "{\"usrname\":\"x\"}",
         "the call users.show has no argument 'usrname'",
         "did you mean 'username'?");
  refuse(w->client, "users.show", NULL,
         "the call users.show needs an argument 'username'",
         "Get a user: GET /api/v2/users/:username");
  refuse(w->client, "users.list", "{\"body\":1}",
         "the call users.list has no argument 'body'", NULL);
  refuse(w->client, "users.show", "{\"username\":\"\"}",
         "argument 'username' of the call users.show is empty", NULL);
  refuse(w->client, "users.show", "{\"username\":{}}",
         "argument 'username' of the call users.show must be a text, a "
         "number, true or false",
         NULL);
  refuse(w->client, "jobs.show", "{\"job\":\"~x\"}",
         "the name of a job must be user~name, not '~x'", NULL);
  refuse(w->client, "jobs.show", "[]",
         "the arguments of the call jobs.show are not a JSON object", NULL);
  refuse(w->client, "events.watch", NULL,
         "the answer of the call events.watch is an endless stream", NULL);
}

static int keep(void *user_data, const char *bytes, size_t len)
{
  pai__buf_add(user_data, bytes, len);
  return PAI_OK;
}

ON_LOOPS(all_calls_are_listed)
{
  pai_json *json;
  size_t first;
  pai__buf b;

  pai__buf_init(&b, pai__alloc_or_libc(NULL));
  assert_ok(pai_client_write_calls(keep, &b, NULL));
  assert_ok(pai_json_read(&json, pai__buf_text(&b), b.len, NULL, NULL));
  first = pai_json_item(json, 0, 0);
  assert_true(pai_json_count(json, 0) > 80);
  assert_non_null(
    pai_json_text(json, pai_json_member(json, first, "summary"), NULL));
  assert_has(pai__buf_text(&b),
             "{\"name\":\"users.remove\",\"summary\":\"Remove a user "
             "(administrators are refused)\",\"right\":\"admin persons\","
             "\"method\":\"DELETE\",\"path\":\"/api/v2/users/:username\","
             "\"arguments\":[{\"name\":\"username\",\"in\":\"path\",\"type\":"
             "\"text\",\"required\":true},{\"name\":\"heir\",\"in\":\"query\","
             "\"type\":\"text\",\"required\":false,");
  pai_json_free(json);
  pai__buf_dispose(&b);
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
  assert_ok(pai_client_submit(NULL, w->client, &job, on_outcome, &w->o, NULL));
  wait_for(w->loop, &w->o, calls + 1);
}

CALLING(forgetful, a_job_is_submitted)
{
  pai_client_job_file job = PAI_CLIENT_JOB_FILE_INIT;
  pai_spec *spec;

  submit(w, NULL, NULL);
  assert_ok(w->o.status);
  assert_has(w->p.seen.data, "Content-Type: text/yaml\r\n");
  submit(w, "two", NULL); /* there is one: and this is the first try */
  assert_int_equal(w->o.status, PAI_EEXISTS);
  assert_string_equal(w->o.code, "ConflictJobError");
  assert_has(w->p.seen.data, "name: two\n");
  w->posts = 0;
  submit(w, NULL, "a tar archive");
  assert_ok(w->o.status);
  assert_has(w->p.seen.data, "PUT /rest-server/api/v2/jobs/ann~one/code");
  assert_has(w->p.seen.data, "/jobs?codeDir=%2Fcode%2F7 ");

  assert_ok(pai_spec_parse(&spec, FILE_TEXT, strlen(FILE_TEXT), NULL, NULL));
  job.spec = spec;
  w->posts = 0;
  assert_ok(pai_client_submit(NULL, w->client, &job, on_outcome, &w->o, NULL));
  pai_spec_unref(spec);
  wait_for(w->loop, &w->o, 4);
  assert_ok(w->o.status);
  job.text = FILE_TEXT; /* not both */
  assert_int_equal(
    pai_client_submit(NULL, w->client, &job, on_outcome, &w->o, NULL),
    PAI_EINVAL);
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

CALLING(forgetful, code_is_sent_piece_by_piece)
{
  pai_client_job_file job = PAI_CLIENT_JOB_FILE_INIT;
  char *code = calloc(3, 1 << 20);

  sent = 0;
  progressed = 0;
  job.text = FILE_TEXT;
  job.code = code;
  job.code_len = 3 << 20;
  job.on_progress = on_progress;
  assert_ok(pai_client_submit(NULL, w->client, &job, on_outcome, &w->o, NULL));
  free(code);
  wait_for(w->loop, &w->o, 1);
  assert_ok(w->o.status);
  assert_int_equal(sent, 3 << 20);
  assert_true(progressed > 1);
}

ON_LOOPS(an_answer_is_lost)
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
