/* tags.c - explicit tags of YAML nodes */
#include "yaml/load.h"

#define PREFIX "tag:yaml.org,2002:"

/* Limit of an ordered map, whose keys are compared pairwise. */
enum { MOST_ORDERED = 256 };

static const struct {
  const char *name;
  int kind;
} tags[] = {
  [PAI__TAG_NONE] = { "", PAI__NULL },
  [PAI__TAG_TEXT] = { "", PAI__NULL },
  [PAI__TAG_STR] = { "str", PAI__STRING },
  [PAI__TAG_INT] = { "int", PAI__STRING },
  [PAI__TAG_FLOAT] = { "float", PAI__STRING },
  [PAI__TAG_BOOL] = { "bool", PAI__STRING },
  [PAI__TAG_NULL] = { "null", PAI__STRING },
  [PAI__TAG_SEQ] = { "seq", PAI__SEQUENCE },
  [PAI__TAG_MAP] = { "map", PAI__MAPPING },
  [PAI__TAG_TIMESTAMP] = { "timestamp", PAI__STRING },
  [PAI__TAG_MERGE] = { "merge", PAI__STRING },
  [PAI__TAG_BINARY] = { "binary", PAI__STRING },
  [PAI__TAG_OMAP] = { "omap", PAI__SEQUENCE },
  [PAI__TAG_PAIRS] = { "pairs", PAI__SEQUENCE },
  [PAI__TAG_SET] = { "set", PAI__MAPPING },
};

static const char *kind_name(int kind)
{
  return kind == PAI__SEQUENCE  ? "sequence"
         : kind == PAI__MAPPING ? "mapping"
                                : "scalar";
}

static int fail_unknown(pai__yaml_loader *l, const char *tag, uint32_t at)
{
  size_t len = strlen(PREFIX);
  bool standard = strncmp(tag, PREFIX, len) == 0;

  (void)pai__fail_at(l->err, PAI_EINVAL, pai__tree_pos(l->t, at),
                     "unknown tag %s%.80s", standard ? "!!" : "",
                     tag + (standard ? len : 0));
  pai__error_help(l->err, "remove the tag, or put the text in quotes");
  return PAI_EINVAL;
}

int pai__yaml_find_tag(pai__yaml_loader *l, const char *tag, int kind,
                       bool empty, uint32_t at, pai__yaml_tag *found)
{
  size_t len = strlen(PREFIX);
  size_t known = l->js ? PAI__LEN(tags) : PAI__TAG_TIMESTAMP;

  *found = PAI__TAG_NONE;
  if (tag == NULL)
    return PAI_OK;
  if (strcmp(tag, "!") == 0) {
    *found = PAI__TAG_TEXT;
    return PAI_OK;
  }
  if (strncmp(tag, PREFIX, len) != 0)
    return fail_unknown(l, tag, at);
  for (size_t i = PAI__TAG_STR; i < known; i++) {
    if (strcmp(tag + len, tags[i].name) != 0)
      continue;
    if (tags[i].kind != kind && !empty)
      return pai__fail_at(l->err, PAI_EINVAL, pai__tree_pos(l->t, at),
                          "tag !!%s is for a %s, not for a %s", tags[i].name,
                          kind_name(tags[i].kind), kind_name(kind));
    *found = (pai__yaml_tag)i;
    return PAI_OK;
  }
  return fail_unknown(l, tag, at);
}

int pai__yaml_fail_tag(pai__yaml_loader *l, pai__yaml_tag tag, uint32_t at)
{
  return pai__fail_at(l->err, PAI_EINVAL, pai__tree_pos(l->t, at),
                      "cannot read this as !!%s", tags[tag].name);
}

static bool all_null(const pai__tree *t, pai__node n)
{
  pai__tree_walk w = pai__tree_iter(t, n);
  pai__node key;

  while ((key = pai__tree_next(&w)) != PAI__NO_NODE)
    if (pai__tree_type(t, pai__tree_value(t, key)) != PAI__NULL)
      return false;
  return true;
}

/* Returns the only key of an item, or PAI__NO_NODE. */
static pai__node only_key(const pai__tree *t, pai__node item)
{
  pai__tree_walk w = pai__tree_iter(t, item);

  if (pai__tree_type(t, item) != PAI__MAPPING || pai__tree_count(t, item) != 1)
    return PAI__NO_NODE;
  return pai__tree_next(&w);
}

/* Returns whether each item has one key, and with `distinct` no two are
 * equal. */
static bool are_pairs(const pai__tree *t, pai__node n, bool distinct)
{
  pai__tree_walk w = pai__tree_iter(t, n);
  pai__node keys[MOST_ORDERED], item;
  size_t len = 0;

  while ((item = pai__tree_next(&w)) != PAI__NO_NODE) {
    pai__node key = only_key(t, item);
    size_t key_len, other_len;
    const char *text;

    if (key == PAI__NO_NODE)
      return false;
    if (!distinct)
      continue;
    text = pai__tree_str(t, key, &key_len);
    for (size_t i = 0; i < len; i++) {
      const char *other = pai__tree_str(t, keys[i], &other_len);
      if (key_len == other_len && memcmp(text, other, key_len) == 0)
        return false;
    }
    keys[len++] = key;
  }
  return true;
}

/* Turns each item into [key, value], as js-yaml does.  Key and value are the
 * item's nodes already. */
static void make_pairs(pai__tree *t, pai__node n)
{
  pai__node end = t->nodes[n].skip;

  for (pai__node item = n + 1; item < end; item = t->nodes[item].skip) {
    pai__tree_node *p = &t->nodes[item];
    if (p->type != PAI__MAPPING || (p->flags & PAI__HAS_LIST) != 0)
      continue; /* an alias, or has merge keys: stays a mapping */
    p->type = PAI__SEQUENCE;
    p->u.c.count = 2;
  }
}

int pai__yaml_check_tag(pai__yaml_loader *l, pai__yaml_tag tag, pai__node n)
{
  uint32_t at = l->t->nodes[n].start;

  if (tag == PAI__TAG_SET && !all_null(l->t, n))
    return pai__yaml_fail_tag(l, tag, at);
  if (tag == PAI__TAG_OMAP && pai__tree_count(l->t, n) > MOST_ORDERED)
    return pai__fail_at(l->err, PAI_ELIMIT, pai__tree_pos(l->t, at),
                        "!!omap has more than %d entries", MOST_ORDERED);
  if ((tag == PAI__TAG_OMAP || tag == PAI__TAG_PAIRS) &&
      !are_pairs(l->t, n, tag == PAI__TAG_OMAP))
    return pai__yaml_fail_tag(l, tag, at);
  if (tag == PAI__TAG_PAIRS)
    make_pairs(l->t, n);
  return PAI_OK;
}
