/* allocation.c - allocation sets: create, manage memory, change by one
 * range */
#include "resource/allocation/allocation.h"

#include <inttypes.h>

static void init(pai_allocation *set, const pai_alloc *alloc)
{
  *set = (pai_allocation){ .alloc = *pai__alloc_or_libc(alloc) };
}

static pai_allocation *make(const pai_alloc *alloc)
{
  pai_allocation *set = pai__zalloc(pai__alloc_or_libc(alloc), sizeof(*set));

  if (set != NULL)
    init(set, alloc);
  return set;
}

int pai_allocation_new(pai_allocation **out, const pai_alloc *alloc,
                       pai_error **err)
{
  PAI__CLEAR_OUT(out, err);
  *out = make(alloc);
  return *out != NULL ? PAI_OK : pai__oom(err);
}

void pai_allocation_clear(pai_allocation *set)
{
  pai_alloc alloc = set->alloc;

  pai__free(&alloc, set->shares, set->cap * sizeof(*set->shares));
  pai__free(&alloc, set->pool, set->pool_cap * sizeof(*set->pool));
  init(set, &alloc);
}

void pai_allocation_free(pai_allocation *set)
{
  pai_alloc alloc;

  if (set == NULL)
    return;
  pai_allocation_clear(set);
  alloc = set->alloc;
  pai__free(&alloc, set, sizeof(*set));
}

/* --- memory ------------------------------------------------------------- */

/* Copies one block to the end of a pool; returns its new offset. */
static size_t move(uint64_t *pool, size_t *len, const uint64_t *from,
                   size_t words)
{
  size_t at = *len;

  memcpy(pool + at, from, words * sizeof(*pool));
  *len += words;
  return at;
}

/* Returns the words of the blocks of a set that are in use. */
static size_t live_words(const pai_allocation *set)
{
  size_t live = 0;

  for (size_t i = 0; i < set->len; i++) {
    const pai__set_share *s = &set->shares[i];

    for (unsigned k = 0; k < PAI__KINDS; k++)
      live += s->words[k] > 1 ? s->words[k] : 0;
    live += pai__range_words(s->ranges);
  }
  return live;
}

/* Copies the blocks of shares from one pool to another, sets their new offsets
 * in the shares, and returns the length of the new pool. */
static size_t move_blocks(uint64_t *to, pai__set_share *shares, size_t n,
                          const uint64_t *from)
{
  size_t len = 0;

  for (size_t i = 0; i < n; i++) {
    pai__set_share *s = &shares[i];

    for (unsigned k = 0; k < PAI__KINDS; k++)
      if (s->words[k] > 1)
        s->bits[k] = move(to, &len, from + s->bits[k], s->words[k]);
    if (s->ranges > PAI__RANGES_HERE)
      s->ports[0] = (uint32_t)move(to, &len, from + s->ports[0],
                                   pai__range_words(s->ranges));
  }
  return len;
}

static int grow_shares(pai_allocation *set, size_t more)
{
  size_t cap = set->cap + set->cap / 2;
  void *grown;

  if (cap < set->len + more)
    cap = set->len + more;
  grown = pai__realloc(&set->alloc, set->shares, set->cap, cap,
                       sizeof(*set->shares));
  if (grown == NULL)
    return PAI_ENOMEM;
  set->shares = grown;
  set->cap = cap;
  return PAI_OK;
}

static int grow_pool(pai_allocation *set, size_t more)
{
  size_t want = live_words(set) + more, cap = want + want / 2;
  uint64_t *pool;

  if (cap > UINT32_MAX) /* the offset of ranges has 32 bits */
    return PAI_ENOMEM;
  pool = pai__realloc(&set->alloc, NULL, 0, cap, sizeof(*pool));
  if (pool == NULL)
    return PAI_ENOMEM;
  set->pool_len = move_blocks(pool, set->shares, set->len, set->pool);
  pai__free(&set->alloc, set->pool, set->pool_cap * sizeof(*pool));
  set->pool = pool;
  set->pool_cap = cap;
  return PAI_OK;
}

int pai__allocation_reserve(pai_allocation *set, pai__set_room room)
{
  if (room.shares > set->cap - set->len && grow_shares(set, room.shares) < 0)
    return PAI_ENOMEM;
  if (room.words > set->pool_cap - set->pool_len)
    return grow_pool(set, room.words);
  return PAI_OK;
}

size_t pai__allocation_block(pai_allocation *set, size_t words)
{
  size_t at = set->pool_len;

  set->pool_len += words;
  return at;
}

/* Allocates exactly this much in an empty set. */
static int get_room(pai_allocation *set, size_t shares, size_t words)
{
  if (shares != 0) {
    set->shares =
      pai__realloc(&set->alloc, NULL, 0, shares, sizeof(*set->shares));
    if (set->shares == NULL)
      return PAI_ENOMEM;
    set->cap = shares;
  }
  if (words != 0) {
    set->pool = pai__realloc(&set->alloc, NULL, 0, words, sizeof(*set->pool));
    if (set->pool == NULL)
      return PAI_ENOMEM;
    set->pool_cap = words;
  }
  return PAI_OK;
}

int pai_allocation_copy(pai_allocation **out, const pai_allocation *set,
                        pai_error **err)
{
  pai_allocation *copy;

  PAI__CLEAR_OUT(out, err);
  PAI__CHECK_ARG_ERR(set != NULL, err);
  copy = make(&set->alloc);
  if (copy == NULL || get_room(copy, set->len, live_words(set)) < 0) {
    pai_allocation_free(copy);
    return pai__oom(err);
  }
  if (set->len != 0)
    memcpy(copy->shares, set->shares, set->len * sizeof(*set->shares));
  copy->len = set->len;
  if (copy->pool != NULL)
    copy->pool_len =
      move_blocks(copy->pool, copy->shares, copy->len, set->pool);
  *out = copy;
  return PAI_OK;
}

