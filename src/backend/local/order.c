/* order.c - writes an order as bytes: header, texts and lists */
#include "backend/local/order.h"

#include "task/order.h"

enum { LOG_LIMIT = 256 << 20, SAMPLE_MS = 250, MOST_NUMBER = 4095 };

static uint64_t put_text(pai__buf *b, const char *text)
{
  uint64_t at = b->len;

  if (text == NULL)
    return 0;
  pai__buf_add(b, text, strlen(text) + 1);
  return at;
}

/* Writes the texts before the list, because it needs their offsets. */
static uint64_t put_list(pai__buf *b, const char *const *texts)
{
  uint64_t first = b->len, at, slot = 0;

  if (texts == NULL)
    return 0;
  for (size_t i = 0; texts[i] != NULL; i++)
    (void)put_text(b, texts[i]);
  while (b->len % sizeof(slot) != 0 && pai__buf_ok(b))
    pai__buf_char(b, '\0');
  at = b->len;
  for (size_t i = 0; texts[i] != NULL; i++) {
    pai__buf_add(b, &first, sizeof(first));
    first += strlen(texts[i]) + 1;
  }
  pai__buf_add(b, &slot, sizeof(slot));
  return at;
}

/* --- sets of numbers ----------------------------------------------------- */

static const char *read_number(const char *at, unsigned *number)
{
  *number = 0;
  if (*at < '0' || *at > '9')
    return NULL;
  for (; *at >= '0' && *at <= '9'; at++) {
    *number = *number * 10 + (unsigned)(*at - '0');
    if (*number > MOST_NUMBER)
      return NULL;
  }
  return at;
}

/* Converts "0-3,8" to "10f", at the end of `digits`; returns its beginning, or
 * NULL. */
static char *write_mask(char digits[MOST_NUMBER / 4 + 2], const char *list)
{
  unsigned char bits[MOST_NUMBER / 4 + 1] = { 0 };
  unsigned first, last, highest = 0;
  char *at = digits;

  for (;; list++) {
    list = read_number(list, &first);
    last = first;
    if (list != NULL && *list == '-')
      list = read_number(list + 1, &last);
    if (list == NULL || last < first)
      return NULL;
    for (unsigned i = first; i <= last; i++)
      bits[i / 4] = (unsigned char)(bits[i / 4] | 1u << i % 4);
    highest = last > highest ? last : highest;
    if (*list != ',')
      break;
  }
  for (unsigned i = highest / 4 + 1; i-- > 0;)
    *at++ = "0123456789abcdef"[bits[i]];
  *at = '\0';
  return *list == '\0' ? digits : NULL;
}

static int put_mask(pai__buf *b, const char *list, uint64_t *offset)
{
  char digits[MOST_NUMBER / 4 + 2];

  *offset = 0;
  if (list == NULL || list[0] == '\0')
    return PAI_OK;
  if (write_mask(digits, list) == NULL)
    return PAI_EINVAL;
  *offset = put_text(b, digits);
  return PAI_OK;
}

int pai__order_write(pai__buf *out, const pai__backend_order *order)
{
  pai_order o = { .magic = PAI_ORDER_MAGIC,
                  .version = PAI_ORDER_VERSION,
                  .log_limit = order->log_limit,
                  .memory = order->memory,
                  .sample_ms = SAMPLE_MS,
                  .flags = order->flags,
                  .nice = order->nice,
                  .uid = order->uid,
                  .gid = order->gid,
                  .holder = order->holder };

  if (o.log_limit == 0)
    o.log_limit = LOG_LIMIT;
  pai__buf_clear(out);
  pai__buf_add(out, &o, sizeof(o));
  if (put_mask(out, order->cpus, &o.cpus.offset) < 0 ||
      put_mask(out, order->numa_nodes, &o.nodes.offset) < 0)
    return PAI_EINVAL;
  o.argv.offset = put_list(out, order->argv);
  o.env.offset = put_list(out, order->env);
  o.cleanup.offset = put_list(out, order->cleanup);
  o.procs.offset = put_list(out, order->procs);
  o.groups.offset = put_list(out, order->groups);
  o.enter.offset = put_list(out, order->enter);
  o.enter_tty.offset = put_list(out, order->enter_tty);
  o.enter_env.offset = put_list(out, order->enter_env);
  o.workdir.offset = put_text(out, order->workdir);
  o.script.offset = put_text(out, order->script);
  o.oom_file.offset = put_text(out, order->oom_file);
  o.note.offset = put_text(out, order->note);
  o.gids.offset = put_text(out, order->gids);
  o.tmp.offset = put_text(out, order->tmp);
  o.status.offset = put_text(out, order->status);
  pai__buf_char(out, '\0');
  if (!pai__buf_ok(out))
    return PAI_ENOMEM;
  o.size = out->len;
  memcpy(out->data, &o, sizeof(o));
  return PAI_OK;
}
