/* records_list.c - the list of jobs (rest-api 2.7) */
#include "platform/records/items.h"
#include "platform/records/records.h"
#include "platform/records/why.h"

enum { USUAL_LIMIT = 5000, LARGEST_LIMIT = 50000 };

/* --- the query ------------------------------------------------------------ */

/* Splits a list at its commas; an empty list has no parts. */
static int split(pai__store_names *out, pai__arena *arena, const char *list)
{
  const char **at;
  char *copy;
  size_t n = 1;

  *out = (pai__store_names){ NULL, 0 };
  if (list == NULL || *list == '\0')
    return PAI_OK;
  for (const char *c = list; *c != '\0'; c++)
    n += *c == ',';
  at = pai__arena_zalloc(arena, n, sizeof(*at));
  copy = pai__arena_strndup(arena, list, strlen(list));
  if (at == NULL || copy == NULL)
    return PAI_ENOMEM;
  for (size_t i = 0; i < n; i++) {
    char *comma = strchr(copy, ',');

    at[i] = copy;
    if (comma != NULL) {
      *comma = '\0';
      copy = comma + 1;
    }
  }
  *out = (pai__store_names){ at, n };
  return PAI_OK;
}

/* An unknown order is ignored: the list has the default order. */
static void read_order(pai__job_query *out, const char *order)
{
  static const struct {
    const char *name;
    enum pai__order order;
  } orders[] = { { "jobName", PAI__BY_NAME },
                 { "submissionTime", PAI__BY_SUBMITTED },
                 { "username", PAI__BY_USER },
                 { "vc", PAI__BY_VC },
                 { "retries", PAI__BY_RETRIES },
                 { "totalTaskNumber", PAI__BY_TASKS },
                 { "totalGpuNumber", PAI__BY_GPUS },
                 { "state", PAI__BY_STATE },
                 { "completionTime", PAI__BY_COMPLETED },
                 { "jobPriority", PAI__BY_PRIORITY } };
  const char *comma = order != NULL ? strchr(order, ',') : NULL;
  bool ascending = comma != NULL && strcmp(comma + 1, "ASC") == 0;

  if (comma == NULL || (!ascending && strcmp(comma + 1, "DESC") != 0))
    return;
  for (size_t i = 0; i < PAI__LEN(orders); i++)
    if (strncmp(order, orders[i].name, (size_t)(comma - order)) == 0 &&
        orders[i].name[comma - order] == '\0') {
      out->order = orders[i].order;
      out->ascending = ascending;
    }
}

static int read_query(pai__job_query *out, pai__arena *arena,
                      const pai_job_query *q, pai_error **err)
{
  *out = (pai__job_query){ .keyword = q->keyword,
                           .offset = q->offset,
                           .limit = q->limit != 0 ? q->limit : USUAL_LIMIT };
  if (q->limit > LARGEST_LIMIT)
    return pai__fail(err, PAI_EINVAL, "a limit of %llu is above %d",
                     (unsigned long long)q->limit, LARGEST_LIMIT);
  if (split(&out->users, arena, q->users) < 0 ||
      split(&out->vcs, arena, q->virtual_clusters) < 0 ||
      split(&out->states, arena, q->states) < 0 ||
      split(&out->priorities, arena, q->priorities) < 0 ||
      split(&out->tags, arena, q->tags) < 0 ||
      split(&out->no_tags, arena, q->not_tags) < 0)
    return pai__oom(err);
  read_order(out, q->order);
  return PAI_OK;
}

/* --- an item -------------------------------------------------------------- */

static int item_value(void *user_data, unsigned field, const void *of)
{
  const pai__job_row *row = of;
  pai__reply *a = user_data;

  switch (field) {
  case PAI__JobItem_debugId:
    return pai__reply_debug_id(a, row->user, row->name);
  case PAI__JobItem_tags: return pai__reply_tags(a, row->id);
  case PAI__JobItem_virtualCluster:
    return pai__reply_text(a, row->vc != NULL && *row->vc != '\0' ? row->vc
                                                                  : "unknown");
  default: return pai__reply_retries(a, field, row);
  }
}

static int write_item(pai__reply *a, const pai__job_row *row)
{
  return pai__api_object(&a->w, &pai__api_JobItem, row, item_value, a);
}

/* A reply with a list, and a reply for one item of it. */
typedef struct listing {
  pai__reply *reply;
  pai__reply item;
} listing;

/* Decisions about other jobs change the reason why a job waits, but not its
 * row.  If the row is out of date, returns a current one in *fresh, and has the
 * job recorded. */
