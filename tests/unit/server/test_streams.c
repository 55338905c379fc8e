/* Logs and events as they come, over a platform that is played. */
#define _GNU_SOURCE
#include "asked.h"

#include "server/streams/feed.h"

#include <stdio.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

/* --- streams ------------------------------------------------------------------------------ */

IN_SCENE(begin, logs_and_where_they_are)
{
  pai_log_reader *r;
  peer p;

  expect(GET(s, LOG), 200,
         "{\"locations\":[{\"name\":\"stdout\",\"uri\":\"" LOG
         "/stdout?token=");
  expect(GET(s, LOG "?tail-mode=true"), 200, "&tail-mode=true\"");
  expect(GET(s, LOG "/core"), 404, "NoTaskLogError");
  expect(GET(s, "/api/v2/jobs/alice~mnist/attempts/1/taskRoles/w/taskIndex/0"
                "/attempts/0/logs"),
         404, "NoTaskLogError");
  come(&p, s);
  say(&p,
      "GET " LOG "/stderr?offset=-5&follow=true HTTP/1.1\r\nHost: x\r\n\r\n");
  while ((r = fake_reader(&s->platform, "stderr")) == NULL)
    turn(s);
  assert_int_equal(r->offset, -5);
  assert_int_equal(r->follow, 1);
  r->cb(r->user_data, PAI_OK, 95, "some", 4);
  hear(&p, "X-Log-Offset: 95\r\n");
  hear(&p, "some");
  r->cb(r->user_data, PAI_OK, 99, "more\0", 5);
  hear(&p, "more");
  r->cb(r->user_data, PAI_OK, 104, NULL, 0);
  hear(&p, "0\r\n\r\n");
  /* The connection may be used again. */
  say(&p, "GET /api/v2/info HTTP/1.1\r\nHost: x\r\n\r\n");
  hear(&p, "launcherType");
  leave(&p);
}

IN_SCENE(begin, a_log_that_breaks_off)
{
  pai_log_reader *r;
  peer p;

  come(&p, s);
  say(&p, "GET " LOG "/all HTTP/1.1\r\nHost: x\r\n\r\n");
  while ((r = fake_reader(&s->platform, "all")) == NULL)
    turn(s);
  r->cb(r->user_data, PAI_OK, 0, "some", 4);
  hear(&p, "some");
  r->cb(r->user_data, PAI_EIO, 4, NULL, 0);
  hear_all(&p); /* and no end of chunks */
  assert_null(strstr(pai__buf_text(&p.seen), "0\r\n\r\n"));
  leave(&p);
}

/* Some of it is gone: only the head of the next answer can say so. */
IN_SCENE(begin, a_log_with_a_gap)
{
  pai_log_reader *r;
  peer p;

  come(&p, s);
  say(&p, "GET " LOG "/all?follow=true HTTP/1.1\r\nHost: x\r\n\r\n");
  while ((r = fake_reader(&s->platform, "all")) == NULL)
    turn(s);
  r->cb(r->user_data, PAI_OK, 0, "some", 4);
  r->cb(r->user_data, PAI_OK, 9, "more", 4);
  r->cb(r->user_data, PAI_OK, 13, "still", 5);
  hear_all(&p); /* and no end of chunks */
  assert_has(pai__buf_text(&p.seen), "some");
  assert_null(strstr(pai__buf_text(&p.seen), "more"));
  assert_null(strstr(pai__buf_text(&p.seen), "0\r\n\r\n"));
  leave(&p);
}

/* Who follows it must not take the server's end for that of the task; what the
 * log has told, its end too, still reaches him. */
IN_SCENE(begin, a_log_when_the_server_ends)
{
  pai_log_reader *out, *err;
  peer p, q;

  come(&p, s);
  say(&p, "GET " LOG "/stdout?follow=1 HTTP/1.1\r\nHost: x\r\n\r\n");
  while ((out = fake_reader(&s->platform, "stdout")) == NULL)
    turn(s);
  come(&q, s);
  say(&q, "GET " LOG "/stderr?follow=1 HTTP/1.1\r\nHost: x\r\n\r\n");
  while ((err = fake_reader(&s->platform, "stderr")) == NULL)
    turn(s);
  out->cb(out->user_data, PAI_OK, 0, "some", 4);
  err->cb(err->user_data, PAI_OK, 0, "some", 4);
  err->cb(err->user_data, PAI_OK, 4, NULL, 0);
  close_server(s);
  hear_all(&p);
  assert_has(pai__buf_text(&p.seen), "some");
  assert_null(strstr(pai__buf_text(&p.seen), "0\r\n\r\n"));
  leave(&p);
  hear_all(&q);
  assert_has(pai__buf_text(&q.seen), "some\r\n0\r\n\r\n");
  leave(&q);
}

