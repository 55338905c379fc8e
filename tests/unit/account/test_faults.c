/* Without memory nothing is done by halves; and there may be many of all. */
#include "host.h"

#include "store/inside.h"

#include <stdio.h>

/* --- each allocation fails once, and from then on --------------------------------------- */

typedef int (*step)(host *h);

static int later(host *h, int rc)
{
  if (rc < 0)
    return rc;
  host_run(h);
  return h->status;
}

static int put(host *h, unsigned flags, const char *json)
{
  return later(h, pai_accounts_put_user(h->a, json, strlen(json), flags,
                                        host_on_told, h, NULL));
}

static int s_setup(host *h)
{
  return later(h, pai_accounts_setup(h->a, NULL, "admin-passphrase",
                                     host_on_told, h, NULL));
}

/* A first user whose password nobody is told; */
static int s_lost(host *h)
{
  int rc;

  h->full = true;
  rc = later(h, pai_accounts_setup(h->a, NULL, NULL, host_on_told, h, NULL));
  h->full = false;
  return rc == PAI_EIO ? PAI_OK : rc;
}

/* then it is another one. */
static int s_again(host *h)
{
  int rc =
    later(h, pai_accounts_setup(h->a, NULL, NULL, host_on_told, h, NULL));

  if (rc == PAI_OK)
    assert_non_null(strstr(h->text, "\"password\""));
  return rc;
}

static int s_create(host *h)
{
  return put(h, PAI_PUT_CREATE,
             "{\"username\":\"ada\",\"password\":\"secret-1\",\"email\":"
             "\"a@b\",\"virtualCluster\":[\"default\"],\"admin\":true,"
             "\"extension\":{\"a\":{\"b\":[1]}}}");
}

static int s_change(host *h)
{
  return put(h, 0,
             "{\"username\":\"ada\",\"password\":\"secret-2\","
             "\"oldPassword\":\"secret-1\",\"grouplist\":[\"default\"],"
             "\"admin\":false,\"extension\":{\"c\":2}}");
}

static int s_quick(host *h)
{
  return put(h, 0, "{\"username\":\"ada\",\"email\":\"\"}");
}

static int s_login(host *h)
{
  return later(
    h, pai_accounts_login(h->a, "ada", "secret-2", host_on_told, h, NULL));
}

static int s_ssh(host *h)
{
  return pai_accounts_need_ssh(h->a, "ada", NULL);
}

static int s_token(host *h)
{
  host_begin(h);
  return pai_accounts_new_token(h->a, "ada", 1, host_write, h, NULL);
}

static int s_tokens(host *h)
{
  host_begin(h);
  return pai_accounts_write_tokens(h->a, "ada", host_write, h, NULL);
}

static int s_group(host *h)
{
  static const char json[] =
    "{\"groupname\":\"team\",\"description\":\"d\",\"extension\":{\"acls\":"
    "{\"virtualClusters\":[\"vision\"],\"storageConfigs\":[\"data\"]}}}";

  return pai_accounts_put_group(h->a, json, sizeof(json) - 1, PAI_PUT_CREATE,
                                NULL);
}

static int s_value(host *h)
{
  return pai_accounts_set_group_value(h->a, "team", "x/y", "{\"z\":1}", 7,
                                      NULL);
}

static int s_join(host *h)
{
  return pai_accounts_set_member(h->a, "ada", "team", 1, NULL);
}

static int s_vc(host *h)
{
  return pai_accounts_add_vc(h->a, "vision", "d", "e", NULL);
}

static int s_no_vc(host *h)
{
  return pai_accounts_remove_vc(h->a, "vision", NULL);
}

static int s_storage(host *h)
{
  static const char json[] =
    "{\"name\":\"data\",\"type\":\"local\",\"data\":{\"path\":\"/srv\"},"
    "\"mountOptions\":[\"ro\"],\"secretName\":\"s\"}";

  return pai_accounts_put_storage(h->a, json, sizeof(json) - 1, NULL);
}

static int s_note(host *h)
{
  return pai_accounts_note(h->a, "ada", "::1", "PUT /x", 200);
}

