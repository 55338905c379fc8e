/* Files of a job: fetched through cuts, and sent behind what has arrived. */
#define _GNU_SOURCE
#include "client/caller.h"

#include <openpai/client_files.h>

#include <stdio.h>
#include <stdlib.h>

static const char text[] = "one\ntwo\nthree\nfour\nfive\nsix\n";

enum { SIZE = sizeof(text) - 1 };

/* --- fetched ------------------------------------------------------------------------ */

static bool changed; /* the file, behind the first answer */

static void say_entry(pai__buf *out)
{
  char body[256];

  (void)snprintf(body, sizeof(body),
                 "{\"folder\":null,\"own\":true,\"entries\":[{\"path\":"
                 "\"a b\",\"type\":\"file\",\"size\":%d,\"modified\":77}],"
                 "\"next\":null}",
                 SIZE);
  say(out, "200 OK", body);
}

/* The bytes behind those of the range. */
static void serve(played *p, const char *request, pai__buf *out)
{
  const char *range = strcasestr(request, "\r\nRange: bytes=");
  size_t from = range != NULL ? strtoul(range + 15, NULL, 10) : 0;

  (void)p;
  if (asks_for(request, "GET /api/v2/jobs/ann~one/files?path=a%20b&")) {
    say_entry(out);
    return;
  }
  assert_true(asks_for(request, "GET /api/v2/jobs/ann~one/file?path=a%20b"));
  /* What goes on says of which version. */
  assert_int_equal(from > 0, strstr(request, "&modified=77 ") != NULL);
  if (from > 0 && changed) {
    say(out, "409 Conflict",
        "{\"code\":\"ConflictFileError\",\"message\":\"changed\"}");
    return;
  }
  pai__buf_printf(out,
                  "HTTP/1.1 %s\r\nContent-Type: application/octet-stream\r\n"
                  "Content-Length: %zu\r\n\r\n%s",
                  from > 0 ? "206 Partial Content" : "200 OK", SIZE - from,
                  text + from);
}

static int keep(void *user_data, const char *bytes, size_t len)
{
  caller *w = ((caller *)((char *)user_data - offsetof(caller, o)));

  assert_true(w->log_len + len < sizeof(w->log));
  memcpy(w->log + w->log_len, bytes, len);
  w->log_len += len;
  return w->enough > 0 && w->log_len >= (size_t)w->enough ? PAI_EUSER : 0;
}

static int fetch(caller *w, uint64_t offset, int64_t modified)
{
  pai_client_get_file_options o = PAI_CLIENT_GET_FILE_OPTIONS_INIT;
  int calls = w->o.calls;

  o.job = "ann~one";
  o.path = "a b";
  o.offset = offset;
  o.modified = modified;
  o.on_data = keep;
  w->log_len = 0;
  memset(w->log, 0, sizeof(w->log));
  assert_ok(pai_client_get_file(NULL, w->client, &o, on_outcome, &w->o, NULL));
  assert_int_equal(w->o.calls, calls); /* never from inside */
  wait_for(w->loop, &w->o, calls + 1);
  return w->o.status;
}

CALLING(serve, a_file_is_fetched)
{
  assert_ok(fetch(w, 0, 0));
  assert_string_equal(w->log, text);
  assert_ok(fetch(w, 4, 77));
  assert_string_equal(w->log, text + 4);
  w->enough = 3;
  assert_int_equal(fetch(w, 0, 77), PAI_EUSER);
}

/* Wherever the answer is cut, each byte comes once. */
ON_LOOPS(a_cut_loses_nothing)
{
  static caller w;
  size_t head;

  for (head = 0; head < 160; head++) {
    caller_begin(&w, true, serve);
    w.p.fault = CUT;
    w.p.at = head;
    w.p.fault_connections = 2;
    assert_ok(fetch(&w, 0, 77));
    assert_string_equal(w.log, text);
    caller_end(&w);
  }
}

/* Two versions of a file are never mixed. */
ON_LOOPS(a_file_that_changed_is_told)
{
  static caller w;

  changed = true;
  caller_begin(&w, true, serve);
  assert_int_equal(fetch(&w, 4, 77), PAI_EEXISTS);
  assert_string_equal(w.o.code, "ConflictFileError");
  caller_end(&w);
  changed = false;
}

/* --- sent ---------------------------------------------------------------------------- */

static char arrived[64];
static size_t narrived;
static size_t step; /* bytes that the server keeps of each piece */

