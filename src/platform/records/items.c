/*
 * items.c - cache of list entries of jobs
 *
 * Writing an entry costs more than finding its job, and the same pages are
 * requested again and again.  An entry's slot is the job's id modulo the size,
 * so jobs with neighbouring ids do not collide; a later entry replaces the one
 * in its slot.
 */
#include "platform/records/items.h"

enum {
  ITEMS = 8192,
  LONGEST = 4096, /* most bytes of an entry */
  MOST = 6 << 20  /* most bytes of all entries */
};

typedef struct item {
  uint64_t version; /* of the job; 0: empty slot */
  char *json;
  size_t len;
} item;

struct pai__job_items {
  item at[ITEMS];
  size_t bytes;
};

static void forget(pai_platform *p, item *i)
{
  p->items->bytes -= i->len;
  pai__free(&p->alloc, i->json, i->len);
  *i = (item){ 0 };
}

static void forget_all(pai_platform *p)
{
  for (size_t i = 0; i < ITEMS; i++)
    forget(p, &p->items->at[i]);
}

/* No two jobs have the same version. */
pai__bytes pai__items_find(const pai_platform *p, const pai__job_row *job)
{
  const item *i = p->items != NULL ? &p->items->at[job->id % ITEMS] : NULL;

  if (i == NULL || job->version == 0 || i->version != job->version)
    return (pai__bytes){ NULL, 0 };
  return (pai__bytes){ i->json, i->len };
}

void pai__items_keep(pai_platform *p, const pai__job_row *job,
                     const pai__buf *written)
{
  item *i;

  if (job->version == 0 || !pai__buf_ok(written) || written->len > LONGEST)
    return;
  if (p->items == NULL)
    p->items = pai__zalloc(&p->alloc, sizeof(*p->items));
  if (p->items == NULL)
    return;
  if (p->items->bytes + written->len > MOST)
    forget_all(p);
  i = &p->items->at[job->id % ITEMS];
  forget(p, i);
  i->json = pai__realloc(&p->alloc, NULL, 0, written->len, 1);
  if (i->json == NULL)
    return;
  memcpy(i->json, written->data, written->len);
  i->len = written->len;
  i->version = job->version;
  p->items->bytes += i->len;
}

void pai__items_free(pai_platform *p)
{
  if (p->items == NULL)
    return;
  forget_all(p);
  pai__free(&p->alloc, p->items, sizeof(*p->items));
  p->items = NULL;
}
