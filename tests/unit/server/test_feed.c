/* What happens to jobs, told to many, and to those who come again. */
#define _GNU_SOURCE
#include "asked.h"

#include "server/streams/feed.h"

#include <stdio.h>
#include <unistd.h>

/* --- the clock ------------------------------------------------------------------ */

static pai_time later; /* than it is */

pai_time __real_pai__loop_time(void);
pai_time __wrap_pai__loop_time(void);

pai_time __wrap_pai__loop_time(void)
{
  return __real_pai__loop_time() + later;
}

/* --- who watches ------------------------------------------------------------------ */

/* `more`: a query, and headers. */
static void begin_watch(peer *p, scene *s, const char *query, const char *more)
{
  char head[512];

  (void)snprintf(head, sizeof(head),
                 "GET /api/v2/events%s HTTP/1.1\r\nHost: x\r\n%s\r\n", query,
                 more);
  come(p, s);
  say(p, head);
  hear(p, ": begins\n\n");
}

static void end_watch(peer *p)
{
  leave(p);
  while (is_heard(p->s))
    turn(p->s);
}

/* The last id that was told, as the head that shows it. */
static const char *last_id(const peer *p)
{
  static char head[128];
  const char *text = pai__buf_text(&p->seen), *at = NULL, *next;

  for (next = text; (next = strstr(next, "id: ")) != NULL; next += 4)
    at = next + 4;
  assert_non_null(at);
  (void)snprintf(head, sizeof(head), "Last-Event-ID: %.*s\r\n",
                 (int)strcspn(at, "\n"), at);
  return head;
}

static bool has_seen(const peer *p, const char *text)
{
  return strstr(pai__buf_text(&p->seen), text) != NULL;
}

static void happen(scene *s, pai_job_id job, int state)
{
  const pai_event e = {
    .type = PAI_EVENT_JOB, .state = state, .job = job, .text = ""
  };

  (void)s->server->feed->listener->cb(s->server->feed, &e);
}

/* --- told once ---------------------------------------------------------------------- */

IN_SCENE(begin, a_job_is_read_once_for_all)
{
  peer peers[5];

  for (size_t i = 0; i < PAI__LEN(peers); i++)
    begin_watch(&peers[i], s, i == 0 ? "?job=alice~mnist" : "", "");
  assert_null(s->platform.listeners->next);
  for (uint32_t i = 0; i < 20; i++)
    fake_event(&s->platform, PAI_EVENT_TASK, PAI_STATE_RUNNING, "w", i);
  assert_int_equal(s->platform.shows, 1); /* for its name */
  fake_event(&s->platform, PAI_EVENT_JOB, PAI_STATE_FAILED, NULL, 0);
  assert_int_equal(s->platform.shows, 2); /* for its code */
  for (size_t i = 0; i < PAI__LEN(peers); i++) {
    hear(&peers[i], "\"index\":19,");
    hear(&peers[i], "\"name\":\"alice~mnist\",\"time_us\":1000,\"attempt\":0,"
                    "\"state\":\"failed\"");
    leave(&peers[i]);
  }
}

/* --- who comes again ------------------------------------------------------------------ */

IN_SCENE(begin, who_comes_again_goes_on)
{
  char id[128];
  peer p;

  s->platform.list =
    "[{\"name\":\"one\",\"username\":\"ann\",\"state\":\"RUNNING\"}]";
  begin_watch(&p, s, "?states=true", "");
  hear(&p, "event: all\ndata: {}\n\n");
  fake_event(&s->platform, PAI_EVENT_TASK, PAI_STATE_RUNNING, "w", 1);
  hear(&p, "\"index\":1,");
  (void)snprintf(id, sizeof(id), "%s", last_id(&p));
  fake_event(&s->platform, PAI_EVENT_TASK, PAI_STATE_RUNNING, "w", 2);
  end_watch(&p);
  fake_event(&s->platform, PAI_EVENT_TASK, PAI_STATE_RUNNING, "w", 3);

  begin_watch(&p, s, "?states=true", id);
  hear(&p, "event: resumed\ndata: {}\n\nid: ");
  hear(&p, "\"index\":3,");
  assert_true(has_seen(&p, "\"index\":2,"));
  assert_false(has_seen(&p, "\"index\":1,"));
  assert_false(has_seen(&p, "ann~one"));
  assert_false(has_seen(&p, "event: all"));
  fake_event(&s->platform, PAI_EVENT_TASK, PAI_STATE_RUNNING, "w", 4);
  hear(&p, "\"index\":4,");
  (void)snprintf(id, sizeof(id), "%s", last_id(&p));
  end_watch(&p);

  /* Nothing has happened since: that is known, too. */
  begin_watch(&p, s, "", id);
  hear(&p, "event: resumed\ndata: {}\n\nid: ");
  fake_event(&s->platform, PAI_EVENT_TASK, PAI_STATE_RUNNING, "w", 5);
  hear(&p, "\"index\":5,");
  assert_false(has_seen(&p, "\"index\":4,"));
  leave(&p);
}

