/* Wrong passwords: who has to wait, and who has not. */
#include "cases.h"
#include "host.h"

#include <stdio.h>

#define SECOND INT64_C(1000000)

/* A login from an address. */
static int log_in_from(const char *from, const char *user,
                       const char *password)
{
  const pai_asker asker = { sizeof(asker), from, NULL };

  assert_ok(pai_accounts_ask_as(h.a, &asker));
  return log_in(user, password);
}

static pai_login_counts counts(void)
{
  pai_login_counts c = { .struct_size = sizeof(c) };

  assert_ok(pai_accounts_count_logins(h.a, &c));
  return c;
}

TEST(wrong_passwords_mean_a_wait)
{
  pai_time waits[] = { 0, 0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900 };

  set_up_with_ada();
  for (size_t i = 0; i < PAI__LEN(waits); i++) {
    assert_int_equal(log_in_from("a", "ada", "wrong"), PAI_EPERM);
    assert_int_equal(h.wait, waits[i] * SECOND);
    if (waits[i] == 0)
      continue;
    h.now += waits[i] * SECOND - 1;
    /* Also with the right password. */
    expect(log_in_from("a", "ada", "ada-password"), PAI_EBUSY, "UnknownError",
           429);
    assert_int_equal(h.wait, 1);
    h.now += 1;
  }
  assert_int_equal(counts().wrong, PAI__LEN(waits));
  assert_int_equal(counts().refused, PAI__LEN(waits) - 2);
  assert_int_equal(counts().lockouts, 7);
  /* It is over, and the right one begins anew. */
  assert_ok(log_in_from("a", "ada", "ada-password"));
  assert_int_equal(log_in_from("a", "ada", "wrong"), PAI_EPERM);
  assert_int_equal(h.wait, 0);
  assert_int_equal(counts().good, 1);
}

/* Nobody learns whether there is such a user. */
TEST(users_that_are_none_wait_alike)
{
  set_up_with_ada();
  for (int i = 0; i < 3; i++)
    assert_int_equal(log_in_from("a", "nobody", "wrong"), PAI_ENOTFOUND);
  assert_int_equal(h.wait, SECOND);
  expect(log_in_from("a", "nobody", "wrong"), PAI_EBUSY, "UnknownError", 429);
}

TEST(an_address_waits_for_all_accounts)
{
  set_up_with_ada();
  for (int i = 0; i < 20; i++) {
    assert_int_equal(log_in_from("a", test_string("u%d", i), "wrong"),
                     PAI_ENOTFOUND);
  }
  assert_int_equal(h.wait, 30 * SECOND);
  assert_int_equal(log_in_from("a", "ada", "ada-password"), PAI_EBUSY);
  assert_ok(log_in_from("b", "ada", "ada-password"));
  h.now += 30 * SECOND;
  assert_ok(log_in_from("a", "ada", "ada-password"));
  assert_int_equal(counts().waiting, 0);
}

/* Whoever guesses from many addresses keeps out others that are new, for a
 * minute; who was there before does not notice. */
TEST(nobody_is_locked_out_from_elsewhere)
{
  set_up_with_ada();
  assert_ok(log_in_from("home", "ada", "ada-password"));
  for (int i = 0; i < 100; i++) {
    assert_int_equal(log_in_from(test_string("bot%d", i / 2), "ada", "wrong"),
                     PAI_EPERM);
  }
  assert_int_equal(h.wait, 60 * SECOND);
  assert_int_equal(log_in_from("bot99", "ada", "wrong"), PAI_EBUSY);
  assert_ok(log_in_from("home", "ada", "ada-password"));
  assert_int_equal(log_in_from("new", "ada", "ada-password"), PAI_EBUSY);
  h.now += 60 * SECOND;
  assert_int_equal(log_in_from("bot99", "ada", "wrong"), PAI_EPERM);
  assert_ok(log_in_from("new", "ada", "ada-password"));
}

/* Those that came at once are checked one by one. */
TEST(many_at_once_are_counted_too)
{
  const pai_asker asker = { sizeof(asker), "a", NULL };
  int begun = 0;

  set_up_with_ada();
  for (int i = 0; i < 40; i++) {
    assert_ok(pai_accounts_ask_as(h.a, &asker));
    begun += pai_accounts_login(h.a, "ada", "wrong", host_on_told, &h, NULL) ==
             PAI_OK;
  }
  assert_int_equal(begun, 40);
  host_run();
  assert_in_range(counts().wrong, 3, 4); /* two are checked at a time */
  assert_int_equal(counts().wrong + counts().refused, 40);
}

/* What was told, in turn. */
typedef struct told {
  int status[16];
  size_t n;
} told;

static void on_told(void *user_data, int status, const char *json, size_t len,
                    const pai_error *err)
{
  told *t = user_data;

  (void)json;
  (void)len;
  (void)err;
  assert_true(t->n < PAI__LEN(t->status));
  t->status[t->n++] = status;
}

static void begin_log_in(told *t, const char *from, const char *user,
                         const char *password)
{
  const pai_asker asker = { sizeof(asker), from, NULL };

  assert_ok(pai_accounts_ask_as(h.a, &asker));
  assert_ok(pai_accounts_login(h.a, user, password, on_told, t, NULL));
}

/* Others guess at one account, each from an address that is new, also where
 * that account was locked for it: who comes to another one from an address that
 * is new does not wait behind them. */
TEST(guesses_hold_up_their_account_alone)
{
  static const int before[] = { 3, 150 };
  char from[16];

  for (size_t i = 0; i < PAI__LEN(before); i++) {
    told t = { .n = 0 };

    set_up_with_ada();
    for (int k = 0; k < before[i]; k++) {
      (void)snprintf(from, sizeof(from), "bot%d", k);
      if (log_in_from(from, "admin", "wrong") == PAI_EBUSY)
        h.now += 60 * SECOND;
    }
    for (int k = 0; k < 12; k++) {
      (void)snprintf(from, sizeof(from), "late%d", k);
      begin_log_in(&t, from, "admin", "wrong");
    }
    begin_log_in(&t, "new", "ada", "ada-password");
    host_run();
    assert_int_equal(t.n, 13);
    for (size_t k = 0; k < t.n; k++) /* one was begun before */
      assert_int_equal(t.status[k], k == 1 ? PAI_OK : PAI_EPERM);
    host_close();
    host_open();
  }
}

TEST(old_passwords_are_no_way_around)
{
  static const char change[] =
    "{\"username\":\"ada\",\"password\":\"another-1\",\"oldPassword\":"
    "\"wrong-1\"}";

  set_up_with_ada();
  for (int i = 0; i < 3; i++)
    expect(put_user(0, change), PAI_EPERM, "ForbiddenUserError", 403);
  expect(put_user(0, change), PAI_EBUSY, "UnknownError", 429);
}

TEST_AROUND_EACH(host_set_up, host_tear_down);
