/* conn_send.c - sends an answer on a connection */
#include "server/http/conn.h"

#include "base/text/number.h"
#include "server/http/request.h"

#include <time.h>

enum {
  BLOCK = 32 << 10, /* size of pieces of a payload */
  SMALL = 16 << 10, /* largest payload sent together with its head */
  CHUNK_HEAD = 8,   /* six digits and a CRLF */
  CHUNK_END = 2
};

/* --- head ---------------------------------------------------------------- */

static const char *reason_of(int status)
{
  static const struct {
    int status;
    const char *text;
  } rows[] = {
    { 101, "Switching Protocols" },
    { 200, "OK" },
    { 201, "Created" },
    { 202, "Accepted" },
    { 204, "No Content" },
    { 206, "Partial Content" },
    { 301, "Moved Permanently" },
    { 302, "Found" },
    { 303, "See Other" },
    { 304, "Not Modified" },
    { 307, "Temporary Redirect" },
    { 308, "Permanent Redirect" },
    { 400, "Bad Request" },
    { 401, "Unauthorized" },
    { 403, "Forbidden" },
    { 404, "Not Found" },
    { 405, "Method Not Allowed" },
    { 408, "Request Timeout" },
    { 409, "Conflict" },
    { 410, "Gone" },
    { 413, "Content Too Large" },
    { 414, "URI Too Long" },
    { 415, "Unsupported Media Type" },
    { 416, "Range Not Satisfiable" },
    { 422, "Unprocessable Content" },
    { 426, "Upgrade Required" },
    { 429, "Too Many Requests" },
    { 431, "Request Header Fields Too Large" },
    { 500, "Internal Server Error" },
    { 501, "Not Implemented" },
    { 502, "Bad Gateway" },
    { 503, "Service Unavailable" },
    { 504, "Gateway Timeout" },
    { 505, "HTTP Version Not Supported" },
    { 507, "Insufficient Storage" },
  };

  for (size_t i = 0; i < PAI__LEN(rows); i++)
    if (rows[i].status == status)
      return rows[i].text;
  return "Unknown";
}

/* Writes the last n digits of a number. */
static void put_digits(char *to, int n, int number)
{
  for (; n-- > 0; number /= 10)
    to[n] = (char)('0' + number % 10);
}

