/* The states of all jobs, from a stream of a server of ours. */
#define _GNU_SOURCE
#include "client/played.h"

#include <stdio.h>
#include <stdlib.h>

#define EVENT(name, state)                                               \
  "event: job\ndata: {\"event\":\"job\",\"name\":\"" name "\",\"state\"" \
  ":\"" state "\"}\n\n"
#define OVER(name, state)                                                \
  "event: job\ndata: {\"event\":\"job\",\"name\":\"" name "\",\"state\"" \
  ":\"" state "\",\"code\":2,\"appExitCode\":3}\n\n"
#define ALL "event: all\ndata: {}\n\n"

typedef struct world {
  played p;
  pai_loop *loop;
  pai_client *client;
  pai_op *op;
  outcome o;
  /* What each stream says, up to a NULL, and how it is answered. */
  const char *const *streams;
  const char *status; /* instead of a stream */
  bool kept;          /* nothing comes of it */
  bool silent;        /* streams go on, and say nothing more */
  bool whole;         /* streams come to their end, and are not cut */
  const char *list, *job, *job_status;
  int begun, lists, asked;
  char ids[256];  /* that streams were asked to go on from, in order */
  char told[512]; /* changes, in order */
  int enough;     /* changes that the caller wants */
} world;

/* "-": none. */
static void note_id(world *w, const char *request)
{
  const char *at = strstr(request, "Last-Event-ID: ");
  size_t len = strlen(w->ids);

  at = at != NULL ? at + 15 : "-";
  (void)snprintf(w->ids + len, sizeof(w->ids) - len, "%s%.*s",
                 len > 0 ? " " : "", (int)strcspn(at, "\r"), at);
}

static void answer(played *p, const char *request, pai__buf *out)
{
  world *w = p->user_data;

  p->hang_up = false;
  if (asks_for(request, "GET /api/v2/info ")) {
    say(out, "200 OK", "{\"server\":\"libopenpai\"}");
  } else if (asks_for(request, "GET /api/v2/events?states=true ")) {
    w->begun++;
    note_id(w, request);
    if (w->kept)
      return; /* nothing is said */
    if (w->status != NULL) {
      say(out, w->status, "{}");
      return;
    }
    assert_has(request, "Accept: text/event-stream\r\n");
    if (*w->streams == NULL) { /* it lasts */
      pai__buf_str(out, HEAD_OK "Content-Length: 99999\r\n\r\n: begins\n\n");
      return;
    }
    pai__buf_printf(out, HEAD_OK "Content-Length: %zu\r\n\r\n: begins\n\n%s",
                    strlen(*w->streams) + (w->whole ? 10 : 999), *w->streams);
    p->hang_up = !w->whole && !w->silent;
    w->streams++;
  } else if (asks_for(request, "GET /api/v2/jobs?state=")) {
    w->lists++;
    say(out, "200 OK", w->list);
  } else {
    w->asked++;
    assert_true(asks_for(request, "GET /api/v2/jobs/"));
    say(out, w->job_status != NULL ? w->job_status : "200 OK", w->job);
  }
}

static int on_change(void *user_data, const pai_client_change *change)
{
  world *w = user_data;
  size_t len = strlen(w->told);

  (void)snprintf(w->told + len, sizeof(w->told) - len, "%s%s %s%s",
                 len > 0 ? ", " : "", change->job, change->state,
                 change->final ? "!" : "");
  assert_int_equal(change->exit_code, change->final ? 3 : 0);
  return --w->enough == 0 ? PAI_EUSER : 0;
}

static void on_end(void *user_data, int status, const pai_client_answer *a)
{
  world *w = user_data;

  on_outcome(&w->o, status, a);
}

static pai_time stream_time; /* 0: as usual */

static void begin(world *w, const char *const *streams)
{
  pai_client_options options = PAI_CLIENT_OPTIONS_INIT;

  memset(w, 0, sizeof(*w));
  w->streams = streams;
  w->list = "[]";
  w->job = "{}";
  w->loop = open_loop();
  played_open(&w->p, w->loop, answer);
  w->p.user_data = w;
  options.url = w->p.url;
  options.first_wait = 1;
  options.most_wait = 1000;
  options.most_tries = 3;
  options.connect_time = 200 * 1000;
  options.stream_time = stream_time;
  options.seed = 1;
  assert_ok(pai_client_new(&w->client, w->loop, &options, NULL));
}

