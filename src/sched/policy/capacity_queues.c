/*
 * capacity_queues.c - builds the queues of the policy `capacity` from its
 * options
 *
 * First come the root and a leaf for each virtual cluster, then queues from
 * the options.  Amounts that depend on other amounts are computed after those.
 */
#include "sched/policy/capacity.h"

#include "json/json.h"

#include <inttypes.h>
#include <stdio.h>

typedef struct making {
  pai__queues *q;
  const pai_policy_host *host;
  const pai__sched_cluster *cluster;
  const pai__tree *tree;
  pai__node spec; /* value of "queues", or PAI__NO_NODE */
  bool strict;
  bool failed; /* an option is invalid */
  int rc;
} making;

/* Records an error.  `ever`: the option is invalid for any cluster.  Else it
 * does not suit this cluster, which matters only if `strict`: without it the
 * cluster has changed since. */
static void refuse(making *m, bool ever, const char *fmt, ...)
  PAI__PRINTF(3, 4);

static void refuse(making *m, bool ever, const char *fmt, ...)
{
  char text[256];
  va_list ap;

  if (m->failed || (!ever && !m->strict))
    return;
  va_start(ap, fmt);
  (void)vsnprintf(text, sizeof(text), fmt, ap);
  va_end(ap);
  m->rc = m->host->give_up(m->host, PAI_EINVAL, text);
  m->failed = true;
}

/* --- names ---------------------------------------------------------------- */

static uint32_t find(const pai__queues *q, const char *name)
{
  uint32_t i = 1;

  while (i < q->n && strcmp(q->list[i].name, name) != 0)
    i++;
  if (i < q->n)
    return i;
  return strcmp(name, "root") == 0 ? 0 : PAI__NONE;
}

static uint64_t gpus_of_vc(const pai__sched_cluster *cluster,
                           uint32_t vc_index)
{
  uint64_t n = 0;

  for (uint32_t k = 0; k < cluster->nkinds; k++)
    n += cluster->vcs[vc_index].own[k];
  return n;
}

static uint64_t gpus_of_cluster(const pai__sched_cluster *cluster)
{
  uint64_t n = 0;

  for (uint32_t i = 0; i < cluster->nnodes; i++)
    n += pai__sched_sku_of(cluster, i)->gpus;
  return n;
}

static int add(making *m, const char *name, uint32_t vc_index)
{
  pai__queues *q = m->q;
  char *copy = pai__arena_strndup(&q->arena, name, strlen(name));

  if (copy == NULL)
    return PAI_ENOMEM;
  q->list[q->n] = (pai__queue){ .name = copy,
                                .parent = q->n != 0 ? 0 : PAI__NONE,
                                .child = PAI__NONE,
                                .sibling = PAI__NONE,
                                .vc_index = vc_index,
                                .text = PAI__NONE };
  q->n++;
  return PAI_OK;
}

static int add_all(making *m)
{
  uint32_t more =
    m->spec != PAI__NO_NODE ? pai__tree_count(m->tree, m->spec) : 0;
  pai__tree_walk walk;
  pai__node key;
  int rc;

  m->q->list = pai__arena_zalloc(&m->q->arena, 1 + m->cluster->nvcs + more,
                                 sizeof(*m->q->list));
  if (m->q->list == NULL)
    return PAI_ENOMEM;
  rc = add(m, "root", PAI__NONE);
  for (uint32_t i = 0; i < m->cluster->nvcs && rc == PAI_OK; i++) {
    pai__queue *leaf = &m->q->list[m->q->n];

    rc = add(m, m->cluster->vcs[i].name, i);
    if (rc == PAI_OK && m->cluster->vcs[i].own != NULL)
      leaf->asked =
        (pai__amount){ gpus_of_vc(m->cluster, i), PAI__AMOUNT_GPUS };
    else if (rc == PAI_OK)
      leaf->asked = (pai__amount){ 1000, PAI__AMOUNT_PART };
  }
  if (m->spec == PAI__NO_NODE)
    return rc;
  walk = pai__tree_iter(m->tree, m->spec);
  while (rc == PAI_OK && (key = pai__tree_next(&walk)) != PAI__NO_NODE) {
    const char *name = pai__tree_str(m->tree, key, NULL);
    uint32_t i = find(m->q, name);

    if (i == PAI__NONE)
      rc = add(m, name, PAI__NONE);
    else if (i == 0)
      refuse(m, true,
             "queue \"root\" is the whole cluster, and has nothing to be "
             "set");
  }
  return rc;
}

/* --- options of each queue ------------------------------------------------ */

