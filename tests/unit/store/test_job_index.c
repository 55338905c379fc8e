/* Lists from memory against the same lists from the database, while jobs come,
 * change and go. */
#include "cases.h"
#include "folder.h"

#include "base/buf.h"
#include "base/prng.h"
#include "store/job_index.h"

#include <stdio.h>
#include <stdlib.h>

enum { FIRST = 1300, ROUNDS = 150, MOST_CHANGES = 30 };

static const char *const user_names[] = { "ann", "bob", "eve", "a%b", "zoë" };
static const char *const vc_names[] = { "default", "research", "", "prod" };
static const char *const state_names[] = { "WAITING", "RUNNING", "SUCCEEDED",
                                           "FAILED" };
static const char *const priority_names[] = { "default", "prod", "test" };
static const char *const tag_names[] = { "nice", "good", "rare", "ärgerlich" };
static const char *const keywords[] = { "bert", "net_1", "_9%1", "a%b",  "oë",
                                        "e",    "o_",    "7%7",  "b*r%", "[b",
                                        "%",    "_",     "" };

static const char *any(pai__prng *prng, const char *const *from, size_t n)
{
  return from[pai__prng_below(prng, n)];
}
#define ANY(prng, from) any((prng), (from), PAI__LEN(from))

/* --- jobs that change ----------------------------------------------------------- */

static struct {
  pai__prng prng;
  pai__store *store;
  uint64_t last; /* id of the latest job */
  bool dropped[1 << 16];
} world;

/* What never changes of a job is told by its id. */
static void put_job(pai__batch *batch, uint64_t id)
{
  pai__prng *prng = &world.prng;
  pai__job_row row = job_of(id);
  char name[64];

  (void)snprintf(name, sizeof(name), "%s_%llu",
                 id % 3 == 0 ? "Resnet" : "bert", (unsigned long long)id * 77);
  row.user = user_names[id * 7 % PAI__LEN(user_names)];
  row.name = name;
  /* Several at once, and a clock that goes back. */
  row.submitted = 1000000 + (pai_time)id / 3 - (id % 50 == 0 ? 40 : 0);
  row.vc = ANY(prng, vc_names);
  row.state = ANY(prng, state_names);
  row.priority = ANY(prng, priority_names);
  if (strcmp(row.priority, "default") == 0)
    row.priority = NULL;
  row.completed = (pai_time)pai__prng_below(prng, 100);
  row.gpus = (uint32_t)pai__prng_below(prng, 9);
  assert_ok(pai__batch_put_job(batch, &row));
}

static uint64_t any_job(void)
{
  return 1 + pai__prng_below(&world.prng, world.last);
}

static void change_something(pai__batch *batch)
{
  uint64_t id = any_job();

  switch (pai__prng_below(&world.prng, 6)) {
  case 0: put_job(batch, ++world.last); break;
  case 1:
    if (!world.dropped[id] && id % 3 == 0) {
      assert_ok(pai__batch_drop_job(batch, id));
      world.dropped[id] = true;
    }
    break;
  case 2:
    if (!world.dropped[id])
      put_job(batch, id);
    break;
  case 3:
    assert_ok(pai__batch_drop_tag(batch, id, ANY(&world.prng, tag_names)));
    break;
  default:
    if (!world.dropped[id])
      assert_ok(pai__batch_put_tag(batch, id, ANY(&world.prng, tag_names)));
  }
}

/* --- the same list twice ---------------------------------------------------------- */

typedef struct written {
  pai__buf text;
  bool from_memory;
} written;

static int write_tag(void *user_data, const char *tag)
{
  pai__buf_printf(user_data, " #%s", tag);
  return PAI_OK;
}

static long long value_of(pai__maybe number)
{
  return number.there ? (long long)number.value : 0;
}

