/* cluster.c - clusters: reading, nodes, SKUs, shares, pictures */
#include "facade_fields.h"
#include "shared.h"

#include <stdlib.h>
#include <string.h>

/* --- reading ------------------------------------------------------------- */

static pai_cluster_options options_of(const char *form)
{
  pai_cluster_options options = PAI_CLUSTER_OPTIONS_INIT;

  options.form = form;
  return options;
}

Cluster *facade_cluster_parse(const char *text, size_t len, const char *form,
                              failure *f)
{
  pai_cluster_options options = options_of(form);
  pai_report *report = NULL;
  Cluster *cluster = NULL;

  f->code = pai_cluster_check(&report, &cluster, text, len, &options, &f->err);
  if (f->code == PAI_OK && cluster == NULL) {
    f->code = pai_cluster_parse(&cluster, text, len, &options, &f->err);
    f->report = report;
  } else {
    pai_report_free(report);
  }
  return cluster;
}

listing facade_cluster_check(const char *text, size_t len, const char *form,
                             failure *f)
{
  pai_cluster_options options = options_of(form);
  pai_report *report;

  f->code = pai_cluster_check(&report, NULL, text, len, &options, &f->err);
  return facade_reported(report, f);
}

/* --- sums ---------------------------------------------------------------- */

static pai_cluster_view sums_of(const Cluster *cluster)
{
  pai_cluster_view view = { .struct_size = sizeof(view) };

  (void)pai_cluster_view_sums(cluster, &view);
  return view;
}

listing facade_cluster_sums(const Cluster *cluster, failure *f)
{
  pai_cluster_view s = sums_of(cluster);

  return json_object(fields_Sums, &s, f);
}

static bool has_node(const Cluster *cluster, size_t number)
{
  pai_node_view node = { .struct_size = sizeof(node) };

  return pai_cluster_view_node(cluster, number, &node) == PAI_OK;
}

/* Finds the number of nodes by bisection. pai_cluster_view_sums() visits every
 * GPU, which is too slow for each step of a loop. */
size_t facade_cluster_node_count(const Cluster *cluster)
{
  size_t least = 0, step = 1;

  while (has_node(cluster, least + step - 1)) {
    least += step;
    step *= 2;
  }
  for (; step > 0; step /= 2)
    if (has_node(cluster, least + step - 1))
      least += step;
  return least;
}

/* --- nodes ----------------------------------------------------------------- */

static void no_node(failure *f, const char *name)
{
  size_t size = strlen("there is no node ''") + strlen(name) + 1;

  f->code = PAI_ENOTFOUND;
  f->made = malloc(size);
  if (f->made != NULL)
    (void)snprintf(f->made, size, "there is no node '%s'", name);
}

size_t facade_find(const Cluster *cluster, node_ref node, failure *f)
{
  size_t number = node.number;

  if (node.name != NULL) {
    if (pai_cluster_find_node(cluster, node.name, &number) < 0)
      no_node(f, node.name);
  } else if (!has_node(cluster, number)) {
    facade_fail(f, PAI_ENOTFOUND, "the cluster has fewer nodes");
  }
  return number;
}

static void put_labels(json *j, const Cluster *cluster, size_t node)
{
  const char *key, *value;

  json_begin(j, "labels", '{');
  for (size_t i = 0;
       pai_cluster_node_label(cluster, node, i, &key, &value) == PAI_OK; i++)
    json_text(j, key, value);
  json_end(j, '}');
}

static void put_gpus(json *j, const Cluster *cluster, size_t node)
{
  pai_node_gpu_view gpu = { .struct_size = sizeof(gpu) };
  size_t i = 0;

  json_begin(j, "gpus", '[');
  for (; pai_cluster_view_gpu(cluster, node, i, &gpu) == PAI_OK; i++) {
    json_record(j, NULL, fields_NodeGpu, &gpu);
  }
  json_end(j, ']');
}

listing facade_cluster_node(const Cluster *cluster, node_ref ref, failure *f)
{
  pai_node_view node = { .struct_size = sizeof(node) };
  pai_sku_view sku = { .struct_size = sizeof(sku) };
  size_t number = facade_find(cluster, ref, f);
  json j;

  if (f->code < 0)
    return (listing){ { NULL, 0 } };
  (void)pai_cluster_view_node(cluster, number, &node);
  (void)pai_cluster_view_sku(cluster, node.sku, &sku);
  json_start(&j);
  json_begin(&j, NULL, '{');
  json_number(&j, "number", (int64_t)number);
  json_fields(&j, fields_Node, &node);
  json_text(&j, "sku", sku.name);
  put_labels(&j, cluster, number);
  put_gpus(&j, cluster, number);
  json_end(&j, '}');
  return json_finish(&j, f);
}

void facade_cluster_set_sick(Cluster *cluster, node_ref node, const char *why,
                             long gpu, failure *f)
{
  size_t number = facade_find(cluster, node, f);

  if (f->code == PAI_OK && gpu < -1)
    facade_fail(f, PAI_ENOTFOUND, "a GPU's number counts from 0");
  if (f->code < 0)
    return;
  f->code = pai_cluster_set_sick(cluster, number, gpu, why);
  if (f->code == PAI_ENOTFOUND)
    f->text = "the node has no GPU of that number";
}

