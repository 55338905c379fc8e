/* Errors, option structs of every age, logging, version. */
#include "cases.h"

#include <openpai/sched.h>
#include <openpai/spec.h>

#include <stdio.h>

TEST(error_tells_all)
{
  pai_error *err = NULL;

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
TEST(no_error_acts_on_a_terminal)
{
  pai_error *err = NULL;

  (void)pai__fail(&err, PAI_EIO, "no %s", "a\x1b[31mb\nc\x7f\xc2\x9b\xc3\xa9");
  pai__error_help(&err, "try %s", "\r\xc2");
  assert_string_equal(pai_error_message(err), "no a?[31mb?c???\xc3\xa9");
  assert_string_equal(pai_error_help(err), "try ?\xc2");
  pai_error_free(err);
}

TEST(error_may_be_ignored)
{
  assert_int_equal(pai__fail(NULL, PAI_EIO, "x"), PAI_EIO);
  assert_int_equal(pai__fail_above(NULL, PAI_EIO, "x"), PAI_EIO);
  assert_int_equal(pai__oom(NULL), PAI_ENOMEM);
  pai__error_help(NULL, "x");
  pai__error_pointer(NULL, "/");
  pai__error_retriable(NULL);
  assert_ok(pai_error_code(NULL));
  assert_string_equal(pai_error_message(NULL), "");
  assert_null(pai_error_help(NULL));
  assert_null(pai_error_pointer(NULL));
  assert_null(pai_error_cause(NULL));
  assert_int_equal(pai_error_retriable(NULL), 0);
  assert_null(pai_error_api_code(NULL));
  assert_int_equal(pai_error_http_status(NULL), 0);
  pai_error_free(NULL);
}

TEST(causes_chain)
{
  pai_error *err = NULL;

  (void)pai__fail(&err, PAI_EIO, "disk gone");
  (void)pai__fail_above(&err, PAI_EINTERNAL, "store failed");
  assert_string_equal(pai_error_message(err), "store failed");
  assert_string_equal(pai_error_message(pai_error_cause(err)), "disk gone");
  pai_error_free(err);
}

TEST(out_of_memory_needs_none)
{
  pai_error *err = NULL;

  assert_int_equal(pai__oom(&err), PAI_ENOMEM);
  pai__error_help(&err, "more memory"); /* dropped, not written to a static */
  assert_string_equal(pai_error_message(err), "out of memory");
  assert_null(pai_error_help(err));
  assert_int_equal(pai_error_retriable(err), 1);
  pai_error_free(err);
}

TEST(codes_have_names)
{
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

TEST(options_of_every_age)
{
  struct opts dst;
  struct {
    struct opts o;
    int64_t newest; /* as wide as size_t: no padding to be read */
  } newer = { { sizeof(newer), 1, 2 }, 0 };
  struct opts same = { sizeof(same), 1, 2 };
  struct opts older = { offsetof(struct opts, later), 1, 99 };

  assert_ok(copy_in(&dst, NULL));
  assert_int_equal(dst.first, 0);
  assert_ok(copy_in(&dst, &same));
  assert_int_equal(dst.later, 2);
  assert_ok(copy_in(&dst, &older));
  assert_int_equal(dst.first, 1);
  assert_int_equal(dst.later, 0); /* not what lies behind the old struct */
  assert_ok(copy_in(&dst, &newer));
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
TEST(options_of_zeros)
{
  struct opts dst = { 1, 1, 1 }, zeros = { 0 };
  pai_spec_options o = { 0 };
  pai_error *err = NULL;
  pai_spec *spec;

  assert_ok(PAI__OPTIONS_IN(&dst, &zeros, struct opts, first));
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
TEST(structs_without_their_size)
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

  assert_ok(pai_cluster_parse(&cluster, nodes, strlen(nodes), NULL, &err));
  assert_ok(pai_sched_new(&s, cluster, NULL, &err));
  assert_int_equal(pai_sched_send(s, &event, &err), PAI_EINVAL);
  assert_has(pai_error_help(err), "sizeof(x)");
  test_expect_error(err, PAI_EINVAL,
                    "event 1: pai_sched_event: struct_size is 0");
  pai_sched_free(s);
  pai_cluster_free(cluster);
  assert_int_equal(pai_spec_parse(&spec, "{}", 2, &newer.o, &err),
                   PAI_ENOTSUP);
  assert_has(pai_error_help(err), "library of these headers");
  test_expect_error(err, PAI_ENOTSUP, "does not know");
}

static void keep_line(void *user_data, int level, const char *line)
{
  char *kept = user_data;

  (void)snprintf(kept, 64, "%d:%s", level, line);
}

TEST(log_reaches_who_listens)
{
  char kept[64] = "";
  pai__log log = { keep_line, kept, PAI_LOG_INFO };

  pai__log_line(NULL, PAI_LOG_ERROR, "x");
  pai__log_line(&(pai__log){ 0 }, PAI_LOG_ERROR, "x");
  pai__log_line(&log, PAI_LOG_DEBUG, "quiet");
  assert_string_equal(kept, "");
  pai__log_line(&log, PAI_LOG_WARNING, "%d nodes", 3);
  assert_string_equal(kept, "3:3 nodes");
  pai__log_line(&log, PAI_LOG_INFO, "%s", "it says:\r\n\033[0mno");
  assert_string_equal(kept, "2:it says:   [0mno");
}

TEST(version_is_the_headers)
{
  assert_string_equal(pai_version(),
                      test_string("%d.%d.%d", PAI_VERSION_MAJOR,
                                  PAI_VERSION_MINOR, PAI_VERSION_PATCH));
  assert_int_equal(pai_version_number(), PAI_VERSION_NUMBER);
}

TEST(an_error_says_what_the_api_calls_it)
{
  pai_error *err = NULL;

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
