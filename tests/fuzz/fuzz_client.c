/*
 * fuzz_client.c - what a server answers, and in what order things happen
 *
 * The first line is a call: a letter of `calls`, then options.  Answers follow,
 * each behind a line "--- STATUS HOW": what the requests that come get, one
 * after the other.  There is no network and no clock: requests, timers and turns
 * are played.  Each call ends, once; all that it asked for has ended then; what
 * it told is possible.
 */
#include "check.h"

#include "http/http.h"
#include "loop/loop.h"

#include <openpai/client.h>

#include <string.h>

enum { MOST = 64, MOST_ASKED = 200, MOST_TOLD = 64 << 10 };

/* --- a loop --------------------------------------------------------------------- */

struct pai__loop_step {
  struct pai__loop_step *next;
  pai__timer_cb cb;
  void *user_data;
  bool asked;
};

struct pai__timer {
  struct pai__timer *next;
  pai__timer_cb cb;
  void *user_data;
  pai_time due; /* 0: it does not run */
};

static pai__loop_step *turns;
static pai__timer *timers;
static pai_time now;

int pai__loop_step_new(pai__loop_step **out, const pai_alloc *alloc,
                       pai_loop *loop, pai__timer_cb cb, void *user_data)
{
  pai__loop_step *t = calloc(1, sizeof(*t));

  (void)alloc;
  (void)loop;
  CHECK(t != NULL);
  *t = (pai__loop_step){ turns, cb, user_data, false };
  turns = *out = t;
  return PAI_OK;
}

void pai__loop_step_ask(pai__loop_step *turn)
{
  turn->asked = true;
}

void pai__loop_step_close(pai__loop_step *turn)
{
  pai__loop_step **at = &turns;

  if (turn == NULL)
    return;
  while (*at != turn)
    at = &(*at)->next;
  *at = turn->next;
  free(turn);
}

int pai__timer_new(pai__timer **out, const pai_alloc *alloc, pai_loop *loop,
                   pai__timer_cb cb, void *user_data)
{
  pai__timer *t = calloc(1, sizeof(*t));

  (void)alloc;
  (void)loop;
  CHECK(t != NULL);
  *t = (pai__timer){ timers, cb, user_data, 0 };
  timers = *out = t;
  return PAI_OK;
}

void pai__timer_start(pai__timer *timer, pai_time delay)
{
  CHECK(delay >= 0);
  timer->due = now + delay + 1;
}

void pai__timer_stop(pai__timer *timer)
{
  timer->due = 0;
}

void pai__timer_close(pai__timer *timer)
{
  pai__timer **at = &timers;

  if (timer == NULL)
    return;
  while (*at != timer)
    at = &(*at)->next;
  *at = timer->next;
  free(timer);
}

/* --- HTTP ----------------------------------------------------------------------- */

struct pai__http_request {
  struct pai__http_request *next;
  pai__http_want want;
  bool canceled, held, begun;
};

struct pai__http {
  void (*closed)(void *user_data);
  void *user_data;
};

static pai__http_request *requests;
static pai__http the_http;
static bool http_is_open;

int pai__http_new(pai__http **out, const pai_alloc *alloc, pai_loop *loop,
                  const pai__http_options *options, pai_error **err)
{
  (void)alloc;
  (void)loop;
  (void)options;
  (void)err;
  the_http = (pai__http){ 0 };
  http_is_open = true;
  *out = &the_http;
  return PAI_OK;
}

void pai__http_close(pai__http *http, void (*closed)(void *user_data),
                     void *user_data)
{
  *http = (pai__http){ closed, user_data };
}

/* What is sent is as it should be: nothing of what came ends a line of it. */
static void check_line(const char *text)
{
  for (; text != NULL && *text != '\0'; text++)
    CHECK((unsigned char)*text >= ' ' && *text != 0x7f);
}

