/*
 * lint_suggest.c - suggests the parameter or secret that a template may mean
 */
#include "base/fixes.h"
#include "base/text/utf8.h"
#include "spec/lint/lint.h"

enum { MOST_COMPARED = 1000 }; /* limit of the names to compare */

/* Returns whether a range is one tag, rather than a whole text whose tag was
 * not found. */
static bool is_tag(const char *s, const char *end)
{
  if (end - s < 3 || memcmp(s, "<%", 2) != 0)
    return false;
  while (++s + 1 < end)
    if (memcmp(s, "<%", 2) == 0)
      return false;
  return true;
}

/* Offers a name of the section in place of NAME in "$parameters.NAME...", in
 * the tag of the last finding. */
static void mend_name(pai__findings *f, const char *name, size_t len,
                      const char *best, size_t best_len)
{
  const pai__finding *x = &f->list[f->len - 1];
  const char *s = f->tree->text + x->start, *end = f->tree->text + x->end;
  char piece[PAI__EXCERPT];
  pai__fix *fix;

  if (!is_tag(s, end))
    return;
  while (s < end && *s != '.')
    s++;
  if ((size_t)(end - s) <= len + 1 || memcmp(s + 1, name, len) != 0)
    return; /* it is written differently */
  for (size_t i = 0; i < best_len; i++)
    if (!(best[i] >= 'a' && best[i] <= 'z') &&
        !(best[i] >= 'A' && best[i] <= 'Z') &&
        !(best[i] >= '0' && best[i] <= '9') && best[i] != '_' &&
        best[i] != '-')
      return;
  fix = pai__fix_add(f, false, x->at, "write '%s'",
                     pai__excerpt(piece, best, best_len));
  pai__fix_change(f, fix, (size_t)(s + 1 - f->tree->text),
                  (size_t)(s + 1 + len - f->tree->text), best, best_len);
}

bool pai__lint_suggest(pai__findings *f, const char *section, const char *name,
                       size_t len)
{
  const pai__tree *t = f->tree;
  pai__node all = pai__tree_get(t, 0, section);
  size_t before = strlen(section) + 2, part = before;
  pai__names like;
  pai__tree_walk walk;
  pai__node key;
  bool surely;

  if (f->failed || f->left_out > 0 || len <= before ||
      memcmp(name + 1, section, before - 2) != 0 || name[before - 1] != '.' ||
      !pai__tree_is(t, all, PAI__MAPPING))
    return false;
  while (part < len && name[part] != '.' && name[part] != '[')
    part++;
  pai__names_init(&like, f->arena->alloc, name + before, part - before);
  walk = pai__tree_iter(t, all);
  for (int i = 0; i < MOST_COMPARED; i++) {
    key = pai__tree_next(&walk);
    if (key == PAI__NO_NODE)
      break;
    name = pai__key_shown(f, key, &len);
    pai__names_add(&like, name, len);
  }
  surely = pai__names_surely(&like) && like.distance > 0;
  if (!surely) {
    pai__buf_dispose(&like.list);
    return false;
  }
  for (size_t i = 0; i < like.near_count && i < PAI__MOST_NEAR; i++)
    mend_name(f, like.word, like.word_len, like.near[i].s, like.near[i].len);
  pai__names_help(&like, f, section);
  return true;
}
