/* synthetic.c - make a cluster from a one-line description */
#include "base/text/utf8.h"
#include "resource/cluster/read.h"

typedef struct description {
  const char *text;
  uint32_t racks, nodes, gpus, cpus, numa, in_switch, in_link;
  uint64_t memory;
  pai__piece kind; /* kind of the GPUs */
} description;

#define SPACES " \t\r\n,"

/* --- reading the words ---------------------------------------------------- */

static const struct word {
  const char *key;
  size_t place; /* offset of its number in a description */
  uint32_t most;
} words[] = {
  { "nodes", offsetof(description, nodes), 0 /* limited by the options */ },
  { "racks", offsetof(description, racks), PAI__CLUSTER_MAX_NODES },
  { "gpu", offsetof(description, gpus), PAI__NODE_MAX_GPUS },
  { "cpus", offsetof(description, cpus), 1 << 20 },
  { "numa", offsetof(description, numa), 1024 },
  { "switch", offsetof(description, in_switch), PAI__NODE_MAX_GPUS },
  { "link", offsetof(description, in_link), PAI__NODE_MAX_GPUS },
  { "mem", offsetof(description, memory), 0 },
};

static pai__pos place_of(const description *d, pai__piece word)
{
  return (pai__pos){ 1, (uint32_t)(word.s - d->text) + 1 };
}

static int fail_word(pai_error **err, const description *d, pai__piece word,
                     const char *why)
{
  char piece[PAI__EXCERPT];

  (void)pai__fail_at(err, PAI_EINVAL, place_of(d, word), "'%s' %s",
                     pai__excerpt(piece, word.s, word.len), why);
  pai__error_help(err, "write nodes:16 racks:2 gpu:8:h100 cpus:128 mem:1T "
                       "numa:2 switch:4 link:8; all but nodes can be left "
                       "out");
  return PAI_EINVAL;
}

/* Reads a number; UINT32_MAX if it is larger. */
static bool read_number(pai__piece *s, uint32_t *value)
{
  uint64_t v = 0;
  size_t i = 0;

  for (; i < s->len && s->s[i] >= '0' && s->s[i] <= '9'; i++) {
    v = v * 10 + (uint64_t)(s->s[i] - '0');
    v = v < UINT32_MAX ? v : UINT32_MAX;
  }
  s->s += i;
  s->len -= i;
  *value = (uint32_t)v;
  return i > 0;
}

static const struct word *find_word(pai__piece word, pai__piece *value)
{
  for (size_t i = 0; i < PAI__LEN(words); i++) {
    size_t len = strlen(words[i].key);

    if (word.len > len && word.s[len] == ':' &&
        memcmp(word.s, words[i].key, len) == 0) {
      *value = (pai__piece){ word.s + len + 1, word.len - len - 1 };
      return &words[i];
    }
  }
  return NULL;
}

static bool is_kind(pai__piece s)
{
  for (size_t i = 0; i < s.len; i++)
    if (!(s.s[i] >= 'a' && s.s[i] <= 'z') &&
        !(s.s[i] >= 'A' && s.s[i] <= 'Z') &&
        !(s.s[i] >= '0' && s.s[i] <= '9') && s.s[i] != '-' && s.s[i] != '_' &&
        s.s[i] != '+')
      return false;
  return s.len > 0 && s.len <= PAI__EXCERPT;
}

/* Reads ":h100" after the number of GPUs. */
static bool read_kind(description *d, pai__piece rest)
{
  if (rest.len == 0)
    return true;
  d->kind = (pai__piece){ rest.s + 1, rest.len - 1 };
  return *rest.s == ':' && is_kind(d->kind);
}

