/*
 * fuzz_relay.c - a stream that leads into a task over TLS, from end to end
 *
 * A script of steps: what the task and the client say, how much room each way
 * has, and how they end.  Between them are the server's relay and, on the
 * client's side, a session; the loop, TLS and sockets are played.  What was
 * said arrives, in order and once, as far as it arrives; the client is told the
 * end once; and where nothing broke, the last that it was told is a frame.
 */
#include "check.h"

#include "client/session.h"
#include "server/http/listener.h"
#include "task/frame.h"

#include <errno.h>
#include <gnutls/gnutls.h>
#include <string.h>
#include <sys/socket.h>

enum { MOST = 1 << 18, LINE = 5, TASK = 6, SESSION = 7 };

/* --- what the script has said ---------------------------------------------------- */

typedef struct speech {
  char bytes[MOST];
  size_t len, at; /* said, and taken of it */
  bool over;      /* nothing follows */
} speech;

static speech task_says, client_says, task_hears, client_hears;
static size_t task_room, client_room;
static bool broke;    /* the client is gone */
static bool said_bye; /* TLS was ended in order */
static bool woken;    /* the relay is over */

static void say(speech *p, const void *bytes, size_t len)
{
  CHECK(len <= MOST - p->len);
  memcpy(p->bytes + p->len, bytes, len);
  p->len += len;
}

static size_t take(speech *p, void *to, size_t size)
{
  size_t n = p->len - p->at < size ? p->len - p->at : size;

  memcpy(to, p->bytes + p->at, n);
  p->at += n;
  return n;
}

/* --- sockets and TLS -------------------------------------------------------------- */

ssize_t recv(int fd, void *to, size_t size, int flags)
{
  size_t n = take(&task_says, to, size);

  CHECK(fd == TASK && (flags & MSG_DONTWAIT) != 0);
  errno = EAGAIN;
  return n > 0 ? (ssize_t)n : task_says.over ? 0 : -1;
}

ssize_t send(int fd, const void *bytes, size_t len, int flags)
{
  size_t n = len < task_room ? len : task_room;

  CHECK(fd == TASK && len > 0 && (flags & MSG_DONTWAIT) != 0);
  errno = task_says.over ? EPIPE : EAGAIN;
  if (task_says.over || n == 0)
    return -1;
  task_room -= n;
  say(&task_hears, bytes, n);
  return (ssize_t)n;
}

int shutdown(int fd, int how)
{
  CHECK(fd == LINE && how == SHUT_WR);
  return 0;
}

ssize_t gnutls_record_recv(gnutls_session_t session, void *to, size_t size)
{
  size_t n = take(&client_says, to, size);

  (void)session;
  return n > 0              ? (ssize_t)n
         : broke            ? GNUTLS_E_PREMATURE_TERMINATION
         : client_says.over ? 0
                            : GNUTLS_E_AGAIN;
}

ssize_t gnutls_record_send(gnutls_session_t session, const void *bytes,
                           size_t len)
{
  size_t n = len < client_room ? len : client_room;

  (void)session;
  CHECK(len > 0 && !said_bye);
  if (broke)
    return GNUTLS_E_PUSH_ERROR;
  if (n == 0)
    return GNUTLS_E_AGAIN;
  client_room -= n;
  say(&client_hears, bytes, n);
  return (ssize_t)n;
}

int gnutls_error_is_fatal(int error)
{
  return error != GNUTLS_E_AGAIN;
}

int gnutls_bye(gnutls_session_t session, gnutls_close_request_t how)
{
  (void)session;
  CHECK(how == GNUTLS_SHUT_WR && !said_bye);
  said_bye = true;
  return 0;
}

int pai__conn_fd(const pai__conn *c)
{
  (void)c;
  return LINE;
}

size_t pai__conn_early(const pai__conn *c, const char **bytes)
{
  (void)c;
  *bytes = "";
  return 0;
}

void *pai__conn_tls(const pai__conn *c)
{
  static int session_of_client;

  (void)c;
  return &session_of_client;
}

/* --- the loop ---------------------------------------------------------------------- */

struct pai__poll {
  pai__poll_cb cb;
  void *user_data;
  int events;
  bool open;
};

static struct pai__poll polls[SESSION + 1];

int pai__poll_new(pai__poll **out, const pai_alloc *alloc, pai_loop *loop,
                  int fd, pai__poll_cb cb, void *user_data, pai_error **err)
{
  (void)alloc;
  (void)loop;
  (void)err;
  CHECK(fd >= LINE && fd <= SESSION && !polls[fd].open);
  polls[fd] = (struct pai__poll){ cb, user_data, 0, true };
  *out = &polls[fd];
  return PAI_OK;
}

void pai__poll_set(pai__poll *poll, int events)
{
  CHECK(poll->open);
  poll->events = events;
}

void pai__poll_close(pai__poll *poll)
{
  if (poll != NULL)
    poll->open = false;
}

struct pai__loop_step {
  pai__timer_cb cb;
  void *user_data;
  bool asked, open;
};