/* Nobody reads a quiet log any more: that is noticed. */
IN_SCENE(begin, a_reader_that_goes_away)
{
  peer p;

  come(&p, s);
  say(&p, "GET " LOG "/all?follow=1 HTTP/1.1\r\nHost: x\r\n\r\n");
  hear(&p, "\r\n\r\n");
  assert_non_null(s->platform.readers);
  leave(&p);
  while (s->platform.readers != NULL)
    turn(s);
}

TEST(a_slow_reader_slows_the_log)
{
  static char block[64 << 10];
  size_t told = 0;
  pai_log_reader *r;
  peer p;
  scene s;

  memset(block, 'x', sizeof(block));
  begin(&s);
  come(&p, &s);
  say(&p, "GET " LOG "/all?follow=1 HTTP/1.1\r\nHost: x\r\n\r\n");
  hear(&p, "\r\n\r\n");
  pai__poll_set(p.watch, 0);
  r = s.platform.readers;
  for (int i = 0; i < 1000 && !r->paused; i++) {
    r->cb(r->user_data, PAI_OK, told, block, sizeof(block));
    told += sizeof(block);
    assert_int_equal(pai_loop_dispatch(s.loop), 1);
  }
  assert_true(r->paused);
  assert_in_range(told, 256 << 10, 4 << 20);
  pai__poll_set(p.watch, PAI__READABLE);
  while (r->paused)
    turn(&s);
  r->cb(r->user_data, PAI_OK, told, NULL, 0);
  hear(&p, "0\r\n\r\n");
  assert_true(p.seen.len > told);
  leave(&p);
  end(&s);
}

IN_SCENE(begin, events_as_they_come)
{
  peer p, q;

  expect(GET(s, "/api/v2/events?job=nobody~x"), 404, "NoJobError");
  come(&p, s);
  say(&p, "GET /api/v2/events?job=alice~mnist HTTP/1.1\r\nHost: x\r\n\r\n");
  hear(&p, ": begins");
  assert_has(pai__buf_text(&p.seen), "Content-Type: text/event-stream");
  come(&q, s);
  say(&q, "GET /api/v2/events HTTP/1.1\r\nHost: x\r\n\r\n");
  hear(&q, ": begins");
  assert_null(s->platform.listeners->next); /* one for both */
  fake_event(&s->platform, PAI_EVENT_TASK, PAI_STATE_FAILED, "w", 1);
  hear(&p, "event: task\ndata: {\"event\":\"task\",\"name\":\"alice~mnist\","
           "\"time_us\":1000,\"attempt\":0,\"role\":\"w\",\"index\":1,"
           "\"state\":\"failed\",\"code\":3}\n\n");
  hear(&q, "\"failed\"");
  leave(&p);
  while (s->server->feed->readers->after != NULL)
    turn(s);
  close_server(s); /* ends the other one */
  hear_all(&q);
  assert_has(pai__buf_text(&q.seen), "0\r\n\r\n");
  leave(&q);
}

/* With the last id that he has heard he is told what is behind it. */
static void goes_on(scene *s, const peer *p)
{
  const char *text = pai__buf_text(&p->seen), *id = NULL, *next;
  char head[256];
  peer q;

  for (next = text; (next = strstr(next, "\nid: ")) != NULL; next += 5)
    if (strstr(next, "\n\n") != NULL && /* that was whole, of one chunk */
        next[5 + strcspn(next + 5, "\r\n")] == '\n')
      id = next + 5;
  assert_non_null(id);
  (void)snprintf(head, sizeof(head),
                 "GET /api/v2/events?states=true HTTP/1.1\r\nHost: x\r\n"
                 "Last-Event-ID: %.*s\r\n\r\n",
                 (int)strcspn(id, "\n"), id);
  come(&q, s);
  say(&q, head);
  hear(&q, "event: resumed\n");
  leave(&q);
}