static void take(played *p, const char *request, pai__buf *out)
{
  const char *offset = strstr(request, "&offset="),
             *body = strstr(request, "\r\n\r\n") + 4,
             *line = strstr(request, "\r\n");
  size_t at = narrived, len = strlen(body);
  char answer[128];

  (void)p;
  assert_true(
    asks_for(request, "PUT /api/v2/jobs/ann~one/file?path=to%2Fit&size="));
  assert_true(strstr(request, "&upload=") != NULL);
  if (offset != NULL && offset < line)
    at = strtoul(offset + 8, NULL, 10);
  else
    assert_int_equal(len, 0); /* it asks */
  assert_true(at <= narrived);
  len = len < step ? len : step;
  memcpy(arrived + at, body, len);
  narrived = at + len;
  (void)snprintf(answer, sizeof(answer),
                 "{\"path\":\"to/it\",\"received\":%zu,\"size\":%d,"
                 "\"complete\":%s}",
                 narrived, SIZE, narrived == SIZE ? "true" : "false");
  say(out, "200 OK", answer);
}

static ptrdiff_t read_text(void *user_data, uint64_t offset, char *buffer,
                           size_t size)
{
  size_t n = size < 5 ? size : 5; /* less than is wanted */

  (void)user_data;
  memcpy(buffer, text + offset, n);
  return (ptrdiff_t)n;
}

static ptrdiff_t read_nothing(void *user_data, uint64_t offset, char *buffer,
                              size_t size)
{
  (void)user_data;
  (void)offset;
  (void)buffer;
  (void)size;
  return PAI_EIO;
}

static uint64_t progress;

static void on_progress(void *user_data, uint64_t sent, uint64_t total)
{
  (void)user_data;
  assert_int_equal(total, SIZE);
  progress = sent;
}

static int send(caller *w, const char *upload, pai_read_at_cb read)
{
  pai_client_put_file_options o = PAI_CLIENT_PUT_FILE_OPTIONS_INIT;
  int calls = w->o.calls;
  pai_error *err = NULL;
  int rc;

  o.job = "ann~one";
  o.path = "to/it";
  o.upload = upload;
  o.size = SIZE;
  o.read = read;
  o.on_progress = on_progress;
  rc = pai_client_put_file(NULL, w->client, &o, on_outcome, &w->o, &err);
  pai_error_free(err);
  if (rc < 0)
    return rc;
  assert_int_equal(w->o.calls, calls);
  wait_for(w->loop, &w->o, calls + 1);
  return w->o.status;
}

static void empty_server(size_t keeps)
{
  memset(arrived, 0, sizeof(arrived));
  narrived = 0;
  step = keeps;
}

ON_LOOPS(a_file_is_sent)
{
  static caller w;

  for (size_t keeps = 1; keeps <= SIZE; keeps++) {
    caller_begin(&w, true, take);
    empty_server(keeps);
    assert_ok(send(&w, keeps % 2 == 0 ? "name" : NULL, read_text));
    assert_string_equal(arrived, text);
    assert_int_equal(progress, SIZE);
    caller_end(&w);
  }
}

CALLING(take, it_goes_on_behind_what_has_arrived)
{
  empty_server(SIZE);
  memcpy(arrived, "ONE\nTWO", 7);
  narrived = 7;
  assert_ok(send(w, "name", read_text));
  assert_string_equal(arrived, "ONE\nTWO\nthree\nfour\nfive\nsix\n");
  empty_server(0); /* it keeps nothing */
  assert_int_equal(send(w, "name", read_text), PAI_EIO);
  assert_int_equal(send(w, NULL, read_nothing), PAI_EIO);
}

/* --- wrong --------------------------------------------------------------------------- */

CALLING(serve, wrong_arguments)
{
  pai_client_get_file_options get = PAI_CLIENT_GET_FILE_OPTIONS_INIT;
  pai_client_put_file_options put = PAI_CLIENT_PUT_FILE_OPTIONS_INIT;

  assert_int_equal(
    pai_client_get_file(NULL, w->client, &get, on_outcome, &w->o, NULL),
    PAI_EINVAL);
  get.path = "x";
  get.on_data = keep;
  get.job = "~";
  assert_int_equal(
    pai_client_get_file(NULL, w->client, &get, on_outcome, &w->o, NULL),
    PAI_EINVAL);
  put.job = "ann~one";
  put.path = "x";
  assert_int_equal(
    pai_client_put_file(NULL, w->client, &put, on_outcome, &w->o, NULL),
    PAI_EINVAL);
  assert_int_equal(
    pai_client_files(NULL, w->client, "", NULL, on_outcome, &w->o, NULL),
    PAI_EINVAL);
}
