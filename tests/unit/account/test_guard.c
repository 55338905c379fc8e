/* Wrong passwords: who has to wait, and who has not. */
#include "host.h"

#include <stdio.h>

#define SECOND INT64_C(1000000)

/* A login from an address. */
static int log_in_from(host *h, const char *from, const char *user,
                       const char *password)
{
  const pai_asker asker = { sizeof(asker), from, NULL };

  assert_int_equal(pai_accounts_ask_as(h->a, &asker), PAI_OK);
  return log_in(h, user, password);
}

static pai_login_counts counts(const host *h)
{
  pai_login_counts c = { .struct_size = sizeof(c) };

  assert_int_equal(pai_accounts_count_logins(h->a, &c), PAI_OK);
  return c;
}

static void open_with_ada(host *h)
{
  host_open(h);
  set_up(h);
  add_user(h, "ada");
}

static void wrong_passwords_mean_a_wait(void **state)
{
  static host h;
  pai_time waits[] = { 0, 0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900 };

  (void)state;
  open_with_ada(&h);
  for (size_t i = 0; i < PAI__LEN(waits); i++) {
    assert_int_equal(log_in_from(&h, "a", "ada", "wrong"), PAI_EPERM);
    assert_int_equal(h.wait, waits[i] * SECOND);
    if (waits[i] == 0)
      continue;
    h.now += waits[i] * SECOND - 1;
    /* Also with the right password. */
    expect(&h, log_in_from(&h, "a", "ada", "ada-password"), PAI_EBUSY,
           "UnknownError", 429);
    assert_int_equal(h.wait, 1);
    h.now += 1;
  }
  assert_int_equal(counts(&h).wrong, PAI__LEN(waits));
  assert_int_equal(counts(&h).refused, PAI__LEN(waits) - 2);
  assert_int_equal(counts(&h).lockouts, 7);
  /* It is over, and the right one begins anew. */
  assert_int_equal(log_in_from(&h, "a", "ada", "ada-password"), PAI_OK);
  assert_int_equal(log_in_from(&h, "a", "ada", "wrong"), PAI_EPERM);
  assert_int_equal(h.wait, 0);
  assert_int_equal(counts(&h).good, 1);
  host_close(&h);
}

/* Nobody learns whether there is such a user. */
static void users_that_are_none_wait_alike(void **state)
{
  static host h;

  (void)state;
  open_with_ada(&h);
  for (int i = 0; i < 3; i++)
    assert_int_equal(log_in_from(&h, "a", "nobody", "wrong"), PAI_ENOTFOUND);
  assert_int_equal(h.wait, SECOND);
  expect(&h, log_in_from(&h, "a", "nobody", "wrong"), PAI_EBUSY,
         "UnknownError", 429);
  host_close(&h);
}

static void an_address_waits_for_all_accounts(void **state)
{
  static host h;
  char name[16];

  (void)state;
  open_with_ada(&h);
  for (int i = 0; i < 20; i++) {
    (void)snprintf(name, sizeof(name), "u%d", i);
    assert_int_equal(log_in_from(&h, "a", name, "wrong"), PAI_ENOTFOUND);
  }
  assert_int_equal(h.wait, 30 * SECOND);
  assert_int_equal(log_in_from(&h, "a", "ada", "ada-password"), PAI_EBUSY);
  assert_int_equal(log_in_from(&h, "b", "ada", "ada-password"), PAI_OK);
  h.now += 30 * SECOND;
  assert_int_equal(log_in_from(&h, "a", "ada", "ada-password"), PAI_OK);
  assert_int_equal(counts(&h).waiting, 0);
  host_close(&h);
}

/* Whoever guesses from many addresses keeps out others that are new, for a
 * minute; who was there before does not notice. */