IN_SCENE(begin, one_that_reads_no_events_is_cut_off)
{
  peer p;

  come(&p, s);
  say(&p, "GET /api/v2/events HTTP/1.1\r\nHost: x\r\n\r\n");
  hear(&p, ": begins");
  pai__poll_set(p.watch, 0);
  for (int i = 0; i < 200000 && !s->server->first->stream->over; i++) {
    fake_event(&s->platform, PAI_EVENT_JOB, PAI_STATE_RUNNING, NULL, 0);
    if (i % 1000 == 0)
      assert_int_equal(pai_loop_dispatch(s->loop), 1);
  }
  pai__poll_set(p.watch, PAI__READABLE);
  hear_all(&p);
  assert_in_range(p.seen.len, 1, 8 << 20);
  goes_on(s, &p);
  leave(&p);
}

/* All that are not over come first; then what happens. */
IN_SCENE(begin, states_before_events)
{
  peer p;

  s->platform.list =
    "[{\"name\":\"o\\\"ne\",\"username\":\"ann\",\"state\":\"RUNNING\"},"
    "{\"name\":\"two\",\"username\":\"bob\",\"state\":\"WAITING\"}]";
  expect(GET(s, "/api/v2/events?job=alice~mnist&states=true"), 400,
         "InvalidParametersError");
  come(&p, s);
  say(&p, "GET /api/v2/events?states=true HTTP/1.1\r\nHost: x\r\n\r\n");
  hear(&p, ": begins\n\nevent: job\ndata: {\"event\":\"job\",\"name\":"
           "\"ann~o\\\"ne\",\"state\":\"running\"}\n\n"
           "event: job\ndata: {\"event\":\"job\",\"name\":\"bob~two\","
           "\"state\":\"waiting\"}\n\nid: ");
  hear(&p, "-0\nevent: all\ndata: {}\n\n");
  assert_string_equal(s->platform.query_text,
                      "states=WAITING,RUNNING,STOPPING;"
                      "order=submissionTime,ASC;");
  fake_event(&s->platform, PAI_EVENT_JOB, PAI_STATE_RUNNING, NULL, 0);
  hear(&p, "\"name\":\"alice~mnist\"");
  s->platform.show =
    "{\"name\":\"mnist\",\"jobStatus\":{\"username\":\"alice\","
    "\"appExitCode\":255}}";
  fake_event(&s->platform, PAI_EVENT_JOB, PAI_STATE_FAILED, NULL, 0);
  hear(&p, "\"name\":\"alice~mnist\",\"time_us\":1000,\"attempt\":0,"
           "\"state\":\"failed\",\"code\":3,\"appExitCode\":255}\n\n");
  leave(&p);
  while (is_heard(s))
    turn(s);
  s->platform.list = NULL;
  s->platform.fail = PAI_EIO;
  expect(GET(s, "/api/v2/events?states=true"), 500, "UnknownError");
  assert_false(is_heard(s));
}

/* Where all users of a machine are served each sees his own. */
IN_SCENE(begin_empty, states_of_ones_own)
{
  peer p;

  s->system = true;
  assert_ok(new_server(s, NULL));
  s->platform.list =
    "[{\"name\":\"one\",\"username\":\"alice\",\"state\":\"RUNNING\"},"
    "{\"name\":\"two\",\"username\":\"bob\",\"state\":\"WAITING\"},"
    "{\"name\":\"six\",\"username\":\"bobby\",\"state\":\"WAITING\"},"
    "{\"state\":\"WAITING\"}]";
  come(&p, s);
  say(&p, "GET /api/v2/events?states=true HTTP/1.1\r\nHost: x\r\n"
          "Authorization: Bearer bob\r\n\r\n");
  hear(&p, ": begins\n\nevent: job\ndata: {\"event\":\"job\",\"name\":"
           "\"bob~two\",\"state\":\"waiting\"}\n\nid: ");
  hear(&p, "event: all\n");
  /* What a job that is over was called is forgotten, also of others' jobs. */
  fake_event(&s->platform, PAI_EVENT_JOB, PAI_STATE_RUNNING, NULL, 0);
  fake_event(&s->platform, PAI_EVENT_JOB, PAI_STATE_FAILED, NULL, 0);
  s->platform.show = "{\"name\":\"new\",\"jobStatus\":{\"username\":\"bob\"}}";
  fake_event(&s->platform, PAI_EVENT_JOB, PAI_STATE_RUNNING, NULL, 0);
  hear(&p, "bob~new");
  assert_null(strstr(pai__buf_text(&p.seen), "alice"));
  leave(&p);
  come(&p, s);
  say(&p, "GET /api/v2/events?states=true HTTP/1.1\r\nHost: x\r\n"
          "Authorization: Bearer admin\r\n\r\n");
  hear(&p, "alice~one");
  hear(&p, "event: all\n");
  leave(&p);
}