/* Until so many changes were told, or until it ends by itself. */
static void watch(world *w, int enough, int status)
{
  w->enough = enough;
  assert_ok(
    pai_client_watch(&w->op, w->client, NULL, on_change, on_end, w, NULL));
  wait_for(w->loop, &w->o, 1);
  assert_int_equal(w->o.status, status);
}

static void end(world *w)
{
  close_client(w->loop, w->client);
  played_close(&w->p);
  close_loop(w->loop);
}

#define JOB(state) \
  "{\"jobStatus\":{\"state\":\"" state "\",\"appExitCode\":3}}"

ON_LOOPS(told_as_it_comes)
{
  static const char *const streams[] = {
    EVENT("ann~one", "running") EVENT("bob~two", "waiting") ALL EVENT(
      "bob~two",
      "running") "event: task\ndata: {\"event\":\"task\","
                 "\"name\":\"bob~two\",\"state\":"
                 "\"failed\"}\n\n" EVENT("cy~new", "waiting")
                   EVENT("cy~new", "waiting") OVER("ann~one", "succeeded")
                     OVER("ann~one", "succeeded") "nonsense\n\ndata: {}\n\n"
                                                  "event: job\ndata: [\n\n",
    EVENT("bob~two", "running") EVENT("cy~new", "running") ALL,
    NULL,
  };
  static world w;

  begin(&w, streams);
  watch(&w, 6, PAI_EUSER);
  assert_string_equal(w.told,
                      "ann~one RUNNING, bob~two WAITING, bob~two RUNNING, "
                      "cy~new WAITING, ann~one SUCCEEDED!, cy~new RUNNING");
  assert_int_equal(w.begun, 2);
  assert_int_equal(w.lists, 0); /* nobody asked again and again */
  assert_int_equal(w.asked, 0);
  end(&w);
}

/* A relay on the way has lost the connection without a word: nothing comes, and
 * nobody hangs up. */
ON_LOOPS(a_silent_stream_is_asked_for_anew)
{
  static const char *const streams[] = {
    "id: s-1\n" EVENT("ann~one", "running") ALL,
    EVENT("ann~one", "running") ALL OVER("ann~one", "failed"), NULL
  };
  static world w;

  stream_time = 300 * 1000;
  begin(&w, streams);
  stream_time = 0;
  w.silent = true;
  watch(&w, 2, PAI_EUSER);
  assert_string_equal(w.told, "ann~one RUNNING, ann~one FAILED!");
  assert_int_equal(w.begun, 2);
  assert_string_equal(w.ids, "- s-1");
  end(&w);
}

/* What ended while there was no stream is asked for, and told once, though the
 * next stream tells it late. */
ON_LOOPS(ends_between_streams)
{
  static const char *const streams[] = {
    EVENT("ann~one", "running") ALL,
    ALL EVENT("bob~not", "waiting"), /* it is left where that is seen */
    ALL OVER("ann~one", "failed") EVENT("bob~two", "waiting"),
    NULL,
  };
  static world w;

  begin(&w, streams);
  w.job = JOB("FAILED");
  watch(&w, 3, PAI_EUSER);
  assert_string_equal(w.told,
                      "ann~one RUNNING, ann~one FAILED!, bob~two WAITING");
  assert_int_equal(w.asked, 1);
  end(&w);
}

#define ID(id) "id: " id "\n"
#define RESUMED "event: resumed\ndata: {}\n\n"

/* Where the server knows the last event, nobody is asked for. */
ON_LOOPS(goes_on_where_it_ended)
{
  static const char *const streams[] = {
    EVENT("ann~one", "running") EVENT("bob~two", "waiting") ID("s-1") ALL,
    RESUMED ID("s-2") EVENT("bob~two", "running") ID("s-3") "\n",
    /* What was told is not told again, though it was cut off behind it. */
    RESUMED ID("s-4") "event: job\ndata: {\"name\":\"ann~one\",\"state\":"
                      "\"failed\",\"appExitCode\":3}\n",
    RESUMED ID("s-5") "event: job\n", /* this one was not told yet */
    "",                               /* it says nothing at all */
    RESUMED ID("s-5") EVENT("bob~two", "stopping"),
    /* The server does not know it any more. */
    EVENT("cy~new", "waiting") ID("t-1") ALL,
    EVENT("cy~new", "running") ID("t-2") ALL,
    NULL,
  };
  static world w;

  begin(&w, streams);
  w.job = JOB("FAILED");
  watch(&w, 8, PAI_EUSER);
  assert_string_equal(w.told,
                      "ann~one RUNNING, bob~two WAITING, bob~two RUNNING, "
                      "ann~one FAILED!, bob~two STOPPING, cy~new WAITING, "
                      "bob~two FAILED!, cy~new RUNNING");
  assert_string_equal(w.ids, "- s-1 s-3 s-4 s-4 s-4 s-5 s-5");
  assert_int_equal(w.asked, 1); /* bob~two, which the last one lacks */
  end(&w);
}

