/* Jobs that are waited for, with a server of this library and with OpenPAI's
 * own. */
#include "cases.h"
#include "client/caller.h"

#include <stdio.h>

static int on_change(void *user_data, const pai_client_change *change)
{
  caller *w = ((caller *)((char *)user_data - offsetof(caller, o)));
  size_t len = strlen(w->told);

  (void)snprintf(w->told + len, sizeof(w->told) - len, "%s%s %s%s",
                 len > 0 ? ", " : "", change->job, change->state,
                 change->final ? "!" : "");
  if (change->final)
    assert_int_equal(change->exit_code, 3);
  if (w->op != NULL)
    pai_op_cancel(w->op);
  if (w->close) {
    pai_client_close(w->client, NULL, NULL);
    w->client = NULL;
  }
  return w->enough > 0 && --w->enough == 0 ? PAI_EUSER : 0;
}

/* A job runs and fails; a stream of its states is cut in the middle. */
static void living(played *p, const char *request, pai__buf *out)
{
  static const char *const states[] = { "WAITING", "RUNNING", "RUNNING",
                                        "FAILED" };
  caller *w = p->user_data;

  if (caller_info(w, request, out))
    return;
  if (asks_for(request, "GET /api/v2/jobs/ann~one ")) {
    say_job(out, states[w->step], 3);
    if (w->step < 3 && !w->ours)
      w->step++;
    return;
  }
  assert_true(
    asks_for(request, "GET /api/v2/jobs/ann~one/follow?output=false "));
  pai__buf_str(out, HEAD_OK "Transfer-Encoding: chunked\r\n\r\n");
  if (w->step == 0) {
    pai__buf_str(out, "40\r\n{\"event\":\"job\",\"state\":\"waiting\"}\n"
                      "{\"event\":\"job\",\"state\":\"running\"\r\n");
    w->step = 1;
    p->hang_up = true;
  } else {
    pai__buf_str(out, "22\r\n{\"event\":\"job\",\"state\":\"failed\"} \n\r\n"
                      "0\r\n\r\n");
    w->step = 3;
    p->hang_up = false;
  }
}

ON_LOOPS(a_job_is_waited_for)
{
  static caller w;

  for (int ours = 0; ours < 2; ours++) {
    caller_begin(&w, ours, living);
    assert_ok(pai_client_watch(NULL, w.client, "ann~one", on_change,
                               on_outcome, &w.o, NULL));
    wait_for(w.loop, &w.o, 1);
    assert_ok(w.o.status);
    assert_string_equal(w.told,
                        "ann~one WAITING, ann~one RUNNING, ann~one FAILED!");
    assert_string_equal(w.o.state, "FAILED");
    assert_int_equal(w.o.exit_code, 3);
    assert_has(w.o.body, "\"name\":\"one\"");
    w.step = 0;
    assert_ok(
      pai_client_wait(NULL, w.client, "ann~one", on_outcome, &w.o, NULL));
    wait_for(w.loop, &w.o, 2);
    assert_string_equal(w.o.state, "FAILED");
    caller_end(&w);
  }
}

ON_LOOPS(enough_of_it)
{
  static caller w;
  pai_op *op;

  for (int ours = 0; ours < 2; ours++) {
    caller_begin(&w, ours, living);
    w.enough = 2;
    assert_ok(pai_client_watch(NULL, w.client, "ann~one", on_change,
                               on_outcome, &w.o, NULL));
    wait_for(w.loop, &w.o, 1);
    assert_int_equal(w.o.status, PAI_EUSER);
    w.step = 0;
    w.told[0] = '\0';
    assert_ok(pai_client_watch(&op, w.client, "ann~one", on_change, on_outcome,
                               &w.o, NULL));
    while (w.told[0] == '\0')
      assert_true(turn_loop(w.loop));
    pai_op_cancel(op);
    wait_for(w.loop, &w.o, 2);
    assert_int_equal(w.o.status, PAI_ECANCELED);
    caller_end(&w);
  }
}