static const pai__job_row *refresh(pai__job_row *fresh, pai_platform *p,
                                   const pai__job_row *row)
{
  bool waits = row->live && strcmp(row->state, "WAITING") == 0;
  pai__pjob *j = waits ? pai__platform_find_job(p, row->id) : NULL;
  const char *was = row->queued_reason != NULL ? row->queued_reason : "",
             *now = j != NULL ? pai__waiting_code(j) : was;

  if (strcmp(now != NULL ? now : "", was) == 0)
    return row;
  *fresh = *row;
  fresh->queued_reason = now;
  fresh->version = 0; /* not for the cache */
  pai__platform_put(j, PAI__CHANGED);
  return fresh;
}

static int on_item(void *user_data, const pai__job_row *stored)
{
  listing *l = user_data;
  pai__reply *item = &l->item;
  pai__job_row fresh;
  const pai__job_row *row = refresh(&fresh, item->p, stored);
  pai__bytes ready = pai__items_find(item->p, row);
  int rc = PAI_OK;

  if (ready.data == NULL) {
    pai__buf_cut(&item->buf, 0);
    pai__json_writer_init(&item->w, &item->buf, false);
    rc = write_item(item, row);
    if (rc == PAI_OK && pai__json_finish(&item->w) < 0)
      rc = pai__oom(item->err);
    if (rc == PAI_OK)
      pai__items_keep(item->p, row, &item->buf);
    ready = (pai__bytes){ item->buf.data, item->buf.len };
  }
  if (rc == PAI_OK)
    pai__json_written(&l->reply->w, ready.data, ready.len);
  return rc;
}

static int write_page(pai__reply *a, const pai__job_query *query)
{
  listing l = { .reply = a, .item = { .p = a->p, .err = a->err } };
  int rc;

  pai__buf_init(&l.item.buf, &a->p->alloc);
  rc = pai__store_list(a->p->store, query, on_item, &l, NULL, a->err);
  pai__buf_dispose(&l.item.buf);
  return rc;
}

/* The total comes before the items, so jobs are counted first. */
static int write_list(pai__reply *a, const pai__job_query *query,
                      bool with_total)
{
  pai__job_query none = *query;
  uint64_t total = 0;
  int rc = PAI_OK;

  if (with_total) {
    none.limit = 0;
    rc = pai__store_list(a->p->store, &none, NULL, NULL, &total, a->err);
    pai__json_begin_object(&a->w);
    pai__json_put_int(&a->w, "totalCount", (int64_t)total);
    pai__json_member(&a->w, "data");
  }
  pai__json_begin_array(&a->w);
  if (rc == PAI_OK)
    rc = write_page(a, query);
  pai__json_end_array(&a->w);
  if (with_total)
    pai__json_end_object(&a->w);
  return rc;
}

/* --- all jobs in memory --------------------------------------------------- */

static void on_gather(void *user_data)
{
  pai_platform *p = user_data;

  if (pai__store_gather(p->store, NULL) > 0)
    pai__loop_step_ask(p->gather);
}

/* Loads all jobs into memory, beginning with the first list: a part now, and a
 * part in each step of the loop.  Without memory lists are slower. */
static void gather(pai_platform *p)
{
  if (p->gather == NULL &&
      pai__loop_step_new(&p->gather, &p->alloc, p->loop, on_gather, p) < 0)
    return;
  on_gather(p);
}

int pai_platform_list(pai_platform *p, const pai_job_query *query,
                      pai_write_cb write, void *user_data, pai_error **err)
{
  pai__job_query q;
  pai_job_query o;
  pai__arena arena;
  pai__reply a;
  int rc = PAI__COPY_IN(&o, query, pai_job_query, with_total);

  if (rc < 0)
    return pai__fail_struct(err, rc, query, "pai_job_query");
  if (p != NULL && p->store != NULL && !PAI__IS_FORKED(p))
    gather(p);
  rc = pai__reply_open(&a, p, write, user_data, err);
  if (rc < 0)
    return rc;
  pai__arena_init(&arena, &p->alloc);
  rc = read_query(&q, &arena, &o, err);
  if (rc == PAI_OK && !pai__store_has_list(a.p->store, &q))
    rc = pai__reply_hold(&a); /* page and count from the same snapshot */
  if (rc == PAI_OK)
    rc = write_list(&a, &q, o.with_total != 0);
  rc = pai__reply_end(&a, rc);
  pai__arena_dispose(&arena);
  return rc;
}
