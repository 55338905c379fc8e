/*
 * fuzz_task.c - what the supervisor is given, and what it writes
 *
 * The text is a status; and behind the head of an order, which is made right,
 * it is that.  Whatever is taken can be read to its end.
 */
#include "check.h"

#include "backend/local/status.h"
#include "task/order.h"

#include <stdlib.h>

static void check_status(const char *text, size_t len)
{
  pai__status s, again;

  pai__status_parse(&s, text, len);
  CHECK(s.kind <= PAI__STATUS_FAILED && s.number >= 0 && s.number <= 255);
  CHECK(s.pid >= 0 && s.keeper >= 0 && s.started >= 0 && s.max_rss >= 0);
  CHECK(strlen(s.boot) < sizeof(s.boot));
  /* What is added later changes no end. */
  if (s.kind != PAI__STATUS_EXIT)
    return;
  while (len > 0 && text[len - 1] != '\n')
    len--;
  pai__status_parse(&again, text, len);
  CHECK(again.kind == s.kind && again.number == s.number);
}

static void read_list(char **list, const char *bytes, size_t len)
{
  for (; list != NULL && *list != NULL; list++)
    CHECK(*list >= bytes && *list + strlen(*list) < bytes + len);
}

static void read_text(const char *text, const char *bytes, size_t len)
{
  CHECK(text == NULL || (text >= bytes && text + strlen(text) < bytes + len));
}

static void check_order(const char *text, size_t text_len)
{
  size_t len = text_len + 1;
  pai_order *o;
  char *bytes;

  if (text_len < sizeof(*o))
    return;
  bytes = malloc(len);
  CHECK(bytes != NULL);
  memcpy(bytes, text, text_len);
  bytes[text_len] = '\0';
  o = (void *)bytes;
  o->magic = PAI_ORDER_MAGIC;
  o->version = PAI_ORDER_VERSION;
  o->size = len;
  o->log_limit |= 1;
  if (pai_order_open(bytes, len) == 0) {
    CHECK(o->argv.texts[0] != NULL && o->script.text != NULL);
    read_list(o->argv.texts, bytes, len);
    read_list(o->env.texts, bytes, len);
    read_list(o->cleanup.texts, bytes, len);
    read_list(o->procs.texts, bytes, len);
    read_list(o->groups.texts, bytes, len);
    read_text(o->workdir.text, bytes, len);
    read_text(o->script.text, bytes, len);
    read_text(o->oom_file.text, bytes, len);
    read_text(o->note.text, bytes, len);
    read_text(o->cpus.text, bytes, len);
    read_text(o->nodes.text, bytes, len);
    read_text(o->tmp.text, bytes, len);
  }
  free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  char *text = malloc(size > 0 ? size : 1); /* a copy of just its length */

  CHECK(text != NULL);
  memcpy(text, data, size);
  check_status(text, size);
  check_order(text, size);
  free(text);
  return 0;
}
