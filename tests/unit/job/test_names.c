/* Names, identifiers and ports: the reference's own numbers. */
#include "testing.h"

#include "job/names.h"

static void sums(void **state)
{
  static const struct {
    const char *text, *sum;
  } rows[] = {
    { "", "d41d8cd98f00b204e9800998ecf8427e" },
    { "abc", "900150983cd24fb0d6963f7d28e17f72" },
    { "abcdefghijklmnopqrstuvwxyz", "c3fcd3d76192e4007dfb496cca67e13b" },
    { "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
      "d174ab98d277d9f5a5611c2c9f419d9f" },
    { "12345678901234567890123456789012345678901234567890123456789012345678901"
      "234567890",
      "57edf4a22be3c955ac49da2e2107b67a" },
    { "1234567890123456789012345678901234567890123456789012345",
      "c9ccf168914a1bcfc3229f1948e67da0" }, /* 55 and 56 bytes: one block, two */
    { "12345678901234567890123456789012345678901234567890123456",
      "49f193adce178490e34d1b3a4ec0064c" },
    { "admin~job1+t1", "74dfd517ccab704041320c650556e21f" },
  };
  char hex[PAI__MD5_HEX];

  (void)state;
  for (size_t i = 0; i < PAI__LEN(rows); i++)
    assert_string_equal(pai__md5_hex(hex, rows[i].text, strlen(rows[i].text)),
                        rows[i].sum);
}

static void expect(void (*put)(pai__buf *, const char *), const char *name,
                   const char *wanted)
{
  pai__buf b;

  pai__buf_init(&b, &pai__libc_alloc);
  put(&b, name);
  assert_string_equal(pai__buf_text(&b), wanted);
  pai__buf_dispose(&b);
}

static void names(void **state)
{
  (void)state;
  expect(pai__name_encode, "admin~job1", "2f38ed41a21c61d954f1247914fa6c5d");
  expect(pai__name_encode, "Job_1", "job1");
  expect(pai__name_encode, "unknown~Job-1", "unknownjob1");
  expect(pai__name_role, "worker_A", "workera");
  expect(pai__name_role, "__", "");
}

/* Each part counts, and none runs into the next. */
static void identifiers(void **state)
{
  static const pai__uid_of rows[] = {
    { "j", PAI__UID_POD, 1, "a", 2, 3 },  { "k", PAI__UID_POD, 1, "a", 2, 3 },
    { "j", PAI__UID_TASK, 1, "a", 2, 3 }, { "j", PAI__UID_POD, 2, "a", 2, 3 },
    { "j", PAI__UID_POD, 1, "b", 2, 3 },  { "j", PAI__UID_POD, 1, "a", 3, 3 },
    { "j", PAI__UID_POD, 1, "a", 2, 4 },  { "j", PAI__UID_POD, 1, "a1", 2, 3 },
    { "j", PAI__UID_POD, 1, NULL, 2, 3 },
  };
  char uids[PAI__LEN(rows)][PAI__UID], again[PAI__UID];

  (void)state;
  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    assert_int_equal(strlen(pai__uid(uids[i], &pai__libc_alloc, &rows[i])),
                     36);
    for (size_t k = 0; k < 36; k++)
      assert_int_equal(uids[i][k] == '-',
                       k == 8 || k == 13 || k == 18 || k == 23);
    for (size_t k = 0; k < i; k++)
      assert_string_not_equal(uids[i], uids[k]);
  }
  assert_string_equal(pai__uid(again, &pai__libc_alloc, &rows[0]), uids[0]);
}

/* Those that a database holds are made anew: they never change. */
static void identifiers_stay(void **state)
{
  char uid[PAI__UID];

  (void)state;
  assert_string_equal(
    pai__uid(uid, &pai__libc_alloc, &(pai__uid_of){ "j", "k", 0, NULL, 0, 0 }),
    "5838f1cb-9a91-fc0d-d56f-c541d3a981b4");
  assert_string_equal(
    pai__uid(uid, &pai__libc_alloc,
             &(pai__uid_of){ "1a-7", "pod", UINT32_MAX, "worker", 31, 2 }),
    "af74abbb-7e49-e14e-aa21-e3a5b9481ee0");
}

/* --- ports --------------------------------------------------------------------- */

static int faults_body(const pai_alloc *alloc, void *user_data)
{
  char uid[PAI__UID];

  (void)user_data;
  return *pai__uid(uid, alloc, &(pai__uid_of){ "j", "k", 0, NULL, 0, 0 }) ==
             '\0'
           ? PAI_ENOMEM
           : PAI_OK;
}

static void failing_memory(void **state)
{
  (void)state;
  test_faults(faults_body, NULL);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(sums),           cmocka_unit_test(names),
    cmocka_unit_test(identifiers),    cmocka_unit_test(identifiers_stay),
    cmocka_unit_test(failing_memory),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
