/* picture.c - what pictures of a cluster share, and the call that makes one */
#include "resource/picture.h"

#include "resource/topology_picture.h"

/* --- marks ---------------------------------------------------------------- */

static size_t user_of(const pai__cluster_picture *p, const char *name)
{
  size_t i = 0;

  while (i < p->nusers && strcmp(p->users[i], name) != 0)
    i++;
  return i;
}

int pai__picture_show(const pai__cluster_picture *p, const pai__member *m,
                      uint32_t gpu)
{
  size_t at = m->first_gpu + gpu;
  const pai_gpu_mark *mark = at < p->mark_count ? &p->marks[at] : NULL;

  if (m->sick != NULL || p->c->gpus[at].sick != NULL)
    return PAI__SHOW_SICK;
  if (mark == NULL)
    return PAI__SHOW_PLAIN;
  switch (mark->state) {
  case PAI_MARK_FREE: return PAI__SHOW_FREE;
  case PAI_MARK_SICK: return PAI__SHOW_SICK;
  case PAI_MARK_USED:
    return PAI__SHOW_USED +
           (int)user_of(p, mark->text != NULL ? mark->text : "");
  default: return PAI__SHOW_PLAIN;
  }
}

const char *pai__picture_text(const pai__cluster_picture *p,
                              const pai__member *m, uint32_t gpu)
{
  size_t at = m->first_gpu + gpu;
  const char *text = NULL;

  if (m->sick != NULL)
    return m->sick;
  if (p->c->gpus[at].sick != NULL)
    return p->c->gpus[at].sick;
  if (at < p->mark_count)
    text = p->marks[at].text;
  return text != NULL ? text : "";
}

/* Learns the users' names, and counts. */
static void look(pai__cluster_picture *p)
{
  const pai_cluster *c = p->c;

  for (size_t i = 0; i < c->nnodes; i++)
    for (uint32_t k = 0; k < pai__sku_of(c, &c->nodes[i])->gpus; k++) {
      int show = pai__picture_show(p, &c->nodes[i], k);

      if (show >= PAI__SHOW_USED && p->nusers < PAI__COLOURS &&
          (size_t)(show - PAI__SHOW_USED) == p->nusers)
        p->users[p->nusers++] = pai__picture_text(p, &c->nodes[i], k);
      p->counts[show]++;
    }
}

/* --- racks ---------------------------------------------------------------- */

/* Lists of the nodes of each rack; those of none come last. */
static int sort_racks(pai__cluster_picture *p)
{
  const pai_cluster *c = p->c;

  p->next = pai__realloc(&c->alloc, NULL, 0, c->nnodes + 1, sizeof(*p->next));
  p->first =
    pai__realloc(&c->alloc, NULL, 0, c->nracks + 1, sizeof(*p->first));
  p->in_rack =
    pai__realloc(&c->alloc, NULL, 0, c->nracks + 1, sizeof(*p->in_rack));
  if (p->next == NULL || p->first == NULL || p->in_rack == NULL)
    return PAI_ENOMEM;
  for (size_t i = 0; i <= c->nracks; i++) {
    p->first[i] = PAI__NOTHING;
    p->in_rack[i] = 0;
  }
  for (size_t i = c->nnodes; i-- > 0;) {
    size_t rack =
      c->nodes[i].rack != PAI__NOTHING ? c->nodes[i].rack : c->nracks;

    p->next[i] = p->first[rack];
    p->first[rack] = (uint32_t)i;
    p->in_rack[rack]++;
  }
  return PAI_OK;
}

static void dispose(pai__cluster_picture *p)
{
  const pai_cluster *c = p->c;

  pai__free(&c->alloc, p->next, (c->nnodes + 1) * sizeof(*p->next));
  pai__free(&c->alloc, p->first, (c->nracks + 1) * sizeof(*p->first));
  pai__free(&c->alloc, p->in_rack, (c->nracks + 1) * sizeof(*p->in_rack));
}

/* --- words ---------------------------------------------------------------- */

static void add_count(pai__buf *out, const char *before, size_t n,
                      const char *what, bool many)
{
  pai__buf_printf(out, "%s%zu %s%s", before, n, what,
                  many && n != 1 ? "s" : "");
}

void pai__picture_summary(const pai__cluster_picture *p, pai__buf *out)
{
  size_t used = 0, sick = p->counts[PAI__SHOW_SICK];
  const char *before = ": ";

  for (int i = PAI__SHOW_USED; i < PAI__SHOW_COUNT; i++)
    used += p->counts[i];
  if (*p->c->name != '\0')
    pai__buf_printf(out, "%s: ", p->c->name);
  add_count(out, "", p->c->nnodes, "node", true);
  add_count(out, ", ", p->c->ngpus, "GPU", true);
  if (p->mark_count > 0) {
    add_count(out, before, p->counts[PAI__SHOW_FREE], "free", false);
    add_count(out, ", ", used, "used", false);
    before = ", ";
  }
  if (p->mark_count > 0 || sick > 0)
    add_count(out, before, sick, "sick", false);
}

void pai__picture_gpus(const pai__cluster_picture *p, const pai__sku *s,
                       pai__buf *out)
{
  if (s->gpus == 0)
    pai__buf_str(out, "no GPUs");
  for (uint32_t i = 0; i < s->ngroups; i++) {
    const pai__gpu_kind *k = &p->c->kinds[s->groups[i].kind];

    pai__buf_printf(out, "%s%u × %s", i > 0 ? ", " : "", s->groups[i].count,
                    k->name);
    if (k->memory == 0)
      continue;
    pai__buf_str(out, " (");
    pai__topo_add_bytes(out, k->memory);
    pai__buf_char(out, ')');
  }
}

/* --- the call ------------------------------------------------------------- */

int pai_cluster_draw(const pai_cluster *c,
                     const pai_cluster_draw_options *opts, pai_write_cb write,
                     void *user_data, pai_error **err)
{
  pai_cluster_draw_options o;
  pai__cluster_picture p;
  pai__buf out;
  int rc;

  if (err != NULL)
    *err = NULL;
  PAI__CHECK_ARG_ERR(c != NULL && write != NULL, err);
  rc = PAI__OPTIONS_IN(&o, opts, pai_cluster_draw_options, mark_count);
  if (rc < 0)
    return pai__fail_struct(err, rc, opts, "pai_cluster_draw_options");
  if (o.format != 0 && o.format != PAI_FORMAT_TEXT &&
      o.format != PAI_FORMAT_SVG)
    return pai__fail(err, PAI_EINVAL, "a cluster is drawn as text or SVG");
  p = (pai__cluster_picture){ .c = c,
                              .marks = o.marks,
                              .mark_count = o.marks != NULL ? o.mark_count : 0,
                              .colour = o.colour != 0 };
  pai__buf_init(&out, &c->alloc);
  look(&p);
  rc = sort_racks(&p);
  if (rc == PAI_OK && o.format == PAI_FORMAT_SVG)
    pai__picture_write_svg(&p, &out);
  else if (rc == PAI_OK)
    pai__picture_write_text(&p, &out);
  rc = rc == PAI_OK && pai__buf_ok(&out)
         ? write(user_data, pai__buf_text(&out), out.len)
         : pai__oom(err);
  dispose(&p);
  pai__buf_dispose(&out);
  return rc;
}
