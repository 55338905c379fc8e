/* test_kubernetes.c - what Kubernetes writes: long reasons, quantities; see
 * clusters/kubernetes.txt for its lists of nodes */
#include "resource/clusters.h"

#include "base/buf.h"
#include "resource/cluster/import.h"

TEST(long_reasons_are_cut)
{
  pai_cluster *c;
  pai__buf b = test_buf();

  pai__buf_str(&b, "kind: Node\napiVersion: v1\nmetadata: {name: a}\nstatus: "
                   "{capacity: {cpu: 1}, "
                   "conditions: [{type: Ready, status: 'False', message: "
                   "'x");
  for (size_t i = 0; i < 300; i++)
    pai__buf_str(&b, "\xc3\xa9");
  pai__buf_str(&b, "'}]}\n");
  c = test_cluster(pai__buf_text(&b), NULL);
  assert_int_equal(strlen(test_node(c, 0).sick),
                   252); /* 12 and whole characters */
  pai_cluster_free(c);
  pai__buf_dispose(&b);
}

/* --- quantities ----------------------------------------------------------- */

TEST(quantities_are_read)
{
  static const struct {
    const char *text;
    bool milli;
    uint64_t value;
  } rows[] = {
    { "0", false, 0 },
    { "64", false, 64 },
    { "+64", false, 64 },
    { "64", true, 64000 },
    { "63900m", true, 63900 },
    { "63900m", false, 64 }, /* up, as Kubernetes does */
    { "0.5", true, 500 },
    { "1.0000000000001", false, 2 },
    { ".5", true, 500 },
    { "5.", false, 5 },
    { "1.5Gi", false, UINT64_C(3) << 29 },
    { "0.1Gi", false, 107374183 },
    { "1056308Ki", false, UINT64_C(1056308) << 10 },
    { "512Mi", false, UINT64_C(512) << 20 },
    { "2Ti", false, UINT64_C(2) << 40 },
    { "1Pi", false, UINT64_C(1) << 50 },
    { "1Ei", false, UINT64_C(1) << 60 },
    { "7k", false, 7000 },
    { "7M", false, 7000000 },
    { "500G", false, UINT64_C(500000000000) },
    { "1E", false, UINT64_C(1000000000000000000) },
    { "1e3", false, 1000 },
    { "1E3", false, 1000 },
    { "1e+3", false, 1000 },
    { "12e-1", false, 2 },
    { "1e-30", false, 1 },
    { "128974848000m", false, 128974848 },
    { "5n", true, 1 },
    { "5u", true, 1 },
    { "9223372036854775807", false, INT64_MAX },
  };
  static const char *const none[] = { "9223372036854775808",
                                      "8Ei",
                                      "1e99",
                                      "1e999999999999",
                                      "99999999999999999999",
                                      "",
                                      "+",
                                      ".",
                                      "-1",
                                      "1e",
                                      "1e+",
                                      "1 ",
                                      "1K",
                                      "1ki",
                                      "1GB",
                                      "1Gib",
                                      "0x10",
                                      "Gi" };
  uint64_t value;

  for (size_t i = 0; i < PAI__LEN(rows); i++)
    if (!pai__quantity_parse(&value, rows[i].text, strlen(rows[i].text),
                             rows[i].milli) ||
        value != rows[i].value)
      fail_msg("%s: %llu", rows[i].text, (unsigned long long)value);
  for (size_t i = 0; i < PAI__LEN(none); i++)
    assert_false(pai__quantity_parse(&value, none[i], strlen(none[i]), false));
}