/* Reads "12.5%" as thousandths.  Returns false for other texts. */
static bool read_part(const char *s, uint64_t *n)
{
  uint64_t whole = 0;
  int digits = 0;

  for (; *s >= '0' && *s <= '9' && digits < 4; s++, digits++)
    whole = whole * 10 + (uint64_t)(*s - '0');
  *n = whole * 10;
  if (digits != 0 && s[0] == '.' && s[1] >= '0' && s[1] <= '9') {
    *n += (uint64_t)(s[1] - '0');
    s += 2;
  }
  return digits != 0 && strcmp(s, "%") == 0 && *n <= 1000;
}

static void read_amount(making *m, const char *queue, const char *key,
                        pai__node value, pai__amount *amount)
{
  int type = pai__tree_type(m->tree, value);
  uint64_t part;

  if (type == PAI__INT && pai__tree_int(m->tree, value) >= 0)
    *amount = (pai__amount){ (uint64_t)pai__tree_int(m->tree, value),
                             PAI__AMOUNT_GPUS };
  else if (type == PAI__STRING &&
           read_part(pai__tree_str(m->tree, value, NULL), &part))
    *amount = (pai__amount){ part, PAI__AMOUNT_PART };
  else
    refuse(m, true,
           "\"%s\" of queue \"%s\" is a number of GPUs, or a part of the "
           "parent's as \"25%%\" or \"12.5%%\"",
           key, queue);
}

static void read_parent(making *m, pai__queue *x, pai__node value)
{
  const char *name = pai__tree_type(m->tree, value) == PAI__STRING
                       ? pai__tree_str(m->tree, value, NULL)
                       : "";
  uint32_t parent = find(m->q, name);

  if (strcmp(name, "root") == 0)
    parent = 0;
  if (parent == PAI__NONE)
    refuse(m, true, "queue \"%s\" is below \"%s\", which is no queue", x->name,
           name);
  else if (m->q->list[parent].vc_index != PAI__NONE)
    refuse(m, false,
           "queue \"%s\" is below \"%s\", which is a virtual cluster: "
           "nothing can be below one",
           x->name, name);
  else
    x->parent = parent;
}

static void read_queue(making *m, pai__node key)
{
  uint32_t i = find(m->q, pai__tree_str(m->tree, key, NULL));
  pai__node of = pai__tree_value(m->tree, key), what;
  pai__queue *x = &m->q->list[i];
  pai__tree_walk walk;

  if (i == 0)
    return;
  if (pai__tree_type(m->tree, of) != PAI__MAPPING) {
    refuse(m, true, "queue \"%s\" is an object", x->name);
    return;
  }
  walk = pai__tree_iter(m->tree, of);
  while ((what = pai__tree_next(&walk)) != PAI__NO_NODE) {
    const char *name = pai__tree_str(m->tree, what, NULL);
    pai__node value = pai__tree_value(m->tree, what);

    if (strcmp(name, "parent") == 0)
      read_parent(m, x, value);
    else if (strcmp(name, "guaranteed") == 0)
      read_amount(m, x->name, name, value, &x->asked);
    else if (strcmp(name, "max") == 0)
      read_amount(m, x->name, name, value, &x->most);
    else
      refuse(m, true,
             "queue \"%s\" has \"%s\"; it may have \"parent\", "
             "\"guaranteed\" and \"max\"",
             x->name, name);
  }
}

static void read_queues(making *m)
{
  pai__tree_walk walk;
  pai__node key;

  if (m->spec == PAI__NO_NODE)
    return;
  walk = pai__tree_iter(m->tree, m->spec);
  while ((key = pai__tree_next(&walk)) != PAI__NO_NODE)
    read_queue(m, key);
}

/* --- the tree of queues --------------------------------------------------- */

/* Sets depths and child lists; refuses cycles. */
static void set_depths(making *m)
{
  pai__queues *q = m->q;

  for (uint32_t i = 1; i < q->n; i++) {
    uint32_t depth = 1;

    for (uint32_t p = q->list[i].parent; p != 0 && depth <= PAI__QUEUE_DEPTH;
         p = q->list[p].parent)
      depth++;
    if (depth > PAI__QUEUE_DEPTH) {
      refuse(m, true,
             "queue \"%s\" is below itself, or more than %d levels below "
             "the root",
             q->list[i].name, (int)PAI__QUEUE_DEPTH);
      q->list[i].parent = 0;
      depth = 1;
    }
    q->list[i].depth = depth;
  }
  for (uint32_t i = q->n; i-- > 1;) {
    pai__queue *parent = &q->list[q->list[i].parent];

    q->list[i].sibling = parent->child;
    parent->child = i;
  }
  for (uint32_t i = 1; i < q->n; i++)
    if (q->list[i].vc_index == PAI__NONE && q->list[i].child == PAI__NONE)
      refuse(m, false,
             "there is no virtual cluster \"%s\", and no queue is below it",
             q->list[i].name);
}

/* --- amounts -------------------------------------------------------------- */

