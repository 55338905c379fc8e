/* test_cluster_picture.c - clusters as text and as SVG */
#include "resource/clusters.h"

#include "base/buf.h"

#include <stdlib.h>

static const char lab[] =
  "name: lab\n"
  "gpus: {h100: {memory: 80G}}\n"
  "skus: {dgx: {gpu: h100, gpus: 4}, mix: {gpu: {v100: 1, mi50: 1}}, c: {}}\n"
  "nodes:\n"
  "  - {name: \"dgx[1-5]\", sku: dgx, rack: r1}\n"
  "  - {name: \"m<1>&\", sku: mix, rack: r2, sick: 'a \"fan\" & more'}\n"
  "  - {name: c1, sku: c}\n"
  "virtualClusters: {v: {cells: {dgx: 2, v100: 1}}, w: {}}\n";

enum { GPUS = 22 };

static char *draw(const pai_cluster *c, int format, int colour,
                  const pai_gpu_mark *marks)
{
  pai_cluster_draw_options o = PAI_CLUSTER_DRAW_OPTIONS_INIT;
  pai__buf b = test_buf();

  o.format = format;
  o.colour = colour;
  o.marks = marks;
  o.mark_count = marks != NULL ? GPUS : 0;
  assert_ok(pai_cluster_draw(c, &o, test_collect, &b, NULL));
  return pai__buf_take(&b);
}

static void mark_some(pai_gpu_mark marks[GPUS])
{
  for (size_t i = 0; i < GPUS; i++)
    marks[i] = (pai_gpu_mark){ PAI_MARK_FREE, NULL };
  for (size_t i = 4; i < 7; i++)
    marks[i] = (pai_gpu_mark){ PAI_MARK_USED, i < 6 ? "alice" : "<bob>" };
  marks[7] = (pai_gpu_mark){ PAI_MARK_SICK, "hot" };
}

TEST(text_tells_all)
{
  pai_cluster *c = test_cluster(lab, NULL);
  pai_gpu_mark marks[GPUS];
  char *plain = draw(c, 0, 0, NULL), *marked, *coloured;

  mark_some(marks);
  marked = draw(c, PAI_FORMAT_TEXT, 0, marks);
  coloured = draw(c, PAI_FORMAT_TEXT, 1, marks);
  assert_string_equal(
    plain, "lab: 7 nodes, 22 GPUs: 2 sick\n"
           "r1\n"
           "  dgx1 … dgx5             5 nodes of 4 × h100 (80 GB)\n"
           "r2\n"
           "  m<1>&                   1 × v100, 1 × mi50  ✗✗  a \"fan\" & "
           "more\n"
           "in no rack\n"
           "  c1                      no GPUs\n"
           "virtual clusters\n"
           "  v                       2 × dgx-rack.dgx, 1 × mix-v100.v100\n"
           "  w                       nothing\n");
  assert_has(marked, "lab: 7 nodes, 22 GPUs: 16 free, 3 used, "
                     "3 sick\n");
  assert_has(marked,
             "  dgx1                    4 × h100 (80 GB)  □□□□\n"
             "  dgx2                    4 × h100 (80 GB)  ■■■✗  alice 2, "
             "<bob> 1, GPU 3: hot\n"
             "  dgx3 … dgx5             3 nodes of 4 × h100 (80 GB), all "
             "free\n");
  assert_null(strchr(marked, '\033'));
  assert_has(coloured, "\033[34m■■\033[0m\033[33m■\033[0m");
  free(plain);
  free(marked);
  free(coloured);
  pai_cluster_free(c);
}

/* Each user and each reason once, and names get the room they need. */
TEST(lines_are_readable)
{
  static const char text[] =
    "skus: {s: {gpu: x, gpus: 11}}\n"
    "nodes: [{name: rather.long.name.of.a.node.example, sku: s},\n"
    "  {name: even-longer-name-of-a-node-that-does-not-fit.example, sku: "
    "s}]\n";
  pai_cluster *c = test_cluster(text, NULL);
  pai_gpu_mark marks[GPUS];
  char *drawn;

  for (size_t i = 0; i < GPUS; i++)
    marks[i] = (pai_gpu_mark){ PAI_MARK_SICK, i < 11 ? "hot" : "cold" };
  for (size_t i = 1; i < 9; i++)
    marks[i] = (pai_gpu_mark){ PAI_MARK_USED, i % 3 == 1 ? "alice" : "bob" };
  marks[9] = (pai_gpu_mark){ PAI_MARK_SICK, "lost" };
  drawn = draw(c, 0, 0, marks);
  assert_string_equal(
    drawn,
    "2 nodes, 22 GPUs: 0 free, 8 used, 14 sick\n"
    "  rather.long.name.of.a.node.example  11 × x  ✗■■■■■■■■✗✗  GPUs 0, 10: "
    "hot, alice 3, bob 5, GPU 9: lost\n"
    "  even-longer-name-of-a-node-that-does-not-fit.example 11 × x  "
    "✗✗✗✗✗✗✗✗✗✗✗  GPUs 0, 1, 2, 3, 4, 5, 6, 7, …: cold\n");
  free(drawn);
  pai_cluster_free(c);
}

/* Of the attribute in the first element from s on. */
static int number_of(const char *s, const char *name)
{
  const char *at = strstr(s, name);

  assert_non_null(at);
  return atoi(at + strlen(name) + 2);
}

