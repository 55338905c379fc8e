/* lenses.c - links, lenses and hints: what stands beside the text */
#include "language/facts/parts.h"

#include <openpai/cluster.h>

enum { LONGEST_LINE = 1000 }; /* at whose end there are hints */

/* --- links ------------------------------------------------------------------ */

static int link_at(pai__facts *f, pai__span span, pai__link_cb cb,
                   void *user_data)
{
  const char *target =
    pai__arena_strndup(&f->arena, f->text + span.start, span.end - span.start);

  return target != NULL ? cb(user_data, span, target) : PAI_ENOMEM;
}

/* Returns the length of "http://" or "https://" at a byte, or 0. */
static size_t scheme_at(const char *s, size_t len)
{
  static const char *const schemes[] = { "https://", "http://" };

  for (size_t i = 0; i < PAI__LEN(schemes); i++)
    if (len >= strlen(schemes[i]) &&
        memcmp(s, schemes[i], strlen(schemes[i])) == 0)
      return strlen(schemes[i]);
  return 0;
}

/* A link with a template or a variable in it leads nowhere. */
static int links_in(pai__facts *f, pai__span in, pai__link_cb cb,
                    void *user_data)
{
  static const char ends[] = " \t\r\n\"'`<>|;\\)}]";
  int rc = PAI_OK;

  for (size_t at = in.start; rc == PAI_OK && at < in.end; at++) {
    size_t scheme = scheme_at(f->text + at, in.end - at), end = at + scheme;

    if (scheme == 0)
      continue;
    while (end < in.end && strchr(ends, f->text[end]) == NULL)
      end++;
    while (end > at + scheme && strchr(".,:", f->text[end - 1]) != NULL)
      end--;
    if (end > at + scheme && memchr(f->text + at, '$', end - at) == NULL &&
        f->text[end] != '<')
      rc = link_at(f, (pai__span){ at, end }, cb, user_data);
    at = end - 1;
  }
  return rc;
}

int pai__links(const pai__language_text *t, pai__link_cb cb, void *user_data)
{
  pai__facts f;
  int rc = pai__facts_open(&f, t, SIZE_MAX);

  for (pai__node n = 0; rc == PAI_OK && n < f.tree->count; n++) {
    const pai__tree_node *x = &f.tree->nodes[n];

    if (x->type == PAI__STRING && (x->flags & PAI__IS_KEY) == 0 &&
        !pai__secrets_hide(&f.secrets, n))
      rc = links_in(&f, (pai__span){ x->start, x->end }, cb, user_data);
  }
  return pai__facts_end(&f, rc);
}

/* --- lenses ------------------------------------------------------------------ */

/* Returns the span of the job's name, or the first line. */
static pai__span name_span(const pai__facts *f)
{
  pai__node n = PAI__NO_NODE;
  pai__span span = { 0, pai__facts_eol(f, 0) };

  if (f->tree->count > 0)
    n = pai__tree_get(f->tree, 0, f->version == 1 ? "jobName" : "name");
  if (n != PAI__NO_NODE && f->tree->nodes[n].start < f->tree->nodes[n].end)
    span = (pai__span){ f->tree->nodes[n].start, f->tree->nodes[n].end };
  return span;
}

int pai__lenses(const pai__language_text *t, pai__lens_cb cb, void *user_data)
{
  static const struct {
    const char *title;
    enum pai__lens_command command;
  } all[] = { { "Submit", PAI__LENS_SUBMIT },
              { "Run here", PAI__LENS_RUN_HERE },
              { "Explain", PAI__LENS_EXPLAIN } };
  pai__facts f;
  int rc = pai__facts_open(&f, t, SIZE_MAX);

  for (size_t i = 0; rc == PAI_OK && f.job && f.len > 0 && i < PAI__LEN(all);
       i++)
    rc = cb(user_data, name_span(&f), all[i].title, all[i].command);
  return pai__facts_end(&f, rc);
}

/* --- hints ------------------------------------------------------------------- */

typedef struct sums {
  uint64_t roles, tasks, gpus, cpu_millis, memory_mb;
} sums;

/* Tells a hint at the end of a line, unless that is far away. */
static int hint(const pai__facts *f, size_t at, pai__buf *text,
                pai__hint_cb cb, void *user_data)
{
  size_t end = at;

  if (!pai__buf_ok(text))
    return PAI_ENOMEM;
  while (end < f->len && end - at <= LONGEST_LINE &&
         strchr("\r\n", f->text[end]) == NULL)
    end++;
  return end - at <= LONGEST_LINE ? cb(user_data, end, pai__buf_text(text))
                                  : PAI_OK;
}