static int write_job(void *user_data, const pai__job_row *row)
{
  written *w = user_data;

  w->from_memory = row->version != 0;
  pai__buf_printf(
    &w->text,
    "%llu %s~%s %lld %s %s %s %s %s %d %lld %lld %lld %d:%lld %u %u "
    "%d:%lld %u %u %u",
    (unsigned long long)row->id, row->user, row->name,
    (long long)row->submitted, row->vc,
    row->priority != NULL ? row->priority : "-", row->state, row->sub_state,
    row->execution, row->live, (long long)row->created,
    (long long)row->launched, (long long)row->completed, row->exit_code.there,
    value_of(row->exit_code), row->user_retries, row->platform_retries,
    row->retry_delay.there, value_of(row->retry_delay), row->gpus, row->tasks,
    row->roles);
  assert_ok(pai__store_tags(world.store, row->id, write_tag, &w->text, NULL));
  pai__buf_char(&w->text, '\n');
  return PAI_OK;
}

/* Says what differs of long texts. */
static void expect_text(const char *got, const char *wanted)
{
  size_t line = 0;

  if (strcmp(got, wanted) == 0)
    return;
  for (size_t i = 0; got[i] == wanted[i]; i++)
    line = got[i] == '\n' ? i + 1 : line;
  fail_msg("got\n%.200s\nwanted\n%.200s", got + line, wanted + line);
}

static void expect_same(const pai__job_query *q)
{
  pai__job_index *index = world.store->index;
  written quick = { .from_memory = true }, plain = { .from_memory = false };
  uint64_t quick_total, plain_total;

  pai__buf_init(&quick.text, &pai__libc_alloc);
  pai__buf_init(&plain.text, &pai__libc_alloc);
  assert_ok(
    pai__store_list(world.store, q, write_job, &quick, &quick_total, NULL));
  world.store->index = NULL;
  assert_ok(
    pai__store_list(world.store, q, write_job, &plain, &plain_total, NULL));
  world.store->index = index;
  expect_text(pai__buf_text(&quick.text), pai__buf_text(&plain.text));
  assert_int_equal(quick_total, plain_total);
  if (pai__job_index_is_whole(index) && q->order == PAI__BY_SUBMITTED)
    assert_true(quick.from_memory);
  assert_false(plain.from_memory);
  pai__buf_dispose(&quick.text);
  pai__buf_dispose(&plain.text);
}

static pai__store_names some(pai__prng *prng, const char **room,
                             const char *const *from, size_t n)
{
  pai__store_names names = { room, 0 };

  if (pai__prng_below(prng, 4) == 0)
    names.n = pai__prng_below(prng, 4); /* one may be there twice */
  for (size_t i = 0; i < names.n; i++)
    room[i] = pai__prng_below(prng, 9) == 0 ? "nobody's" : any(prng, from, n);
  return names;
}
#define SOME(prng, room, from) some((prng), (room), (from), PAI__LEN(from))

static void expect_any_list(void)
{
  const char *room[6][4];
  pai__prng *prng = &world.prng;
  pai__job_query q = {
    .users = SOME(prng, room[0], user_names),
    .vcs = SOME(prng, room[1], vc_names),
    .states = SOME(prng, room[2], state_names),
    .priorities = SOME(prng, room[3], priority_names),
    .tags = SOME(prng, room[4], tag_names),
    .no_tags = SOME(prng, room[5], tag_names),
    .order = pai__prng_below(prng, 4) > 0
               ? PAI__BY_SUBMITTED
               : (enum pai__order)pai__prng_below(prng, 10),
    .ascending = pai__prng_below(prng, 2) == 0,
    .offset = pai__prng_below(prng, 3) == 0 ? pai__prng_below(prng, 90) : 0,
    .limit = pai__prng_below(prng, 40),
  };

  if (pai__prng_below(prng, 3) == 0)
    q.keyword = ANY(prng, keywords);
  if (pai__prng_below(prng, 3) == 0) {
    q.after_id = any_job();
    q.after_submitted =
      1000000 + (pai_time)q.after_id / 3 - (pai_time)pai__prng_below(prng, 3);
  }
  expect_same(&q);
}

/* --- the index follows --------------------------------------------------------------- */

static void begin(uint64_t seed)
{
  memset(&world, 0, sizeof(world));
  world.prng.state = seed;
  world.store = open_folder();
}

static void fill(unsigned jobs)
{
  pai__batch *batch = new_batch(world.store);

  while (world.last < jobs)
    put_job(batch, ++world.last);
  commit_all(world.store, batch);
}