static int read_word(description *d, pai__piece word, uint32_t max_nodes,
                     unsigned *seen, pai_error **err)
{
  char piece[PAI__EXCERPT];
  pai__piece value = { NULL, 0 };
  const struct word *w = find_word(word, &value);
  uint32_t most, number;

  if (w == NULL)
    return fail_word(err, d, word, "is no word of a description");
  if ((*seen & 1u << (w - words)) != 0)
    return fail_word(err, d, word, "is there twice");
  *seen |= 1u << (w - words);
  if (w->place == offsetof(description, memory))
    return pai__size_parse(&d->memory, value.s, value.len) &&
               d->memory <= PAI__MOST_MEMORY
             ? PAI_OK
             : fail_word(err, d, word, "has no amount of memory");
  if (!read_number(&value, &number) ||
      !(w->place == offsetof(description, gpus) ? read_kind(d, value)
                                                : value.len == 0))
    return fail_word(err, d, word,
                     w->place == offsetof(description, gpus)
                       ? "has no number, or no kind of letters and digits"
                       : "has no number");
  most = w->most != 0 ? w->most : max_nodes;
  if (number > most)
    return pai__fail_at(err, PAI_ELIMIT, place_of(d, word),
                        "'%s' is more than %u",
                        pai__excerpt(piece, word.s, word.len), (unsigned)most);
  if (number == 0 && w->place != offsetof(description, gpus))
    return fail_word(err, d, word, "cannot be 0");
  memcpy((char *)d + w->place, &number, sizeof(number));
  return PAI_OK;
}

/* Returns the word of a key that was read. */
static pai__piece word_of(const description *d, const char *key)
{
  const char *s = d->text;
  size_t len = strlen(key);

  while (strncmp(s, key, len) != 0 || s[len] != ':') {
    s += strcspn(s, SPACES);
    s += strspn(s, SPACES);
  }
  return (pai__piece){ s, strcspn(s, SPACES) };
}

/* Checks values that are valid alone but not together. */
static int check_parts(const description *d, pai_error **err)
{
  if (d->racks > d->nodes)
    return fail_word(err, d, word_of(d, "racks"),
                     "is more than there are nodes");
  if (d->in_switch > 0 && (d->gpus == 0 || d->gpus % d->in_switch != 0))
    return fail_word(err, d, word_of(d, "switch"),
                     "does not part the GPUs of a node equally");
  if (d->in_link > 0 && (d->gpus == 0 || d->gpus % d->in_link != 0))
    return fail_word(err, d, word_of(d, "link"),
                     "does not part the GPUs of a node equally");
  return PAI_OK;
}

static int read_words(description *d, const char *text, uint32_t max_nodes,
                      pai_error **err)
{
  const char *s = text;
  unsigned seen = 0;
  int rc = PAI_OK;

  *d = (description){ .text = text, .kind = { "gpu", 3 } };
  while (rc == PAI_OK && *(s += strspn(s, SPACES)) != '\0') {
    pai__piece word = { s, strcspn(s, SPACES) };

    rc = read_word(d, word, max_nodes, &seen, err);
    s += word.len;
  }
  if (rc == PAI_OK && d->nodes == 0)
    rc = fail_word(err, d, (pai__piece){ text, strlen(text) },
                   "does not say how many nodes");
  return rc == PAI_OK ? check_parts(d, err) : rc;
}

/* --- making it ------------------------------------------------------------ */

static int digits_of(uint32_t n, int least)
{
  int digits = 1;

  while (n >= 10) {
    n /= 10;
    digits++;
  }
  return digits > least ? digits : least;
}

/* Writes `word` and a number of that many digits, and a NUL. */
static char *put_name(char *to, const char *word, uint32_t number, int digits)
{
  size_t len = strlen(word);

  memcpy(to, word, len);
  for (int i = digits; i > 0; i--) {
    to[len + (size_t)i - 1] = (char)('0' + number % 10);
    number /= 10;
  }
  to[len + (size_t)digits] = '\0';
  return to + len + (size_t)digits + 1;
}

/* Returns "h100-node", because the kind has the name "h100". */
static const char *sku_name(pai_cluster *c, pai__piece kind)
{
  static const char after[] = "-node";
  char *name = pai__arena_zalloc(&c->arena, kind.len + sizeof(after), 1);

  if (name == NULL)
    return NULL;
  memcpy(name, kind.s, kind.len);
  memcpy(name + kind.len, after, sizeof(after));
  return name;
}

static int add_near(pai_cluster *c, const description *d, pai__sku *sku)
{
  pai__gpu_locality *near = pai__arena_zalloc(&c->arena, 2, sizeof(*near));

  if (near == NULL)
    return PAI_ENOMEM;
  sku->near = near;
  if (d->in_switch > 0)
    near[sku->nnear++] = (pai__gpu_locality){ "switch", d->in_switch };
  if (d->in_link > 0)
    near[sku->nnear++] = (pai__gpu_locality){ "link", d->in_link };
  return PAI_OK;
}