static void add_date(pai__buf *out)
{
  static const char days[][4] = { "Sun", "Mon", "Tue", "Wed",
                                  "Thu", "Fri", "Sat" };
  static const char months[][4] = { "Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                    "Jul", "Aug", "Sep", "Oct", "Nov", "Dec" };
  char line[] = "Date: Sun, 01 Jan 1970 00:00:00 GMT\r\n";
  time_t now = (time_t)(pai__loop_wall_time() / 1000000);
  struct tm t;

  if (gmtime_r(&now, &t) == NULL)
    return;
  memcpy(line + 6, days[t.tm_wday], 3);
  put_digits(line + 11, 2, t.tm_mday);
  memcpy(line + 14, months[t.tm_mon], 3);
  put_digits(line + 18, 4, t.tm_year + 1900);
  put_digits(line + 23, 2, t.tm_hour);
  put_digits(line + 26, 2, t.tm_min);
  put_digits(line + 29, 2, t.tm_sec);
  pai__buf_add(out, line, sizeof(line) - 1);
}

void pai__conn_begin_answer(pai__conn *c, int status)
{
  char line[] = "HTTP/1.1 200 ";

  c->status = status;
  put_digits(line + 9, 3, status);
  pai__buf_add(&c->out, line, sizeof(line) - 1);
  pai__buf_str(&c->out, reason_of(status));
  pai__buf_str(&c->out, "\r\n");
  if (status != 101)
    add_date(&c->out);
}

void pai__conn_add_field(pai__conn *c, const char *name, const char *value)
{
  if (strpbrk(value, "\r\n") != NULL)
    return;
  pai__buf_str(&c->out, name);
  pai__buf_str(&c->out, ": ");
  pai__buf_str(&c->out, value);
  pai__buf_str(&c->out, "\r\n");
}

static bool has_no_body(const pai__conn *c)
{
  return c->status == 101 || c->status == 204 || c->status == 304 ||
         strcmp(pai__conn_method(c), "HEAD") == 0;
}

/* Adds the field that tells the client where the body ends. */
static void add_measure(pai__conn *c)
{
  char size[PAI__DOUBLE_TEXT];

  if (c->status == 101 || c->status == 204 || c->status == 304)
    return;
  if (c->payload.size >= 0) {
    (void)pai__format_int(size, c->payload.size);
    pai__conn_add_field(c, "Content-Length", size);
  } else if (c->head.old)
    c->last = true;
  else
    c->in_chunks = true;
  if (c->in_chunks)
    pai__buf_str(&c->out, "Transfer-Encoding: chunked\r\n");
}

bool pai__conn_answer(pai__conn *c, pai__payload payload)
{
  c->payload = payload;
  c->at = 0;
  c->in_chunks = false;
  /* the rest of the request's body is not read */
  c->last = c->last || c->unread;
  add_measure(c);
  if (c->last && c->status != 101)
    pai__buf_str(&c->out, "Connection: close\r\n");
  else if (c->head.old)
    pai__buf_str(&c->out, "Connection: Keep-Alive\r\n");
  pai__buf_str(&c->out, "\r\n");
  if (has_no_body(c)) {
    c->payload.size = 0;
    c->payload.read = NULL;
    c->in_chunks = false;
  }
  if (payload.bytes != NULL && c->payload.size <= SMALL) {
    pai__buf_add(&c->out, payload.bytes, (size_t)c->payload.size);
    c->at = (uint64_t)c->payload.size;
  }
  c->answered = pai__buf_ok(&c->out);
  return c->answered;
}

/* --- sending ------------------------------------------------------------- */

/* Sends bytes; returns whether any were sent. */
static bool give(pai__conn *c, const char *bytes, size_t len, bool more,
                 size_t *given)
{
  long n = c->writable ? pai__transport_write(c, bytes, len, more) : 0;

  if (n < 0)
    c->state = PAI__CONN_CLOSED;
  if (n <= 0)
    return n < 0;
  pai__server_deadline_moved(c->deadline, (size_t)n);
  *given = (size_t)n;
  return true;
}

bool pai__conn_flush(pai__conn *c)
{
  size_t n = 0;

  while (c->sent < c->out.len) {
    if (!give(c, c->out.data + c->sent, c->out.len - c->sent,
              c->payload.bytes != NULL && c->at < (uint64_t)c->payload.size,
              &n) ||
        c->state == PAI__CONN_CLOSED)
      return false;
    c->sent += n;
  }
  pai__buf_cut(&c->out, 0);
  c->sent = 0;
  return true;
}

static bool send_bytes(pai__conn *c)
{
  uint64_t left = (uint64_t)c->payload.size - c->at;
  size_t n = 0;

  if (!give(c, c->payload.bytes + c->at,
            left < BLOCK * 8 ? (size_t)left : BLOCK * 8, false, &n))
    return false;
  c->at += n;
  return true;
}

static void end_payload(pai__conn *c)
{
  c->payload.read = NULL;
  if (c->in_chunks)
    pai__buf_str(&c->out, "0\r\n\r\n");
}

static void put_chunk(pai__conn *c, size_t n)
{
  static const char digits[] = "0123456789abcdef";

  for (size_t i = 0; i < CHUNK_HEAD - CHUNK_END; i++)
    c->out.data[i] = digits[n >> (4 * (CHUNK_HEAD - CHUNK_END - 1 - i)) & 15];
  memcpy(c->out.data + CHUNK_HEAD - CHUNK_END, "\r\n", CHUNK_END);
  memcpy(c->out.data + CHUNK_HEAD + n, "\r\n", CHUNK_END);
  c->out.len = CHUNK_HEAD + n + CHUNK_END;
}

/* Reads a block of the payload into `out`, which is empty.  Returns false if
 * there is none yet, and the request is suspended. */
static bool read_block(pai__conn *c)
{
  size_t from = c->in_chunks ? CHUNK_HEAD : 0;
  long n = PAI__READ_BROKEN;

  if (c->payload.size >= 0 && c->at == (uint64_t)c->payload.size) {
    end_payload(c);
    return true;
  }
  if (pai__buf_reserve(&c->out, CHUNK_HEAD + BLOCK + CHUNK_END))
    n =
      c->payload.read(c->payload.user_data, c->at, c->out.data + from, BLOCK);
  if (n == PAI__READ_END) {
    end_payload(c);
  } else if (n < 0) {
    c->state = PAI__CONN_CLOSED;
  } else if (n > 0) {
    c->at += (uint64_t)n;
    if (c->in_chunks)
      put_chunk(c, (size_t)n);
    else
      c->out.len = (size_t)n;
  }
  return n != 0;
}

/* Gives the connection to the payload's upgrade function. */
static void hand_over(pai__conn *c)
{
  c->payload.upgrade(c->payload.user_data, c->fd, c->in.data + c->used,
                     c->in.len - c->used);
  c->state = PAI__CONN_CLOSED;
}

bool pai__conn_send(pai__conn *c)
{
  if (c->request->suspended)
    return false;
  if (c->sent < c->out.len)
    return pai__conn_flush(c) || c->state == PAI__CONN_CLOSED;
  if (c->payload.bytes != NULL && c->at < (uint64_t)c->payload.size)
    return send_bytes(c);
  if (c->payload.read != NULL)
    return read_block(c);
  if (c->payload.upgrade != NULL)
    hand_over(c);
  else
    pai__conn_finish(c);
  return true;
}
