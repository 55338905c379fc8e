/* Machines as text, JSON and SVG. */
#include "documents.h"
#include "made.h"

#include "resource/topology/topology_svg.h"

#include <stdlib.h>

static char *text_of(const pai_topology *t, int format,
                     const pai_gpu_mark *marks, size_t count)
{
  pai_topology_write_options o = PAI_TOPOLOGY_WRITE_OPTIONS_INIT;
  pai_error *err = NULL;
  pai__buf out = test_buf();

  o.format = format;
  o.marks = marks;
  o.mark_count = count;
  if (pai_topology_write(t, &o, test_collect, &out, &err) < 0)
    fail_msg("%s", pai_error_message(err));
  assert_null(err);
  return pai__buf_take(&out);
}

/* What is drawn of a machine, with a link of 25 GB/s between its first GPUs, or
 * without. */
static char *drawn(const char *line, bool linked, int format,
                   const pai_gpu_mark *marks, size_t count)
{
  static const uint64_t values[] = { 0, 25000, 25000, 0 };
  pai_topology *t = test_machine(line);
  char *text;

  if (linked)
    assert_ok(test_matrix(t, "NVLinkBandwidth", 2, values));
  text = text_of(t, format, marks, count);
  pai_topology_unref(t);
  return text;
}

/* All lines of a text, or a part that begins with the end of one. */
static void expect_text(const char *line, bool linked,
                        const pai_gpu_mark *marks, size_t count,
                        const char *want)
{
  char *text = drawn(line, linked, PAI_FORMAT_TEXT, marks, count);

  if (want[0] != '\n')
    assert_string_equal(text, want);
  else if (strstr(text, want) == NULL)
    fail_msg("no%sin\n%s", want, text);
  free(text);
}

/* --- text ----------------------------------------------------------------- */

/* What looks the same is said once; bridges to one thing are not shown. */
TEST(text_is_a_tree)
{
  static const pai_gpu_mark marks[] = {
    { PAI_MARK_FREE, NULL },
    { PAI_MARK_USED, "alice~train" },
    { PAI_MARK_SICK, "fell off the bus" },
  };

  expect_text("p(ncc) p(ncc)", false, NULL, 0,
              "made: 2 packages, 4 cores, 8 threads, 128 GB\n"
              "└─ 2 × package\n"
              "   ├─ NUMA node: 64 GB\n"
              "   └─ 2 × core (2 threads)\n");
  expect_text("p(ncc h(b(b(b(g)b(g)))b(e)b(b(d)b(d)b(d))))", false, NULL, 0,
              "made: 1 package, 2 cores, 4 threads, 64 GB, 2 GPUs\n"
              "└─ package\n"
              "   ├─ NUMA node 0: 64 GB\n"
              "   ├─ 2 × core (2 threads)\n"
              "   ├─ PCI switch\n"
              "   │  ├─ GPU 0: V100, 32 GB, 0000:01:00.0\n"
              "   │  └─ GPU 1: V100, 32 GB, 0000:02:00.0\n"
              "   ├─ network eth3, 0000:03:00.0\n"
              "   └─ PCI switch\n"
              "      └─ 3 × NVSwitch\n");
  expect_text("p(nc h(gggg))", false, marks, 3,
              "made: 1 package, 1 core, 2 threads, 64 GB, 4 GPUs\n"
              "└─ package\n"
              "   ├─ NUMA node 0: 64 GB\n"
              "   ├─ core (2 threads)\n"
              "   ├─ GPU 0: V100, 32 GB, 0000:01:00.0  [free]\n"
              "   ├─ GPU 1: V100, 32 GB, 0000:02:00.0  [used by alice~train]\n"
              "   ├─ GPU 2: V100, 32 GB, 0000:03:00.0  [sick: fell off the "
              "bus]\n"
              "   └─ GPU 3: V100, 32 GB, 0000:04:00.0\n");
  expect_text("p(nc h(ggg))", true, NULL, 0,
              "\n        0     1     2\n"
              "  0     - NV 25     .\n"
              "  1 NV 25     -     .\n"
              "  2     .     .     -\n");
}

TEST(amounts_have_units)
{
  static const struct {
    uint64_t bytes;
    const char *memory, *disk;
  } rows[] = {
    { 0, "0 B", "0 B" },
    { 1023, "1023 B", "1 KB" },
    { 1536, "1.5 KB", "1.5 KB" },
    { (uint64_t)810234351616, "755 GB", "810 GB" },
    { (uint64_t)3840755982336, "3.4 TB", "3.8 TB" },
    { UINT64_MAX, "16384 PB", "18447 PB" },
  };
  pai__buf b = test_buf();

  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    pai__buf_clear(&b);
    pai__topo_add_bytes(&b, rows[i].bytes);
    assert_string_equal(pai__buf_text(&b), rows[i].memory);
    pai__buf_clear(&b);
    pai__topo_add_disk(&b, rows[i].bytes);
    assert_string_equal(pai__buf_text(&b), rows[i].disk);
  }
  pai__buf_dispose(&b);
}

/* --- JSON ----------------------------------------------------------------------- */

