/* session.c - a session in a task, connected to this terminal */
#include "session.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
  TRIES = 200, /* quick tries to begin a session */
  PAUSE_MS = 20,
  FAR_TRIES = 40, /* for a server elsewhere, which limits requests */
  FAR_PAUSE_MS = 100,
  AGAIN_MS = 1000,          /* pause of later tries, if it goes on trying */
  MOST_PENDING = 256 << 10, /* unsent input above which no more is read */
  KEY_P = 0x10,             /* with Ctrl: the two detach keys */
  KEY_Q = 0x11
};

static void keep(char *to, size_t size, const char *text)
{
  (void)snprintf(to, size, "%s", text);
}

/* --- output -------------------------------------------------------------- */

static void send_size(cli_session *s)
{
  uint32_t columns, rows;

  cli_terminal_size(&columns, &rows);
  (void)!pai_session_resize(s->session, columns, rows);
}

static void on_started(void *user_data, int terminal)
{
  cli_session *s = user_data;

  s->started = true;
  s->terminal = terminal != 0;
  s->typed = false;
  if (!s->terminal || !cli_terminal_is_input())
    return;
  cli_terminal_raw();
  send_size(s);
}

/* The incomplete UTF-8 character at the end of each stream. */
static struct part {
  char bytes[4];
  size_t len;
} parts[2];

static void print_output(int stream, const char *bytes, size_t len)
{
  cli_json_print(stdout,
                 "{\"event\":\"output\",\"stream\":%s,\"text\":%.*s}\n",
                 stream == 1 ? "stdout" : "stderr", (int)len, bytes);
}

void cli_json_output(int stream, const char *bytes, size_t len)
{
  struct part *part = &parts[stream != 1];
  char *whole = malloc(part->len + len);
  size_t cut;

  if (whole == NULL) {
    print_output(stream, bytes, len);
    return;
  }
  memcpy(whole, part->bytes, part->len);
  memcpy(whole + part->len, bytes, len);
  len += part->len;
  cut = cli_utf8_cut(whole, len);
  if (len > cut)
    print_output(stream, whole, len - cut);
  memcpy(part->bytes, whole + len - cut, cut);
  part->len = cut;
  free(whole);
}

void cli_json_end(const char *how, int code, const char *text)
{
  for (int i = 0; i < 2; i++)
    if (parts[i].len > 0)
      print_output(i + 1, parts[i].bytes, parts[i].len);
  cli_json_print(stdout,
                 "{\"event\":\"end\",\"how\":%s,\"code\":%d,\"text\":%s}\n",
                 how, code, text);
}

static void on_output(void *user_data, int stream, const char *bytes,
                      size_t len)
{
  cli_session *s = user_data;
  FILE *out = stream == 1 ? stdout : stderr;

  if (s->json) {
    cli_json_output(stream, bytes, len);
    out = stdout;
  } else {
    (void)fwrite(bytes, 1, len, out);
  }
  (void)fflush(out);
}

static void on_end(void *user_data, int status, const pai_session_end *end)
{
  cli_session *s = user_data;
  const char *help = end->err != NULL ? pai_error_help(end->err) : NULL;

  s->session = NULL;
  s->over = true;
  s->status = status;
  s->how = end->how;
  s->code = end->code;
  keep(s->text, sizeof(s->text), end->text);
  keep(s->help, sizeof(s->help), help != NULL ? help : "");
}

