/*
 * job_file_equal.c - compares two job files, ignoring secrets; pure
 *
 * A server returns a file as JSON, with "******" for the whole of its secrets,
 * or for each.
 */
#include "client/inside.h"

#include "yaml/yaml.h"

static bool same(const pai__tree *a, pai__node m, const pai__tree *b,
                 pai__node n, int depth);

static bool is_mask(const pai__tree *t, pai__node n)
{
  return pai__tree_type(t, n) == PAI__STRING &&
         strcmp(pai__tree_str(t, n, NULL), "******") == 0;
}

/* Keys may be in any order: the server may change it. */
static bool same_mapping(const pai__tree *a, pai__node m, const pai__tree *b,
                         pai__node n, int depth)
{
  pai__tree_walk walk = pai__tree_iter(a, m);
  pai__node key, other;
  size_t len;

  if (pai__tree_count(a, m) != pai__tree_count(b, n))
    return false;
  while ((key = pai__tree_next(&walk)) != PAI__NO_NODE) {
    const char *text = pai__tree_str(a, key, &len);
    other = pai__tree_find(b, n, text, len);
    if (other == PAI__NO_NODE)
      return false;
    if (depth == 0 && strcmp(text, "secrets") == 0)
      continue;
    if (!same(a, pai__tree_value(a, key), b, pai__tree_value(b, other),
              depth + 1))
      return false;
  }
  return true;
}

static bool same_list(const pai__tree *a, pai__node m, const pai__tree *b,
                      pai__node n, int depth)
{
  pai__tree_walk wa = pai__tree_iter(a, m), wb = pai__tree_iter(b, n);
  pai__node i, j;

  if (pai__tree_count(a, m) != pai__tree_count(b, n))
    return false;
  while ((i = pai__tree_next(&wa)) != PAI__NO_NODE) {
    j = pai__tree_next(&wb);
    if (!same(a, i, b, j, depth + 1))
      return false;
  }
  return true;
}

static bool same(const pai__tree *a, pai__node m, const pai__tree *b,
                 pai__node n, int depth)
{
  if (is_mask(a, m) || is_mask(b, n))
    return true;
  if (pai__tree_type(a, m) == PAI__MAPPING &&
      pai__tree_type(b, n) == PAI__MAPPING)
    return same_mapping(a, m, b, n, depth);
  if (pai__tree_type(a, m) == PAI__SEQUENCE &&
      pai__tree_type(b, n) == PAI__SEQUENCE)
    return same_list(a, m, b, n, depth);
  return pai__tree_same(a, m, b, n);
}

bool pai__job_file_equal(const pai_alloc *alloc, const char *a, size_t a_len,
                         const char *b, size_t b_len)
{
  pai__yaml_options o = { .alloc = alloc };
  pai__tree *one = NULL, *other = NULL;
  bool alike = pai__yaml_parse(&one, a, a_len, &o, NULL) == PAI_OK &&
               pai__yaml_parse(&other, b, b_len, &o, NULL) == PAI_OK &&
               same(one, 0, other, 0, 0);

  pai__tree_free(one);
  pai__tree_free(other);
  return alike;
}