/* No two boxes of racks overlap, and all are within the picture. */
static void check_boxes(const char *svg)
{
  int box[64][4], n = 0, width = number_of(svg, " width");
  int height = number_of(svg, " height");

  for (const char *s = svg; (s = strstr(s, "<rect x=")) != NULL; s++) {
    if (strstr(s, "class=\"box\"") == NULL ||
        strstr(s, "class=\"box\"") > strchr(s, '>'))
      continue;
    box[n][0] = number_of(s, " x");
    box[n][1] = number_of(s, " y");
    box[n][2] = box[n][0] + number_of(s, " width");
    box[n][3] = box[n][1] + number_of(s, " height");
    assert_true(box[n][2] <= width && box[n][3] <= height);
    for (int i = 0; i < n; i++)
      assert_true(box[n][0] >= box[i][2] || box[n][2] <= box[i][0] ||
                  box[n][1] >= box[i][3] || box[n][3] <= box[i][1]);
    n++;
  }
  assert_true(n > 0);
}

TEST(svg_is_whole)
{
  static const char *const clusters[] = {
    "nodes:1",          "nodes:1 gpu:4096",         "nodes:128 racks:8 gpu:8",
    "nodes:3000 gpu:8", "nodes:9000 gpu:8 racks:9", "nodes:40 racks:40 gpu:16",
  };
  pai_cluster *c = test_cluster(lab, NULL);
  pai_gpu_mark marks[GPUS];
  char *svg;

  mark_some(marks);
  svg = draw(c, PAI_FORMAT_SVG, 0, marks);
  assert_has(svg, "<title>m&lt;1&gt;&amp;: 1 × v100, 1 × mi50; "
                  "sick: a &quot;fan&quot; &amp; more</title>");
  assert_has(svg, ">&lt;bob&gt;: 1<");
  assert_has(svg, ">alice: 2<");
  assert_null(strstr(svg, "<bob>"));
  check_boxes(svg);
  free(svg);
  pai_cluster_free(c);
  for (size_t i = 0; i < PAI__LEN(clusters); i++) {
    c = test_synthetic(clusters[i]);
    svg = draw(c, PAI_FORMAT_SVG, 0, NULL);
    check_boxes(svg);
    free(svg);
    pai_cluster_free(c);
  }
}

TEST(many_users_share_a_colour)
{
  pai_cluster *c = test_synthetic("nodes:3 gpu:8");
  pai_gpu_mark marks[GPUS];
  char names[GPUS][2] = { { 0 } };
  char *svg;

  for (size_t i = 0; i < GPUS; i++) {
    names[i][0] = (char)('a' + i % 11);
    marks[i] = (pai_gpu_mark){ PAI_MARK_USED, names[i] };
  }
  svg = draw(c, PAI_FORMAT_SVG, 0, marks);
  assert_has(svg, ">i: 2<");
  assert_null(strstr(svg, ">j: 2<"));
  assert_has(svg, ">others: 4<");
  assert_has(svg, ">GPUs: 2<");
  free(svg);
  pai_cluster_free(c);
}

TEST(what_has_no_room_is_counted)
{
  pai_cluster *c = test_synthetic("nodes:1 gpu:200");
  char *svg = draw(c, PAI_FORMAT_SVG, 0, NULL);

  assert_has(svg, ">+");
  assert_null(strstr(svg, "class=\"s\">+"));
  free(svg);
  assert_ok(pai_cluster_set_sick(c, 0, 199, "dead"));
  svg = draw(c, PAI_FORMAT_SVG, 0, NULL);
  assert_has(svg, "class=\"s\">+");
  free(svg);
  pai_cluster_free(c);
}

TEST(bad_calls_are_refused)
{
  pai_cluster *c = test_synthetic("nodes:1");
  pai_cluster_draw_options o = PAI_CLUSTER_DRAW_OPTIONS_INIT;
  pai_error *err;

  assert_int_equal(pai_cluster_draw(c, NULL, test_cluster_refuse, NULL, &err),
                   PAI_EUSER);
  o.format = PAI_FORMAT_JSON;
  assert_fails(pai_cluster_draw(c, &o, test_cluster_refuse, NULL, &err), err,
               PAI_EINVAL, "text or SVG");
  o.struct_size = 4;
  assert_fails(pai_cluster_draw(c, &o, test_cluster_refuse, NULL, &err), err,
               PAI_EINVAL, "struct_size");
  pai_cluster_free(c);
}

TEST_FAULTS(no_memory_is_survived)
{
  pai_cluster_options opts = PAI_CLUSTER_OPTIONS_INIT;
  pai_cluster_draw_options o = PAI_CLUSTER_DRAW_OPTIONS_INIT;
  pai_cluster *c;
  pai__buf b = test_buf();
  int rc;

  opts.alloc = alloc;
  rc = pai_cluster_synthetic(&c, "nodes:3 gpu:2 racks:2", &opts, NULL);
  if (rc < 0)
    return rc;
  rc = pai_cluster_draw(c, &o, test_collect, &b, NULL);
  o.format = PAI_FORMAT_SVG;
  if (rc == PAI_OK)
    rc = pai_cluster_draw(c, &o, test_collect, &b, NULL);
  if (rc == PAI_OK)
    assert_has(pai__buf_text(&b), "</svg>");
  pai__buf_dispose(&b);
  pai_cluster_free(c);
  return rc;
}