static uint64_t children_guaranteed(const pai__queues *q, uint32_t i,
                                    bool *known)
{
  uint64_t sum = 0;

  *known = true;
  for (uint32_t c = q->list[i].child; c != PAI__NONE; c = q->list[c].sibling) {
    *known = *known && q->list[c].known_guaranteed;
    sum += q->list[c].guaranteed;
  }
  return sum;
}

static uint64_t part_of(const pai__amount *a, uint64_t whole)
{
  return a->kind == PAI__AMOUNT_GPUS ? a->n : whole * a->n / 1000;
}

/* Returns true if the amount was unknown and is known now. */
static bool find_guaranteed(pai__queues *q, uint32_t i)
{
  pai__queue *x = &q->list[i];
  const pai__queue *parent = &q->list[x->parent];
  bool known;

  if (x->known_guaranteed)
    return false;
  if (x->asked.kind == PAI__AMOUNT_OPEN) {
    x->guaranteed = children_guaranteed(q, i, &known);
  } else {
    known = x->asked.kind == PAI__AMOUNT_GPUS || parent->known_guaranteed;
    x->guaranteed = known ? part_of(&x->asked, parent->guaranteed) : 0;
  }
  x->known_guaranteed = known;
  return known;
}

static bool find_max(pai__queues *q, uint32_t i)
{
  pai__queue *x = &q->list[i];
  const pai__queue *parent = &q->list[x->parent];

  if (x->known_max || !parent->known_max)
    return false;
  x->max = x->most.kind == PAI__AMOUNT_OPEN ? parent->max
                                            : part_of(&x->most, parent->max);
  x->known_max = true;
  return true;
}

static void set_amounts(making *m)
{
  pai__queues *q = m->q;
  pai__queue *root = &q->list[0];
  bool found = true;

  root->guaranteed = root->max = gpus_of_cluster(m->cluster);
  root->known_guaranteed = root->known_max = true;
  while (found) {
    found = false;
    for (uint32_t i = 1; i < q->n; i++) {
      found = find_guaranteed(q, i) || found;
      found = find_max(q, i) || found;
    }
  }
  for (uint32_t i = 1; i < q->n; i++)
    if (!q->list[i].known_guaranteed)
      refuse(m, false,
             "what is guaranteed to queue \"%s\" depends on itself: give it, "
             "or those below it, a number of GPUs",
             q->list[i].name);
}

static void check_amounts(making *m)
{
  const pai__queues *q = m->q;

  for (uint32_t i = 0; i < q->n; i++) {
    const pai__queue *x = &q->list[i];
    bool known;
    uint64_t sum = children_guaranteed(q, i, &known);

    if (i != 0 && x->max < x->guaranteed)
      refuse(m, false,
             "queue \"%s\" has at most %" PRIu64 " GPUs, which is less than "
             "the %" PRIu64 " it is guaranteed",
             x->name, x->max, x->guaranteed);
    if (i != 0 && x->max > q->list[x->parent].max)
      refuse(m, false,
             "queue \"%s\" has at most %" PRIu64 " GPUs, and its parent "
             "\"%s\" at most %" PRIu64,
             x->name, x->max, q->list[x->parent].name, q->list[x->parent].max);
    if (sum > x->guaranteed)
      refuse(m, false,
             "queues below \"%s\" are guaranteed %" PRIu64
             " GPUs in sum, and it has %" PRIu64,
             x->name, sum, x->guaranteed);
  }
}

/* --- the whole ------------------------------------------------------------ */

static void make(making *m)
{
  int rc = add_all(m);

  if (rc < 0) {
    m->rc = rc;
    return;
  }
  read_queues(m);
  set_depths(m);
  set_amounts(m);
  check_amounts(m);
}

int pai__queues_make(pai__queues *q, const pai_policy_host *host,
                     const char *options, bool strict)
{
  making m = {
    .q = q, .host = host, .cluster = host->sched->cluster, .strict = strict
  };
  pai__json_options how = { .alloc = &host->sched->alloc };
  pai__tree *tree;

  *q = (pai__queues){ .n = 0 };
  m.rc = pai__json_parse(&tree, options, strlen(options), &how, NULL);
  if (m.rc < 0)
    return m.rc;
  m.tree = tree;
  m.spec = pai__tree_get(tree, 0, "queues");
  pai__arena_init(&q->arena, &host->sched->alloc);
  if (m.spec != PAI__NO_NODE && pai__tree_type(tree, m.spec) != PAI__MAPPING) {
    refuse(&m, true, "\"queues\" is an object: a name, and what it has");
    m.spec = PAI__NO_NODE;
  }
  if (!m.failed)
    make(&m);
  pai__tree_free(tree);
  if (m.rc < 0)
    pai__queues_dispose(q);
  return m.rc;
}

void pai__queues_dispose(pai__queues *q)
{
  pai__arena_dispose(&q->arena);
  q->list = NULL;
  q->n = 0;
}