static int s_write(host *h)
{
  pai_storage_query q = PAI_STORAGE_QUERY_INIT;
  int rc;

  host_begin(h);
  rc = pai_accounts_write_users(h->a, NULL, host_write, h, NULL);
  if (rc == PAI_OK)
    rc = pai_accounts_write_groups(h->a, host_write, h, NULL);
  if (rc == PAI_OK)
    rc = pai_accounts_write_members(h->a, "team", host_write, h, NULL);
  if (rc == PAI_OK)
    rc = pai_accounts_write_storages(h->a, &q, host_write, h, NULL);
  return rc == PAI_OK
           ? pai_accounts_write_audit(h->a,
                                      &(pai_audit_query)PAI_AUDIT_QUERY_INIT,
                                      host_write, h, NULL)
           : rc;
}

static int s_no_group(host *h)
{
  return pai_accounts_remove_group(h->a, "team", NULL);
}

static int s_no_user(host *h)
{
  return pai_accounts_remove_user(h->a, "ada", NULL);
}

static int s_no_storage(host *h)
{
  return pai_accounts_remove_storage(h->a, "data", NULL);
}

static const step steps[] = {
  s_lost,    s_again, s_setup,  s_create, s_change,   s_quick,   s_login,
  s_ssh,     s_token, s_tokens, s_vc,     s_group,    s_value,   s_join,
  s_storage, s_note,  s_write,  s_no_vc,  s_no_group, s_no_user, s_no_storage
};

/* From now on memory is from there: all of it is libc's in the end. */
static void take_from(host *h, pai_alloc alloc)
{
  h->alloc = h->a->alloc = h->store->alloc = alloc;
}

/* All that can be seen. */
static void picture(host *h, pai__buf *out)
{
  const pai_alloc alloc = h->alloc;

  take_from(h, pai__libc_alloc);
  pai__buf_clear(out);
  assert_int_equal(s_write(h), PAI_OK);
  pai__buf_add(out, h->text, h->len);
  pai__buf_printf(out, " %zu tokens", h->a->tokens.live);
  assert_true(pai__buf_ok(out));
  take_from(h, alloc);
}

/* What would be committed. */
static size_t count_changes(const host *h)
{
  size_t n = 0;

  for (const pai__change *c = h->batch->first; c != NULL; c = c->next)
    n++;
  return n;
}

/* Up to step `n` all goes well; that one may fail, and then nothing has
 * changed, and it goes well afterwards.  Nothing gets into the database. */
static int try_step(host *h, size_t n, const pai_alloc *alloc)
{
  pai__buf before, after;
  size_t changes;
  int rc;

  host_drop(h);
  for (size_t i = 0; i < n; i++)
    assert_int_equal(steps[i](h), PAI_OK);
  pai__buf_init(&before, &pai__libc_alloc);
  pai__buf_init(&after, &pai__libc_alloc);
  picture(h, &before);
  changes = count_changes(h);
  take_from(h, *alloc);
  rc = steps[n](h);
  take_from(h, pai__libc_alloc);
  if (rc < 0 && steps[n] != s_setup &&
      steps[n] != s_lost) { /* of these the groups stay */
    picture(h, &after);
    assert_string_equal(after.data, before.data);
    assert_int_equal(count_changes(h), changes);
  }
  pai__buf_dispose(&before);
  pai__buf_dispose(&after);
  if (rc < 0)
    assert_int_equal(steps[n](h), PAI_OK);
  return rc;
}

static void failing_changes_nothing(void **state)
{
  static host h;

  (void)state;
  host_open(&h);
  for (size_t i = 0; i < PAI__LEN(steps); i++) {
    bool done = false;

    for (size_t n = 1; !done; n++) {
      test_tally t;
      int rc;

      test_tally_init(&t);
      t.fail_at = n;
      rc = try_step(&h, i, &t.alloc);
      done = rc == PAI_OK && t.calls < n;
      if ((rc != PAI_OK && rc != PAI_ENOMEM) || n > 2000)
        fail_msg("step %zu, allocation %zu: %d", i, n, rc);
    }
  }
  host_close(&h);
}

/* Opening, with all there may be. */
static int opening(const pai_alloc *alloc, void *user_data)
{
  static host h;
  pai_error *err = NULL;
  int rc = host_try(&h, alloc, &err);

  (void)user_data;
  if (rc < 0)
    pai_error_free(err);
  else
    assert_int_equal(h.a->accounts.n, 2);
  host_close(&h);
  return rc;
}

static void opening_fails_whole(void **state)
{
  static host h;

  (void)state;
  host_open(&h);
  for (size_t i = 0; steps[i] != s_no_vc; i++)
    assert_int_equal(steps[i](&h), PAI_OK);
  host_commit(&h);
  host_close(&h);
  test_faults(opening, NULL);
}

