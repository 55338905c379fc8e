/* Errors, option structs of every age, logging, version. */
#include "testing.h"

#include <openpai/sched.h>
#include <openpai/spec.h>

#include <stdio.h>

static void error_tells_all(void **state)
{
  pai_error *err = NULL;

  (void)state;
  assert_int_equal(
    pai__fail_at(&err, PAI_EINVAL, (pai__pos){ 3, 7 }, "bad %s", "thing"),
    PAI_EINVAL);
  pai__error_help(&err, "write %d", 4);
  pai__error_pointer(&err, "/a/0");
  pai__error_retriable(&err);
  assert_int_equal(pai_error_code(err), PAI_EINVAL);
  assert_string_equal(pai_error_message(err), "bad thing");
  assert_string_equal(pai_error_help(err), "write 4");
  assert_string_equal(pai_error_pointer(err), "/a/0");
  assert_int_equal(pai_error_line(err), 3);
  assert_int_equal(pai_error_column(err), 7);
  assert_int_equal(pai_error_retriable(err), 1);
  assert_null(pai_error_cause(err));
  pai_error_free(err);
}

/* Names of files and keys may hold anything. */
static void no_error_acts_on_a_terminal(void **state)
{
  pai_error *err = NULL;

  (void)state;
  (void)pai__fail(&err, PAI_EIO, "no %s", "a\x1b[31mb\nc\x7f\xc2\x9b\xc3\xa9");
  pai__error_help(&err, "try %s", "\r\xc2");
  assert_string_equal(pai_error_message(err), "no a?[31mb?c???\xc3\xa9");
  assert_string_equal(pai_error_help(err), "try ?\xc2");
  pai_error_free(err);
}

static void error_may_be_ignored(void **state)
{
  (void)state;
  assert_int_equal(pai__fail(NULL, PAI_EIO, "x"), PAI_EIO);
  assert_int_equal(pai__fail_above(NULL, PAI_EIO, "x"), PAI_EIO);
  assert_int_equal(pai__oom(NULL), PAI_ENOMEM);
  pai__error_help(NULL, "x");
  pai__error_pointer(NULL, "/");
  pai__error_retriable(NULL);
  assert_int_equal(pai_error_code(NULL), PAI_OK);
  assert_string_equal(pai_error_message(NULL), "");
  assert_null(pai_error_help(NULL));
  assert_null(pai_error_pointer(NULL));
  assert_null(pai_error_cause(NULL));
  assert_int_equal(pai_error_retriable(NULL), 0);
  assert_null(pai_error_api_code(NULL));
  assert_int_equal(pai_error_http_status(NULL), 0);
  pai_error_free(NULL);
}

static void causes_chain(void **state)
{
  pai_error *err = NULL;

  (void)state;
  (void)pai__fail(&err, PAI_EIO, "disk gone");
  (void)pai__fail_above(&err, PAI_EINTERNAL, "store failed");
  assert_string_equal(pai_error_message(err), "store failed");
  assert_string_equal(pai_error_message(pai_error_cause(err)), "disk gone");
  pai_error_free(err);
}

static void out_of_memory_needs_none(void **state)
{
  pai_error *err = NULL;

  (void)state;
  assert_int_equal(pai__oom(&err), PAI_ENOMEM);
  pai__error_help(&err, "more memory"); /* dropped, not written to a static */
  assert_string_equal(pai_error_message(err), "out of memory");
  assert_null(pai_error_help(err));
  assert_int_equal(pai_error_retriable(err), 1);
  pai_error_free(err);
}

static void codes_have_names(void **state)
{
  (void)state;
  for (int code = PAI_OK; code >= PAI_ENOROOM; code--)
    assert_string_not_equal(pai_code_name(code), "PAI_E?");
  assert_string_equal(pai_code_name(PAI_ENOROOM - 1), "PAI_E?");
  assert_string_equal(pai_code_name(1), "PAI_E?");
}

struct opts {
  size_t struct_size;
  int first; /* in the first release */
  int later; /* appended since */
};

static int copy_in(struct opts *dst, const void *src)
{
  return PAI__COPY_IN(dst, src, struct opts, first);
}

static void options_of_every_age(void **state)
{
  struct opts dst;
  struct {
    struct opts o;
    int64_t newest; /* as wide as size_t: no padding to be read */
  } newer = { { sizeof(newer), 1, 2 }, 0 };
  struct opts same = { sizeof(same), 1, 2 };
  struct opts older = { offsetof(struct opts, later), 1, 99 };

  (void)state;
  assert_int_equal(copy_in(&dst, NULL), PAI_OK);
  assert_int_equal(dst.first, 0);
  assert_int_equal(copy_in(&dst, &same), PAI_OK);
  assert_int_equal(dst.later, 2);
  assert_int_equal(copy_in(&dst, &older), PAI_OK);
  assert_int_equal(dst.first, 1);
  assert_int_equal(dst.later, 0); /* not what lies behind the old struct */
  assert_int_equal(copy_in(&dst, &newer), PAI_OK);
  newer.newest = 1;
  assert_int_equal(copy_in(&dst, &newer), PAI_ENOTSUP);
  older.struct_size = sizeof(size_t);
  assert_int_equal(copy_in(&dst, &older), PAI_EINVAL);
  older.struct_size = 0;
  assert_int_equal(copy_in(&dst, &older), PAI_EINVAL);
  older.struct_size = SIZE_MAX;
  assert_int_equal(copy_in(&dst, &older), PAI_EINVAL);
}