/* Sometimes the next jobs are read between a commit and its being told. */
static void change_some(void)
{
  pai__batch *batch = new_batch(world.store);

  for (size_t n = pai__prng_below(&world.prng, MOST_CHANGES); n > 0; n--)
    change_something(batch);
  assert_ok(pai__store_commit(world.store, batch, NULL));
  if (pai__prng_below(&world.prng, 5) == 0)
    assert_true(pai__store_gather(world.store, NULL) >= 0);
  pai__store_committed(world.store, batch);
  pai__batch_free(batch);
}

TEST(lists_from_memory_are_those_of_the_database)
{
  for (uint64_t seed = 1; seed <= 3; seed++) {
    (void)folder_tear_down(NULL);
    (void)folder_set_up(NULL);
    begin(seed);
    fill(FIRST);
    for (int round = 0; round < ROUNDS; round++) {
      change_some();
      for (int i = 0; i < 5; i++)
        expect_any_list();
    }
    assert_true(pai__job_index_is_whole(world.store->index));
    pai__store_close(world.store);
  }
}

static void gather_all(void)
{
  int rc;

  while ((rc = pai__store_gather(world.store, NULL)) > 0)
    ;
  assert_ok(rc);
}

/* Many names lead to more arms than are walked side by side. */
TEST(many_names_are_no_trouble)
{
  static char texts[40][16];
  const char *names[40];
  pai__job_query q = { .limit = 15 };

  begin(5);
  fill(600);
  gather_all();
  for (size_t i = 0; i < PAI__LEN(names); i++) {
    (void)snprintf(texts[i], sizeof(texts[i]), "t%zu", i);
    names[i] = texts[i];
  }
  for (uint64_t id = 1; id <= 600; id++) {
    pai__batch *batch = new_batch(world.store);

    assert_ok(pai__batch_put_tag(batch, id, texts[id % 39]));
    assert_ok(pai__batch_put_tag(batch, id, texts[id % 7]));
    assert_ok(pai__store_commit(world.store, batch, NULL));
    pai__store_committed(world.store, batch);
    pai__batch_free(batch);
  }
  for (size_t n = 1; n <= PAI__LEN(names); n++) {
    q.tags = (pai__store_names){ names, n };
    q.ascending = n % 2 == 0;
    expect_same(&q);
  }
  pai__store_close(world.store);
}

TEST(all_may_go)
{
  pai__job_query q = { .limit = 15 };
  pai__batch *batch;

  begin(6);
  fill(40);
  gather_all();
  batch = new_batch(world.store);
  for (uint64_t id = 1; id <= 40; id++)
    assert_ok(pai__batch_drop_job(batch, id));
  assert_ok(pai__store_commit(world.store, batch, NULL));
  pai__store_committed(world.store, batch);
  pai__store_committed(world.store, batch); /* once more is no harm */
  pai__batch_free(batch);
  expect_same(&q);
  assert_int_equal(world.store->index->words[PAI__WORD_USER].n, 0);
  assert_int_equal(world.store->index->words[PAI__WORD_STATE].n, 0);
  fill(50);
  pai__store_close(world.store);
}

/* --- versions ------------------------------------------------------------------------- */

static uint64_t seen;

static int see_version(void *user_data, const pai__job_row *row)
{
  (void)user_data;
  seen = row->version;
  return PAI_OK;
}

static uint64_t version_now(void)
{
  pai__job_query q = { .limit = 1 };

  assert_ok(pai__store_list(world.store, &q, see_version, NULL, NULL, NULL));
  return seen;
}

static void follow(pai__batch *batch)
{
  assert_ok(pai__store_commit(world.store, batch, NULL));
  pai__store_committed(world.store, batch);
  pai__batch_clear(batch);
}

