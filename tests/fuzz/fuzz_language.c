/* fuzz_language.c - messages of an editor, one a line: what is sent back is
 * JSON, each request is answered once, and the server goes on */
#include "check.h"
#include "json/json.h"

#include <openpai/language.h>

typedef struct editor {
  pai_language *server;
  size_t answers; /* messages with an id and no method */
} editor;

static int on_send(void *user_data, const char *json, size_t len)
{
  const pai__json_options o = { .max_depth = 256 };
  editor *e = user_data;
  pai__tree *t;

  CHECK(pai__json_parse(&t, json, len, &o, NULL) == PAI_OK);
  CHECK(strcmp(pai__tree_look_text(t, 0, "jsonrpc", ""), "2.0") == 0);
  e->answers += pai__tree_get(t, 0, "method") == PAI__NO_NODE;
  pai__tree_free(t);
  return PAI_OK;
}

/* A cluster that answers at once. */
static void on_ask(void *user_data, uint64_t question, int kind,
                   const char *text, size_t len)
{
  static const char *const answers[] = {
    [PAI_LANGUAGE_NAMES] =
      "{\"virtualClusters\":[\"prod\"],\"skus\":[\"t4\"]}",
    [PAI_LANGUAGE_ESTIMATE] = "{\"wait\":60}",
  };
  const editor *e = user_data;

  (void)text;
  (void)len;
  CHECK(pai_language_answer(e->server, question, answers[kind],
                            strlen(answers[kind]), NULL) == PAI_OK);
}

static int on_other(void *user_data, uint64_t request, const char *method,
                    const char *params, size_t len)
{
  const editor *e = user_data;

  (void)method;
  CHECK(strlen(params) == len);
  if (request != 0)
    CHECK(pai_language_respond(e->server, request, params, len, NULL) ==
          PAI_OK);
  return 1;
}

static void work(editor *e)
{
  int rc;

  do
    rc = pai_language_work(e->server, NULL);
  while (rc > 0);
  CHECK(rc == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  pai_language_options o = PAI_LANGUAGE_OPTIONS_INIT;
  const char *at = (const char *)data, *end = at + size;
  editor e = { 0 };
  size_t messages = 0;

  o.user_data = &e;
  o.send = on_send;
  o.ask = on_ask;
  o.other = on_other;
  o.max_bytes = 1 << 16;
  CHECK(pai_language_new(&e.server, &o, NULL) == PAI_OK);
  while (at < end) {
    const char *newline = memchr(at, '\n', (size_t)(end - at));
    size_t len = (size_t)((newline != NULL ? newline : end) - at);
    char *copy = malloc(len + 1); /* exact: reading on is seen */

    CHECK(copy != NULL);
    memcpy(copy, at, len);
    CHECK(pai_language_receive(e.server, copy, len, NULL) == PAI_OK);
    free(copy);
    messages++;
    if (len % 3 == 0) /* else they wait in the queue */
      work(&e);
    at += len + 1;
  }
  work(&e);
  CHECK(e.answers <= messages);
  pai_language_free(e.server);
  return 0;
}