int pai__http_ask(pai__http_request **out, pai__http *http,
                  const pai__http_want *want, pai_error **err)
{
  pai__http_request *r = calloc(1, sizeof(*r)), **end = &requests;

  (void)http;
  (void)err;
  CHECK(r != NULL);
  CHECK(strncmp(want->url, "http", 4) == 0);
  check_line(want->url);
  check_line(want->method);
  check_line(want->type);
  check_line(want->accept);
  check_line(want->authorization);
  check_line(want->range);
  r->want = *want;
  while (*end != NULL)
    end = &(*end)->next;
  *end = *out = r;
  return PAI_OK;
}

void pai__http_cancel(pai__http_request *request)
{
  request->canceled = true;
}

void pai__http_hold(pai__http_request *request, bool hold)
{
  request->held = hold;
}

int64_t pai__http_log_offset(const pai__http_request *request)
{
  (void)request;
  return -1;
}

/* --- a call --------------------------------------------------------------------- */

typedef struct play {
  const char *at, *end; /* answers that are left */
  pai_client *client;
  pai_op *op; /* NULL: it has ended */
  int calls, asked;
  size_t told;
  bool pause;
} play;

static void on_end(void *user_data, int status, const pai_client_answer *a)
{
  play *p = user_data;

  CHECK(++p->calls == 1);
  CHECK(a->body != NULL && a->body[a->body_len] == '\0');
  CHECK(a->type != NULL && a->code != NULL && a->state != NULL);
  CHECK((status == PAI_OK) == (a->err == NULL));
  CHECK(pai_error_code(a->err) == status);
  p->op = NULL;
}

static int on_bytes(void *user_data, const char *bytes, size_t len)
{
  play *p = user_data;

  (void)bytes;
  CHECK(p->calls == 0 && len > 0);
  p->told += len;
  if (p->pause)
    pai_op_pause(p->op);
  return p->told < MOST_TOLD ? PAI_OK : PAI_EUSER;
}

static int on_change(void *user_data, const pai_client_change *change)
{
  play *p = user_data;

  CHECK(p->calls == 0 && change->job[0] != '\0');
  CHECK(strchr("SFWRU", change->state[0]) != NULL && change->state[0] != 0);
  CHECK(change->final == (strcmp(change->state, "SUCCEEDED") == 0 ||
                          strcmp(change->state, "FAILED") == 0 ||
                          strcmp(change->state, "STOPPED") == 0));
  CHECK(change->final || change->exit_code == 0);
  if (p->pause)
    pai_op_pause(p->op);
  return ++p->told < 200 ? PAI_OK : PAI_EUSER;
}

static void on_progress(void *user_data, uint64_t sent, uint64_t total)
{
  play *p = user_data;

  CHECK(p->calls == 0 && sent <= total);
}

static int begin(play *p, char call)
{
  pai_client_request q = PAI_CLIENT_REQUEST_INIT;
  pai_client_job_file f = PAI_CLIENT_JOB_FILE_INIT;
  pai_client_log_options l = PAI_CLIENT_LOG_OPTIONS_INIT;
  pai_client *c = p->client;
  pai_op **op = &p->op;

  switch (call) {
  case 'w': return pai_client_watch(op, c, "u~j", on_change, on_end, p, NULL);
  case 'a': return pai_client_watch(op, c, NULL, on_change, on_end, p, NULL);
  case 'e': return pai_client_wait(op, c, "u~j", on_end, p, NULL);
  case 'j':
    return pai_client_call(op, c, "jobs.show", "{\"job\":\"u~j\"}", on_end, p,
                           NULL);
  case 'i': return pai_client_info(op, c, on_end, p, NULL);
  case 'o': return pai_client_logout(op, c, on_end, p, NULL);
  case 'u': return pai_client_login(op, c, "u", "word", on_end, p, NULL);
  case 't':
    return pai_client_call(op, c, "jobs.list", "{\"withTotalCount\":true}",
                           on_end, p, NULL);
  case 'f':
  case 'l':
    l.job = "u~j";
    l.role = "Work_er";
    l.index = 1;
    l.follow = call == 'f';
    l.on_data = on_bytes;
    return pai_client_logs(op, c, &l, on_end, p, NULL);
  case 's':
  case 'c':
    f.text = "protocolVersion: 2\nname: j\ntype: job\n";
    f.name = call == 'c' ? "other" : NULL;
    f.code = call == 'c' ? "tar" : NULL;
    f.code_len = call == 'c' ? 3 : 0;
    f.on_progress = on_progress;
    return pai_client_submit(op, c, &f, on_end, p, NULL);
  case 'b':
    q.path = "/x";
    q.on_body = on_bytes;
    return pai_client_ask(op, c, &q, on_end, p, NULL);
  default:
    q.method = "PUT";
    q.path = "/x";
    return pai_client_ask(op, c, &q, on_end, p, NULL);
  }
}

