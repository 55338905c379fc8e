/* Without memory nothing is done by halves; and there may be many of all. */
#include "cases.h"
#include "host.h"

#include "store/inside.h"

#include <stdio.h>

/* --- each allocation fails once, and from then on --------------------------------------- */

typedef int (*step)(void);

static int later(int rc)
{
  if (rc < 0)
    return rc;
  host_run();
  return h.status;
}

static int put(unsigned flags, const char *json)
{
  return later(pai_accounts_put_user(h.a, json, strlen(json), flags,
                                     host_on_told, &h, NULL));
}

static int s_setup(void)
{
  return later(
    pai_accounts_setup(h.a, NULL, "admin-passphrase", host_on_told, &h, NULL));
}

/* A first user whose password nobody is told; */
static int s_lost(void)
{
  int rc;

  h.full = true;
  rc = later(pai_accounts_setup(h.a, NULL, NULL, host_on_told, &h, NULL));
  h.full = false;
  return rc == PAI_EIO ? PAI_OK : rc;
}

/* then it is another one. */
static int s_again(void)
{
  int rc = later(pai_accounts_setup(h.a, NULL, NULL, host_on_told, &h, NULL));

  if (rc == PAI_OK)
    assert_has(h.text, "\"password\"");
  return rc;
}

static int s_create(void)
{
  return put(PAI_PUT_CREATE,
             "{\"username\":\"ada\",\"password\":\"secret-1\",\"email\":"
             "\"a@b\",\"virtualCluster\":[\"default\"],\"admin\":true,"
             "\"extension\":{\"a\":{\"b\":[1]}}}");
}

static int s_change(void)
{
  return put(0, "{\"username\":\"ada\",\"password\":\"secret-2\","
                "\"oldPassword\":\"secret-1\",\"grouplist\":[\"default\"],"
                "\"admin\":false,\"extension\":{\"c\":2}}");
}

static int s_quick(void)
{
  return put(0, "{\"username\":\"ada\",\"email\":\"\"}");
}

static int s_login(void)
{
  return later(
    pai_accounts_login(h.a, "ada", "secret-2", host_on_told, &h, NULL));
}

static int s_ssh(void)
{
  return pai_accounts_need_ssh(h.a, "ada", NULL);
}

static int s_token(void)
{
  host_begin();
  return pai_accounts_new_token(h.a, "ada", 1, host_write, &h, NULL);
}

static int s_tokens(void)
{
  host_begin();
  return pai_accounts_write_tokens(h.a, "ada", host_write, &h, NULL);
}

static int s_group(void)
{
  static const char json[] =
    "{\"groupname\":\"team\",\"description\":\"d\",\"extension\":{\"acls\":"
    "{\"virtualClusters\":[\"vision\"],\"storageConfigs\":[\"data\"]}}}";

  return pai_accounts_put_group(h.a, json, sizeof(json) - 1, PAI_PUT_CREATE,
                                NULL);
}

static int s_value(void)
{
  return pai_accounts_set_group_value(h.a, "team", "x/y", "{\"z\":1}", 7,
                                      NULL);
}

static int s_join(void)
{
  return pai_accounts_set_member(h.a, "ada", "team", 1, NULL);
}

static int s_vc(void)
{
  return pai_accounts_add_vc(h.a, "vision", "d", "e", NULL);
}

static int s_no_vc(void)
{
  return pai_accounts_remove_vc(h.a, "vision", NULL);
}

static int s_storage(void)
{
  static const char json[] =
    "{\"name\":\"data\",\"type\":\"local\",\"data\":{\"path\":\"/srv\"},"
    "\"mountOptions\":[\"ro\"],\"secretName\":\"s\"}";

  return pai_accounts_put_storage(h.a, json, sizeof(json) - 1, NULL);
}

static int s_note(void)
{
  return pai_accounts_note(h.a, "ada", "::1", "PUT /x", 200);
}

static int s_write(void)
{
  pai_storage_query q = PAI_STORAGE_QUERY_INIT;
  int rc;

  host_begin();
  rc = pai_accounts_write_users(h.a, NULL, host_write, &h, NULL);
  if (rc == PAI_OK)
    rc = pai_accounts_write_groups(h.a, host_write, &h, NULL);
  if (rc == PAI_OK)
    rc = pai_accounts_write_members(h.a, "team", host_write, &h, NULL);
  if (rc == PAI_OK)
    rc = pai_accounts_write_storages(h.a, &q, host_write, &h, NULL);
  return rc == PAI_OK
           ? pai_accounts_write_audit(h.a,
                                      &(pai_audit_query)PAI_AUDIT_QUERY_INIT,
                                      host_write, &h, NULL)
           : rc;
}