static struct pai__loop_step turn;

int pai__loop_step_new(pai__loop_step **out, const pai_alloc *alloc,
                       pai_loop *loop, pai__timer_cb cb, void *user_data)
{
  (void)alloc;
  (void)loop;
  turn = (struct pai__loop_step){ cb, user_data, false, true };
  *out = &turn;
  return PAI_OK;
}

void pai__loop_step_ask(pai__loop_step *t)
{
  CHECK(t->open);
  t->asked = true;
}

void pai__loop_step_close(pai__loop_step *t)
{
  if (t != NULL)
    t->open = false;
}

/* --- the server about the relay ---------------------------------------------------- */

void pai__enter_forget(pai__request *r)
{
  CHECK(r->entered == TASK);
  r->entered = -1;
}

void pai__request_resume(pai__request *r)
{
  CHECK(!woken && r->gone && r->relay == NULL && r->entered == -1);
  woken = true;
}

void pai__server_deadline_enter(pai__server_deadline *line,
                                enum pai__phase phase)
{
  CHECK(line == NULL && phase == PAI__SEND && said_bye);
}

/* --- the client's session ------------------------------------------------------------ */

static const char head[] = "101\r\n\r\n";
static pai_session *session; /* NULL: it has ended */
static pai_session_end last;
static size_t told; /* bytes of output */
static int status;

int pai__http_stream_new(pai__http_stream **out, const pai_alloc *alloc,
                         int fd)
{
  (void)out;
  (void)alloc;
  (void)fd;
  return PAI_ENOMEM; /* nobody asks: it is there */
}

int pai__http_stream_of(pai__http_stream **out, pai__http_request *request)
{
  (void)out;
  (void)request;
  return PAI_ENOMEM; /* likewise */
}

int pai__http_stream_fd(const pai__http_stream *stream)
{
  (void)stream;
  return SESSION;
}

bool pai__http_stream_holds(const pai__http_stream *stream)
{
  (void)stream;
  return client_hears.at < client_hears.len;
}

void pai__http_stream_close(pai__http_stream *stream)
{
  (void)stream;
}

void pai__http_upgrade_close(pai__http_upgrade *upgrade)
{
  CHECK(upgrade == NULL);
}

long pai__http_stream_send(pai__http_stream *stream, const char *bytes,
                           size_t len)
{
  (void)stream;
  if (broke || client_says.over)
    return -1;
  say(&client_says, bytes, len);
  return (long)len;
}

long pai__http_stream_receive(pai__http_stream *stream, char *bytes,
                              size_t size)
{
  size_t n = take(&client_hears, bytes, size);

  (void)stream;
  return n > 0 ? (long)n : said_bye ? -1 : woken || broke ? -2 : 0;
}

static void on_output(void *user_data, int stream, const char *bytes,
                      size_t len)
{
  (void)user_data;
  (void)bytes;
  CHECK(session != NULL && (stream == 1 || stream == 2));
  told += len;
}

static void on_end(void *user_data, int rc, const pai_session_end *end)
{
  (void)user_data;
  CHECK(session != NULL && (rc == PAI_OK) == (end->err == NULL));
  session = NULL;
  status = rc;
  last = *end;
}

/* --- what happens -------------------------------------------------------------------- */

static void ready(int fd, int events)
{
  struct pai__poll *p = &polls[fd];

  events &= p->events;
  if (p->open && events != 0)
    p->cb(p->user_data, fd, events);
}

static void events(void)
{
  bool client = client_says.at < client_says.len || client_says.over || broke;
  bool task = task_says.at < task_says.len || task_says.over;

  ready(LINE, (broke ? PAI__HUNG_UP : 0) | (client ? PAI__READABLE : 0) |
                (client_room > 0 || broke ? PAI__WRITABLE : 0));
  ready(TASK, (task ? PAI__READABLE : 0) |
                (task_room > 0 || task_says.over ? PAI__WRITABLE : 0));
  if (client_hears.at < sizeof(head) - 1) { /* the client reads that first */
    if (client_hears.len < sizeof(head) - 1)
      return;
    CHECK(memcmp(client_hears.bytes, head, sizeof(head) - 1) == 0);
    client_hears.at = sizeof(head) - 1;
  }
  ready(SESSION, PAI__READABLE | PAI__WRITABLE);
  if (turn.open && turn.asked) {
    turn.asked = false;
    turn.cb(turn.user_data);
  }
}

/* Pieces of a script that is told by the task, or asked of the session. */
static const uint8_t *step(const uint8_t *at, const uint8_t *end,
                           pai__request *r)
{
  size_t n = (size_t)(*at >> 3) + 1, what = *at & 7;

  at++;
  if (what < 2 && n > (size_t)(end - at))
    n = (size_t)(end - at);
  switch (what) {
  case 0:
    if (!task_says.over)
      say(&task_says, at, n);
    return at + n;
  case 1:
    if (session != NULL)
      CHECK(pai_session_write(session, at, n) == PAI_OK);
    return at + n;
  case 2: task_says.over = true; break;
  case 3: client_says.over = true; break;
  case 4: broke = true; break;
  case 5: client_room += n * n; break;
  case 6: task_room += n * n; break;
  default:
    if (n > 30 && r->relay != NULL)
      pai__proxy_stream_end(r->relay);
  }
  return at;
}