TEST(what_changes_has_another_version)
{
  pai__batch *batch;
  uint64_t before, now;

  begin(8);
  fill(3);
  assert_int_equal(version_now(), 0);
  gather_all();
  before = version_now();
  assert_int_not_equal(before, 0);
  assert_int_equal(version_now(), before);
  batch = new_batch(world.store);
  put_job(batch, 3);
  follow(batch);
  now = version_now();
  assert_true(now > before);
  assert_ok(pai__batch_put_tag(batch, 3, "nice"));
  follow(batch);
  before = now, now = version_now();
  assert_true(now > before);
  assert_ok(pai__batch_drop_tag(batch, 3, "nice"));
  follow(batch);
  before = now, now = version_now();
  assert_true(now > before);
  assert_ok(pai__batch_put_tag(batch, 1, "nice"));
  follow(batch);
  assert_int_equal(version_now(), now);
  pai__batch_free(batch);
  pai__store_close(world.store);
}

/* --- no memory --------------------------------------------------------------------------- */

static int gather_and_follow(const pai_alloc *alloc, void *user_data)
{
  pai__store *store;
  pai__batch *batch = NULL;
  pai__job_query q = { .limit = 9 };
  found jobs = { .n = 0 };
  pai__job_row row = job_of(2);
  pai_error *err = NULL;
  int rc = pai__store_open(&store, alloc, folder, NULL, &err), more = 0;

  (void)user_data;
  if (rc == PAI_OK)
    rc = pai__batch_new(&batch, store, &err);
  row.state = "FAILED";
  row.vc = "another";
  if (rc == PAI_OK && ((rc = pai__batch_put_job(batch, &row)) < 0 ||
                       (rc = pai__batch_put_tag(batch, 2, "x")) < 0 ||
                       (rc = pai__batch_put_tag(batch, 2, "y")) < 0 ||
                       (rc = pai__batch_drop_tag(batch, 2, "y")) < 0))
    rc = pai__oom(&err);
  while (rc == PAI_OK && (more = pai__store_gather(store, NULL)) > 0)
    ;
  if (rc == PAI_OK)
    rc = pai__store_commit(store, batch, &err);
  if (rc == PAI_OK) {
    pai__store_committed(store, batch);
    rc = pai__store_list(store, &q, find_job, &jobs, NULL, &err);
  }
  if (rc == PAI_OK) /* from wherever */
    assert_string_equal(jobs.text, "3 2 1 ");
  if (rc == PAI_OK && !pai__job_index_is_whole(store->index))
    rc = PAI_ENOMEM; /* so it goes on until all is well */
  assert_true(more == PAI_OK || more == PAI_ENOMEM);
  pai__batch_free(batch);
  pai__store_close(store);
  pai_error_free(err);
  return rc;
}

TEST(without_memory_lists_come_from_the_database)
{
  pai__store *store = open_folder();

  put_jobs(store, 1, 3);
  pai__store_close(store);
  test_faults(gather_and_follow, NULL);
}

/* --- keywords ------------------------------------------------------------------------------ */

TEST(a_keyword_is_found)
{
  static const struct {
    const char *keyword, *text;
    bool there;
  } rows[] = {
    { NULL, "abc", true },
    { "", "abc", true },
    { "b", "abc", true },
    { "abc", "abc", true },
    { "abcd", "abc", false },
    { "B", "abc", false },
    { "a_c", "abc", true },
    { "a_c", "aéc", true },
    { "a__c", "aéc", false },
    { "_", "", false },
    { "%", "", true },
    { "a%c", "xxabbbcxx", true },
    { "a%c", "cba", false },
    { "ab%ab", "ab", false },
    { "ab%ab", "abab", true },
    { "%ab_ab%", "aabab", false },
    { "aab", "aaab", true },
    { "a_b%c", "aaabxxabc", true },
    { "*", "abc", false },
    { "*", "a*c", true },
    { "[a]", "abc", false },
    { "?", "abc", false },
    { "_b_b%c_", "bbbbbc", false },
  };

  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    pai__keyword k = pai__keyword_of(rows[i].keyword);
    uint64_t pairs = pai__pairs_of(rows[i].text);

    if (pai__keyword_is_in(&k, rows[i].text) != rows[i].there)
      fail_msg("\"%s\" in \"%s\"", rows[i].keyword, rows[i].text);
    if (rows[i].there)
      assert_int_equal(pairs & k.pairs, k.pairs);
  }
}

TEST_AROUND_EACH(folder_set_up, folder_tear_down);