/* --- answers -------------------------------------------------------------------- */

typedef struct said {
  int status;
  bool cut, pieces, refused, later, away;
  const char *body;
  size_t len;
} said;

static const char *find_line(const char *at, const char *end)
{
  for (; at < end; at++)
    if (at[0] == '\n' && end - at >= 5 && memcmp(at, "\n--- ", 5) == 0)
      return at;
  return end;
}

/* The next answer; when there is no more, what ends most calls. */
static said next_answer(play *p)
{
  said s = { .status = 404, .body = "{}", .len = 2 };
  const char *eol;

  if (p->at >= p->end)
    return s;
  p->at += 5;
  eol = memchr(p->at, '\n', (size_t)(p->end - p->at));
  eol = eol != NULL ? eol : p->end;
  s.status = 0;
  for (; p->at < eol && *p->at >= '0' && *p->at <= '9'; p->at++)
    s.status = (s.status * 10 + (*p->at - '0')) % 1000;
  for (; p->at < eol; p->at++) {
    s.cut = s.cut || *p->at == 'c';         /* it breaks off */
    s.pieces = s.pieces || *p->at == 'p';   /* it comes in pieces */
    s.refused = s.refused || *p->at == 'n'; /* nobody listens */
    s.later = s.later || *p->at == 'r';     /* it says when to try again */
    s.away = s.away || *p->at == 'l';       /* it leads somewhere */
    if (*p->at == 'x' && p->op != NULL)
      pai_op_cancel(p->op);
  }
  s.body = eol < p->end ? eol + 1 : eol;
  p->at = find_line(eol, p->end);
  s.len = s.body < p->at ? (size_t)(p->at - s.body) : 0;
  return s;
}

static void drop(pai__http_request *r)
{
  pai__http_request **at = &requests;

  while (*at != r)
    at = &(*at)->next;
  *at = r->next;
  free(r);
}

static void finish(pai__http_request *r, int rc, const said *s, bool retriable)
{
  pai__http_want want = r->want;
  pai__http_answer a = { .status = rc == PAI_OK || s->len > 0 ? s->status : 0,
                         .type = "application/json",
                         .location = s->away ? "http://a/b?c" : "",
                         .retry_after = s->later ? 1000000 : 0,
                         .sent = !s->refused };
  pai_error *err = NULL;

  if (rc < 0)
    (void)pai__fail(&err, rc, "as the input wants");
  if (retriable)
    pai__error_retriable(&err);
  drop(r);
  want.on_done(want.user_data, rc, &a, err);
  pai_error_free(err);
}