/* --- what has to hold ---------------------------------------------------------------- */

/* What a client makes of all that it heard: the last frame's type; 0: there is
 * none; -1: there is half a one, or what is none. */
static int read_all(size_t *output, pai_frame *f)
{
  size_t at =
    client_hears.len < sizeof(head) - 1 ? client_hears.len : sizeof(head) - 1;
  int type = 0;
  long n;

  *output = 0;
  while (type != PAI_FRAME_END &&
         (n = pai_frame_read(f, client_hears.bytes + at,
                             client_hears.len - at)) > 0) {
    type = f->type;
    *output +=
      type == PAI_FRAME_OUTPUT || type == PAI_FRAME_ERRORS ? f->len : 0;
    at += (size_t)n;
  }
  return type == PAI_FRAME_END || at == client_hears.len ? type : -1;
}

static bool begins(const speech *whole, const speech *part, size_t from)
{
  return part->len < from ||
         (part->len - from <= whole->len &&
          memcmp(whole->bytes, part->bytes + from, part->len - from) == 0);
}

/* Whether the task has said whole frames, whatever they are, but no end. */
static bool is_open(void)
{
  size_t at = 0;

  while (at + PAI_FRAME_HEAD <= task_says.at &&
         task_says.bytes[at] != PAI_FRAME_END)
    at += PAI_FRAME_HEAD + pai_frame_pair(task_says.bytes + at + 2);
  return at == task_says.at;
}

/* What the server has added is a frame, which says that the task is gone; or
 * some of it, where the client was gone, or the server, before it left. */
static void check_added(const char *bytes, size_t len)
{
  pai_frame f = { 0 };

  long n = pai_frame_read(&f, bytes, len);

  CHECK(is_open());
  CHECK(n == (long)len || (n == 0 && !said_bye));
  CHECK(n == 0 ||
        (f.type == PAI_FRAME_END && f.bytes[0] == PAI_FRAME_BY_LOSS));
}

static void check(void)
{
  static const int how[] = { PAI_SESSION_FAILED, PAI_SESSION_EXIT,
                             PAI_SESSION_SIGNAL, PAI_SESSION_FAILED,
                             PAI_SESSION_LOST };
  size_t output, from = sizeof(head) - 1;
  speech *heard = &client_hears;
  pai_frame f = { 0 };
  int type = read_all(&output, &f), by;

  CHECK(woken && session == NULL && told == output);
  CHECK(begins(&client_says, &task_hears, 0));
  if (type == PAI_FRAME_END) {
    by = f.len > 1 ? f.bytes[0] : 0;
    CHECK(status == PAI_OK &&
          (int)last.how == how[by >= 0 && by < 5 ? by : 0]);
  } else {
    CHECK(status == PAI_EIO && (!said_bye || type == -1 || broke));
  }
  if (heard->len > from + task_says.at) {
    check_added(heard->bytes + from + task_says.at,
                heard->len - from - task_says.at);
    heard->len = from + task_says.at;
  }
  CHECK(begins(&task_says, heard, from));
}

static void play(const uint8_t *at, const uint8_t *end)
{
  pai_session_options o = PAI_SESSION_OPTIONS_INIT;
  pai_server server = { .alloc = pai__libc_alloc };
  pai__server_listener listener = { .server = &server };
  pai__request r = { .server = &server,
                     .listener = &listener,
                     .entered = TASK };

  o.on_output = on_output;
  o.on_end = on_end;
  CHECK(pai__proxy_stream_begin(&r, head, false, NULL) == PAI_OK);
  CHECK(pai__session_make(&session, NULL, &pai__libc_alloc, &o, NULL) ==
        PAI_OK);
  session->far = session->secure = true;
  CHECK(pai__session_connect(session, NULL, NULL) == PAI_OK);
  while (at < end) {
    at = step(at, end, &r);
    events();
  }
  /* Then all have room, the task ends, and the client hangs up when it knows. */
  task_says.over = true;
  client_room = task_room = MOST;
  for (int i = 0; i < 64 && (!woken || session != NULL); i++) {
    client_says.over |= session == NULL;
    events();
  }
  if (client_hears.len < sizeof(head) - 1) /* there was no stream yet */
    pai_session_close(session);
  else
    check();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  speech *all[] = { &task_says, &client_says, &task_hears, &client_hears };

  if (size > 4096)
    return 0;
  for (size_t i = 0; i < PAI__LEN(all); i++) {
    all[i]->len = all[i]->at = 0;
    all[i]->over = false;
  }
  task_room = client_room = told = 0;
  broke = said_bye = woken = false;
  status = 1;
  play(data, data + size);
  return 0;
}
