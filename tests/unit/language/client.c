/* client.c - a client of a language server: messages as texts */
#include "client.h"

#include "json/writer.h"

#include <stdio.h>
#include <stdlib.h>

/* --- recording --------------------------------------------------------------- */

/* Whether a server of the usual options that has no host would say the same. */
static bool is_plain(const client *c)
{
  return c->taken == 0 && c->fails == 0 && c->options.max_bytes == 0 &&
         c->options.max_open == 0 && c->options.hived == 0;
}

static void record(client *c, const char *step, const char *text, size_t len)
{
  const char *path = getenv("OPENPAI_LANGUAGE_RECORD");
  pai__buf line;
  FILE *out;

  if (path == NULL || c->session == 0)
    return;
  if (!is_plain(c)) {
    c->session = 0;
    return;
  }
  line = test_buf();
  pai__buf_printf(
    &line, "{\"session\":%d,\"step\":\"%s\",\"text\":", c->session, step);
  client_quote(&line, text, len);
  pai__buf_str(&line, "}\n");
  out = fopen(path, "a");
  assert_non_null(out);
  assert_int_equal(fwrite(line.data, 1, line.len, out), line.len);
  assert_int_equal(fclose(out), 0);
  pai__buf_dispose(&line);
}

pai_language *client_host(client *c)
{
  c->session = 0;
  return c->server;
}

/* --- the server's host -------------------------------------------------------- */

static int on_send(void *user_data, const char *json, size_t len)
{
  client *c = user_data;

  if (c->fails < 0)
    return c->fails;
  record(c, "send", json, len);
  pai__buf_add(&c->heard, json, len);
  pai__buf_char(&c->heard, '\n');
  return PAI_OK;
}

static void on_ask(void *user_data, uint64_t question, int kind,
                   const char *text, size_t len)
{
  client *c = user_data;

  c->question = question;
  pai__buf_printf(&c->passed, "ask %s %zu\n",
                  kind == PAI_LANGUAGE_NAMES ? "names" : "estimate", len);
  (void)text;
}

static int on_other(void *user_data, uint64_t request, const char *method,
                    const char *params, size_t len)
{
  client *c = user_data;

  if (request != 0)
    c->request = request;
  pai__buf_printf(&c->passed, "%s %s %.*s\n",
                  request != 0 ? "request" : "notification", method, (int)len,
                  params);
  return c->taken;
}

static void on_cancel(void *user_data, uint64_t request)
{
  client *c = user_data;

  pai__buf_printf(&c->passed, "cancel %d\n", request == c->request);
}

void client_begin(client *c, const pai_alloc *alloc)
{
  static int sessions;

  *c = (client){ .options = PAI_LANGUAGE_OPTIONS_INIT };
  pai__buf_init(&c->heard, &pai__libc_alloc);
  pai__buf_init(&c->passed, &pai__libc_alloc);
  c->options.alloc = alloc;
  c->options.user_data = c;
  c->options.send = on_send;
  c->options.ask = on_ask;
  c->options.other = on_other;
  c->options.cancel = on_cancel;
  c->options.docs = "https://example.org/codes";
  if (alloc == NULL)
    c->session = ++sessions;
  record(c, "begin", c->options.docs, strlen(c->options.docs));
}

void client_end(client *c)
{
  pai_language_free(c->server);
  pai__buf_dispose(&c->heard);
  pai__buf_dispose(&c->passed);
}

/* --- messages ----------------------------------------------------------------- */

static void to_quotes(char *text)
{
  for (; *text != '\0'; text++)
    *text = (char)(*text == '\'' ? '"' : *text == '`' ? '\'' : *text);
}

int client_pass(client *c, const char *message)
{
  record(c, "receive", message, strlen(message));
  return pai_language_receive(c->server, message, strlen(message), NULL);
}

int client_step(client *c)
{
  record(c, "work", "", 0);
  return pai_language_work(c->server, NULL);
}

void client_work(client *c)
{
  int rc;

  do
    rc = client_step(c);
  while (rc > 0);
  assert_int_equal(rc, 0);
}

void client_say(client *c, const char *format, ...)
{
  pai__buf text = test_buf();
  va_list ap;

  va_start(ap, format);
  pai__buf_vprintf(&text, format, ap);
  va_end(ap);
  to_quotes(text.data);
  assert_ok(client_pass(c, text.data));
  client_work(c);
  pai__buf_dispose(&text);
}

void client_forget(client *c)
{
  pai__buf_clear(&c->heard);
  pai__buf_clear(&c->passed);
}

void client_hears(client *c, const char *want)
{
  pai__buf text = test_buf();

  pai__buf_str(&text, want);
  if (text.data != NULL)
    to_quotes(text.data);
  assert_string_equal(pai__buf_text(&c->heard), pai__buf_text(&text));
  pai__buf_dispose(&text);
  client_forget(c);
}

void client_hears_part(client *c, const char *part)
{
  pai__buf text = test_buf();

  pai__buf_str(&text, part);
  to_quotes(text.data);
  assert_has(pai__buf_text(&c->heard), text.data);
  pai__buf_dispose(&text);
  client_forget(c);
}

void client_initialize(client *c, const char *capabilities)
{
  assert_ok(pai_language_new(&c->server, &c->options, NULL));
  client_say(c,
             "{'jsonrpc':'2.0','id':0,'method':'initialize','params':"
             "{'processId':42,'capabilities':%s}}",
             capabilities);
  client_say(c, "{'jsonrpc':'2.0','method':'initialized','params':{}}");
  client_forget(c);
}

void client_quote(pai__buf *out, const char *text, size_t len)
{
  pai__json_writer w;

  pai__json_writer_init(&w, out, false);
  pai__json_text(&w, text, len);
}

void client_open(client *c, const char *uri, const char *text)
{
  pai__buf message = test_buf();

  pai__buf_printf(&message,
                  "{\"jsonrpc\":\"2.0\",\"method\":\"textDocument/didOpen\","
                  "\"params\":{\"textDocument\":{\"uri\":\"%s\","
                  "\"languageId\":\"yaml\",\"version\":1,\"text\":",
                  uri);
  client_quote(&message, text, strlen(text));
  pai__buf_str(&message, "}}}");
  assert_ok(client_pass(c, message.data));
  client_work(c);
  pai__buf_dispose(&message);
}
