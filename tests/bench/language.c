/* language.c - a key press in an open document until its diagnostics are sent,
 * against a check of the same text alone: messages, lines and positions cost
 * what is left */
#include "bench.h"

#include <openpai/language.h>
#include <openpai/spec.h>

#include <stdio.h>

enum { ROLES = 1800 }; /* of the long job: about 1 MB */

typedef struct editing {
  pai_language *server;
  pai__buf text;
  bool typed;  /* whether the letter is there */
  size_t sent; /* bytes of diagnostics */
} editing;

static editing one;

static int on_send(void *user_data, const char *json, size_t len)
{
  editing *e = user_data;

  (void)json;
  e->sent += len;
  return PAI_OK;
}

static int say(editing *e, const char *message, size_t len)
{
  int rc = pai_language_receive(e->server, message, len, NULL);

  while (rc >= 0 && (rc = pai_language_work(e->server, NULL)) > 0)
    ;
  return rc;
}

static void teardown(void *data)
{
  editing *e = data;

  pai_language_free(e->server);
  pai__buf_dispose(&e->text);
}

/* Opens the text; its characters need no escape but line ends and quotes. */
static int open_text(editing *e)
{
  static const char first[] = "{\"id\":1,\"method\":\"initialize\","
                              "\"params\":{\"capabilities\":{}}}";
  pai__buf message;
  int rc = say(e, first, sizeof(first) - 1);

  pai__buf_init(&message, &pai__libc_alloc);
  pai__buf_str(&message,
               "{\"method\":\"textDocument/didOpen\",\"params\":{"
               "\"textDocument\":{\"uri\":\"file:///a\",\"text\":\"");
  for (size_t i = 0; i < e->text.len; i++) {
    char c = e->text.data[i];

    if (c == '"' || c == '\\')
      pai__buf_char(&message, '\\');
    pai__buf_str(&message, c == '\n' ? "\\n" : (char[]){ c, '\0' });
  }
  pai__buf_str(&message, "\"}}}");
  if (rc == PAI_OK)
    rc =
      pai__buf_ok(&message) ? say(e, message.data, message.len) : PAI_ENOMEM;
  pai__buf_dispose(&message);
  return rc;
}

static void *begin(void)
{
  pai_language_options o = PAI_LANGUAGE_OPTIONS_INIT;

  o.user_data = &one;
  o.send = on_send;
  if (pai__buf_ok(&one.text) &&
      pai_language_new(&one.server, &o, NULL) == PAI_OK &&
      open_text(&one) == PAI_OK)
    return &one;
  teardown(&one);
  return NULL;
}

static void *setup_short(void)
{
  one = (editing){ 0 };
  pai__buf_init(&one.text, &pai__libc_alloc);
  bench_yaml_spec(&one.text);
  return begin();
}

static void *setup_long(void)
{
  one = (editing){ 0 };
  pai__buf_init(&one.text, &pai__libc_alloc);
  bench_yaml_spec(&one.text);
  for (int i = 0; i < ROLES; i++)
    pai__buf_printf(&one.text,
                    "  more%d:\n    instances: 1\n    dockerImage: "
                    "docker_image_0\n    resourcePerInstance: {cpu: 1, "
                    "memoryMB: 100, gpu: 0}\n    commands:\n"
                    "      - echo %0400d\n",
                    i, i);
  return begin();
}

/* Types a letter behind the name of the job, or deletes it. */
static int ours(void *data)
{
  editing *e = data;
  char message[320];
  size_t sent = e->sent;
  int len = snprintf(
    message, sizeof(message),
    "{\"method\":\"textDocument/didChange\",\"params\":{\"textDocument\":{"
    "\"uri\":\"file:///a\"},\"contentChanges\":[{\"range\":{\"start\":{"
    "\"line\":1,\"character\":6},\"end\":{\"line\":1,\"character\":%d}},"
    "\"text\":\"%s\"}]}}",
    e->typed ? 7 : 6, e->typed ? "" : "x");
  int rc = say(e, message, (size_t)len);

  e->typed = !e->typed;
  return rc < 0 ? rc : e->sent > sent ? PAI_OK : PAI_EINTERNAL;
}

static int baseline(void *data)
{
  const editing *e = data;
  pai_report *report;
  int rc =
    pai_spec_check(&report, NULL, e->text.data, e->text.len, NULL, NULL);

  pai_report_free(report);
  return rc;
}

const bench bench_language[] = {
  { "key-press", "a key press to its diagnostics / a check of 2.5 KB",
    "key press", 0.5, setup_short, teardown, ours, baseline },
  { "key-press-long", "a key press to its diagnostics / a check of 1 MB",
    "key press", 0.5, setup_long, teardown, ours, baseline },
  { .name = NULL },
};