/* They would be no headers, or no end of them is known. */
ON_LOOPS(ids_that_are_none)
{
  static const char *const streams[] = {
    ID("good") EVENT("a~b", "waiting") ALL,
    ID("of two words") EVENT("a~b", "running") ALL,
    ID("good") EVENT("a~b", "waiting") ALL,
    ID("a\rb") EVENT("a~b", "running") ALL,
    ID("good") EVENT("a~b", "waiting") ALL,
    ID("0123456789012345678901234567890123456789012345678901234567890123456789"
       "01234567890123456789012345678901234567890123456789012345678")
      EVENT("a~b", "running") ALL,
    EVENT("a~b", "waiting") ALL,
    NULL,
  };
  static world w;

  begin(&w, streams);
  watch(&w, 7, PAI_EUSER);
  assert_string_equal(w.ids, "- good - good - good -");
  end(&w);
}

/* One that was known, and now is not known, or may not be seen. */
ON_LOOPS(gone_without_a_word)
{
  static const char *const answers[] = { "404 Not Found", "403 Forbidden" };
  static world w;

  for (size_t i = 0; i < PAI__LEN(answers); i++) {
    static const char *const streams[] = {
      EVENT("ann~one", "running") ALL,
      ALL,
      ALL EVENT("bob~two", "waiting"),
      NULL,
    };
    begin(&w, streams);
    w.job_status = answers[i];
    watch(&w, 2, PAI_EUSER);
    assert_string_equal(w.told, "ann~one RUNNING, bob~two WAITING");
    assert_int_equal(w.asked, 1);
    end(&w);
  }
}

/* It lives, but no stream says so: it is not asked for all the time. */
ON_LOOPS(missing_again_and_again)
{
  static const char *const streams[] = {
    EVENT("ann~one", "running") ALL,
    ALL,
    ALL,
    ALL,
    ALL EVENT("bob~two", "waiting"), /* this one is kept */
    NULL,
  };
  static world w;

  begin(&w, streams);
  w.job = JOB("RUNNING");
  watch(&w, 2, PAI_EUSER);
  assert_string_equal(w.told, "ann~one RUNNING, bob~two WAITING");
  assert_int_equal(w.asked, 3);
  end(&w);
}

ON_LOOPS(no_such_stream)
{
  static const char *const answers[] = { "404 Not Found", "405 No",
                                         "406 Neither", "400 Bad Request" };
  static const char *const none[] = { NULL };
  static world w;

  for (size_t i = 0; i < PAI__LEN(answers); i++) {
    begin(&w, none);
    w.status = answers[i];
    w.list = "[{\"username\":\"ann\",\"name\":\"one\",\"state\":\"RUNNING\"}]";
    w.enough = 2;
    assert_ok(
      pai_client_watch(&w.op, w.client, NULL, on_change, on_end, &w, NULL));
    while (w.lists < 3)
      assert_true(turn_loop(w.loop));
    w.list = "[]";
    w.job = JOB("STOPPED");
    wait_for(w.loop, &w.o, 1);
    assert_string_equal(w.told, "ann~one RUNNING, ann~one STOPPED!");
    assert_int_equal(w.begun, i < 3 ? 1 : 3); /* that may mean anything */
    end(&w);
  }
}

/* A stream that somebody keeps until it is over, and one that says nothing of
 * all. */
ON_LOOPS(a_stream_that_is_none)
{
  static const char *const streams[] = { "", "", "", NULL };
  static world w;

  for (int kept = 0; kept < 2; kept++) {
    begin(&w, streams);
    w.whole = true;
    w.kept = kept != 0;
    w.list = "[{\"username\":\"ann\",\"name\":\"one\",\"state\":\"RUNNING\"}]";
    watch(&w, 1, PAI_EUSER);
    assert_int_equal(w.lists, 1);
    assert_int_equal(w.begun, 3);
    end(&w);
  }
}