/* --- SKUs and virtual clusters --------------------------------------------- */

static void put_near(json *j, const Cluster *cluster, size_t sku)
{
  const char *name;
  uint32_t gpus;

  json_begin(j, "near", '[');
  for (size_t i = 0;
       pai_cluster_sku_near(cluster, sku, i, &name, &gpus) == PAI_OK; i++) {
    json_begin(j, NULL, '{');
    json_text(j, "name", name);
    json_number(j, "gpus", gpus);
    json_end(j, '}');
  }
  json_end(j, ']');
}

listing facade_cluster_skus(const Cluster *cluster, failure *f)
{
  pai_sku_view s = { .struct_size = sizeof(s) };
  size_t i = 0;
  json j;

  json_start(&j);
  json_begin(&j, NULL, '[');
  for (; pai_cluster_view_sku(cluster, i, &s) == PAI_OK; i++) {
    json_begin(&j, NULL, '{');
    json_fields(&j, fields_Sku, &s);
    put_near(&j, cluster, i);
    json_end(&j, '}');
  }
  json_end(&j, ']');
  return json_finish(&j, f);
}

static void put_shares(json *j, const Cluster *cluster, size_t vc)
{
  pai_share_view share = { .struct_size = sizeof(share) };
  size_t i = 0;

  json_begin(j, "shares", '[');
  for (; pai_cluster_view_share(cluster, vc, i, &share) == PAI_OK; i++) {
    json_record(j, NULL, fields_Share, &share);
  }
  json_end(j, ']');
}

listing facade_cluster_virtual_clusters(const Cluster *cluster, failure *f)
{
  pai_vc_view vc = { .struct_size = sizeof(vc) };
  size_t i = 0;
  json j;

  json_start(&j);
  json_begin(&j, NULL, '[');
  for (; pai_cluster_view_vc(cluster, i, &vc) == PAI_OK; i++) {
    json_begin(&j, NULL, '{');
    json_text(&j, "name", vc.name);
    put_shares(&j, cluster, i);
    json_end(&j, '}');
  }
  json_end(&j, ']');
  return json_finish(&j, f);
}

/* --- writing --------------------------------------------------------------- */

job_text facade_cluster_hived(Cluster *cluster, const char *format, failure *f)
{
  bool is_json = strcmp(format, "json") == 0;
  job_text t = { NULL, 0 };

  if (!is_json && strcmp(format, "yaml") != 0)
    facade_fail(f, PAI_EINVAL, "HiveD's configuration is yaml or json");
  else
    f->code = pai_cluster_write_hived(
      cluster, is_json ? PAI_FORMAT_JSON : PAI_FORMAT_YAML, facade_collect, &t,
      &f->err);
  return facade_finished(t, f);
}

/* For each node, the number of its first GPU among all GPUs; then their
 * total. */
typedef struct places {
  const Cluster *cluster;
  size_t *first;
} places;

static bool find_places(places *p, const Cluster *cluster, failure *f)
{
  size_t count = facade_cluster_node_count(cluster), gpus = 0;
  pai_node_view node = { .struct_size = sizeof(node) };

  p->cluster = cluster;
  p->first = calloc(count + 1, sizeof(*p->first));
  if (p->first == NULL) {
    facade_fail(f, PAI_ENOMEM, "out of memory");
    return false;
  }
  for (size_t i = 0; i < count; i++) {
    (void)pai_cluster_view_node(cluster, i, &node);
    p->first[i] = gpus;
    gpus += node.gpus;
  }
  p->first[count] = gpus;
  return true;
}

static size_t place(const void *of, const char *name, size_t gpu, failure *f)
{
  const places *p = of;
  size_t node = 0, end = facade_cluster_node_count(p->cluster);

  if (*name != '\0') {
    node = facade_find(p->cluster, (node_ref){ name, 0 }, f);
    if (f->code < 0)
      return SIZE_MAX;
    end = node + 1;
  }
  if (gpu < p->first[end] - p->first[node])
    return p->first[node] + gpu;
  facade_fail(f, PAI_ENOTFOUND, "a mark is of a GPU that there is not");
  return SIZE_MAX;
}

job_text facade_draw(const Cluster *cluster, int format, bool colour,
                     words marks, failure *f)
{
  pai_cluster_draw_options options = PAI_CLUSTER_DRAW_OPTIONS_INIT;
  size_t gpus = sums_of(cluster).gpus;
  job_text t = { NULL, 0 };
  pai_gpu_mark *list;
  places p;

  if (!find_places(&p, cluster, f))
    return t;
  list = facade_marks(&marks, place, &p, gpus, f);
  options.format = format;
  options.colour = colour;
  options.marks = list;
  options.mark_count = list != NULL ? gpus : 0;
  if (f->code == PAI_OK)
    f->code = pai_cluster_draw(cluster, &options, facade_collect, &t, &f->err);
  free(list);
  free(p.first);
  return facade_finished(t, f);
}
