/* What a program that makes tokens is told, and what it answers. */
#include "cases.h"

#include "backend/kubernetes/program.h"

#include <stdio.h>

#define V1 "client.authentication.k8s.io/v1"
#define ANSWER(status)                                                        \
  "{\"kind\":\"ExecCredential\",\"apiVersion\":\"" V1 "\",\"status\":" status \
  "}"

static pai__kube_program program = { .version = V1 };

TEST(it_is_told_the_cluster)
{
  pai__kube_options o = { .url = "https://k", .program = &program };
  pai__buf info = test_buf();

  pai__kube_put_info(&info, &o);
  assert_string_equal(pai__buf_text(&info),
                      "{\"kind\":\"ExecCredential\",\"apiVersion\":\"" V1
                      "\",\"spec\":{\"interactive\":false}}");
  program.wants_cluster = true;
  o.ca = "pem";
  o.proxy = "http://p";
  pai__buf_clear(&info);
  pai__kube_put_info(&info, &o);
  assert_string_equal(
    pai__buf_text(&info),
    "{\"kind\":\"ExecCredential\",\"apiVersion\":\"" V1
    "\",\"spec\":{\"interactive\":false,\"cluster\":{\"server\":"
    "\"https://k\",\"proxy-url\":\"http://p\","
    "\"certificate-authority-data\":\"cGVt\"}}}");
  program.wants_cluster = false;
  pai__buf_dispose(&info);
}

static int read_it(const pai_alloc *alloc, const char *json, char *token,
                   size_t size, pai_time *expires, pai_error **err)
{
  pai__buf b;
  int rc;

  pai__buf_init(&b, alloc);
  rc = pai__kube_read_credential(&b, expires, json, strlen(json), V1, err);
  (void)snprintf(token, size, "%s", rc == PAI_OK ? pai__buf_text(&b) : "");
  pai__buf_dispose(&b);
  return rc;
}

TEST(tokens_and_their_ends)
{
  static const struct {
    const char *date;
    int64_t seconds;
  } rows[] = {
    { "1970-01-01T00:00:01Z", 1 },
    { "2018-03-05T17:30:20-08:00", 1520299820 },
    { "2024-02-29T23:59:59.123456Z", 1709251199 },
    { "2026-11-22T22:05:00+01:30", 1795379700 },
    { "2000-03-01t00:00:00z", 951868800 },
  };
  char token[64];
  pai_time expires;

  assert_ok(read_it(&pai__libc_alloc, ANSWER("{\"token\":\"t\"}"), token,
                    sizeof(token), &expires, NULL));
  assert_string_equal(token, "t");
  assert_int_equal(expires, 0);
  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    assert_ok(read_it(
      &pai__libc_alloc,
      test_string(ANSWER("{\"token\":\"t\",\"expirationTimestamp\":\"%s\"}"),
                  rows[i].date),
      token, sizeof(token), &expires, NULL));
    assert_int_equal(expires, rows[i].seconds * 1000000);
  }
}

TEST(what_is_none)
{
  static const struct {
    const char *json, *why;
    int rc;
  } rows[] = {
    { "", "not valid JSON", PAI_EINVAL },
    { "{\"secret\"", "not valid JSON", PAI_EINVAL },
    { "[]", "not an ExecCredential", PAI_EINVAL },
    { "{}", "not an ExecCredential", PAI_EINVAL },
    { "{\"kind\":\"ExecCredential\"}", "another apiVersion", PAI_EINVAL },
    { "{\"kind\":\"ExecCredential\",\"apiVersion\":\"v1\"}",
      "another apiVersion", PAI_EINVAL },
    { ANSWER("null"), "no token", PAI_EINVAL },
    { ANSWER("[\"secret\"]"), "no token", PAI_EINVAL },
    { ANSWER("{}"), "no token", PAI_EINVAL },
    { ANSWER("{\"token\":\"\"}"), "no token", PAI_EINVAL },
    { ANSWER("{\"token\":5}"), "no token", PAI_EINVAL },
    { ANSWER("{\"clientCertificateData\":\"secret\"}"), "certificate",
      PAI_ENOTSUP },
    { ANSWER("{\"token\":\"secret\",\"expirationTimestamp\":\"soon\"}"),
      "not a date", PAI_EINVAL },
    { ANSWER("{\"token\":\"t\",\"expirationTimestamp\":"
             "\"2026-13-01T00:00:00Z\"}"),
      "not a date", PAI_EINVAL },
    { ANSWER("{\"token\":\"t\",\"expirationTimestamp\":"
             "\"2026-01-01T00:00:00\"}"),
      "not a date", PAI_EINVAL },
    { ANSWER("{\"token\":\"t\",\"expirationTimestamp\":"
             "\"2026-01-01T00:00:00+1:00\"}"),
      "not a date", PAI_EINVAL },
    { ANSWER("{\"token\":\"t\",\"expirationTimestamp\":\"2026-01\"}"),
      "not a date", PAI_EINVAL },
  };

  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    char token[64];
    pai_time expires;
    pai_error *err = NULL;
    int rc = read_it(&pai__libc_alloc, rows[i].json, token, sizeof(token),
                     &expires, &err);
    if (rc != rows[i].rc)
      print_error("%s: %d\n", rows[i].json, rc);
    assert_int_equal(rc, rows[i].rc);
    assert_null(strstr(pai_error_message(err), "secret"));
    test_expect_error(err, rows[i].rc, rows[i].why);
  }
}

TEST_FAULTS(it_survives_failing_memory)
{
  char token[64];
  pai_time expires;

  return read_it(alloc, ANSWER("{\"token\":\"t\"}"), token, sizeof(token),
                 &expires, NULL);
}