/* --- many ------------------------------------------------------------------------------------ */

static int count_bytes(void *user_data, const char *bytes, size_t len)
{
  (void)bytes;
  *(size_t *)user_data += len;
  return PAI_OK;
}

static int refuse(void *user_data, const char *bytes, size_t len)
{
  (void)user_data;
  (void)bytes;
  (void)len;
  return PAI_EUSER;
}

static void ten_thousand_users(void **state)
{
  enum { USERS = 10000 };
  static host h;
  char json[256], token[PAI__TOKEN_TEXT];
  size_t bytes = 0;

  (void)state;
  host_open(&h);
  set_up(&h);
  for (int i = 0; i < USERS; i++) {
    (void)snprintf(json, sizeof(json),
                   "{\"username\":\"u%d\",\"passwordHash\":\"%0128x\","
                   "\"extension\":{\"n\":%d}}",
                   i, (unsigned)i, i);
    assert_int_equal(pai_accounts_put_user(h.a, json, strlen(json),
                                           PAI_PUT_CREATE, host_on_told, &h,
                                           NULL),
                     PAI_OK);
  }
  host_run(&h);
  assert_int_equal(h.calls, USERS + 1);
  new_token(&h, token, "u7777", 1);
  host_reopen(&h);
  assert_int_equal(h.a->accounts.n, USERS + 1);
  assert_int_equal(why(&h, token), PAI_TOKEN_GOOD);
  assert_int_equal(
    pai_accounts_write_users(h.a, NULL, count_bytes, &bytes, NULL), PAI_OK);
  assert_true(bytes > USERS * (size_t)100);
  assert_int_equal(pai_accounts_write_users(h.a, NULL, refuse, NULL, NULL),
                   PAI_EUSER);
  /* All of them leave a group at once. */
  assert_int_equal(put_group(&h, PAI_PUT_CREATE, "{\"groupname\":\"team\"}"),
                   PAI_OK);
  for (int i = 0; i < USERS; i++) {
    (void)snprintf(json, sizeof(json), "u%d", i);
    assert_int_equal(pai_accounts_set_member(h.a, json, "team", 1, NULL),
                     PAI_OK);
  }
  assert_int_equal(pai_accounts_remove_group(h.a, "team", NULL), PAI_OK);
  host_begin(&h);
  assert_int_equal(
    pai_accounts_write_members(h.a, "team", host_write, &h, NULL), PAI_OK);
  assert_string_equal(h.text, "[]");
  host_close(&h);
}

static void few_hashes_go_on_at_a_time(void **state)
{
  static host h;
  pai_error *err = NULL;
  int asked = 0, rc;

  (void)state;
  host_open(&h);
  set_up(&h);
  h.calls = 0;
  do {
    rc = pai_accounts_login(h.a, "admin", "admin-passphrase", host_on_told, &h,
                            &err);
    asked += rc == PAI_OK;
  } while (rc == PAI_OK && asked < 5000);
  assert_int_equal(rc, PAI_EBUSY);
  assert_int_equal(pai_error_retriable(err), 1);
  expect(&h, host_take(&h, rc, &err), PAI_EBUSY, "UnknownError", 503);
  assert_int_equal(asked, 1002);
  assert_int_equal(h.calls, 0);
  host_run(&h);
  assert_int_equal(h.calls, asked);
  assert_int_equal(h.most, 2);
  host_close(&h);
}

/* --- whose turn it is ------------------------------------------------------------------ */

typedef struct caller {
  const char *who;
  bool gone;
  int *order; /* the number of calls so far */
  int turn;   /* this one's, or 0 */
  int status;
} caller;

static void on_turn(void *user_data, int status, const char *json, size_t len,
                    const pai_error *err)
{
  caller *c = user_data;

  (void)json;
  (void)len;
  (void)err;
  c->turn = ++*c->order;
  c->status = status;
}

static int caller_is_gone(void *user_data)
{
  return ((caller *)user_data)->gone;
}

static int log_in_as(host *h, caller *c, pai_error **err)
{
  pai_asker asker = { sizeof(asker), c->who, caller_is_gone };

  assert_int_equal(pai_accounts_ask_as(h->a, &asker), PAI_OK);
  return pai_accounts_login(h->a, "admin", "admin-passphrase", on_turn, c,
                            err);
}