static int make_sku(pai_cluster *c, const description *d)
{
  pai__sku sku = {
    .name = "cpu-node", .numa = d->numa, .cpus = d->cpus, .memory = d->memory
  };
  pai__gpu_group *group = pai__arena_zalloc(&c->arena, 1, sizeof(*group));
  pai__gpu_kind kind = { .name =
                           pai__cluster_text(c, d->kind.s, d->kind.len) };
  uint32_t index;

  if (group == NULL || kind.name == NULL || add_near(c, d, &sku) < 0)
    return PAI_ENOMEM;
  if (d->gpus > 0) {
    if (pai__cluster_add_kind(c, &kind, &group->kind) < 0)
      return PAI_ENOMEM;
    group->count = d->gpus;
    sku.groups = group;
    sku.ngroups = 1;
    sku.name = sku_name(c, d->kind);
    if (sku.name == NULL)
      return PAI_ENOMEM;
  }
  return pai__cluster_add_sku(c, &sku, &index);
}

static int make_racks(pai_cluster *c, const description *d)
{
  int digits = digits_of(d->racks, 2);
  char name[32];
  uint32_t index;

  for (uint32_t i = 0; i < d->racks; i++) {
    char *end = put_name(name, "rack", i + 1, digits);

    if (pai__cluster_rack(c, name, (size_t)(end - name) - 1, &index) < 0)
      return PAI_ENOMEM;
  }
  return PAI_OK;
}

/* Increments the number at the end of a name. */
static void put_next(char *to, size_t size)
{
  char *digit = to + size - 2;

  memcpy(to, to - size, size);
  for (; *digit == '9'; digit--)
    *digit = '0';
  ++*digit;
}

/* Adds the nodes.  Their names ascend, so they need no sorting. */
static int make_nodes(pai_cluster *c, const description *d)
{
  int digits = digits_of(d->nodes, 4);
  size_t size = strlen("node") + (size_t)digits + 1;
  char *name = pai__arena_zalloc(&c->arena, d->nodes, size);
  uint32_t rack = 0, step = 0;

  if (name == NULL)
    return PAI_ENOMEM;
  (void)put_name(name, "node", 1, digits);
  for (uint32_t i = 0; i < d->nodes; i++) {
    pai__member *m;

    if (i > 0)
      put_next(name += size, size);
    if (pai__cluster_add_node(c, name, 0, &m) < 0)
      return PAI_ENOMEM;
    if (d->racks == 0)
      continue;
    m->rack = rack;
    for (step += d->racks; step >= d->nodes; step -= d->nodes)
      rack++;
  }
  return PAI_OK;
}

static int make(pai_cluster *c, const description *d)
{
  if (make_sku(c, d) < 0 || make_racks(c, d) < 0 ||
      pai__cluster_reserve(c, d->nodes, (size_t)d->nodes * d->gpus) < 0)
    return PAI_ENOMEM;
  return make_nodes(c, d);
}

int pai_cluster_synthetic(pai_cluster **out, const char *text,
                          const pai_cluster_options *opts, pai_error **err)
{
  pai_cluster_options o;
  description d = { .nodes = 0 };
  pai_cluster *c;
  int rc;

  PAI__CLEAR_OUT(out, err);
  PAI__CHECK_ARG_ERR(text != NULL, err);
  rc = pai__cluster_options(&o, opts, err);
  if (rc == PAI_OK)
    rc = read_words(&d, text, o.max_nodes, err);
  if (rc < 0)
    return rc;
  if ((uint64_t)d.nodes * d.gpus > PAI__CLUSTER_MAX_GPUS)
    return pai__fail(err, PAI_ELIMIT, "there are more than %d GPUs",
                     PAI__CLUSTER_MAX_GPUS);
  rc = pai__cluster_new(&c, o.alloc);
  if (rc == PAI_OK) {
    c->form = "synthetic";
    rc = make(c, &d);
  }
  if (rc < 0) {
    pai_cluster_free(c);
    return pai__oom(err);
  }
  *out = c;
  return PAI_OK;
}
