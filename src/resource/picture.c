/* picture.c - picture of a cluster as text; parts shared with the SVG */
#include "resource/picture.h"
#include "resource/svg.h"
#include "resource/topology/topology_picture.h"

/* --- as text, rack by rack ----------------------------------------------- */

/*   r1
 *     dgx01             8 × h100 (80 GB)  ■■■■□□□□  alice 4
 *     dgx02 … dgx08     7 nodes of 8 × h100 (80 GB), all free
 */

/* Columns of names: the length of the longest name, within these limits. */
enum { LEAST_NAMES = 24, MOST_NAMES = 48 };
enum { MOST_GLYPHS = 64, MOST_SICK = 8 /* sick GPUs that are named */ };

static const char *const glyphs[] = { "·", "□", "✗", "■" };

/* Escape sequences by PAI__SHOW_*. */
static const char *colour_of(int show)
{
  static const char *const colours[] = {
    "\033[2m",  "\033[32m", "\033[1;31m", "\033[34m", "\033[33m",
    "\033[35m", "\033[36m", "\033[94m",   "\033[93m", "\033[95m",
    "\033[96m", "\033[37m", "\033[90m",
  };

  return colours[show];
}

static void begin_colour(const pai__cluster_picture *p, pai__buf *out,
                         int show)
{
  if (p->colour)
    pai__buf_str(out, colour_of(show));
}

static void end_colour(const pai__cluster_picture *p, pai__buf *out)
{
  if (p->colour)
    pai__buf_str(out, "\033[0m");
}

/* Returns how all GPUs of a node are shown; -1: they differ. */
static int all_shown_as(const pai__cluster_picture *p, const pai__member *m)
{
  int show = PAI__SHOW_PLAIN;

  for (uint32_t i = 0; i < pai__sku_of(p->c, m)->gpus; i++) {
    int now = pai__picture_show(p, m, i);

    if (i > 0 && now != show)
      return -1;
    show = now;
  }
  return show;
}

/* Whether two nodes can share one line. */
static bool are_alike(const pai__cluster_picture *p, const pai__member *a,
                      const pai__member *b)
{
  int show = all_shown_as(p, a);

  return a->sku == b->sku && a->sick == NULL && b->sick == NULL &&
         (show == PAI__SHOW_PLAIN || show == PAI__SHOW_FREE) &&
         all_shown_as(p, b) == show;
}

static void pad(pai__buf *out, size_t columns, size_t wanted)
{
  do
    pai__buf_char(out, ' ');
  while (++columns < wanted);
}

static void put_glyphs(const pai__cluster_picture *p, pai__buf *out,
                       const pai__member *m)
{
  uint32_t gpus = pai__sku_of(p->c, m)->gpus;
  int last = -1;

  for (uint32_t i = 0; i < gpus && i < MOST_GLYPHS; i++) {
    int show = pai__picture_show(p, m, i);

    if (show != last && last >= 0)
      end_colour(p, out);
    if (show != last)
      begin_colour(p, out, show);
    pai__buf_str(out, glyphs[show < PAI__SHOW_USED ? show : PAI__SHOW_USED]);
    last = show;
  }
  if (last >= 0)
    end_colour(p, out);
  if (gpus > MOST_GLYPHS)
    pai__buf_str(out, "…");
}

static bool is_said_alike(const pai__cluster_picture *p, const pai__member *m,
                          uint32_t a, uint32_t b)
{
  return pai__picture_show(p, m, a) == pai__picture_show(p, m, b) &&
         strcmp(pai__picture_text(p, m, a), pai__picture_text(p, m, b)) == 0;
}

/* Writes "GPU 3: hot" or "GPUs 3, 5: hot": the first GPU and all others with
 * the same reason. */
static void put_sick(const pai__cluster_picture *p, pai__buf *out,
                     const pai__member *m, uint32_t first)
{
  uint32_t gpus = pai__sku_of(p->c, m)->gpus, n = 0;

  for (uint32_t i = first; i < gpus; i++)
    n += is_said_alike(p, m, first, i);
  pai__buf_str(out, n > 1 ? "GPUs " : "GPU ");
  n = 0;
  for (uint32_t i = first; i < gpus && n <= MOST_SICK; i++) {
    if (!is_said_alike(p, m, first, i))
      continue;
    if (n++ < MOST_SICK)
      pai__buf_printf(out, "%s%u", n > 1 ? ", " : "",
                      p->c->gpus[m->first_gpu + i].number);
    else
      pai__buf_str(out, ", …");
  }
  pai__buf_printf(out, ": %s", pai__picture_text(p, m, first));
}

static void put_user(const pai__cluster_picture *p, pai__buf *out,
                     const pai__member *m, uint32_t first)
{
  uint32_t gpus = pai__sku_of(p->c, m)->gpus, n = 0;

  for (uint32_t i = first; i < gpus; i++)
    n += is_said_alike(p, m, first, i);
  pai__buf_printf(out, "%s %u", pai__picture_text(p, m, first), n);
}

static bool is_said(const pai__cluster_picture *p, const pai__member *m,
                    uint32_t gpu)
{
  for (uint32_t i = 0; i < gpu; i++)
    if (is_said_alike(p, m, i, gpu))
      return true;
  return false;
}

