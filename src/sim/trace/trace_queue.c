/* trace_queue.c - queue that sorts the records of a trace by time */
#include "sim/trace/trace.h"

#include "resource/cluster/read.h"

enum { CHUNK_ROOM = 128 << 10, ALIGN = 8 };

struct pai__chunk {
  pai__chunk *next; /* in the list of spare chunks */
  size_t used, cap;
  size_t live; /* items not dropped yet */
};

void pai__queue_init(pai__sim_queue *q, const pai_alloc *alloc)
{
  memset(q, 0, sizeof(*q));
  q->alloc = alloc;
}

static void free_chunk(pai__sim_queue *q, pai__chunk *chunk)
{
  pai__free(q->alloc, chunk, sizeof(*chunk) + chunk->cap);
}

void pai__queue_drop(pai__sim_queue *q, pai__item *item)
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

void pai__queue_dispose(pai__sim_queue *q)
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

/* --- memory -------------------------------------------------------------- */

/* Makes a chunk with `size` free bytes the current one. */
static int find_chunk(pai__sim_queue *q, size_t size)
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
    free_chunk(q, chunk); /* too small, and empty */
  return PAI_OK;
}

static size_t lists_size(const pai__draft *d)
{
  return d->nwants * sizeof(pai_want) +
         d->nattempts * sizeof(pai_trace_attempt) +
         d->nafter * sizeof(const char *);
}

static size_t text_size(pai__slice text)
{
  return text.s != NULL ? text.len + 1 : 0;
}

static size_t draft_size(const pai__draft *d)
{
  size_t size = sizeof(pai__item) + lists_size(d);

  for (size_t i = 0; i < PAI__TEXTS; i++)
    size += text_size(d->texts[i]);
  for (size_t i = 0; i < d->nwants; i++)
    size += text_size(d->wants[i].name) + text_size(d->wants[i].type);
  for (size_t i = 0; i < d->nafter; i++)
    size += text_size(d->after[i]);
  return (size + ALIGN - 1) / ALIGN * ALIGN;
}

static const char *add_text(char **at, pai__slice text)
{
  char *to = *at;

  if (text.s == NULL)
    return NULL;
  memcpy(to, text.s, text.len);
  to[text.len] = '\0';
  *at += text.len + 1;
  return to;
}

/* Types of GPUs are normalized as clusters do it, unless they are already. */
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

/* Fills the lists behind the item; their texts go to *at. */
static void fill_lists(pai__item *item, const pai__draft *d, char **at)
{
  pai_want *wants = (pai_want *)(void *)(item + 1);
  pai_trace_attempt *attempts =
    (pai_trace_attempt *)(void *)(wants + d->nwants);
  const char **after = (const char **)(void *)(attempts + d->nattempts);

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
                           w->memory,
                           0 };
  }
  if (d->nattempts > 0)
    memcpy(attempts, d->attempts, d->nattempts * sizeof(*attempts));
  for (size_t i = 0; i < d->nafter; i++)
    after[i] = add_text(at, d->after[i]);
  item->r.nwants = d->nwants;
  item->r.wants = d->nwants > 0 ? wants : NULL;
  item->r.nattempts = d->nattempts;
  item->r.attempts = d->nattempts > 0 ? attempts : NULL;
  item->r.nafter = d->nafter;
  item->r.after = d->nafter > 0 ? after : NULL;
}

static void fill_item(pai__item *item, const pai__draft *d, uint64_t line)
{
  char *at = (char *)(item + 1) + lists_size(d);

  item->r = (pai_trace_record){ .struct_size = sizeof(item->r),
                                .kind = d->kind,
                                .line = line,
                                .time = d->time,
                                .priority = d->priority,
                                .estimate = d->estimate,
                                .limit = d->limit,
                                .patience = d->patience,
                                .started = d->started,
                                .retries = d->retries,
                                .state = d->state };
  fill_lists(item, d, &at);
  item->r.id = add_text(&at, d->texts[PAI__TEXT_ID]);
  item->r.name = add_text(&at, d->texts[PAI__TEXT_NAME]);
  item->r.user = add_text(&at, d->texts[PAI__TEXT_USER]);
  item->r.vc = add_text(&at, d->texts[PAI__TEXT_VC]);
  item->r.pin = add_text(&at, d->texts[PAI__TEXT_PIN]);
  item->r.within = add_text(&at, d->texts[PAI__TEXT_WITHIN]);
  item->r.node = add_text(&at, d->texts[PAI__TEXT_NODE]);
  item->r.why = add_text(&at, d->texts[PAI__TEXT_WHY]);
}

static pai__item *make_item(pai__sim_queue *q, const pai__draft *d,
                            uint64_t line)
{
  size_t size = draft_size(d);
  pai__item *item;

  if (find_chunk(q, size) < 0)
    return NULL;
  item = (pai__item *)(void *)((char *)(q->chunk + 1) + q->chunk->used);
  q->chunk->used += size;
  q->chunk->live++;
  item->chunk = q->chunk;
  item->seq = q->seq++;
  fill_item(item, d, line);
  return item;
}

/* --- order --------------------------------------------------------------- */

static bool before(const pai__late *a, const pai__late *b)
{
  return a->time != b->time ? a->time < b->time : a->seq < b->seq;
}

static void heap_up(pai__sim_queue *q, pai__late late)
{
  size_t i = q->nheap++;

  while (i > 0 && before(&late, &q->heap[(i - 1) / 2])) {
    q->heap[i] = q->heap[(i - 1) / 2];
    i = (i - 1) / 2;
  }
  q->heap[i] = late;
}

static void heap_pop(pai__sim_queue *q)
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

static int grow_ring(pai__sim_queue *q)
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

int pai__queue_put(pai__sim_queue *q, const pai__draft *d, uint64_t line)
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
      q->ring[(q->first + q->count - 1) & (q->ring_cap - 1)]->r.time <=
        item->r.time)
    q->ring[(q->first + q->count++) & (q->ring_cap - 1)] = item;
  else
    heap_up(q, (pai__late){ item->r.time, item->seq, item });
  return PAI_OK;
}

pai__item *pai__queue_take(pai__sim_queue *q)
{
  pai__item *item = q->count > 0 ? q->ring[q->first] : NULL;
  pai__late next;

  if (item != NULL)
    next = (pai__late){ item->r.time, item->seq, item };
  if (q->nheap > 0 && (item == NULL || before(&q->heap[0], &next))) {
    item = q->heap[0].item;
    heap_pop(q);
  } else if (item != NULL) {
    q->first = (q->first + 1) & (q->ring_cap - 1);
    q->count--;
  }
  return item;
}
