/* Lists against a plain loop over the same jobs: filters and orders at
 * random. */
#include "cases.h"
#include "folder.h"

#include "base/prng.h"

#include <stdio.h>
#include <stdlib.h>

enum { JOBS = 300, LISTS = 3000 };

static pai__job_row jobs[JOBS];
static char names[JOBS][24];
static unsigned tagged[JOBS]; /* a bit for each of tag_names */

static const char *const user_names[] = { "ann", "bob", "eve", "a%b" };
static const char *const vc_names[] = { "default", "research", "prod" };
static const char *const state_names[] = { "WAITING", "RUNNING", "SUCCEEDED",
                                           "FAILED" };
static const char *const priority_names[] = { "default", "prod", "test",
                                              "crit" };
static const char *const tag_names[] = { "nice", "good", "rare" };

static const char *any(pai__prng *prng, const char *const *from, size_t n)
{
  return from[pai__prng_below(prng, n)];
}
#define ANY(prng, from) any((prng), (from), PAI__LEN(from))

static pai__job_row make_job(pai__prng *prng, uint64_t id)
{
  pai__job_row row = {
    .id = id,
    .user = ANY(prng, user_names),
    /* Several at once, and a clock that goes back. */
    .submitted = 1000 + (pai_time)id / 3 - (id % 50 == 0 ? 20 : 0),
    .vc = ANY(prng, vc_names),
    .priority = ANY(prng, priority_names),
    .state = ANY(prng, state_names),
    .sub_state = "Completed",
    .execution = "START",
    .completed = pai__prng_below(prng, 2) == 0
                   ? 0
                   : (pai_time)pai__prng_below(prng, 100) + 1,
    .user_retries = (uint32_t)pai__prng_below(prng, 3),
    .platform_retries = (uint32_t)pai__prng_below(prng, 3),
    .gpus = (uint32_t)pai__prng_below(prng, 9),
    .tasks = (uint32_t)pai__prng_below(prng, 9),
  };

  if (strcmp(row.priority, "default") == 0)
    row.priority = NULL;
  return row;
}

static pai__store *fill(pai__prng *prng)
{
  pai__store *store = open_folder();
  pai__batch *batch = new_batch(store);

  for (size_t i = 0; i < JOBS; i++) {
    jobs[i] = make_job(prng, i + 1);
    (void)snprintf(names[i], sizeof(names[i]), "%s_%u",
                   i % 3 == 0 ? "Resnet" : "bert",
                   (unsigned)pai__prng_below(prng, 1000) * 1000 + (unsigned)i);
    jobs[i].name = names[i];
    tagged[i] = (unsigned)pai__prng_below(prng, 4) | (i % 40 == 0 ? 4u : 0);
    assert_ok(pai__batch_put_job(batch, &jobs[i]));
    for (size_t t = 0; t < PAI__LEN(tag_names); t++)
      if ((tagged[i] >> t & 1) != 0)
        assert_ok(pai__batch_put_tag(batch, i + 1, tag_names[t]));
  }
  commit_all(store, batch);
  return store;
}

/* --- the plain way ------------------------------------------------------------------ */

static bool is_among(const pai__store_names *of, const char *name)
{
  if (of->n == 0)
    return true;
  for (size_t i = 0; i < of->n; i++)
    if (strcmp(of->at[i], name) == 0)
      return true;
  return false;
}

static bool has_tag(size_t job, const pai__store_names *of)
{
  for (size_t i = 0; i < of->n; i++)
    for (size_t t = 0; t < PAI__LEN(tag_names); t++)
      if (strcmp(of->at[i], tag_names[t]) == 0 && (tagged[job] >> t & 1) != 0)
        return true;
  return false;
}

/* % and _ as in LIKE, anywhere in the text. */
static bool matches_from(const char *text, const char *pattern)
{
  if (*pattern == '\0')
    return true;
  if (*pattern == '%') {
    for (;; text++) {
      if (matches_from(text, pattern + 1))
        return true;
      if (*text == '\0')
        return false;
    }
  }
  return *text != '\0' && (*pattern == '_' || *pattern == *text) &&
         matches_from(text + 1, pattern + 1);
}