TEST(json_tells_all)
{
  static const pai_gpu_mark marks[] = { { PAI_MARK_SICK, "\"hot\"\n" } };
  char *text = drawn("p(nc h(b(g)))", false, PAI_FORMAT_JSON, marks, 1);
  pai__tree *tree = test_json_parse(text, NULL);

  test_shows(
    tree,
    "{name: \"made\", packages: 1, numaNodes: 1, cores: 1, threads: 2, "
    "memory: 68719476736, gpus: [{gpu: 0, vendor: \"NVIDIA\", model: "
    "\"V100\", uuid: \"GPU-0n\", serial: \"S0\", memory: 34359738368, pci: "
    "\"0000:01:00.0\", linkMBps: 15999, index: 0, numaNode: 0, backends: "
    "[\"nvml0\"], state: \"sick\", note: \"\\\"hot\\\"\\n\"}], links: [], "
    "machine: {kind: \"machine\", name: \"made\", in: [{kind: \"package\", "
    "in: [{kind: \"numa\", index: 0, bytes: 68719476736}, {kind: \"core\", "
    "in: [{kind: \"thread\", index: 0}, {kind: \"thread\", index: 1}]}, "
    "{kind: \"bridge\", in: [{kind: \"bridge\", in: [{kind: \"gpu\", gpu: 0, "
    "name: \"V100\", bytes: 34359738368, pci: \"0000:01:00.0\", linkMBps: "
    "15999}]}]}]}]}}");
  pai__tree_free(tree);
  free(text);
  text = drawn("p(nc h(b(gg)))", false, PAI_FORMAT_JSON, NULL, 0);
  assert_has(text, "\"closeness\": \"switch\"");
  pai__tree_free(test_json_parse(text, NULL));
  free(text);
}

/* --- SVG ------------------------------------------------------------------------ */

static bool apart(const pai__svg_box *a, const pai__svg_box *b)
{
  return a->x + a->w <= b->x || b->x + b->w <= a->x || a->y + a->h <= b->y ||
         b->y + b->h <= a->y;
}

/* What a box holds lies in it, and nothing lies on its neighbour. */
static void check_boxes(const pai_topology *t, size_t marks)
{
  static const pai_gpu_mark mark = { PAI_MARK_FREE, NULL };
  pai__topo_picture p = { t, &mark, marks };
  pai__svg s;
  size_t gpus = 0;

  assert_ok(pai__svg_lay_out(&s, &p));
  assert_true(s.box[0].w <= PAI__SVG_WIDTH);
  for (size_t i = 0; i < s.len; i++) {
    const pai__svg_box *b = &s.box[i];
    gpus += b->look == PAI__SVG_GPU;
    assert_true(b->w > 0 && b->h > 0);
    for (size_t k = i + 1; k < b->skip; k = s.box[k].skip) {
      const pai__svg_box *in = &s.box[k];
      if (in->x < 0 || in->y < PAI__SVG_TITLE || in->x + in->w > b->w ||
          in->y + in->h > b->h)
        fail_msg("box %zu, %d,%d %dx%d is not in %dx%d", k, in->x, in->y,
                 in->w, in->h, b->w, b->h);
      for (size_t n = in->skip; n < b->skip; n = s.box[n].skip)
        if (!apart(in, &s.box[n]))
          fail_msg("boxes %zu and %zu overlap", k, n);
    }
  }
  assert_int_equal(gpus, t->ngpus);
  pai__svg_dispose(&s);
}

/* Elements end, and texts hold nothing that XML cannot. */
static void check_svg(const char *svg)
{
  int depth = 0;

  assert_ptr_equal(strstr(svg, "<svg "), svg);
  assert_null(strstr(svg, "<script"));
  assert_null(strstr(svg, "href"));
  for (const char *c = svg; *c != '\0'; c++) {
    assert_true((unsigned char)*c >= ' ' || *c == '\n');
    if (*c == '<')
      depth += c[1] == '/' ? -1 : 1;
    if (*c == '/' && c[1] == '>')
      depth--;
    if (*c == '&')
      assert_true(strncmp(c, "&amp;", 5) == 0 || strncmp(c, "&lt;", 4) == 0 ||
                  strncmp(c, "&gt;", 4) == 0 || strncmp(c, "&quot;", 6) == 0);
  }
  assert_int_equal(depth, 0);
}

TEST(boxes_do_not_overlap)
{
  static const char *const lines[] = {
    "c",
    "h(g)c",
    "p(nc)",
    "p(ncc h(ggggggggg eeee)) e e",
    "p(ncc h(b(b(gg)b(gg)b(dddd))))p(ncc h(b(b(gg)b(gg)b(ee))))",
    "p(r(nc h(g)) r(nc h(gg)) r(nc) r(c)) p(r(nc)r(nc)r(nc h(a))r(nc))",
    "p(r(r(r(r(r(nc h(b(b(b(b(gggg)g)g)g)g)) nc) nc) nc) nc) nc) p(nc)",
    "p(n)p(n)p(n)p(nc)p(nc)",
  };
  static const char *const real[] = { "nvidiaDGX2.xml",
                                      "flux-corona-8xMI50.xml",
                                      "flux-chimera-multi.xml",
                                      "power8gpudistances.xml" };

  for (size_t i = 0; i < PAI__LEN(lines) + PAI__LEN(real); i++) {
    pai_topology *t = i < PAI__LEN(lines)
                        ? test_machine(lines[i])
                        : test_real(real[i - PAI__LEN(lines)]);
    char *svg;

    if (t == NULL)
      skip();
    check_boxes(t, 0);
    check_boxes(t, 1);
    svg = text_of(t, PAI_FORMAT_SVG, NULL, 0);
    check_svg(svg);
    free(svg);
    pai_topology_unref(t);
  }
}