/* Tells what the tasks of each role request together, and sums up. */
static int hint_roles(const pai__facts *f, sums *all, pai__buf *text,
                      pai__hint_cb cb, void *user_data)
{
  int rc = PAI_OK;

  for (size_t i = 0; rc == PAI_OK && i < f->nroles; i++) {
    const pai__facts_role *role = &f->roles[i];

    all->roles++;
    all->tasks += role->tasks;
    all->gpus += role->tasks * role->gpus;
    all->cpu_millis += role->tasks * role->cpu_millis;
    all->memory_mb += role->tasks * role->memory_mb;
    if (role->tasks < 2 || role->cpu_millis == 0 || role->len == 0)
      continue;
    pai__buf_clear(text);
    pai__facts_put_sizes(text, role->tasks * role->gpus,
                         role->tasks * role->cpu_millis,
                         role->tasks * role->memory_mb);
    pai__buf_str(text, " in all");
    rc = hint(f, role->at.start, text, cb, user_data);
  }
  return rc;
}

/* Appends "8 nodes, 64 GPUs". */
static void put_machines(pai__buf *out, size_t nodes, size_t gpus)
{
  pai__buf_printf(out, "%zu node%s", nodes, nodes == 1 ? "" : "s");
  if (gpus > 0)
    pai__buf_printf(out, ", %zu GPU%s", gpus, gpus == 1 ? "" : "s");
}

/* Tells what a cluster has in all, after the key of its machines. */
static int hint_cluster(const pai__facts *f, const pai_cluster *c,
                        pai__buf *text, pai__hint_cb cb, void *user_data)
{
  pai_cluster_view all = { .struct_size = sizeof(all) };
  pai__node key = pai__tree_find(f->tree, 0, "nodes", 5);

  (void)pai_cluster_view_sums(c, &all);
  if (key == PAI__NO_NODE)
    key = pai__tree_find(f->tree, 0, "physicalCluster", 15);
  if (key == PAI__NO_NODE)
    return PAI_OK;
  put_machines(text, all.nodes, all.gpus);
  if (all.cpus > 0)
    pai__buf_printf(text, ", %llu CPUs", (unsigned long long)all.cpus);
  if (all.memory > 0)
    pai__buf_printf(text, ", %llu GiB", (unsigned long long)all.memory >> 30);
  pai__buf_str(text, " in all");
  return hint(f, f->tree->nodes[key].start, text, cb, user_data);
}

/* Tells how many nodes each SKU has: names with brackets are many. */
static int hint_skus(const pai__facts *f, const pai_cluster *c, pai__buf *text,
                     pai__hint_cb cb, void *user_data)
{
  pai__node skus = pai__tree_get(f->tree, 0, "skus"), key;
  pai_sku_view sku = { .struct_size = sizeof(sku) };
  int rc = PAI_OK;

  if (!pai__tree_is(f->tree, skus, PAI__MAPPING))
    return rc;
  for (size_t i = 0;
       rc == PAI_OK && pai_cluster_view_sku(c, i, &sku) == PAI_OK; i++) {
    key = pai__tree_find(f->tree, skus, sku.name, strlen(sku.name));
    if (key == PAI__NO_NODE)
      continue;
    pai__buf_clear(text);
    put_machines(text, sku.nodes, sku.nodes * sku.gpus);
    rc = hint(f, f->tree->nodes[key].start, text, cb, user_data);
  }
  return rc;
}

/* A file with errors has no hints.  Lines that cannot be parsed are not in the
 * tree's text. */
static int hint_machines(const pai__facts *f, pai__hint_cb cb, void *user_data)
{
  pai_cluster_options opts = PAI_CLUSTER_OPTIONS_INIT;
  pai_cluster *c;
  pai__buf text;
  int rc;

  opts.alloc = f->alloc;
  rc = pai_cluster_parse(&c, f->tree->text, f->len, &opts, NULL);
  if (rc < 0)
    return rc == PAI_ENOMEM ? rc : PAI_OK;
  pai__buf_init(&text, f->alloc);
  rc = hint_cluster(f, c, &text, cb, user_data);
  if (rc == PAI_OK)
    rc = hint_skus(f, c, &text, cb, user_data);
  pai__buf_dispose(&text);
  pai_cluster_free(c);
  return rc;
}

static int hint_all(const pai__facts *f, pai__hint_cb cb, void *user_data)
{
  sums all = { 0 };
  pai__buf text;
  int rc;

  pai__buf_init(&text, f->alloc);
  rc = hint_roles(f, &all, &text, cb, user_data);
  if (rc == PAI_OK && all.roles > 1) {
    pai__buf_clear(&text);
    pai__buf_printf(&text, "%llu tasks: ", (unsigned long long)all.tasks);
    pai__facts_put_sizes(&text, all.gpus, all.cpu_millis, all.memory_mb);
    pai__buf_str(&text, " in all");
    rc = hint(f, name_span(f).start, &text, cb, user_data);
  }
  pai__buf_dispose(&text);
  return rc;
}

int pai__hints(const pai__language_text *t, pai__hint_cb cb, void *user_data)
{
  pai__facts f;
  int rc = pai__facts_open(&f, t, SIZE_MAX);

  if (rc == PAI_OK && f.tree->count > 0)
    rc =
      f.job ? hint_all(&f, cb, user_data) : hint_machines(&f, cb, user_data);
  return pai__facts_end(&f, rc);
}
