/*
 * duplicates.c - finds keys that are in one mapping twice
 *
 * In protocol v2 they are errors, as in js-yaml.  In job config v1 the last
 * one counts, as in JSON.parse(), but that is hardly meant.
 */
#include "base/text/utf8.h"
#include "spec/check.h"
#include "spec/fix/fix_parts.h"

#include <stdio.h>

static void find_twice(pai__findings *f, int severity, pai__node mapping,
                       pai__node first, pai__node again)
{
  const pai__tree_node *n = &f->tree->nodes[again];
  char piece[PAI__EXCERPT], title[64];
  const char *name;
  pai__pos at;
  size_t len;
  bool same;

  if (pai__findings_full(f, severity))
    return;
  at = pai__tree_where(f->tree, first);
  name = pai__key_shown(f, again, &len);
  if (pai__secrets_has(pai__findings_secrets(f), n->start))
    pai__find_part(f, severity, "duplicate-key", mapping, n->start, n->end,
                   "this key already exists at line %u, column %u", at.line,
                   at.column);
  else
    pai__find(f, severity, "duplicate-key", again,
              "key '%s' already exists at line %u, column %u",
              pai__excerpt(piece, name, len), at.line, at.column);
  pai__find_help(f, severity == PAI_SEVERITY_ERROR
                      ? "remove one of the two"
                      : "remove the others: only the last key takes effect");
  same = severity != PAI_SEVERITY_ERROR ||
         pai__tree_same(f->tree, pai__tree_value(f->tree, first), f->tree,
                        pai__tree_value(f->tree, again));
  (void)snprintf(title, sizeof(title), "remove the one at line %u", at.line);
  if (same && severity == PAI_SEVERITY_ERROR && f->len <= PAI__MOST_MENDED &&
      pai__mend_has_comment(f->tree, mapping, first) &&
      !pai__mend_has_comment(f->tree, mapping, again)) {
    pai__mend_remove(f, true, mapping, again, "remove this one");
    return;
  }
  pai__mend_remove(f, same, mapping, first, title);
  if (!same)
    pai__mend_remove(f, false, mapping, again, "remove this one");
}

void pai__check_duplicates(pai__findings *f, int severity)
{
  const pai__tree *t = f->tree;

  for (pai__node n = 0; t->repeats && n < t->count; n++) {
    if (t->nodes[n].type != PAI__MAPPING ||
        (t->nodes[n].flags & PAI__HAS_LIST) == 0)
      continue;
    for (pai__node key = n + 1; key < t->nodes[n].skip;
         key = t->nodes[t->nodes[key].skip].skip) {
      pai__node last;
      size_t len;
      const char *name = pai__tree_str(t, key, &len);

      if ((t->nodes[key].flags & PAI__IS_MERGE) != 0)
        continue;
      last = pai__tree_find(t, n, name, len); /* the last of the equal keys */
      if (last != key && last != PAI__NO_NODE)
        find_twice(f, severity, n, key, last);
    }
  }
}