/* In its own callback, whatever it would have done next. */
ON_LOOPS(cancelled_by_a_change)
{
  static caller w;

  for (int how = 0; how < 8; how++) {
    caller_begin(&w, (how & 1) != 0, living);
    if ((how & 2) != 0)
      w.step = 3; /* it is over */
    w.close = (how & 4) != 0;
    assert_ok(pai_client_watch(&w.op, w.client, "ann~one", on_change,
                               on_outcome, &w.o, NULL));
    if (w.close)
      w.op = NULL;
    wait_for(w.loop, &w.o, 1);
    assert_int_equal(w.o.status, PAI_ECANCELED);
    caller_end(&w);
    assert_int_equal(w.o.calls, 1);
  }
}

/* Two jobs; the first ends, and is in the list no longer. */
static void crowd(played *p, const char *request, pai__buf *out)
{
  static const char *const lists[] = {
    "[{\"username\":\"ann\",\"name\":\"one\",\"state\":\"RUNNING\"}]",
    ("[{\"username\":\"ann\",\"name\":\"one\",\"state\":\"RUNNING\"},"
     "{\"username\":\"bob\",\"name\":\"two\",\"state\":\"WAITING\"}]"),
    "[{\"username\":\"bob\",\"name\":\"two\",\"state\":\"RUNNING\"}]",
  };
  caller *w = p->user_data;

  if (caller_info(w, request, out))
    return;
  if (asks_for(request, "GET /api/v2/jobs/ann~one ")) {
    say_job(out, "SUCCEEDED", 3);
    return;
  }
  say(out, "200 OK", lists[w->step]);
  if (w->step < 2)
    w->step++;
}

ON_LOOPS(all_are_watched)
{
  static caller w;

  caller_begin(&w, false, crowd);
  w.enough = 4;
  assert_ok(
    pai_client_watch(NULL, w.client, NULL, on_change, on_outcome, &w.o, NULL));
  wait_for(w.loop, &w.o, 1);
  assert_int_equal(w.o.status, PAI_EUSER);
  assert_string_equal(w.told, "ann~one RUNNING, bob~two WAITING, "
                              "bob~two RUNNING, ann~one SUCCEEDED!");
  caller_end(&w);
}

static void saying_nothing(played *p, const char *request, pai__buf *out)
{
  caller *w = p->user_data;

  if (!caller_info(w, request, out))
    say(out, "200 OK", w->config);
}

/* Of a job's state: it would be asked for for ever. */
ON_LOOPS(an_answer_without_a_state)
{
  static const char *const bodies[] = { "{}", "[]", "null", "",
                                        "{\"jobStatus\":{\"state\":7}}" };
  static caller w;

  for (int ours = 0; ours < 2; ours++)
    for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
      caller_begin(&w, ours != 0, saying_nothing);
      w.config = bodies[i];
      assert_ok(
        pai_client_wait(NULL, w.client, "ann~one", on_outcome, &w.o, NULL));
      wait_for(w.loop, &w.o, 1);
      assert_int_equal(w.o.status, PAI_EIO);
      assert_has(w.o.message, "has no state of the job ann~one");
      caller_end(&w);
    }
}

/* A stream that ends well, and in which nothing came. */
static void silent(played *p, const char *request, pai__buf *out)
{
  caller *w = p->user_data;

  if (caller_info(w, request, out))
    return;
  if (asks_for(request, "GET /api/v2/jobs/ann~one "))
    say_job(out, "RUNNING", 0);
  else
    say(out, "200 OK", "");
}

ON_LOOPS(a_stream_without_a_word)
{
  static caller w;
  pai_client_options options = PAI_CLIENT_OPTIONS_INIT;

  if (loop_kind != OWN_LOOP) /* it is asked without waiting */
    return;
  caller_begin(&w, true, silent);
  close_client(w.loop, w.client);
  options.url = w.p.url;
  options.first_wait = options.most_wait = (pai_time)3600 * 1000000;
  assert_ok(pai_client_new(&w.client, w.loop, &options, NULL));
  assert_ok(
    pai_client_wait(NULL, w.client, "ann~one", on_outcome, &w.o, NULL));
  while (w.p.requests < 3) /* what it is, the job, the stream */
    assert_true(turn_loop(w.loop));
  for (int i = 0; i < 1000; i++)
    (void)!pai_loop_dispatch(w.loop);
  assert_int_equal(w.p.requests, 3);
  caller_end(&w);
}
