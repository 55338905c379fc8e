/* trace_queue.c - records on their way into order */
#include "sim/trace.h"

#include "resource/read.h"

enum { CHUNK_ROOM = 128 << 10, ALIGN = 8 };

struct pai__chunk {
  pai__chunk *next; /* of those that are spare */
  size_t used, cap;
  size_t live; /* items that were not dropped */
};

void pai__queue_init(pai__queue *q, const pai_alloc *alloc)
{
  memset(q, 0, sizeof(*q));
  q->alloc = alloc;
}

static void free_chunk(pai__queue *q, pai__chunk *chunk)
{
  pai__free(q->alloc, chunk, sizeof(*chunk) + chunk->cap);
}

void pai__queue_drop(pai__queue *q, pai__item *item)
{
  pai__chunk *chunk = item->chunk;

  if (--chunk->live > 0)
    return;
  chunk->used = 0;
  if (chunk == q->chunk)
    return;
  if (chunk->cap > CHUNK_ROOM) {
    free_chunk(q, chunk);
    return;
  }
  chunk->next = q->spare;
  q->spare = chunk;
}

void pai__queue_dispose(pai__queue *q)
{
  pai__item *item;
  pai__chunk *chunk;

  while ((item = pai__queue_take(q)) != NULL)
    pai__queue_drop(q, item);
  while ((chunk = q->spare) != NULL) {
    q->spare = chunk->next;
    free_chunk(q, chunk);
  }
  if (q->chunk != NULL)
    free_chunk(q, q->chunk);
  pai__free(q->alloc, q->ring, q->ring_cap * sizeof(*q->ring));
  pai__free(q->alloc, q->heap, q->heap_cap * sizeof(*q->heap));
  pai__queue_init(q, q->alloc);
}

/* --- memory ---------------------------------------------------------------- */

/* A chunk with so much room is the current one. */
static int find_chunk(pai__queue *q, size_t size)
{
  pai__chunk *chunk = q->chunk;
  size_t cap = size > CHUNK_ROOM ? size : CHUNK_ROOM;

  if (chunk != NULL && chunk->cap - chunk->used >= size)
    return PAI_OK;
  if (q->spare != NULL && cap == CHUNK_ROOM) {
    q->chunk = q->spare;
    q->spare = q->spare->next;
  } else {
    q->chunk = pai__realloc(q->alloc, NULL, 0, sizeof(*chunk) + cap, 1);
    if (q->chunk == NULL) {
      q->chunk = chunk;
      return PAI_ENOMEM;
    }
    q->chunk->used = q->chunk->live = 0;
    q->chunk->cap = cap;
  }
  if (chunk != NULL && chunk->live == 0)
    free_chunk(q, chunk); /* it was too small, and has nothing */
  return PAI_OK;
}

static size_t items_size(const pai__draft *d)
{
  return sizeof(pai__item) + d->nwants * sizeof(pai_want) +
         d->nattempts * sizeof(pai_trace_attempt) +
         d->nafter * sizeof(const char *);
}

static size_t text_size(pai__slice text)
{
  return text.s != NULL ? text.len + 1 : 0;
}

static size_t draft_size(const pai__draft *d)
{
  size_t size = items_size(d);

  for (size_t i = 0; i < PAI__TEXTS; i++)
    size += text_size(d->texts[i]);
  for (size_t i = 0; i < d->nwants; i++)
    size += text_size(d->wants[i].name) + text_size(d->wants[i].type);
  for (size_t i = 0; i < d->nafter; i++)
    size += text_size(d->after[i]);
  return (size + ALIGN - 1) / ALIGN * ALIGN;
}

static char *add_text(char **at, pai__slice text)
{
  char *to = *at;

  if (text.s == NULL)
    return NULL;
  memcpy(to, text.s, text.len);
  to[text.len] = '\0';
  *at += text.len + 1;
  return to;
}

/* Kinds of GPUs are called as clusters call them, wherever they are from. */
static const char *add_type(char **at, pai__slice type, bool is_ours)
{
  char *to = *at;
  size_t len;

  if (is_ours || type.s == NULL)
    return add_text(at, type);
  len = pai__kind_text(to, type.len + 1, type.s, type.len);
  *at += len + 1;
  return len > 0 ? to : NULL;
}

static pai_want *item_wants(const pai__item *item)
{
  return (pai_want *)(void *)(item + 1);
}

static pai_trace_attempt *item_attempts(const pai__item *item)
{
  return (pai_trace_attempt *)(void *)(item_wants(item) + item->nwants);
}

static const char **item_after(const pai__item *item)
{
  return (const char **)(void *)(item_attempts(item) + item->nattempts);
}

static void fill_lists(pai__item *item, const pai__draft *d, char **at)
{
  pai_want *wants;
  const char **after;

  item->nwants = (uint32_t)d->nwants;
  item->nattempts = (uint32_t)d->nattempts;
  item->nafter = (uint32_t)d->nafter;
  wants = item_wants(item);
  after = item_after(item);
  for (size_t i = 0; i < d->nwants; i++) {
    const pai__draft_want *w = &d->wants[i];

    wants[i] = (pai_want){ sizeof(pai_want),
                           add_text(at, w->name),
                           add_type(at, w->type, w->is_ours || !d->foreign),
                           w->tasks,
                           w->min_tasks,
                           w->gpus,
                           w->cpus,
                           w->ports,
                           w->memory };
  }
  if (d->nattempts > 0)
    memcpy(item_attempts(item), d->attempts,
           d->nattempts * sizeof(*d->attempts));
  for (size_t i = 0; i < d->nafter; i++)
    after[i] = add_text(at, d->after[i]);
}