/* From its beginning on a stream has an id, also where nothing happens. */
TEST(one_that_has_heard_nothing_goes_on)
{
  static const char *const queries[] = { "", "?states=true",
                                         "?job=alice~mnist" };
  char id[128];
  peer p;
  scene s;

  for (size_t i = 0; i < PAI__LEN(queries); i++) {
    begin(&s);
    begin_watch(&p, &s, queries[i], "");
    hear(&p, "-0\n");
    (void)snprintf(id, sizeof(id), "%s", last_id(&p));
    end_watch(&p);
    fake_event(&s.platform, PAI_EVENT_JOB, PAI_STATE_RUNNING, NULL, 0);
    begin_watch(&p, &s, queries[i], id);
    hear(&p, "event: resumed\n");
    hear(&p, "\"state\":\"running\"");
    leave(&p);
    end(&s);
  }
}

IN_SCENE(begin, ids_that_are_not_known)
{
  char known[128], other[160];
  peer p;

  begin_watch(&p, s, "?states=true", "");
  fake_event(&s->platform, PAI_EVENT_JOB, PAI_STATE_RUNNING, NULL, 0);
  hear(&p, "-1\n");
  (void)snprintf(known, sizeof(known), "%.*s", (int)strcspn(last_id(&p), "\r"),
                 last_id(&p));
  end_watch(&p);
  for (int i = 0; i < 6; i++) {
    const char *const ends[] = { "2", "-1", "x", "999999999999999999999" };
    size_t len = strlen(known);

    if (i < 4) /* a number that was never given */
      (void)snprintf(other, sizeof(other), "%.*s%s\r\n", (int)len - 1, known,
                     ends[i]);
    else if (i == 4) /* another series */
      (void)snprintf(other, sizeof(other), "Last-Event-ID: %016x-1\r\n", 0);
    else
      (void)snprintf(other, sizeof(other), "Last-Event-ID: \r\n");
    begin_watch(&p, s, "?states=true", other);
    hear(&p, "event: all\n");
    assert_false(has_seen(&p, "resumed"));
    end_watch(&p);
  }
  (void)snprintf(other, sizeof(other), "%s\r\n", known);
  begin_watch(&p, s, "?states=true", other);
  hear(&p, "event: resumed\n");
  leave(&p);
}

/* Others' events are not told later, either. */
IN_SCENE(begin_empty, each_goes_on_with_his_own)
{
  char id[128], head[256];
  peer p;

  s->system = true;
  assert_ok(new_server(s, NULL));
  begin_watch(&p, s, "", "Authorization: Bearer bob\r\n");
  hear(&p, "-0\n");
  (void)snprintf(id, sizeof(id), "%s", last_id(&p));
  end_watch(&p);
  happen(s, 7, PAI_STATE_RUNNING); /* alice's */
  s->platform.show = "{\"name\":\"new\",\"jobStatus\":{\"username\":\"bob\"}}";
  happen(s, 8, PAI_STATE_RUNNING);
  (void)snprintf(head, sizeof(head), "%sAuthorization: Bearer bob\r\n", id);
  begin_watch(&p, s, "", head);
  hear(&p, "bob~new");
  assert_false(has_seen(&p, "alice"));
  leave(&p);
}

/* Who watches a job hears of no other, neither now nor later. */
IN_SCENE(begin, one_job_alone)
{
  char id[128];
  peer p;

  begin_watch(&p, s, "?job=alice~mnist", "");
  hear(&p, "-0\n");
  (void)snprintf(id, sizeof(id), "%s", last_id(&p));
  happen(s, 8, PAI_STATE_STOPPING);
  happen(s, 7, PAI_STATE_RUNNING);
  hear(&p, "\"running\"");
  assert_false(has_seen(&p, "\"stopping\""));
  end_watch(&p);
  begin_watch(&p, s, "?job=alice~mnist", id);
  hear(&p, "event: resumed\n");
  hear(&p, "\"running\"");
  assert_false(has_seen(&p, "\"stopping\""));
  leave(&p);
}

