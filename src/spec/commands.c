/* commands.c - joins the commands of a task role into one text */
#include "spec/commands.h"

void pai__commands_init(pai__commands *c, const pai_alloc *alloc)
{
  *c = (pai__commands){ .left = PAI__MOST_COMMANDS };
  pai__buf_init(&c->text, alloc);
}

void pai__commands_dispose(pai__commands *c)
{
  pai__free(c->text.alloc, c->list, c->cap * sizeof(*c->list));
  pai__buf_dispose(&c->text);
}

static void add(pai__commands *c, const pai__tree *t, pai__node n)
{
  size_t len;
  const char *s = pai__text_at(t, n, &len), *start = s;

  if (s == NULL) /* the file is not valid */
    return;
  if (PAI__VEC_ROOM(c->text.alloc, c->list, c->len, c->cap) < 0) {
    c->failed = true;
    return;
  }
  if (c->len > 0)
    pai__buf_char(&c->text, '\n');
  pai__template_trim(&s, &len);
  c->list[c->len++] = (pai__command){ n, c->text.len, (size_t)(s - start) };
  if (c->hide != NULL && pai__secrets_hide(c->hide, n))
    pai__buf_str(&c->text, PAI__MASK);
  else
    pai__buf_add(&c->text, s, len);
}

static void add_list(pai__commands *c, const pai__tree *t, pai__node n)
{
  pai__tree_walk walk;
  pai__node item;

  if (!pai__tree_is(t, n, PAI__SEQUENCE))
    return;
  walk = pai__tree_iter(t, n);
  while ((item = pai__tree_next(&walk)) != PAI__NO_NODE &&
         c->text.len <= c->left && !c->failed)
    add(c, t, item);
}

int pai__commands_join(pai__commands *c, const pai__index *index,
                       pai__node key)
{
  const pai__tree *t = index->tree;
  pai__node hooks = PAI__NO_NODE, found;
  const char *name;
  size_t len;

  pai__buf_clear(&c->text);
  c->len = 0;
  if (index->deployment != PAI__NO_NODE) {
    name = pai__tree_str(t, key, &len);
    found = pai__tree_find(t, index->deployment, name, len);
    if (found != PAI__NO_NODE)
      hooks = pai__tree_value(t, found);
  }
  if (hooks != PAI__NO_NODE)
    add_list(c, t, pai__tree_get(t, hooks, "preCommands"));
  add_list(c, t, pai__tree_get(t, pai__tree_value(t, key), "commands"));
  if (hooks != PAI__NO_NODE)
    add_list(c, t, pai__tree_get(t, hooks, "postCommands"));
  if (c->failed || !pai__buf_ok(&c->text))
    return PAI_ENOMEM;
  if (c->text.len > c->left)
    return PAI_ELIMIT;
  c->left -= c->text.len;
  return PAI_OK;
}

pai__node pai__commands_at(const pai__commands *c, size_t at, size_t *inside)
{
  size_t low = 0, high = c->len - 1; /* finds the last at or before it */

  while (low < high) {
    size_t mid = (low + high + 1) / 2;

    if (c->list[mid].at <= at)
      low = mid;
    else
      high = mid - 1;
  }
  *inside = at - c->list[low].at + c->list[low].trimmed;
  return c->list[low].node;
}

void pai__role_scopes(pai__template_scope scopes[PAI__ROLE_SCOPES],
                      const pai__index *index, pai__node role)
{
  static const struct {
    const char *root, *field;
  } chosen[] = { { "$script", "script" },
                 { "$output", "output" },
                 { "$data", "data" } };
  const pai__tree *t = index->tree;

  scopes[0] = (pai__template_scope){ "$parameters", t,
                                     pai__tree_get(t, 0, "parameters") };
  for (size_t i = 0; i < PAI__LEN(chosen); i++) {
    size_t len;
    const char *name =
      pai__text_at(t, pai__tree_get(t, role, chosen[i].field), &len);

    scopes[i + 1] = (pai__template_scope){
      chosen[i].root, t,
      name != NULL ? pai__index_find(index, chosen[i].field, name, len)
                   : PAI__NO_NODE
    };
  }
}

pai__template_scope pai__secrets_scope(const pai__tree *tree)
{
  return (pai__template_scope){ "$secrets", tree,
                                pai__tree_get(tree, 0, "secrets") };
}