TEST(texts_are_escaped_and_cut)
{
  static const pai_gpu_mark marks[] = {
    { PAI_MARK_USED, "<script>&\"\x01\n\xff" },
    { PAI_MARK_SICK, "a text that is longer than its box is wide" },
    { PAI_MARK_USED, "\xe5\xad\x97\xe5\xad\x97\xe5\xad\x97\xe5\xad\x97"
                     "\xe5\xad\x97\xe5\xad\x97\xe5\xad\x97\xe5\xad\x97"
                     "\xe5\xad\x97\xe5\xad\x97\xe5\xad\x97\xe5\xad\x97"
                     "\xe5\xad\x97\xef\xbf\xbf" },
  };
  char *svg = drawn("p(nc h(ggg))", false, PAI_FORMAT_SVG, marks, 3);

  check_svg(svg);
  assert_has(svg, ">&lt;script&gt;&amp;&quot;  ?<");
  assert_has(svg, ">a text that is longer t…<");
  assert_has(svg, "class=\"sick\"");
  assert_null(strstr(svg, "links of GPUs"));
  free(svg);
}

TEST(links_are_a_matrix)
{
  char *svg = drawn("p(nc h(ggg))", true, PAI_FORMAT_SVG, NULL, 0);

  check_svg(svg);
  assert_has(svg, "links of GPUs, in GB/s");
  assert_has(svg, ">25</text>");
  assert_has(svg, ">NVLink</text>");
  assert_null(strstr(svg, ">xGMI</text>"));
  free(svg);
}

/* --- contracts -------------------------------------------------------------------- */

static int refuse(void *user_data, const char *bytes, size_t len)
{
  (void)user_data;
  (void)bytes;
  (void)len;
  return -77;
}

static void expect_refusal(const pai_topology *t,
                           const pai_topology_write_options *o, int code,
                           const char *part)
{
  pai_error *err;

  assert_fails(pai_topology_write(t, o, refuse, NULL, &err), err, code, part);
}

TEST(broken_calls_are_refused)
{
  pai_topology_write_options o = PAI_TOPOLOGY_WRITE_OPTIONS_INIT;
  pai_topology *t = test_machine("p(nc)");
  char line[512] = "";
  pai_error *err = NULL;

  assert_int_equal(pai_topology_write(t, NULL, refuse, NULL, &err), -77);
  assert_null(err);
  assert_fails(pai_topology_write(t, NULL, NULL, NULL, &err), err, PAI_EINVAL,
               "without");
  o.format = PAI_FORMAT_YAML;
  expect_refusal(t, &o, PAI_EINVAL, "format 1");
  o.format = PAI_FORMAT_SVG;
  o.mark_count = 2;
  expect_refusal(t, &o, PAI_EINVAL, "2 marks, but no array");
  o.struct_size = 1;
  expect_refusal(t, &o, PAI_EINVAL, "struct_size");
  pai_topology_unref(t);
  /* JSON cannot be nested without end. */
  for (int i = 0; i < 150; i++)
    memcpy(line + (ptrdiff_t)2 * i, "r(", 3);
  strcat(line, "c");
  t = test_machine(line);
  o = (pai_topology_write_options)PAI_TOPOLOGY_WRITE_OPTIONS_INIT;
  o.format = PAI_FORMAT_JSON;
  expect_refusal(t, &o, PAI_ELIMIT, "nested too deep");
  pai_topology_unref(t);
}

TEST_FAULTS(no_memory_is_survived)
{
  static const pai_gpu_mark mark = { PAI_MARK_USED, "alice" };
  static const uint64_t values[] = { 0, 5000, 5000, 0 };
  pai_topology_write_options o = PAI_TOPOLOGY_WRITE_OPTIONS_INIT;
  pai_topology *t;
  int rc = test_make(&t, "p(ncc h(b(gg)ee)) p(ncc h(d))", alloc);

  o.marks = &mark;
  o.mark_count = 1;
  if (rc == PAI_OK)
    rc = test_matrix(t, "NVLinkBandwidth", 2, values);
  for (int f = PAI_FORMAT_JSON; rc == PAI_OK && f <= PAI_FORMAT_SVG; f++) {
    pai__buf out = test_buf();
    o.format = f;
    rc = pai_topology_write(t, &o, test_collect, &out, NULL);
    assert_true(rc == PAI_OK || out.len == 0);
    assert_true(rc < 0 || strstr(pai__buf_text(&out), "alice") != NULL);
    pai__buf_dispose(&out);
  }
  pai_topology_unref(t);
  return rc;
}
