/* cluster_views.c - a cluster as its caller sees it */
#include "resource/cluster.h"

int pai_cluster_view_sums(const pai_cluster *c, pai_cluster_view *view)
{
  pai_cluster_view v;

  PAI__CHECK_ARG(c != NULL && view != NULL);
  v = (pai_cluster_view){ .name = c->name,
                          .form = c->form,
                          .nodes = c->nnodes,
                          .gpus = c->ngpus,
                          .racks = c->nracks,
                          .skus = c->nskus,
                          .virtual_clusters = c->nvcs };
  for (size_t i = 0; i < c->nnodes; i++) {
    const pai__member *m = &c->nodes[i];
    const pai__sku *s = pai__sku_of(c, m);

    v.cpus += s->cpus;
    v.memory +=
      s->memory < INT64_MAX - v.memory ? s->memory : INT64_MAX - v.memory;
    v.sick_nodes += m->sick != NULL;
    for (uint32_t k = 0; k < s->gpus; k++)
      v.sick_gpus += m->sick != NULL || c->gpus[m->first_gpu + k].sick != NULL;
  }
  return PAI__FILL_VIEW(view, v, pai_cluster_view, memory);
}

int pai_cluster_view_node(const pai_cluster *c, size_t node,
                          pai_node_view *view)
{
  const pai__member *m;
  pai_node_view v;

  PAI__CHECK_ARG(c != NULL && view != NULL);
  if (node >= c->nnodes)
    return PAI_ENOTFOUND;
  m = &c->nodes[node];
  v = (pai_node_view){ .name = m->name,
                       .address = m->address != NULL ? m->address : m->name,
                       .rack =
                         m->rack != PAI__NOTHING ? c->racks[m->rack] : NULL,
                       .sick = m->sick,
                       .pin = m->pin,
                       .sku = m->sku,
                       .gpus = pai__sku_of(c, m)->gpus,
                       .labels = m->nlabels };
  return PAI__FILL_VIEW(view, v, pai_node_view, labels);
}

int pai_cluster_view_gpu(const pai_cluster *c, size_t node, size_t gpu,
                         pai_node_gpu_view *view)
{
  const pai__member *m;
  const pai__gpu *g;
  pai_node_gpu_view v;

  PAI__CHECK_ARG(c != NULL && view != NULL);
  if (node >= c->nnodes)
    return PAI_ENOTFOUND;
  m = &c->nodes[node];
  if (gpu >= pai__sku_of(c, m)->gpus)
    return PAI_ENOTFOUND;
  g = &c->gpus[m->first_gpu + gpu];
  v = (pai_node_gpu_view){ .kind = c->kinds[g->kind].name,
                           .uuid = g->uuid,
                           .sick = m->sick != NULL ? m->sick : g->sick,
                           .number = g->number };
  return PAI__FILL_VIEW(view, v, pai_node_gpu_view, number);
}

int pai_cluster_view_sku(const pai_cluster *c, size_t sku, pai_sku_view *view)
{
  const pai__sku *s;
  pai_sku_view v;

  PAI__CHECK_ARG(c != NULL && view != NULL);
  if (sku >= c->nskus)
    return PAI_ENOTFOUND;
  s = &c->skus[sku];
  v = (pai_sku_view){ .name = s->name,
                      .gpus = s->gpus,
                      .numa = s->numa,
                      .near = s->nnear,
                      .cpus = s->cpus,
                      .memory = s->memory,
                      .used_cpus = s->used_cpus,
                      .used_memory = s->used_memory };
  if (s->ngroups == 1) {
    v.gpu = c->kinds[s->groups[0].kind].name;
    v.gpu_memory = c->kinds[s->groups[0].kind].memory;
  }
  for (size_t i = 0; i < c->nnodes; i++)
    v.nodes += c->nodes[i].sku == sku;
  return PAI__FILL_VIEW(view, v, pai_sku_view, used_memory);
}

int pai_cluster_view_vc(const pai_cluster *c, size_t vc, pai_vc_view *view)
{
  pai_vc_view v;

  PAI__CHECK_ARG(c != NULL && view != NULL);
  if (vc >= c->nvcs)
    return PAI_ENOTFOUND;
  v = (pai_vc_view){ .name = c->vcs[vc].name,
                     .shares = c->vcs[vc].parted ? 0 : c->vcs[vc].nshares,
                     .part = c->vcs[vc].part,
                     .most = c->vcs[vc].most,
                     .parted = c->vcs[vc].parted,
                     .rest = c->vcs[vc].rest,
                     .stopped = c->vcs[vc].stopped };
  return PAI__FILL_VIEW(view, v, pai_vc_view, shares);
}

int pai_cluster_view_share(const pai_cluster *c, size_t vc, size_t share,
                           pai_share_view *view)
{
  const pai__share *s;
  pai_share_view v;

  PAI__CHECK_ARG(c != NULL && view != NULL);
  if (vc >= c->nvcs || share >= c->vcs[vc].nshares)
    return PAI_ENOTFOUND;
  s = &c->vcs[vc].shares[share];
  v = (pai_share_view){ .cells = s->path, .pin = s->pin, .count = s->count };
  return PAI__FILL_VIEW(view, v, pai_share_view, count);
}

int pai_cluster_sku_near(const pai_cluster *c, size_t sku, size_t i,
                         const char **name, uint32_t *gpus)
{
  PAI__CHECK_ARG(c != NULL && name != NULL && gpus != NULL);
  if (sku >= c->nskus || i >= c->skus[sku].nnear)
    return PAI_ENOTFOUND;
  *name = c->skus[sku].near[i].name;
  *gpus = c->skus[sku].near[i].gpus;
  return PAI_OK;
}

int pai_cluster_node_label(const pai_cluster *c, size_t node, size_t i,
                           const char **key, const char **value)
{
  PAI__CHECK_ARG(c != NULL && key != NULL && value != NULL);
  if (node >= c->nnodes || i >= c->nodes[node].nlabels)
    return PAI_ENOTFOUND;
  *key = c->nodes[node].labels[i].key;
  *value = c->nodes[node].labels[i].value;
  return PAI_OK;
}