/* --- what is kept ------------------------------------------------------------------------ */

IN_SCENE(begin, the_oldest_are_forgotten)
{
  char first[128], last[128];
  const pai__feed *feed;
  peer p;

  begin_watch(&p, s, "", "");
  hear(&p, "-0\n");
  (void)snprintf(first, sizeof(first), "%s", last_id(&p));
  end_watch(&p);
  feed = s->server->feed;
  while (feed->last < 80000)
    fake_event(&s->platform, PAI_EVENT_JOB, PAI_STATE_RUNNING, NULL, 0);
  assert_in_range(feed->kept, PAI__FEED_KEPT / 2, PAI__FEED_KEPT);
  begin_watch(&p, s, "?states=true", first);
  hear(&p, "-80000\nevent: all\n");
  (void)snprintf(last, sizeof(last), "%s", last_id(&p));
  end_watch(&p);
  begin_watch(&p, s, "?states=true", last);
  hear(&p, "event: resumed\n");
  leave(&p);
}

/* When nobody has come for long, nothing is read for nobody. */
TEST(a_feed_without_readers_ends)
{
  char id[128];
  peer p;
  scene s;

  begin(&s);
  begin_watch(&p, &s, "?states=true", "");
  hear(&p, "event: all\n");
  (void)snprintf(id, sizeof(id), "%s", last_id(&p));
  later = PAI__FEED_TIME + 1000000; /* with a reader it does not matter */
  fake_event(&s.platform, PAI_EVENT_JOB, PAI_STATE_RUNNING, NULL, 0);
  hear(&p, "-1\n");
  end_watch(&p);
  fake_event(&s.platform, PAI_EVENT_JOB, PAI_STATE_RUNNING, NULL, 0);
  assert_non_null(s.server->feed);
  later *= 2;
  fake_event(&s.platform, PAI_EVENT_JOB, PAI_STATE_RUNNING, NULL, 0);
  assert_null(s.server->feed);
  assert_null(s.platform.listeners);
  begin_watch(&p, &s, "?states=true", id);
  hear(&p, "event: all\n");
  assert_false(has_seen(&p, "resumed"));
  leave(&p);
  end(&s);
  later = 0;
}

/* --- without memory ------------------------------------------------------------------------ */

/* Until that was said, or there is nothing more to come. */
static bool hear_or_not(peer *p, const char *text)
{
  while (!p->over && !has_seen(p, text) && !has_seen(p, "HTTP/1.1 503") &&
         !has_seen(p, "HTTP/1.1 500"))
    turn(p->s);
  return has_seen(p, text);
}

static bool try_watch(peer *p, scene *s, const char *head, const char *text)
{
  come(p, s);
  say(p, "GET /api/v2/events?states=true HTTP/1.1\r\nHost: x\r\n");
  say(p, head);
  say(p, "\r\n");
  return hear_or_not(p, text);
}

/* What cannot be told is not passed over: the stream ends. */
static bool watch_and_come_again(scene *s)
{
  char id[128];
  bool ok;
  peer p;

  ok = try_watch(&p, s, "", "event: all\n");
  if (ok) {
    (void)snprintf(id, sizeof(id), "%s", last_id(&p));
    fake_event(&s->platform, PAI_EVENT_JOB, PAI_STATE_RUNNING, NULL, 0);
    fake_event(&s->platform, PAI_EVENT_JOB, PAI_STATE_FAILED, NULL, 0);
    ok = hear_or_not(&p, "\"failed\"") && has_seen(&p, "alice~mnist");
    /* Whose it is, is told with it, or the stream ends. */
    assert_false(has_seen(&p, "\"event\":\"job\",\"time_us\""));
  }
  leave(&p);
  if (!ok)
    return false;
  ok = try_watch(&p, s, id, "\"failed\"") && has_seen(&p, "resumed");
  leave(&p);
  return ok;
}

IN_SCENE(begin_empty, no_memory_is_survived)
{
  serve_faults(s, watch_and_come_again);
}
