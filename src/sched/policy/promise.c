/* promise.c - promised starts: the places planned for requests in the last
 * decision */
#include "sched/policy/plan.h"

#include "sched/log/event.h"
#include "sched/queue.h"

#include "json/json.h"

#include <inttypes.h>

void pai__promises_init(pai__promises *x)
{
  *x = (pai__promises){ 0 };
  pai__flat_init(&x->list, sizeof(pai__promise));
  pai__flat_init(&x->sites, sizeof(pai__site));
  pai__flat_init(&x->fresh, sizeof(uint64_t));
}

void pai__promises_dispose(pai__promises *x, const pai_alloc *alloc)
{
  pai__flat_dispose(&x->list, alloc);
  pai__flat_dispose(&x->sites, alloc);
  pai__flat_dispose(&x->fresh, alloc);
}

int pai__promises_copy(pai__promises *x, const pai__promises *from,
                       const pai_alloc *alloc)
{
  x->layout = from->layout;
  x->fine = from->fine;
  return pai__flat_copy(&x->list, &from->list, alloc) < 0 ||
             pai__flat_copy(&x->sites, &from->sites, alloc) < 0 ||
             pai__flat_copy(&x->fresh, &from->fresh, alloc) < 0
           ? PAI_ENOMEM
           : PAI_OK;
}

void pai__promises_clear(pai__promises *x)
{
  x->list.len = x->sites.len = x->fresh.len = 0;
}

enum { NO_LENGTH = -1 }; /* no request has this length */

/* Invalidates promises to the request as it was, or to an older request with
 * that id.  Comparing shapes is not enough: shapes are hashes. */
static void drop_of(pai__promises *x, uint64_t id)
{
  for (uint32_t i = 0; i < x->list.len; i++)
    if (pai__promise_at(x, i)->id == id)
      pai__promise_at(x, i)->length = NO_LENGTH;
}

void pai__promises_event(pai__promises *x, const pai_alloc *alloc,
                         const pai_sched_event *event)
{
  uint64_t id;

  switch (event->kind) {
  case PAI_SCHED_SUBMIT:
    id = event->request->id;
    drop_of(x, id);
    break;
  case PAI_SCHED_CHANGE:
    id = event->id;
    if (pai__change_is_of_place(event->key))
      drop_of(x, id);
    break;
  case PAI_SCHED_RETURNED: id = event->id; break;
  case PAI_SCHED_CLUSTER: pai__promises_clear(x); return;
  default: return;
  }
  if (x->list.len == 0)
    return;
  if (pai__flat_add(&x->fresh, alloc, &id) < 0)
    pai__promises_clear(x);
}

int pai__promises_add(pai__promises *x, const pai__plan *p, const pai_sched *s,
                      uint32_t req)
{
  const pai__req *r = pai__req_at(s, req);
  uint32_t n = p->sites.len, first;

  if (pai__flat_reserve(&x->list, &p->alloc, 1) < 0 ||
      pai__flat_reserve(&x->sites, &p->alloc, n) < 0)
    return PAI_ENOMEM;
  first = pai__flat_push(&x->sites, n);
  memcpy((pai__site *)x->sites.data + first, p->sites.data,
         n * sizeof(pai__site));
  *pai__promise_at(x, pai__flat_push(&x->list, 1)) = (pai__promise){
    r->id, pai__class_of(s, r)->shape, pai__plan_length(p, r), p->start, first,
    n
  };
  return PAI_OK;
}

bool pai__promise_is_of(const pai__promises *x, const pai__promise *a,
                        const pai_sched *s, uint32_t req, pai_time length)
{
  const pai__site *sites = (const pai__site *)x->sites.data + a->first;
  const pai__req *r = pai__req_at(s, req);

  if (a->id != r->id || a->shape != pai__class_of(s, r)->shape ||
      a->length != length)
    return false;
  for (uint32_t i = 0; i < a->count; i++)
    if (sites[i].want >= r->nwants)
      return false;
  return true;
}

const pai__promise *pai__promise_for(const pai__promises *x, uint32_t i,
                                     const pai__plan *p, const pai_sched *s,
                                     uint32_t req)
{
  const pai__promise *a;

  if (i >= x->list.len || x->layout != p->layout)
    return NULL;
  a = pai__promise_at(x, i);
  return pai__promise_is_of(x, a, s, req,
                            pai__plan_length(p, pai__req_at(s, req)))
           ? a
           : NULL;
}

int pai__promises_index(const pai__promises *x, const pai_sched *s,
                        pai__flat *first_of)
{
  uint32_t *first;

  if (pai__flat_reset(first_of, &s->alloc, s->reqs.len) < 0)
    return PAI_ENOMEM;
  if (s->reqs.len == 0)
    return PAI_OK;
  first = first_of->data;
  memset(first, 0xff, s->reqs.len * sizeof(*first));
  for (uint32_t i = x->list.len; i-- > 0;) {
    uint32_t req = pai__req_find(s, pai__promise_at(x, i)->id);

    if (req != PAI__NONE)
      first[req] = i;
  }
  return PAI_OK;
}