/* As many as there may be: they do not count as what nobody has read. */
IN_SCENE(begin, states_of_many)
{
  static char list[5 << 20];
  size_t len = 1;
  peer p;

  list[0] = '[';
  for (int i = 0; len < sizeof(list) - 200; i++)
    len += (size_t)snprintf(list + len, 200,
                            "%s{\"name\":\"a-rather-long-name-of-a-job-%d\","
                            "\"username\":\"ann\",\"state\":\"RUNNING\"}",
                            i > 0 ? "," : "", i);
  list[len] = ']';
  s->platform.list = list;
  come(&p, s);
  say(&p, "GET /api/v2/events?states=true HTTP/1.1\r\nHost: x\r\n\r\n");
  while (memmem(pai__buf_text(&p.seen), p.seen.len, "event: all", 10) == NULL)
    turn(s);
  assert_in_range(p.seen.len, 5 << 20, 16 << 20);
  /* All was read: from now on there is no more room than for others. */
  len = p.seen.len;
  pai__poll_set(p.watch, 0);
  for (int i = 0; i < 200000 && is_heard(s); i++) {
    fake_event(&s->platform, PAI_EVENT_JOB, PAI_STATE_RUNNING, NULL, 0);
    if (i % 1000 == 0)
      assert_int_equal(pai_loop_dispatch(s->loop), 1);
  }
  pai__poll_set(p.watch, PAI__READABLE);
  hear_all(&p);
  assert_in_range(p.seen.len - len, 1, 6 << 20);
  leave(&p);
}

/* Are all logs of a task that are read paused? */
static bool are_paused(const scene *s, uint32_t index)
{
  for (const pai_log_reader *r = s->platform.readers; r != NULL; r = r->next)
    if (r->index == index && !r->paused)
      return false;
  return true;
}