static int s_no_group(void)
{
  return pai_accounts_remove_group(h.a, "team", NULL);
}

static int s_no_user(void)
{
  return pai_accounts_remove_user(h.a, "ada", NULL);
}

static int s_no_storage(void)
{
  return pai_accounts_remove_storage(h.a, "data", NULL);
}

static const step steps[] = {
  s_lost,    s_again, s_setup,  s_create, s_change,   s_quick,   s_login,
  s_ssh,     s_token, s_tokens, s_vc,     s_group,    s_value,   s_join,
  s_storage, s_note,  s_write,  s_no_vc,  s_no_group, s_no_user, s_no_storage
};

/* From now on memory is from there: all of it is libc's in the end. */
static void take_from(pai_alloc alloc)
{
  h.alloc = h.a->alloc = h.store->alloc = alloc;
}

/* All that can be seen. */
static void picture(pai__buf *out)
{
  const pai_alloc alloc = h.alloc;

  take_from(pai__libc_alloc);
  pai__buf_clear(out);
  assert_ok(s_write());
  pai__buf_add(out, h.text, h.len);
  pai__buf_printf(out, " %zu tokens", h.a->tokens.live);
  assert_true(pai__buf_ok(out));
  take_from(alloc);
}

/* What would be committed. */
static size_t count_changes(void)
{
  size_t n = 0;

  for (const pai__store_change *c = h.batch->first; c != NULL; c = c->next)
    n++;
  return n;
}

/* Up to step `n` all goes well; that one may fail, and then nothing has
 * changed, and it goes well afterwards.  Nothing gets into the database. */
static int try_step(size_t n, const pai_alloc *alloc)
{
  pai__buf before = test_buf(), after = test_buf();
  size_t changes;
  int rc;

  host_drop();
  for (size_t i = 0; i < n; i++)
    assert_ok(steps[i]());
  picture(&before);
  changes = count_changes();
  take_from(*alloc);
  rc = steps[n]();
  take_from(pai__libc_alloc);
  if (rc < 0 && steps[n] != s_setup &&
      steps[n] != s_lost) { /* of these the groups stay */
    picture(&after);
    assert_string_equal(after.data, before.data);
    assert_int_equal(count_changes(), changes);
  }
  pai__buf_dispose(&before);
  pai__buf_dispose(&after);
  if (rc < 0)
    assert_ok(steps[n]());
  return rc;
}

TEST(failing_changes_nothing)
{
  for (size_t i = 0; i < PAI__LEN(steps); i++) {
    bool done = false;

    for (size_t n = 1; !done; n++) {
      test_tally t;
      int rc;

      test_tally_init(&t);
      t.fail_at = n;
      rc = try_step(i, &t.alloc);
      done = rc == PAI_OK && t.calls < n;
      if ((rc != PAI_OK && rc != PAI_ENOMEM) || n > 2000)
        fail_msg("step %zu, allocation %zu: %d", i, n, rc);
    }
  }
}

/* Opening, with all there may be. */
static int opening(const pai_alloc *alloc, void *user_data)
{
  pai_error *err = NULL;
  int rc = host_try(alloc, &err);

  (void)user_data;
  if (rc < 0)
    pai_error_free(err);
  else
    assert_int_equal(h.a->accounts.n, 2);
  host_close();
  return rc;
}