static void nobody_is_locked_out_from_elsewhere(void **state)
{
  static host h;
  char from[16];

  (void)state;
  open_with_ada(&h);
  assert_int_equal(log_in_from(&h, "home", "ada", "ada-password"), PAI_OK);
  for (int i = 0; i < 100; i++) {
    (void)snprintf(from, sizeof(from), "bot%d", i / 2);
    assert_int_equal(log_in_from(&h, from, "ada", "wrong"), PAI_EPERM);
  }
  assert_int_equal(h.wait, 60 * SECOND);
  assert_int_equal(log_in_from(&h, "bot99", "ada", "wrong"), PAI_EBUSY);
  assert_int_equal(log_in_from(&h, "home", "ada", "ada-password"), PAI_OK);
  assert_int_equal(log_in_from(&h, "new", "ada", "ada-password"), PAI_EBUSY);
  h.now += 60 * SECOND;
  assert_int_equal(log_in_from(&h, "bot99", "ada", "wrong"), PAI_EPERM);
  assert_int_equal(log_in_from(&h, "new", "ada", "ada-password"), PAI_OK);
  host_close(&h);
}

/* Those that came at once are checked one by one. */
static void many_at_once_are_counted_too(void **state)
{
  const pai_asker asker = { sizeof(asker), "a", NULL };
  static host h;
  int begun = 0;

  (void)state;
  open_with_ada(&h);
  for (int i = 0; i < 40; i++) {
    assert_int_equal(pai_accounts_ask_as(h.a, &asker), PAI_OK);
    begun += pai_accounts_login(h.a, "ada", "wrong", host_on_told, &h, NULL) ==
             PAI_OK;
  }
  assert_int_equal(begun, 40);
  host_run(&h);
  assert_in_range(counts(&h).wrong, 3, 4); /* two are checked at a time */
  assert_int_equal(counts(&h).wrong + counts(&h).refused, 40);
  host_close(&h);
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

static void begin_log_in(host *h, told *t, const char *from, const char *user,
                         const char *password)
{
  const pai_asker asker = { sizeof(asker), from, NULL };

  assert_int_equal(pai_accounts_ask_as(h->a, &asker), PAI_OK);
  assert_int_equal(pai_accounts_login(h->a, user, password, on_told, t, NULL),
                   PAI_OK);
}

/* Others guess at one account, each from an address that is new, also where
 * that account was locked for it: who comes to another one from an address that
 * is new does not wait behind them. */
static void guesses_hold_up_their_account_alone(void **state)
{
  static const int before[] = { 3, 150 };
  char from[16];

  (void)state;
  for (size_t i = 0; i < PAI__LEN(before); i++) {
    static host h;
    told t = { .n = 0 };

    open_with_ada(&h);
    for (int k = 0; k < before[i]; k++) {
      (void)snprintf(from, sizeof(from), "bot%d", k);
      if (log_in_from(&h, from, "admin", "wrong") == PAI_EBUSY)
        h.now += 60 * SECOND;
    }
    for (int k = 0; k < 12; k++) {
      (void)snprintf(from, sizeof(from), "late%d", k);
      begin_log_in(&h, &t, from, "admin", "wrong");
    }
    begin_log_in(&h, &t, "new", "ada", "ada-password");
    host_run(&h);
    assert_int_equal(t.n, 13);
    for (size_t k = 0; k < t.n; k++) /* one was begun before */
      assert_int_equal(t.status[k], k == 1 ? PAI_OK : PAI_EPERM);
    host_close(&h);
  }
}

static void old_passwords_are_no_way_around(void **state)
{
  static const char change[] =
    "{\"username\":\"ada\",\"password\":\"another-1\",\"oldPassword\":"
    "\"wrong-1\"}";
  static host h;

  (void)state;
  open_with_ada(&h);
  for (int i = 0; i < 3; i++)
    expect(&h, put_user(&h, 0, change), PAI_EPERM, "ForbiddenUserError", 403);
  expect(&h, put_user(&h, 0, change), PAI_EBUSY, "UnknownError", 429);
  host_close(&h);
}

int main(void)
{
#define TEST(name) \
  cmocka_unit_test_setup_teardown(name, folder_set_up, folder_tear_down)
  const struct CMUnitTest tests[] = {
    TEST(wrong_passwords_mean_a_wait),
    TEST(users_that_are_none_wait_alike),
    TEST(an_address_waits_for_all_accounts),
    TEST(nobody_is_locked_out_from_elsewhere),
    TEST(many_at_once_are_counted_too),
    TEST(guesses_hold_up_their_account_alone),
    TEST(old_passwords_are_no_way_around),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