static bool matches(const char *text, const char *pattern)
{
  for (;; text++) {
    if (matches_from(text, pattern))
      return true;
    if (*text == '\0')
      return false;
  }
}

static bool is_wanted(const pai__job_query *q, size_t i)
{
  const pai__job_row *row = &jobs[i];

  return is_among(&q->users, row->user) && is_among(&q->vcs, row->vc) &&
         is_among(&q->states, row->state) &&
         is_among(&q->priorities,
                  row->priority != NULL ? row->priority : "default") &&
         (q->tags.n == 0 || has_tag(i, &q->tags)) &&
         !has_tag(i, &q->no_tags) &&
         (q->keyword == NULL || matches(row->user, q->keyword) ||
          matches(row->name, q->keyword) || matches(row->vc, q->keyword));
}

static int by_text(const char *a, const char *b)
{
  int rc = a == NULL || b == NULL ? (a == NULL) - (b == NULL) : strcmp(a, b);

  return (rc > 0) - (rc < 0);
}

static int by_number(int64_t a, int64_t b)
{
  return (a > b) - (a < b);
}

static const pai__job_query *sorted_by;

static int compare(const void *left, const void *right)
{
  const pai__job_row *a = &jobs[*(const size_t *)left];
  const pai__job_row *b = &jobs[*(const size_t *)right];
  int rc = 0;

  switch (sorted_by->order) {
  case PAI__BY_SUBMITTED: break;
  case PAI__BY_NAME: rc = by_text(a->name, b->name); break;
  case PAI__BY_USER: rc = by_text(a->user, b->user); break;
  case PAI__BY_VC: rc = by_text(a->vc, b->vc); break;
  case PAI__BY_RETRIES:
    rc = by_number(a->user_retries + a->platform_retries,
                   b->user_retries + b->platform_retries);
    break;
  case PAI__BY_TASKS: rc = by_number(a->tasks, b->tasks); break;
  case PAI__BY_GPUS: rc = by_number(a->gpus, b->gpus); break;
  case PAI__BY_STATE: rc = by_text(a->state, b->state); break;
  case PAI__BY_COMPLETED:
    rc = by_number(a->completed == 0 ? INT64_MAX : a->completed,
                   b->completed == 0 ? INT64_MAX : b->completed);
    break;
  case PAI__BY_PRIORITY: rc = by_text(a->priority, b->priority); break;
  }
  if (rc == 0)
    rc = by_number(a->submitted, b->submitted);
  if (rc == 0)
    rc = by_number((int64_t)a->id, (int64_t)b->id);
  return sorted_by->ascending ? rc : -rc;
}

static void expect_list(pai__store *store, const pai__job_query *q)
{
  size_t order[JOBS], n = 0;
  uint64_t total;
  found wanted = { .n = 0 }, got = { .n = 0 };

  for (size_t i = 0; i < JOBS; i++)
    if (is_wanted(q, i))
      order[n++] = i;
  sorted_by = q;
  qsort(order, n, sizeof(order[0]), compare);
  for (size_t i = q->offset; i < n && i < q->offset + q->limit; i++)
    (void)find_job(&wanted, &jobs[order[i]]);
  assert_ok(pai__store_list(store, q, find_job, &got, &total, NULL));
  assert_string_equal(got.text, wanted.text);
  assert_int_equal(total, n);
}

/* --- lists at random ------------------------------------------------------------------ */

static pai__store_names some(pai__prng *prng, const char **room,
                             const char *const *from, size_t n)
{
  pai__store_names names_of = { room, 0 };

  if (pai__prng_below(prng, 3) == 0)
    names_of.n = pai__prng_below(prng, 4); /* one may be there twice */
  for (size_t i = 0; i < names_of.n; i++)
    room[i] = any(prng, from, n);
  return names_of;
}
#define SOME(prng, room, from) some((prng), (room), (from), PAI__LEN(from))