TEST(opening_fails_whole)
{
  for (size_t i = 0; steps[i] != s_no_vc; i++)
    assert_ok(steps[i]());
  host_commit();
  host_close();
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

TEST(ten_thousand_users)
{
  enum { USERS = 10000 };
  char json[256], token[PAI__TOKEN_TEXT];
  size_t bytes = 0;

  set_up();
  for (int i = 0; i < USERS; i++) {
    (void)snprintf(json, sizeof(json),
                   "{\"username\":\"u%d\",\"passwordHash\":\"%0128x\","
                   "\"extension\":{\"n\":%d}}",
                   i, (unsigned)i, i);
    assert_ok(pai_accounts_put_user(h.a, json, strlen(json), PAI_PUT_CREATE,
                                    host_on_told, &h, NULL));
  }
  host_run();
  assert_int_equal(h.calls, USERS + 1);
  new_token(token, "u7777", 1);
  host_reopen();
  assert_int_equal(h.a->accounts.n, USERS + 1);
  assert_int_equal(why(token), PAI_TOKEN_GOOD);
  assert_ok(pai_accounts_write_users(h.a, NULL, count_bytes, &bytes, NULL));
  assert_true(bytes > USERS * (size_t)100);
  assert_int_equal(pai_accounts_write_users(h.a, NULL, refuse, NULL, NULL),
                   PAI_EUSER);
  /* All of them leave a group at once. */
  assert_ok(put_group(PAI_PUT_CREATE, "{\"groupname\":\"team\"}"));
  for (int i = 0; i < USERS; i++) {
    (void)snprintf(json, sizeof(json), "u%d", i);
    assert_ok(pai_accounts_set_member(h.a, json, "team", 1, NULL));
  }
  assert_ok(pai_accounts_remove_group(h.a, "team", NULL));
  host_begin();
  assert_ok(pai_accounts_write_members(h.a, "team", host_write, &h, NULL));
  assert_string_equal(h.text, "[]");
}

TEST(few_hashes_go_on_at_a_time)
{
  pai_error *err = NULL;
  int asked = 0, rc;

  set_up();
  h.calls = 0;
  do {
    rc = pai_accounts_login(h.a, "admin", "admin-passphrase", host_on_told, &h,
                            &err);
    asked += rc == PAI_OK;
  } while (rc == PAI_OK && asked < 5000);
  assert_int_equal(rc, PAI_EBUSY);
  assert_int_equal(pai_error_retriable(err), 1);
  expect(host_take(rc, &err), PAI_EBUSY, "UnknownError", 503);
  assert_int_equal(asked, 1002);
  assert_int_equal(h.calls, 0);
  host_run();
  assert_int_equal(h.calls, asked);
  assert_int_equal(h.most, 2);
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

static int log_in_as(caller *c, pai_error **err)
{
  pai_asker asker = { sizeof(asker), c->who, caller_is_gone };

  assert_ok(pai_accounts_ask_as(h.a, &asker));
  return pai_accounts_login(h.a, "admin", "admin-passphrase", on_turn, c, err);
}

/* However many passwords of one wait, another one's is the next but those that
 * go on. */
TEST(each_has_a_turn)
{
  static caller many[66], other[2];
  pai_error *err = NULL;
  int order = 0;

  set_up();
  for (size_t i = 0; i < PAI__LEN(many); i++) { /* two of them go on */
    many[i] = (caller){ .who = "a", .order = &order };
    assert_ok(log_in_as(&many[i], NULL));
  }
  for (size_t i = 0; i < PAI__LEN(other); i++) {
    other[i] = (caller){ .who = "b", .order = &order };
    assert_ok(log_in_as(&other[i], NULL));
  }
  expect(host_take(log_in_as(&many[0], &err), &err), PAI_EBUSY, "UnknownError",
         429);
  assert_int_equal(order, 0);
  host_run();
  assert_int_equal(order, 68);
  assert_true(other[0].turn <= 4);
  assert_true(other[1].turn <= 6);
  for (size_t i = 1; i < PAI__LEN(many); i++)
    assert_true(many[i].turn > many[i - 1].turn);
}

static void wrong_from(caller *c)
{
  pai_asker asker = { sizeof(asker), c->who, caller_is_gone };

  assert_ok(pai_accounts_ask_as(h.a, &asker));
  assert_ok(pai_accounts_login(h.a, "admin", "a-wrong-one", on_turn, c, NULL));
}

/* Addresses from which wrong passwords came do not hold up who guesses none; nor
 * does one's own, where others guess, too. */
TEST(guesses_come_last)
{
  static caller first[20], many[20], other, own;
  static char who[20][4];
  int order = 0;

  set_up();
  own = (caller){ .who = "0", .order = &order };
  assert_ok(log_in_as(&own, NULL));
  host_run();
  for (size_t i = 0; i < PAI__LEN(many); i++) {
    (void)snprintf(who[i], sizeof(who[i]), "%zu", i);
    first[i] = many[i] = (caller){ .who = who[i], .order = &order };
    wrong_from(&first[i]);
  }
  host_run();
  order = 0;
  for (size_t i = 0; i < PAI__LEN(many); i++)
    wrong_from(&many[i]);
  other = (caller){ .who = "another", .order = &order };
  assert_ok(log_in_as(&other, NULL));
  own = (caller){ .who = "19", .order = &order };
  own.who = "0";
  assert_ok(log_in_as(&own, NULL));
  host_run();
  assert_int_equal(order, 22);
  assert_true(other.turn <= 4); /* two go on */
  assert_true(own.turn <= 4);
}

/* A full line has room for who has nothing in it, in the place of who has most;
 * nothing is hashed for who is gone. */
TEST(a_full_line_makes_room)
{
  static caller many[1002], late, gone;
  static char who[32][4];
  pai_error *err = NULL;
  int order = 0;

  set_up();
  for (size_t i = 0; i < PAI__LEN(who); i++)
    (void)snprintf(who[i], sizeof(who[i]), "%zu", i);
  for (size_t i = 0; i < PAI__LEN(many); i++) {
    many[i] = (caller){ .who = who[i % 32], .order = &order };
    assert_ok(log_in_as(&many[i], NULL));
  }
  late = (caller){ .who = who[7], .order = &order };
  expect(host_take(log_in_as(&late, &err), &err), PAI_EBUSY, "UnknownError",
         503);
  gone = (caller){ .who = "gone", .gone = true, .order = &order };
  assert_ok(log_in_as(&gone, NULL));
  late.who = "late"; /* in the place of who is gone */
  assert_ok(log_in_as(&late, NULL));
  many[500].gone = true;
  host_run();
  assert_int_equal(order, 1004);
  assert_int_equal(gone.status, PAI_ECANCELED);
  assert_int_equal(many[500].status, PAI_ECANCELED);
  assert_ok(late.status);
  assert_int_equal(many[1001].status, PAI_EBUSY);
  assert_ok(many[1000].status);
}

TEST(askers_are_checked)
{
  pai_asker asker = PAI_ASKER_INIT;
  static char text[2000];

  assert_int_equal(pai_accounts_ask_as(h.a, &asker), PAI_EINVAL);
  asker.who = "123456789 123456789 123456789 123456789 12345678";
  assert_int_equal(pai_accounts_ask_as(h.a, &asker), PAI_EINVAL);
  asker.who++;
  assert_ok(pai_accounts_ask_as(h.a, &asker));
  assert_int_equal(pai_accounts_ask_as(NULL, &asker), PAI_EINVAL);
  assert_int_equal(pai_accounts_ask_as(h.a, NULL), PAI_EINVAL);
  /* It is of the next call alone, also if that is refused. */
  memset(text, 'x', sizeof(text) - 1);
  asker.is_gone = caller_is_gone;
  assert_ok(pai_accounts_ask_as(h.a, &asker));
  assert_int_equal(
    pai_accounts_login(h.a, "admin", text, host_on_told, &h, NULL), PAI_EPERM);
  assert_true(h.a->requester.is_gone == NULL && h.a->requester.who[0] == '\0');
}

TEST(closing_calls_all_who_wait)
{
  pai_error *err;

  set_up();
  h.calls = 0;
  for (int i = 0; i < 5; i++)
    assert_ok(pai_accounts_login(h.a, "admin", "admin-passphrase",
                                 host_on_told, &h, &err));
  assert_false(pai__accounts_is_idle(h.a));
  pai__accounts_stop(h.a);
  assert_int_equal(h.calls, 0);
  assert_int_equal(pai_accounts_login(h.a, "admin", "admin-passphrase",
                                      host_on_told, &h, &err),
                   PAI_EBUSY);
  pai_error_free(err);
  h.soon = false;
  pai__accounts_step(h.a);
  assert_int_equal(h.calls, 3); /* two go on */
  assert_int_equal(h.status, PAI_ECANCELED);
  host_run();
  assert_int_equal(h.calls, 5);
  assert_ok(h.status);
  assert_true(pai__accounts_is_idle(h.a));
}

TEST(settings_have_limits)
{
  static const pai_accounts_options bad[] = {
    { sizeof(pai_accounts_options), -1, 0, 0, 0, 0, 0 },
    { sizeof(pai_accounts_options), 0, 7, 0, 0, 0, 0 },
    { sizeof(pai_accounts_options), 0, (1 << 20) + 1, 0, 0, 0, 0 },
    { sizeof(pai_accounts_options), 0, 0, 101, 0, 0, 0 },
    { sizeof(pai_accounts_options), 0, 0, 0, 9, 0, 0 },
    { 4, 0, 0, 0, 0, 0, 0 },
  };
  pai_error *err;

  for (size_t i = 0; i < PAI__LEN(bad); i++) {
    assert_fails(pai_accounts_configure(h.a, &bad[i], &err), err, PAI_EINVAL,
                 "pai_accounts_options");
  }
  assert_int_equal(h.a->memory, 8192);
}

TEST_AROUND_EACH(host_set_up, host_tear_down);