/* However many passwords of one wait, another one's is the next but those that
 * go on. */
static void each_has_a_turn(void **state)
{
  static caller many[66], other[2];
  static host h;
  pai_error *err = NULL;
  int order = 0;

  (void)state;
  host_open(&h);
  set_up(&h);
  for (size_t i = 0; i < PAI__LEN(many); i++) { /* two of them go on */
    many[i] = (caller){ .who = "a", .order = &order };
    assert_int_equal(log_in_as(&h, &many[i], NULL), PAI_OK);
  }
  for (size_t i = 0; i < PAI__LEN(other); i++) {
    other[i] = (caller){ .who = "b", .order = &order };
    assert_int_equal(log_in_as(&h, &other[i], NULL), PAI_OK);
  }
  expect(&h, host_take(&h, log_in_as(&h, &many[0], &err), &err), PAI_EBUSY,
         "UnknownError", 429);
  assert_int_equal(order, 0);
  host_run(&h);
  assert_int_equal(order, 68);
  assert_true(other[0].turn <= 4);
  assert_true(other[1].turn <= 6);
  for (size_t i = 1; i < PAI__LEN(many); i++)
    assert_true(many[i].turn > many[i - 1].turn);
  host_close(&h);
}

static void wrong_from(host *h, caller *c)
{
  pai_asker asker = { sizeof(asker), c->who, caller_is_gone };

  assert_int_equal(pai_accounts_ask_as(h->a, &asker), PAI_OK);
  assert_int_equal(
    pai_accounts_login(h->a, "admin", "a-wrong-one", on_turn, c, NULL),
    PAI_OK);
}

/* Addresses from which wrong passwords came do not hold up who guesses none; nor
 * does one's own, where others guess, too. */
static void guesses_come_last(void **state)
{
  static caller first[20], many[20], other, own;
  static char who[20][4];
  static host h;
  int order = 0;

  (void)state;
  host_open(&h);
  set_up(&h);
  own = (caller){ .who = "0", .order = &order };
  assert_int_equal(log_in_as(&h, &own, NULL), PAI_OK);
  host_run(&h);
  for (size_t i = 0; i < PAI__LEN(many); i++) {
    (void)snprintf(who[i], sizeof(who[i]), "%zu", i);
    first[i] = many[i] = (caller){ .who = who[i], .order = &order };
    wrong_from(&h, &first[i]);
  }
  host_run(&h);
  order = 0;
  for (size_t i = 0; i < PAI__LEN(many); i++)
    wrong_from(&h, &many[i]);
  other = (caller){ .who = "another", .order = &order };
  assert_int_equal(log_in_as(&h, &other, NULL), PAI_OK);
  own = (caller){ .who = "19", .order = &order };
  own.who = "0";
  assert_int_equal(log_in_as(&h, &own, NULL), PAI_OK);
  host_run(&h);
  assert_int_equal(order, 22);
  assert_true(other.turn <= 4); /* two go on */
  assert_true(own.turn <= 4);
  host_close(&h);
}

/* A full line has room for who has nothing in it, in the place of who has most;
 * nothing is hashed for who is gone. */
static void a_full_line_makes_room(void **state)
{
  static caller many[1002], late, gone;
  static char who[32][4];
  static host h;
  pai_error *err = NULL;
  int order = 0;

  (void)state;
  host_open(&h);
  set_up(&h);
  for (size_t i = 0; i < PAI__LEN(who); i++)
    (void)snprintf(who[i], sizeof(who[i]), "%zu", i);
  for (size_t i = 0; i < PAI__LEN(many); i++) {
    many[i] = (caller){ .who = who[i % 32], .order = &order };
    assert_int_equal(log_in_as(&h, &many[i], NULL), PAI_OK);
  }
  late = (caller){ .who = who[7], .order = &order };
  expect(&h, host_take(&h, log_in_as(&h, &late, &err), &err), PAI_EBUSY,
         "UnknownError", 503);
  gone = (caller){ .who = "gone", .gone = true, .order = &order };
  assert_int_equal(log_in_as(&h, &gone, NULL), PAI_OK);
  late.who = "late"; /* in the place of who is gone */
  assert_int_equal(log_in_as(&h, &late, NULL), PAI_OK);
  many[500].gone = true;
  host_run(&h);
  assert_int_equal(order, 1004);
  assert_int_equal(gone.status, PAI_ECANCELED);
  assert_int_equal(many[500].status, PAI_ECANCELED);
  assert_int_equal(late.status, PAI_OK);
  assert_int_equal(many[1001].status, PAI_EBUSY);
  assert_int_equal(many[1000].status, PAI_OK);
  host_close(&h);
}