IN_SCENE(begin, following_a_job)
{
  const char *seen;
  pai_log_reader *r;
  peer p;

  come(&p, s);
  say(&p, "GET /api/v2/jobs/alice~mnist/follow HTTP/1.1\r\nHost: x\r\n\r\n");
  hear(&p, "{\"event\":\"job\",\"time_us\":5000,\"attempt\":0,\"state\":"
           "\"running\"}\n");
  hear(&p, "{\"event\":\"task\",\"time_us\":6000,\"attempt\":0,\"role\":\"w\","
           "\"index\":0,\"state\":\"running\"}\n");
  assert_int_equal(s->platform.opened, 4); /* two of each task */
  /* What one prints waits until it was told that it has begun. */
  assert_false(are_paused(s, 0));
  assert_true(are_paused(s, 1));
  r = s->platform.readers;
  r->cb(r->user_data, PAI_OK, 0, "a\0b\n", 4);
  while (memmem(p.seen.data, p.seen.len, "\"len\":4}\na\0b\n", 13) == NULL)
    turn(s);
  hear(&p,
       "\"role\":\"w\",\"index\":0,\"stream\":1,\"offset\":0,\"len\":4}\n");
  /* Told when all was printed. */
  fake_event(&s->platform, PAI_EVENT_TASK, PAI_STATE_SUCCEEDED, "w", 0);
  fake_event(&s->platform, PAI_EVENT_TASK, PAI_STATE_RUNNING, "w", 1);
  assert_int_equal(s->platform.opened, 4); /* its logs are open already */
  assert_false(are_paused(s, 1));
  r->cb(r->user_data, PAI_OK, 4, "late\n", 5);
  hear(&p, "late\n");
  assert_null(memmem(p.seen.data, p.seen.len, "succeeded", 9));
  r->cb(r->user_data, PAI_OK, 9, NULL, 0);
  r = s->platform.readers;
  r->cb(r->user_data, PAI_OK, 0, NULL, 0);
  hear(&p, "\"index\":0,\"state\":\"succeeded\",\"code\":0}\n");
  hear(&p, "\"index\":1,\"state\":\"running\"}\n");
  seen = pai__buf_text(&p.seen);
  assert_true((char *)memmem(seen, p.seen.len, "succeeded", 9) <
              (char *)memmem(seen, p.seen.len, "\"index\":1", 9));
  /* It is tried again: other logs. */
  fake_event(&s->platform, PAI_EVENT_TASK, PAI_STATE_WAITING, "w", 1);
  while ((r = s->platform.readers) != NULL)
    r->cb(r->user_data, PAI_OK, 0, NULL, 0);
  assert_int_equal(s->platform.opened, 4);
  s->platform.last_retry = 1;
  fake_event(&s->platform, PAI_EVENT_TASK, PAI_STATE_RUNNING, "w", 1);
  assert_int_equal(s->platform.opened, 6);
  assert_int_equal(s->platform.readers->retry, 1);
  r = s->platform.readers;
  r->cb(r->user_data, PAI_OK, 0, "again\n", 6);
  fake_event(&s->platform, PAI_EVENT_TASK, PAI_STATE_FAILED, "w", 1);
  fake_event(&s->platform, PAI_EVENT_JOB, PAI_STATE_FAILED, NULL, 0);
  while ((r = s->platform.readers) != NULL)
    r->cb(r->user_data, PAI_OK, 0, NULL, 0);
  hear(&p, "{\"event\":\"job\",\"time_us\":1000,\"attempt\":0,\"state\":"
           "\"failed\",\"code\":3}\n");
  hear(&p, "\r\n0\r\n\r\n");
  leave(&p);
}

/* It is told as by events: first that it ran, and in what; codes are the
 * command's own, where it is known. */
IN_SCENE(begin, following_what_is_over)
{
  pai_log_reader *r;
  peer p;

  s->platform.last_attempt = 2;
  s->platform.show =
    "{\"name\":\"mnist\",\"jobStatus\":{\"state\":\"FAILED\",\"attemptId\":2,"
    "\"completedTime\":9,\"appExitCode\":255,\"originUserExitCode\":7},"
    "\"taskRoles\":{\"w\":{"
    "\"taskStatuses\":[{\"taskIndex\":0,\"taskState\":\"FAILED\","
    "\"launchedTime\":7,\"completedTime\":8,\"containerExitCode\":255,"
    "\"runtime\":\"runs in a box\",\"originUserExitCode\":7}]}}}";
  come(&p, s);
  say(&p, "GET /api/v2/jobs/alice~mnist/follow HTTP/1.1\r\nHost: x\r\n\r\n");
  while ((r = s->platform.readers) == NULL)
    turn(s);
  r->cb(r->user_data, PAI_OK, 0, "oh\n", 3);
  while ((r = s->platform.readers) != NULL)
    r->cb(r->user_data, PAI_OK, 0, NULL, 0);
  hear(&p, "{\"event\":\"task\",\"time_us\":7000,\"attempt\":2,\"role\":\"w\","
           "\"index\":0,\"state\":\"running\",\"text\":\"runs in a box\"}\n");
  hear(&p, "oh\n");
  hear(&p, "{\"event\":\"task\",\"time_us\":8000,\"attempt\":2,\"role\":\"w\","
           "\"index\":0,\"state\":\"failed\",\"code\":7}\n"
           "{\"event\":\"job\",\"time_us\":9000,\"attempt\":2,\"state\":"
           "\"failed\",\"code\":7}\n");
  hear(&p, "\r\n0\r\n\r\n");
  leave(&p);
}

/* The stream ends, whatever there was no memory for; what comes before it is
 * closed finds all as it was. */