/* --- saving and loading --------------------------------------------------- */

static void write_one(const pai__promises *x, const pai__promise *a,
                      pai__buf *b)
{
  pai__buf_printf(
    b, ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRIu32,
    (int64_t)a->id, (int64_t)a->shape, a->length, a->start, a->count);
  for (uint32_t i = a->first; i < a->first + a->count; i++) {
    const pai__site *site = (pai__site *)x->sites.data + i;

    pai__buf_printf(b, ",%" PRIu32 ",%" PRIu32 ",%" PRId64, site->node,
                    site->want, (int64_t)site->groups);
  }
}

/* Writes a flat list of numbers: the promises, then 0 (no request has this id)
 * and the fresh ids. */
int pai__promises_write(const pai__promises *x, const pai_alloc *alloc,
                        pai_write_cb write, void *user_data)
{
  pai__buf b;
  int rc;

  pai__buf_init(&b, alloc);
  /* No promises have no layout: equal states are written alike. */
  pai__buf_printf(&b, "[%d,%" PRId64, x->fine,
                  x->list.len != 0 ? (int64_t)x->layout : 0);
  for (uint32_t i = 0; i < x->list.len; i++)
    write_one(x, pai__promise_at(x, i), &b);
  if (x->fresh.len != 0)
    pai__buf_printf(&b, ",0");
  for (uint32_t i = 0; i < x->fresh.len; i++)
    pai__buf_printf(&b, ",%" PRId64,
                    (int64_t)((const uint64_t *)x->fresh.data)[i]);
  pai__buf_char(&b, ']');
  rc = pai__buf_ok(&b) ? write(user_data, b.data, b.len) : PAI_ENOMEM;
  pai__buf_dispose(&b);
  return rc;
}

typedef struct reading {
  const pai__tree *tree;
  pai__tree_walk walk;
  bool end, bad;
} reading;

static int64_t next(reading *r)
{
  pai__node n = r->end ? PAI__NO_NODE : pai__tree_next(&r->walk);

  r->end = n == PAI__NO_NODE;
  if (!r->end && pai__tree_type(r->tree, n) != PAI__INT)
    r->bad = true;
  return r->end || r->bad ? 0 : pai__tree_int(r->tree, n);
}

static int read_sites(pai__promises *x, const pai_sched *s, reading *r,
                      const pai__promise *a)
{
  for (uint32_t i = 0; i < a->count; i++) {
    int64_t node = next(r), want = next(r), groups = next(r);
    pai__site site;

    if (r->end || r->bad || node < 0 || node >= s->cluster->nnodes ||
        want < 0 || want >= PAI_SCHED_TASKS ||
        (groups & INT64_C(0x0080808080808080)) != 0 || groups < 0)
      return PAI_EINVAL;
    site = (pai__site){ (uint64_t)groups, (uint32_t)node, (uint32_t)want };
    if (pai__flat_add(&x->sites, &s->alloc, &site) < 0)
      return PAI_ENOMEM;
  }
  return PAI_OK;
}

static int read_fresh(pai__promises *x, const pai_sched *s, reading *r)
{
  for (;;) {
    uint64_t id = (uint64_t)next(r);

    if (r->end || r->bad)
      return r->bad ? PAI_EINVAL : PAI_OK;
    if (pai__flat_add(&x->fresh, &s->alloc, &id) < 0)
      return PAI_ENOMEM;
  }
}

static int read_all(pai__promises *x, const pai_sched *s, reading *r)
{
  int rc = PAI_OK;

  x->fine = next(r) != 0;
  x->layout = (uint64_t)next(r);
  while (rc == PAI_OK) {
    pai__promise a = { .id = (uint64_t)next(r), .first = x->sites.len };
    int64_t count;

    if (r->end)
      return r->bad ? PAI_EINVAL : PAI_OK;
    if (a.id == 0 && !r->bad)
      return read_fresh(x, s, r);
    a.shape = (uint64_t)next(r);
    a.length = next(r);
    a.start = next(r);
    count = next(r);
    if (r->end || r->bad || count < 1 || count > PAI_SCHED_TASKS)
      return PAI_EINVAL;
    a.count = (uint32_t)count;
    rc = read_sites(x, s, r, &a);
    if (rc == PAI_OK)
      rc = pai__flat_add(&x->list, &s->alloc, &a);
  }
  return rc;
}

int pai__promises_read(pai__promises *x, const pai_sched *s, const char *text,
                       size_t len)
{
  pai__json_options how = { .alloc = &s->alloc };
  pai__tree *tree;
  int rc = pai__json_parse(&tree, text, len, &how, NULL);

  if (rc < 0)
    return rc;
  if (pai__tree_type(tree, 0) == PAI__SEQUENCE) {
    reading r = { .tree = tree, .walk = pai__tree_iter(tree, 0) };

    rc = read_all(x, s, &r);
  } else {
    rc = PAI_EINVAL;
  }
  pai__tree_free(tree);
  return rc;
}