/* Options may be filled with zeros, as headers say; a member that is set then
 * is not passed over. */
static void options_of_zeros(void **state)
{
  struct opts dst = { 1, 1, 1 }, zeros = { 0 };
  pai_spec_options o = { 0 };
  pai_error *err = NULL;
  pai_spec *spec;

  (void)state;
  assert_int_equal(PAI__OPTIONS_IN(&dst, &zeros, struct opts, first), PAI_OK);
  assert_int_equal(dst.first + dst.later, 0);
  zeros.first = 1;
  assert_int_equal(PAI__OPTIONS_IN(&dst, &zeros, struct opts, first),
                   PAI_EINVAL);
  assert_int_equal(pai_spec_parse(&spec, "{", 1, &o, &err), PAI_EINVAL);
  assert_null(strstr(pai_error_message(err), "struct_size"));
  pai_error_free(err);
  o.max_depth = 5;
  assert_int_equal(pai_spec_parse(&spec, "{", 1, &o, &err), PAI_EINVAL);
  assert_string_equal(
    pai_error_help(err),
    "set it: pai_spec_options x = { .struct_size = sizeof(x) };");
  test_expect_error(err, PAI_EINVAL, "pai_spec_options: struct_size is 0");
}

/* What a caller forgot is named. */
static void structs_without_their_size(void **state)
{
  static const char nodes[] = "skus: {cpu: {cpus: 1, memory: 1G}}\n"
                              "nodes: [{name: a, sku: cpu}]\n";
  pai_sched_event event = { .kind = PAI_SCHED_TIME };
  struct {
    pai_spec_options o;
    int64_t newest;
  } newer = { { .struct_size = sizeof(newer) }, 1 };
  pai_cluster *cluster;
  pai_error *err;
  pai_sched *s;
  pai_spec *spec;

  (void)state;
  assert_int_equal(
    pai_cluster_parse(&cluster, nodes, strlen(nodes), NULL, &err), PAI_OK);
  assert_int_equal(pai_sched_new(&s, cluster, NULL, &err), PAI_OK);
  assert_int_equal(pai_sched_send(s, &event, &err), PAI_EINVAL);
  assert_non_null(strstr(pai_error_help(err), "sizeof(x)"));
  test_expect_error(err, PAI_EINVAL,
                    "event 1: pai_sched_event: struct_size is 0");
  pai_sched_free(s);
  pai_cluster_free(cluster);
  assert_int_equal(pai_spec_parse(&spec, "{}", 2, &newer.o, &err),
                   PAI_ENOTSUP);
  assert_non_null(strstr(pai_error_help(err), "headers are newer"));
  test_expect_error(err, PAI_ENOTSUP, "does not know yet");
}

static void keep_line(void *user_data, int level, const char *line)
{
  char *kept = user_data;

  (void)snprintf(kept, 64, "%d:%s", level, line);
}

static void log_reaches_who_listens(void **state)
{
  char kept[64] = "";
  pai__log log = { keep_line, kept, PAI_LOG_INFO };

  (void)state;
  pai__log_line(NULL, PAI_LOG_ERROR, "x");
  pai__log_line(&(pai__log){ 0 }, PAI_LOG_ERROR, "x");
  pai__log_line(&log, PAI_LOG_DEBUG, "quiet");
  assert_string_equal(kept, "");
  pai__log_line(&log, PAI_LOG_WARNING, "%d nodes", 3);
  assert_string_equal(kept, "3:3 nodes");
  pai__log_line(&log, PAI_LOG_INFO, "%s", "it says:\r\n\033[0mno");
  assert_string_equal(kept, "2:it says:   [0mno");
}

static void version_is_the_headers(void **state)
{
  char text[32];

  (void)state;
  (void)snprintf(text, sizeof(text), "%d.%d.%d", PAI_VERSION_MAJOR,
                 PAI_VERSION_MINOR, PAI_VERSION_PATCH);
  assert_string_equal(pai_version(), text);
  assert_int_equal(pai_version_number(), PAI_VERSION_NUMBER);
}

static void an_error_says_what_the_api_calls_it(void **state)
{
  pai_error *err = NULL;

  (void)state;
  (void)pai__fail(&err, PAI_ENOTFOUND, "no user");
  assert_null(pai_error_api_code(err));
  assert_int_equal(pai_error_http_status(err), 0);
  pai__error_api(&err, 404, "NoUserError");
  assert_string_equal(pai_error_api_code(err), "NoUserError");
  assert_int_equal(pai_error_http_status(err), 404);
  pai_error_free(err);
  (void)pai__oom(&err); /* it is everybody's */
  pai__error_api(&err, 404, "NoUserError");
  assert_null(pai_error_api_code(err));
  pai__error_api(NULL, 404, "NoUserError");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(an_error_says_what_the_api_calls_it),
    cmocka_unit_test(error_tells_all),
    cmocka_unit_test(no_error_acts_on_a_terminal),
    cmocka_unit_test(error_may_be_ignored),
    cmocka_unit_test(causes_chain),
    cmocka_unit_test(out_of_memory_needs_none),
    cmocka_unit_test(codes_have_names),
    cmocka_unit_test(options_of_every_age),
    cmocka_unit_test(options_of_zeros),
    cmocka_unit_test(structs_without_their_size),
    cmocka_unit_test(log_reaches_who_listens),
    cmocka_unit_test(version_is_the_headers),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