TEST(following_without_memory)
{
  test_tally tally;
  scene s;

  begin_empty(&s);
  test_tally_init(&tally);
  s.options.alloc = &tally.alloc;
  assert_ok(new_server(&s, NULL));
  for (size_t n = 1; n <= 12; n++) {
    peer p;

    come(&p, &s);
    say(&p, "GET /api/v2/jobs/alice~mnist/follow HTTP/1.1\r\nHost: x\r\n\r\n");
    hear(&p, "\"index\":0,\"state\":\"running\"}\n");
    tally.fail_at = tally.calls + n;
    fake_event(&s.platform, PAI_EVENT_TASK, PAI_STATE_RUNNING, "w", 9);
    tally.fail_at = 0;
    fake_event(&s.platform, PAI_EVENT_TASK, PAI_STATE_RUNNING, "w", 9);
    leave(&p);
    turn(&s);
  }
  end(&s);
  assert_int_equal(tally.live, 0);
}

/* --- a connection that becomes a stream into a task --------------------------- */

#define ENTER "/api/v2/jobs/alice~mnist/taskRoles/w/taskIndex/0/stream"
#define CLOSE " HTTP/1.1\r\nHost: x\r\nConnection: close, Upgrade\r\n"
#define HEAD " HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\n"
#define UPGRADE "Upgrade: openpai-stream\r\n\r\n"

/* The task's side of it: what the server sends there. */
static int take_connection(int fd, char *early, size_t size)
{
  _Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))];
  struct iovec room = { early, size };
  struct msghdr message = { .msg_iov = &room,
                            .msg_iovlen = 1,
                            .msg_control = control,
                            .msg_controllen = sizeof(control) };
  ssize_t n = recvmsg(fd, &message, 0);
  struct cmsghdr *c = CMSG_FIRSTHDR(&message);
  int given;

  assert_true(n >= 1);
  early[n] = '\0';
  assert_non_null(c);
  assert_int_equal(c->cmsg_type, SCM_RIGHTS);
  memcpy(&given, CMSG_DATA(c), sizeof(given));
  return given;
}

IN_SCENE(begin, a_connection_is_handed_over)
{
  char early[256];
  int pair[2], given;
  peer p;

  assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
  s->platform.entrance = pair[0];
  come(&p, s);
  say(&p, "GET " ENTER HEAD "Upgrade: other, OpenPAI-Stream\r\n\r\n");
  hear(&p, "HTTP/1.1 101 Switching Protocols\r\n");
  hear(&p, "\r\nUpgrade: openpai-stream\r\n");
  given = take_connection(pair[1], early, sizeof(early) - 1);
  /* The server has its end no more: what is said there is heard here, */
  assert_int_equal(write(given, "words", 5), 5);
  hear(&p, "words");
  say(&p, "back");
  assert_int_equal(read(given, early, 4), 4);
  assert_memory_equal(early, "back", 4);
  assert_int_equal(read(pair[1], early, 1), 0); /* nothing more of it */
  /* and when the task closes it, it is closed. */
  (void)close(given);
  hear_all(&p);
  leave(&p);
  (void)close(pair[1]);
}

IN_SCENE(begin, no_stream_into_a_task)
{
  static const struct {
    const char *path, *code;
  } missing[] = {
    { "alice~mnist/taskRoles/w/taskIndex/1", "NoTaskError" },
    { "alice~mnist/taskRoles/w/taskIndex/x", "NoTaskError" },
    { "alice~no/taskRoles/w/taskIndex/0", "NoJobError" },
  };
  char text[256];

  expect(GET(s, ENTER), 426, "This path requires 'Upgrade: openpai-stream'");
  expect(ask(s, "GET " ENTER
                " HTTP/1.1\r\nHost: x\r\nConnection: close\r\nUpgrade: "
                "openpai-streams\r\n\r\n"),
         426, "UpgradeRequiredError");
  s->platform.fail = PAI_EINVAL;
  expect(ask(s, "GET " ENTER CLOSE UPGRADE), 400, "TaskNotRunningError");
  s->platform.fail = PAI_EBUSY;
  expect(ask(s, "GET " ENTER CLOSE UPGRADE), 503, "as the test wants it");
  s->platform.fail = 0;
  for (size_t i = 0; i < PAI__LEN(missing); i++) {
    (void)snprintf(text, sizeof(text), "GET /api/v2/jobs/%s/stream%s",
                   missing[i].path, CLOSE UPGRADE);
    expect(ask(s, "%s", text), 404, missing[i].code);
  }
}