/* Gives the body; how it ended. */
static int give(play *p, pai__http_request *r, const said *s)
{
  size_t piece = s->pieces ? 3 : s->len;

  for (size_t at = 0; at < s->len;) {
    size_t n = s->len - at < piece ? s->len - at : piece;
    int rc;
    while (r->held && !r->canceled && p->op != NULL)
      pai_op_resume(p->op);
    if (r->canceled)
      return PAI_ECANCELED;
    rc = r->want.on_body(r->want.user_data, s->status, s->body + at, n);
    if (rc < 0)
      return rc;
    at += n;
  }
  return r->canceled ? PAI_ECANCELED : s->cut ? PAI_EIO : PAI_OK;
}

static void answer(play *p, pai__http_request *r)
{
  said s;
  int rc;

  if (r->want.on_sent != NULL)
    r->want.on_sent(r->want.user_data, r->want.body_len);
  s = next_answer(p);
  p->asked++;
  if (p->asked > MOST_ASKED && p->op != NULL)
    pai_op_cancel(p->op);
  if (r->canceled)
    rc = PAI_ECANCELED;
  else if (s.refused || s.status < 100)
    rc = s.refused ? PAI_ENOTFOUND : PAI_EIO;
  else
    rc = give(p, r, &s);
  finish(r, rc, &s, rc == PAI_EIO || s.refused);
}

/* --- it runs -------------------------------------------------------------------- */

static pai__timer *first_timer(void)
{
  pai__timer *first = NULL;

  for (pai__timer *t = timers; t != NULL; t = t->next)
    if (t->due != 0 && (first == NULL || t->due < first->due))
      first = t;
  return first;
}

static pai__loop_step *asked_turn(void)
{
  pai__loop_step *t = turns;

  while (t != NULL && !t->asked)
    t = t->next;
  return t;
}

/* False: nothing is left to be done. */
static bool step(play *p)
{
  pai__loop_step *turn = asked_turn();
  pai__timer *timer = first_timer();

  if (turn != NULL) {
    turn->asked = false;
    turn->cb(turn->user_data);
  } else if (requests != NULL) {
    answer(p, requests);
  } else if (the_http.closed != NULL) {
    http_is_open = false;
    the_http.closed(the_http.user_data);
    the_http.closed = NULL;
  } else if (timer != NULL) {
    now = timer->due;
    timer->due = 0;
    timer->cb(timer->user_data);
  } else if (p->op != NULL) {
    pai_op_resume(p->op); /* nothing else can it wait for */
    CHECK(asked_turn() != NULL || requests != NULL || first_timer() != NULL);
  } else {
    return false;
  }
  return true;
}

static void on_closed(void *user_data)
{
  *(bool *)user_data = true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  pai_client_options o = PAI_CLIENT_OPTIONS_INIT;
  const char *text = (const char *)data, *end = text + size,
             *body = find_line(text, end);
  static char a_loop; /* nobody looks into it */
  bool closed = false;
  play p = { .at = body, .end = end };
  size_t head = (size_t)(body - text);

  if (size == 0 || size > MOST_TOLD)
    return 0;
  o.url = "http://h/base";
  if (memchr(text, 'S', head) != NULL) {
    o.url = NULL;
    o.socket = "/socket";
  }
  o.seed = 1;
  o.most_answer = 4096;
  if (memchr(text, 'T', head) != NULL)
    o.token = "h.eyJ1c2VybmFtZSI6ImFubiJ9.s";
  if (memchr(text, 'U', head) != NULL) {
    o.user = "ann";
    o.password = "word";
  }
  p.pause = memchr(text, 'P', head) != NULL;
  now = 0;
  CHECK(pai_client_new(&p.client, (pai_loop *)(void *)&a_loop, &o, NULL) ==
        PAI_OK);
  if (begin(&p, text[0]) == PAI_OK)
    while (p.calls == 0 && step(&p))
      ;
  else
    CHECK(p.op == NULL);
  CHECK(p.op == NULL);
  pai_client_close(p.client, on_closed, &closed);
  while (!closed && step(&p))
    ;
  CHECK(closed && requests == NULL && turns == NULL && timers == NULL);
  CHECK(!http_is_open);
  return 0;
}