TEST(any_list_is_as_a_loop_finds_it)
{
  static const char *const keywords[] = { "bert", "net_1",  "_9%1",
                                          "a%b",  "search", "0*",
                                          "b*r%", "[br]e_", "" };
  pai__prng prng = { 7 };
  pai__store *store = fill(&prng);

  for (int i = 0; i < LISTS; i++) {
    const char *room[6][4];
    pai__job_query q = {
      .users = SOME(&prng, room[0], user_names),
      .vcs = SOME(&prng, room[1], vc_names),
      .states = SOME(&prng, room[2], state_names),
      .priorities = SOME(&prng, room[3], priority_names),
      .tags = SOME(&prng, room[4], tag_names),
      .no_tags = SOME(&prng, room[5], tag_names),
      .order = pai__prng_below(&prng, 2) == 0
                 ? PAI__BY_SUBMITTED
                 : (enum pai__order)pai__prng_below(&prng, 10),
      .ascending = pai__prng_below(&prng, 2) == 0,
      .offset = pai__prng_below(&prng, 3) == 0 ? 7 : 0,
      .limit = pai__prng_below(&prng, 40),
    };
    if (pai__prng_below(&prng, 4) == 0)
      q.keyword = ANY(&prng, keywords);
    expect_list(store, &q);
  }
  pai__store_close(store);
}

typedef struct page {
  found all;
  pai_time submitted;
  uint64_t id;
} page;

static int turn_page(void *user_data, const pai__job_row *row)
{
  page *p = user_data;

  p->submitted = row->submitted;
  p->id = row->id;
  return find_job(&p->all, row);
}

TEST(pages_follow_each_other)
{
  pai__prng prng = { 9 };
  pai__store *store = fill(&prng);

  for (int i = 0; i < 6; i++) {
    pai__job_query q = { .limit = JOBS, .ascending = i % 2 == 0 };
    found whole = { .n = 0 };
    page p = { .id = 0 };
    size_t before;

    if (i / 2 == 1)
      q.users = (pai__store_names){ user_names, 2 };
    if (i / 2 == 2)
      q.tags = (pai__store_names){ tag_names, 2 };
    assert_ok(pai__store_list(store, &q, find_job, &whole, NULL, NULL));
    q.limit = 11;
    do {
      before = p.all.n;
      assert_ok(pai__store_list(store, &q, turn_page, &p, NULL, NULL));
      q.after_id = p.id, q.after_submitted = p.submitted;
    } while (p.all.n > before);
    assert_string_equal(p.all.text, whole.text);
  }
  pai__store_close(store);
}

static int list_within(void *user_data, const pai__job_row *row)
{
  pai__job_query same = { .limit = 2 };
  found inner = { .n = 0 };

  (void)row;
  assert_ok(pai__store_list(user_data, &same, find_job, &inner, NULL, NULL));
  assert_string_equal(inner.text, "3 2 ");
  return PAI_OK;
}

STORE_TEST(a_list_may_be_asked_for_within_a_list)
{
  pai__job_query q = { .limit = 2 };

  put_jobs(store, 1, 3);
  assert_ok(pai__store_list(store, &q, list_within, store, NULL, NULL));
}

STORE_TEST(lists_are_checked)
{
  static const char *many[1001];
  pai__job_query q = { .limit = 5, .order = (enum pai__order)10 };
  found none = { .n = 0 };
  uint64_t total;
  pai_error *err;

  put_jobs(store, 1, 3);
  assert_int_equal(pai__store_list(store, &q, find_job, &none, NULL, &err),
                   PAI_EINVAL);
  pai_error_free(err);
  for (size_t i = 0; i < PAI__LEN(many); i++)
    many[i] = "it's; DROP TABLE job";
  q = (pai__job_query){ .users = { many, 1001 }, .limit = 5 };
  assert_fails(pai__store_list(store, &q, find_job, &none, NULL, &err), err,
               PAI_ELIMIT, "1001 names");
  q.users.n = 1000;
  assert_ok(pai__store_list(store, &q, find_job, &none, &total, NULL));
  assert_int_equal(none.n, 0);
  assert_int_equal(total, 0);
  q = (pai__job_query){ .limit = UINT64_MAX };
  assert_ok(pai__store_list(store, &q, find_job, &none, NULL, NULL));
  assert_int_equal(none.n, 3);
}

TEST_AROUND_EACH(folder_set_up, folder_tear_down);