/* Twice nothing is told of all: that is no reason to do without streams. */
ON_LOOPS(a_short_disturbance)
{
  static const char *const streams[] = {
    "",   "", EVENT("a~b", "waiting") ALL, "", "", EVENT("a~b", "running") ALL,
    NULL,
  };
  static world w;

  begin(&w, streams);
  w.whole = true;
  watch(&w, 2, PAI_EUSER);
  assert_string_equal(w.told, "a~b WAITING, a~b RUNNING");
  assert_int_equal(w.begun, 6);
  assert_int_equal(w.lists, 0);
  end(&w);
}

static void on_time(void *user_data)
{
  *(bool *)user_data = true;
}

/* The time of a stream that opens is over while nobody reads it. */
ON_LOOPS(paused_while_it_opens)
{
  static const char *const streams[] = { EVENT("a~b", "running") ALL, NULL };
  static world w;
  pai__timer *timer;
  bool over = false;

  begin(&w, streams);
  w.enough = 1;
  assert_ok(
    pai_client_watch(&w.op, w.client, NULL, on_change, on_end, &w, NULL));
  while (w.begun < 1)
    assert_true(turn_loop(w.loop));
  pai_op_pause(w.op);
  assert_ok(pai__timer_new(&timer, &pai__libc_alloc, w.loop, on_time, &over));
  pai__timer_start(timer, 400 * 1000);
  while (!over)
    assert_true(turn_loop(w.loop));
  pai__timer_close(timer);
  pai_op_resume(w.op);
  wait_for(w.loop, &w.o, 1);
  assert_string_equal(w.told, "a~b RUNNING");
  assert_int_equal(w.begun, 1);
  end(&w);
}

ON_LOOPS(refused_or_broken)
{
  static const struct {
    const char *status;
    int rc, begun;
  } rows[] = {
    { "403 Forbidden", PAI_EPERM, 1 },
    { "500 Broken", PAI_EIO, 4 },
    { "503 Busy", PAI_EBUSY, 4 },
    { "429 Slow", PAI_EBUSY, 4 },
  };
  static const char *const none[] = { NULL };
  static world w;

  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    begin(&w, none);
    w.status = rows[i].status;
    watch(&w, 0, rows[i].rc);
    assert_int_equal(w.begun, rows[i].begun);
    assert_int_equal(w.lists, 0);
    end(&w);
  }
}

/* Where streams last, one waits for changes; it ends when it is told to. */
ON_LOOPS(cancelled_and_paused)
{
  static const char *const streams[] = { EVENT("a~b", "running") ALL, NULL };
  static world w;

  for (int paused = 0; paused < 2; paused++) {
    begin(&w, streams);
    assert_ok(
      pai_client_watch(&w.op, w.client, NULL, on_change, on_end, &w, NULL));
    if (paused)
      pai_op_pause(w.op);
    while (w.begun < (paused ? 0 : 2))
      assert_true(turn_loop(w.loop));
    pai_op_cancel(w.op);
    wait_for(w.loop, &w.o, 1);
    assert_int_equal(w.o.status, PAI_ECANCELED);
    end(&w);
  }
}

/* With streams, a job that is asked for, and its end. */
static int use(const pai_alloc *alloc, void *user_data)
{
  static const char *const streams[] = {
    ID("s-1") EVENT("ann~one", "running") ALL,
    ALL,
    EVENT("ann~two", "running") ID("s-2") ALL,
    RESUMED ID("s-3") OVER("ann~two", "failed"),
    NULL,
  };
  pai_client_options options = PAI_CLIENT_OPTIONS_INIT;
  static world w;
  int rc;

  (void)user_data;
  begin(&w, streams);
  close_client(w.loop, w.client);
  w.client = NULL;
  w.job = JOB("FAILED");
  w.enough = 4;
  options.alloc = alloc;
  options.url = w.p.url;
  options.first_wait = 1;
  options.most_wait = 1000;
  rc = pai_client_new(&w.client, w.loop, &options, NULL);
  if (rc == PAI_OK)
    rc = pai_client_watch(&w.op, w.client, NULL, on_change, on_end, &w, NULL);
  if (rc == PAI_OK) {
    wait_for(w.loop, &w.o, 1);
    rc = w.o.status == PAI_EUSER ? PAI_OK : w.o.status;
  }
  if (rc == PAI_OK)
    assert_string_equal(w.told, "ann~one RUNNING, ann~one FAILED!, "
                                "ann~two RUNNING, ann~two FAILED!");
  if (w.client != NULL)
    close_client(w.loop, w.client);
  played_close(&w.p);
  close_loop(w.loop);
  return rc;
}

ON_LOOPS(no_memory_is_survived)
{
  if (loop_kind == OWN_LOOP)
    test_faults(use, NULL);
}