/* Writes "alice 4, bob 2", and each reason of sick GPUs once. */
static void put_words(const pai__cluster_picture *p, pai__buf *out,
                      const pai__member *m)
{
  uint32_t gpus = pai__sku_of(p->c, m)->gpus;
  const char *before = "  ";

  if (m->sick != NULL) {
    begin_colour(p, out, PAI__SHOW_SICK);
    pai__buf_printf(out, "%s%s", before, m->sick);
    end_colour(p, out);
    return;
  }
  for (uint32_t i = 0; i < gpus; i++) {
    int show = pai__picture_show(p, m, i);

    if (show < PAI__SHOW_SICK || *pai__picture_text(p, m, i) == '\0' ||
        is_said(p, m, i))
      continue;
    begin_colour(p, out, show);
    pai__buf_str(out, before);
    if (show == PAI__SHOW_SICK)
      put_sick(p, out, m, i);
    else
      put_user(p, out, m, i);
    end_colour(p, out);
    before = ", ";
  }
}

/* --- lines ---------------------------------------------------------------- */

/* The nodes of one line. */
typedef struct line {
  const pai__member *first, *last;
  size_t n;
} line;

/* Takes the nodes of one line from *at on, and sets *at to the first node of
 * the next line, or PAI__NOTHING. */
static line take_line(const pai__cluster_picture *p, uint32_t *at)
{
  const pai_cluster *c = p->c;
  line l = { &c->nodes[*at], &c->nodes[*at], 1 };

  for (*at = p->next[*at];
       *at != PAI__NOTHING && are_alike(p, l.first, &c->nodes[*at]);
       *at = p->next[*at], l.n++)
    l.last = &c->nodes[*at];
  return l;
}

static size_t columns_of(const line *l)
{
  return l->n == 1 ? pai__svg_columns(l->first->name)
                   : pai__svg_columns(l->first->name) +
                       pai__svg_columns(l->last->name) + 3;
}

static void fit(size_t *names, size_t columns)
{
  columns += 2;
  if (columns > *names && columns <= MOST_NAMES)
    *names = columns;
}

static size_t fit_names(const pai__cluster_picture *p)
{
  const pai_cluster *c = p->c;
  size_t names = LEAST_NAMES;

  for (size_t rack = 0; rack <= c->nracks; rack++)
    for (uint32_t i = p->first[rack]; i != PAI__NOTHING;) {
      line l = take_line(p, &i);

      fit(&names, columns_of(&l));
    }
  for (size_t v = 0; v < c->nvcs; v++)
    fit(&names, pai__svg_columns(c->vcs[v].name));
  return names;
}

static void put_node(const pai__cluster_picture *p, pai__buf *out,
                     const pai__member *m, size_t names)
{
  const pai__sku *s = pai__sku_of(p->c, m);

  pai__buf_printf(out, "  %s", m->name);
  pad(out, pai__svg_columns(m->name), names);
  pai__picture_gpus(p, s, out);
  if (s->gpus > 0) {
    pai__buf_str(out, "  ");
    put_glyphs(p, out, m);
  }
  put_words(p, out, m);
  pai__buf_char(out, '\n');
}

static void put_alike(const pai__cluster_picture *p, pai__buf *out,
                      const line *l, size_t names)
{
  const pai__member *first = l->first;
  const pai__sku *s = pai__sku_of(p->c, first);

  pai__buf_printf(out, "  %s … %s", first->name, l->last->name);
  pad(out, columns_of(l), names);
  pai__buf_printf(out, "%zu nodes", l->n);
  if (s->gpus > 0) {
    pai__buf_str(out, " of ");
    pai__picture_gpus(p, s, out);
  }
  if (s->gpus > 0 && pai__picture_show(p, first, 0) == PAI__SHOW_FREE) {
    begin_colour(p, out, PAI__SHOW_FREE);
    pai__buf_str(out, ", all free");
    end_colour(p, out);
  }
  pai__buf_char(out, '\n');
}

static void put_rack(const pai__cluster_picture *p, pai__buf *out, size_t rack,
                     size_t names)
{
  const pai_cluster *c = p->c;
  uint32_t i = p->first[rack];

  if (i == PAI__NOTHING)
    return;
  if (c->nracks > 0)
    pai__buf_printf(out, "%s\n",
                    rack < c->nracks ? c->racks[rack] : "in no rack");
  while (i != PAI__NOTHING) {
    line l = take_line(p, &i);

    if (l.n > 1)
      put_alike(p, out, &l, names);
    else
      put_node(p, out, l.first, names);
  }
}

static void put_vcs(const pai__cluster_picture *p, pai__buf *out, size_t names)
{
  const pai_cluster *c = p->c;

  for (size_t v = 0; v < c->nvcs; v++) {
    const pai__vc *vc = &c->vcs[v];

    pai__buf_printf(out, "%s  %s", v == 0 ? "virtual clusters\n" : "",
                    vc->name);
    pad(out, pai__svg_columns(vc->name), names);
    for (uint32_t i = 0; i < vc->nshares; i++)
      if (vc->shares[i].path != NULL)
        pai__buf_printf(out, "%s%u × %s", i > 0 ? ", " : "",
                        vc->shares[i].count, vc->shares[i].path);
      else
        pai__buf_printf(out, "%spinned %s", i > 0 ? ", " : "",
                        vc->shares[i].pin);
    pai__buf_str(out, vc->nshares > 0 ? "\n" : "nothing\n");
  }
}

static void picture_write_text(const pai__cluster_picture *p, pai__buf *out)
{
  size_t names = fit_names(p);

  pai__picture_summary(p, out);
  pai__buf_char(out, '\n');
  for (size_t rack = 0; rack <= p->c->nracks; rack++)
    put_rack(p, out, rack, names);
  put_vcs(p, out, names);
}

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

/* Collects the users' names, and counts GPUs. */
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

/* Lists the nodes of each rack; nodes without a rack come last. */
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
    picture_write_text(&p, &out);
  rc = rc == PAI_OK && pai__buf_ok(&out)
         ? write(user_data, pai__buf_text(&out), out.len)
         : pai__oom(err);
  dispose(&p);
  pai__buf_dispose(&out);
  return rc;
}