static void askers_are_checked(void **state)
{
  pai_asker asker = PAI_ASKER_INIT;
  static char text[2000];
  static host h;

  (void)state;
  host_open(&h);
  assert_int_equal(pai_accounts_ask_as(h.a, &asker), PAI_EINVAL);
  asker.who = "123456789 123456789 123456789 123456789 12345678";
  assert_int_equal(pai_accounts_ask_as(h.a, &asker), PAI_EINVAL);
  asker.who++;
  assert_int_equal(pai_accounts_ask_as(h.a, &asker), PAI_OK);
  assert_int_equal(pai_accounts_ask_as(NULL, &asker), PAI_EINVAL);
  assert_int_equal(pai_accounts_ask_as(h.a, NULL), PAI_EINVAL);
  /* It is of the next call alone, also if that is refused. */
  memset(text, 'x', sizeof(text) - 1);
  asker.is_gone = caller_is_gone;
  assert_int_equal(pai_accounts_ask_as(h.a, &asker), PAI_OK);
  assert_int_equal(
    pai_accounts_login(h.a, "admin", text, host_on_told, &h, NULL), PAI_EPERM);
  assert_true(h.a->asker.is_gone == NULL && h.a->asker.who[0] == '\0');
  host_close(&h);
}

static void closing_calls_all_who_wait(void **state)
{
  static host h;
  pai_error *err;

  (void)state;
  host_open(&h);
  set_up(&h);
  h.calls = 0;
  for (int i = 0; i < 5; i++)
    assert_int_equal(pai_accounts_login(h.a, "admin", "admin-passphrase",
                                        host_on_told, &h, &err),
                     PAI_OK);
  assert_false(pai__accounts_is_idle(h.a));
  pai__accounts_stop(h.a);
  assert_int_equal(h.calls, 0);
  assert_int_equal(pai_accounts_login(h.a, "admin", "admin-passphrase",
                                      host_on_told, &h, &err),
                   PAI_EBUSY);
  pai_error_free(err);
  h.soon = false;
  pai__accounts_turn(h.a);
  assert_int_equal(h.calls, 3); /* two go on */
  assert_int_equal(h.status, PAI_ECANCELED);
  host_run(&h);
  assert_int_equal(h.calls, 5);
  assert_int_equal(h.status, PAI_OK);
  assert_true(pai__accounts_is_idle(h.a));
  host_close(&h);
}

static void settings_have_limits(void **state)
{
  static const pai_accounts_options bad[] = {
    { sizeof(pai_accounts_options), -1, 0, 0, 0, 0, 0 },
    { sizeof(pai_accounts_options), 0, 7, 0, 0, 0, 0 },
    { sizeof(pai_accounts_options), 0, (1 << 20) + 1, 0, 0, 0, 0 },
    { sizeof(pai_accounts_options), 0, 0, 101, 0, 0, 0 },
    { sizeof(pai_accounts_options), 0, 0, 0, 9, 0, 0 },
    { 4, 0, 0, 0, 0, 0, 0 },
  };
  static host h;
  pai_error *err;

  (void)state;
  host_open(&h);
  for (size_t i = 0; i < PAI__LEN(bad); i++) {
    assert_int_equal(pai_accounts_configure(h.a, &bad[i], &err), PAI_EINVAL);
    test_expect_error(err, PAI_EINVAL, "pai_accounts_options");
  }
  assert_int_equal(h.a->memory, 8192);
  host_close(&h);
}

int main(void)
{
#define TEST(name) \
  cmocka_unit_test_setup_teardown(name, folder_set_up, folder_tear_down)
  const struct CMUnitTest tests[] = {
    TEST(failing_changes_nothing), TEST(opening_fails_whole),
    TEST(ten_thousand_users),      TEST(few_hashes_go_on_at_a_time),
    TEST(guesses_come_last),       TEST(a_full_line_makes_room),
    TEST(each_has_a_turn),         TEST(a_full_line_makes_room),
    TEST(askers_are_checked),      TEST(closing_calls_all_who_wait),
    TEST(settings_have_limits),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
