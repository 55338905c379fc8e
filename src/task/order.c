/* order.c - checks an order and turns its offsets into pointers */
#include "order.h"

#include <string.h>

/* Texts end, because the last byte of the block is 0.  No text may be in the
 * header, whose fields change. */
static int open_text(char *bytes, size_t size, pai_order_text *t)
{
  uint64_t offset = t->offset;

  t->text = NULL;
  if (offset == 0)
    return 0;
  if (offset < sizeof(pai_order) || offset >= size)
    return -1;
  t->text = bytes + offset;
  return 0;
}

/* Pointers are not larger than slots, so pointers written never overwrite
 * slots still to be read.  If two lists overlap, the second finds addresses,
 * which are invalid offsets. */
static int open_list(char *bytes, size_t size, pai_order_list *list)
{
  uint64_t at = list->offset, slot;
  char **texts;

  list->texts = NULL;
  if (at == 0)
    return 0;
  if (at < sizeof(pai_order) || at % sizeof(slot) != 0)
    return -1;
  texts = (void *)(bytes + (at < size ? at : 0));
  list->texts = texts;
  for (;; at += sizeof(slot)) {
    if (at >= size || size - at < sizeof(slot))
      return -1;
    memcpy(&slot, bytes + at, sizeof(slot));
    if (slot != 0 && (slot < sizeof(pai_order) || slot >= size))
      return -1;
    *texts++ = slot != 0 ? bytes + slot : NULL;
    if (slot == 0)
      return 0;
  }
}

static int open_lists(char *bytes, size_t size, pai_order *o)
{
  pai_order_list *lists[] = { &o->argv,      &o->env,      &o->cleanup,
                              &o->procs,     &o->groups,   &o->enter,
                              &o->enter_tty, &o->enter_env };

  for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
    if (open_list(bytes, size, lists[i]) < 0)
      return -1;
  return 0;
}

static int open_texts(char *bytes, size_t size, pai_order *o)
{
  pai_order_text *texts[] = { &o->workdir, &o->script, &o->oom_file,
                              &o->note,    &o->cpus,   &o->nodes,
                              &o->gids,    &o->tmp,    &o->status };

  for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
    if (open_text(bytes, size, texts[i]) < 0)
      return -1;
  return 0;
}

int pai_order_open(void *bytes, size_t size)
{
  pai_order *o = bytes;
  char *b = bytes;

  if (size <= sizeof(*o) || o->magic != PAI_ORDER_MAGIC ||
      o->version != PAI_ORDER_VERSION || o->size != size ||
      b[size - 1] != '\0' || o->log_limit == 0)
    return -1;
  if (open_lists(b, size, o) < 0 || open_texts(b, size, o) < 0)
    return -1;
  if (o->argv.texts == NULL || o->argv.texts[0] == NULL ||
      o->env.texts == NULL || o->script.text == NULL)
    return -1;
  if ((o->enter.texts == NULL) != (o->enter_tty.texts == NULL))
    return -1;
  return o->cleanup.texts != NULL && o->cleanup.texts[0] == NULL ? -1 : 0;
}