static pai__item *make_item(pai__queue *q, const pai__draft *d, uint64_t line)
{
  size_t size = draft_size(d);
  pai__item *item;
  char *at;

  if (find_chunk(q, size) < 0)
    return NULL;
  item = (pai__item *)(void *)((char *)(q->chunk + 1) + q->chunk->used);
  q->chunk->used += size;
  q->chunk->live++;
  item->chunk = q->chunk;
  item->time = d->time;
  item->seq = q->seq++;
  item->line = line;
  item->estimate = d->estimate;
  item->limit = d->limit;
  item->patience = d->patience;
  item->started = d->started;
  item->kind = d->kind;
  item->state = d->state;
  item->priority = d->priority;
  item->retries = d->retries;
  at = (char *)item + items_size(d);
  fill_lists(item, d, &at);
  for (size_t i = 0; i < PAI__TEXTS; i++) {
    const char *text = add_text(&at, d->texts[i]);

    item->texts[i] = text != NULL ? (uint32_t)(text - (char *)item) : 0;
  }
  return item;
}

void pai__item_view(const pai__item *item, pai_trace_record *r)
{
  const char *texts[PAI__TEXTS];

  for (size_t i = 0; i < PAI__TEXTS; i++)
    texts[i] =
      item->texts[i] != 0 ? (const char *)item + item->texts[i] : NULL;
  r->struct_size = sizeof(*r);
  r->kind = item->kind;
  r->line = item->line;
  r->time = item->time;
  r->id = texts[PAI__TEXT_ID];
  r->name = texts[PAI__TEXT_NAME];
  r->user = texts[PAI__TEXT_USER];
  r->vc = texts[PAI__TEXT_VC];
  r->pin = texts[PAI__TEXT_PIN];
  r->within = texts[PAI__TEXT_WITHIN];
  r->priority = item->priority;
  r->estimate = item->estimate;
  r->limit = item->limit;
  r->patience = item->patience;
  r->started = item->started;
  r->retries = item->retries;
  r->nwants = item->nwants;
  r->wants = item->nwants > 0 ? item_wants(item) : NULL;
  r->nattempts = item->nattempts;
  r->attempts = item->nattempts > 0 ? item_attempts(item) : NULL;
  r->nafter = item->nafter;
  r->after = item->nafter > 0 ? item_after(item) : NULL;
  r->node = texts[PAI__TEXT_NODE];
  r->state = item->state;
  r->why = texts[PAI__TEXT_WHY];
}

/* --- order ----------------------------------------------------------------- */

static bool before(const pai__late *a, const pai__late *b)
{
  return a->time != b->time ? a->time < b->time : a->seq < b->seq;
}

static void heap_up(pai__queue *q, pai__late late)
{
  size_t i = q->nheap++;

  while (i > 0 && before(&late, &q->heap[(i - 1) / 2])) {
    q->heap[i] = q->heap[(i - 1) / 2];
    i = (i - 1) / 2;
  }
  q->heap[i] = late;
}

static void heap_pop(pai__queue *q)
{
  pai__late last = q->heap[--q->nheap];
  size_t i = 0, child;

  while ((child = 2 * i + 1) < q->nheap) {
    if (child + 1 < q->nheap && before(&q->heap[child + 1], &q->heap[child]))
      child++;
    if (!before(&q->heap[child], &last))
      break;
    q->heap[i] = q->heap[child];
    i = child;
  }
  q->heap[i] = last;
}

static int grow_ring(pai__queue *q)
{
  size_t cap = q->ring_cap == 0 ? 1024 : q->ring_cap * 2;
  pai__item **ring = pai__realloc(q->alloc, NULL, 0, cap, sizeof(*ring));

  if (ring == NULL)
    return PAI_ENOMEM;
  for (size_t i = 0; i < q->count; i++)
    ring[i] = q->ring[(q->first + i) & (q->ring_cap - 1)];
  pai__free(q->alloc, q->ring, q->ring_cap * sizeof(*ring));
  q->ring = ring;
  q->ring_cap = cap;
  q->first = 0;
  return PAI_OK;
}

int pai__queue_put(pai__queue *q, const pai__draft *d, uint64_t line)
{
  pai__item *item;

  if (q->count == q->ring_cap && grow_ring(q) < 0)
    return PAI_ENOMEM;
  if (PAI__VEC_ROOM(q->alloc, q->heap, q->nheap, q->heap_cap) < 0)
    return PAI_ENOMEM;
  item = make_item(q, d, line);
  if (item == NULL)
    return PAI_ENOMEM;
  if (q->count == 0 ||
      q->ring[(q->first + q->count - 1) & (q->ring_cap - 1)]->time <=
        item->time)
    q->ring[(q->first + q->count++) & (q->ring_cap - 1)] = item;
  else
    heap_up(q, (pai__late){ item->time, item->seq, item });
  return PAI_OK;
}

pai__item *pai__queue_take(pai__queue *q)
{
  pai__item *item = q->count > 0 ? q->ring[q->first] : NULL;
  pai__late next;

  if (item != NULL)
    next = (pai__late){ item->time, item->seq, item };
  if (q->nheap > 0 && (item == NULL || before(&q->heap[0], &next))) {
    item = q->heap[0].item;
    heap_pop(q);
  } else if (item != NULL) {
    q->first = (q->first + 1) & (q->ring_cap - 1);
    q->count--;
  }
  return item;
}