size_t pai__allocation_search(const pai_allocation *set, size_t at,
                              uint32_t node)
{
  size_t low = at, step = 1, high;

  if (low >= set->len || set->shares[low].node >= node)
    return low;
  /* Double the step each time: near shares are found fast, and far ones in
   * logarithmic time. */
  while (set->len - low > step && set->shares[low + step].node < node) {
    low += step;
    step *= 2;
  }
  high = set->len - low > step ? low + step : set->len;
  while (high - low > 1) { /* invariant: low is below the node, high is not */
    size_t mid = low + (high - low) / 2;

    if (set->shares[mid].node < node)
      low = mid;
    else
      high = mid;
  }
  return high;
}

/* --- one range ---------------------------------------------------------- */

const char *pai__allocation_kind(int kind, uint32_t *limit)
{
  switch (kind) {
  case PAI_ALLOCATION_GPU: *limit = PAI_ALLOCATION_GPUS; return "gpu";
  case PAI_ALLOCATION_CPU: *limit = PAI_ALLOCATION_CPUS; return "cpu";
  case PAI_ALLOCATION_PORT: *limit = PAI_ALLOCATION_PORTS; return "port";
  default: *limit = 0; return NULL;
  }
}

static int check_node(uint32_t node, pai_error **err)
{
  if (node < PAI_ALLOCATION_NODES)
    return PAI_OK;
  return pai__fail(err, PAI_ELIMIT,
                   "node %" PRIu32 " is too large: the last "
                   "that can be is %d",
                   node, PAI_ALLOCATION_NODES - 1);
}

static int check_range(uint32_t node, int kind, uint32_t first, uint32_t last,
                       pai_error **err)
{
  uint32_t limit;
  const char *name = pai__allocation_kind(kind, &limit);
  int rc = check_node(node, err);

  if (rc < 0)
    return rc;
  if (name == NULL)
    return pai__fail(err, PAI_EINVAL, "unknown kind of device %d", kind);
  if (last >= limit)
    return pai__fail(err, PAI_ELIMIT,
                     "%s %" PRIu32 " is too large: the last that can be is "
                     "%" PRIu32,
                     name, last, limit - 1);
  if (last < first)
    return pai__fail(err, PAI_EINVAL,
                     "%s %" PRIu32 "-%" PRIu32 ": the last number is below "
                     "the first",
                     name, first, last);
  return PAI_OK;
}

/* Applies one range, as a set, to a set. */
static int change(pai_allocation *set, uint32_t node, int kind, uint32_t first,
                  uint32_t last, enum pai__operation operation,
                  pai_error **err)
{
  uint64_t words[PAI__BITS_WORDS(PAI_ALLOCATION_CPUS)];
  pai__set_share share = { .node = node };
  pai_allocation range = { .shares = &share, .len = 1, .pool = words };
  size_t n = last / 64 + 1;
  unsigned k = kind == PAI_ALLOCATION_GPU ? PAI__GPUS : PAI__CPUS;
  int rc = check_range(node, kind, first, last, err);

  if (rc < 0)
    return rc;
  if (kind == PAI_ALLOCATION_PORT) {
    share.ranges = 1;
    share.ports[0] = pai__port_range(first, last);
  } else {
    memset(words, 0, n * sizeof(*words));
    pai__bits_set(words, first, last);
    share.words[k] = (uint8_t)n;
    share.bits[k] = n == 1 ? words[0] : 0; /* the block's offset is 0 */
  }
  return pai__allocation_apply(set, &range, operation) < 0 ? pai__oom(err)
                                                           : PAI_OK;
}

int pai_allocation_add(pai_allocation *set, uint32_t node, int kind,
                       uint32_t first, uint32_t last, pai_error **err)
{
  PAI__CHECK_ARG_ERR(set != NULL, err);
  return change(set, node, kind, first, last, PAI__UNITE, err);
}

int pai_allocation_remove(pai_allocation *set, uint32_t node, int kind,
                          uint32_t first, uint32_t last, pai_error **err)
{
  PAI__CHECK_ARG_ERR(set != NULL, err);
  return change(set, node, kind, first, last, PAI__SUBTRACT, err);
}

int pai_allocation_set_memory(pai_allocation *set, uint32_t node,
                              uint64_t bytes, pai_error **err)
{
  pai__set_share share = { .node = node };
  pai_allocation all = { .shares = &share, .len = 1 };
  int rc;

  PAI__CHECK_ARG_ERR(set != NULL, err);
  rc = check_node(node, err);
  if (rc < 0)
    return rc;
  if (bytes > PAI_ALLOCATION_MAX_MEMORY)
    return pai__fail(err, PAI_ELIMIT,
                     "%" PRIu64 " bytes of memory on node %" PRIu32
                     " are too much: the most that can be is 128T",
                     bytes, node);
  /* First up to the larger of the two amounts, which may allocate; then down
   * again, which cannot fail. */
  share.memory = bytes;
  if (bytes != 0 && pai__allocation_apply(set, &all, PAI__UNITE) < 0)
    return pai__oom(err);
  share.memory = pai_allocation_memory(set, node) - bytes;
  (void)pai__allocation_apply(set, &all, PAI__SUBTRACT);
  return PAI_OK;
}