static int64_t now_ms(void)
{
  struct timespec now;

  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int tries_of(const cli_session *s)
{
  return s->remote->root == NULL ? FAR_TRIES : TRIES;
}

static void begin(cli_session *s)
{
  pai_session_options o = PAI_SESSION_OPTIONS_INIT;
  pai_error *err = NULL;
  const char *help;

  o.command = s->command;
  o.terminal = getenv("TERM");
  o.tty = s->tty;
  o.attach = s->attach;
  cli_terminal_size(&o.columns, &o.rows);
  o.user_data = s;
  o.on_started = on_started;
  o.on_output = on_output;
  o.on_end = on_end;
  s->started = s->over = false;
  s->again = now_ms() + (s->tries++ >= tries_of(s) ? AGAIN_MS
                         : s->remote->root == NULL ? FAR_PAUSE_MS
                                                   : PAUSE_MS);
  s->status = pai_client_enter(&s->session, s->remote->client, s->task->job,
                               s->task->role, s->task->index, &o, &err);
  if (s->status < 0) {
    s->over = true;
    keep(s->text, sizeof(s->text), pai_error_message(err));
    help = pai_error_help(err);
    keep(s->help, sizeof(s->help), help != NULL ? help : "");
  }
  pai_error_free(err);
}

/* Whether the session was refused because the task is not ready yet. */
static bool is_early(const cli_session *s)
{
  return s->over && !s->started && s->killed == 0 && s->status == PAI_EBUSY;
}

void cli_session_begin(cli_session *s)
{
  begin(s);
  while ((!s->over && !s->started) ||
         (is_early(s) && s->tries <= tries_of(s))) {
    cli_happened happened;

    cli_session_step(s, &happened);
    if (happened.signal == 0)
      continue;
    s->killed = happened.signal;
    pai_session_close(s->session);
    s->session = NULL;
    s->over = true;
  }
}

/* --- input --------------------------------------------------------------- */

/* Removes the two detach keys from the input.  The first key is held back, and
 * sent if the second does not follow. */
static size_t take_keys(cli_session *s, char *to, const char *bytes, size_t n)
{
  size_t len = 0;

  for (size_t i = 0; i < n && !s->detached; i++) {
    if (s->held && bytes[i] == KEY_Q) {
      s->detached = true;
      break;
    }
    if (s->held)
      to[len++] = KEY_P;
    s->held = bytes[i] == KEY_P;
    if (!s->held)
      to[len++] = bytes[i];
  }
  return len;
}

static void take_input(cli_session *s)
{
  char bytes[16384], keys[2 * sizeof(bytes)];
  size_t n = cli_terminal_read(bytes, sizeof(bytes));
  const char *at = bytes;

  if (n == 0) {
    s->input_over = true;
    (void)!pai_session_end_input(s->session);
    return;
  }
  if (s->detachable && s->terminal) {
    n = take_keys(s, keys, bytes, n);
    at = keys;
  }
  /* A shell reads the terminal's size and writes it back just before its
   * prompt, which undoes a change in between; so the size is sent again. */
  if (n > 0 && s->terminal && !s->typed)
    send_size(s);
  s->typed = s->typed || n > 0;
  if (n > 0 && pai_session_write(s->session, at, n) < 0)
    s->input_over = true;
}

/* Waits for the time of the next try, handling events meanwhile. */
static void begin_again(cli_session *s, cli_happened *happened)
{
  int64_t left = s->again - now_ms();

  cli_terminal_wait(s->remote->loop, left > 0 ? (int)left : 0, false,
                    happened);
  if (happened->signal == 0 && now_ms() >= s->again)
    begin(s);
}

void cli_session_step(cli_session *s, cli_happened *happened)
{
  bool want = s->session != NULL && s->started && !s->input_over &&
              pai_session_pending(s->session) < MOST_PENDING;

  if (is_early(s)) {
    begin_again(s, happened);
    return;
  }
  cli_terminal_wait(s->remote->loop, -1, want, happened);
  if (s->session == NULL)
    return;
  if (happened->resized && s->terminal)
    send_size(s);
  if (happened->input && s->started)
    take_input(s);
}

void cli_session_tell(const cli_session *s)
{
  cli_say(PAI_LOG_ERROR, s->text[0] != '\0' ? s->text : "out of memory");
  if (s->help[0] != '\0')
    cli_help(stderr, s->help);
  else if (s->status == PAI_ENOTFOUND && cli_remote_is_original(s->remote))
    cli_help(stderr, "this server is an original OpenPAI: use openpai ssh");
  else if (s->status == PAI_ENOTFOUND && !s->started)
    cli_help(stderr, "openpai show JOB shows the job and its tasks");
}
