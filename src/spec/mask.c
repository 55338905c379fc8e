/*
 * mask.c - a job file without its secrets
 *
 * Nodes below a secret are masked too, as an alias elsewhere may lead to them.
 */
#include "spec/mask.h"

#include "json/writer.h"
#include "spec/secrets.h"
#include "spec/spec.h"

static void mask_nodes(pai__tree *t, const pai__secrets *secrets,
                       uint32_t mask, uint32_t len)
{
  for (size_t i = 0; i < t->count; i++) {
    pai__tree_node *n = &t->nodes[i];

    if ((n->flags & PAI__IS_KEY) != 0 || n->type == PAI__ALIAS ||
        !pai__secrets_has(secrets, n->start))
      continue;
    n->type = PAI__STRING;
    n->flags &= PAI__IS_MERGE;
    n->u.s.off = mask;
    n->u.s.len = len;
  }
}

/* Masks secrets in the text.  All places stay the same, and the length of a
 * secret is not visible. */
static void mask_text(pai__tree *t, const pai__secrets *secrets)
{
  char *text = (char *)(uintptr_t)t->text; /* the copy's own */

  for (size_t i = 0; i < secrets->len; i++) {
    const pai__range *range = &secrets->list[i];

    for (uint32_t at = range->start; at < range->end; at++)
      if (text[at] != '\n' && text[at] != '\r')
        text[at] = at - range->start < sizeof(PAI__MASK) - 1 ? '*' : ' ';
  }
}

int pai__mask(pai__tree **out, const pai__tree *tree)
{
  pai__secrets secrets;
  uint32_t mask;
  int rc = pai__secrets_find(&secrets, tree);

  *out = NULL;
  if (rc == PAI_OK)
    rc = pai__tree_copy(out, tree);
  if (rc == PAI_OK)
    rc = pai__tree_store(*out, &mask, PAI__MASK, sizeof(PAI__MASK) - 1);
  if (rc == PAI_OK) {
    mask_nodes(*out, &secrets, mask, sizeof(PAI__MASK) - 1);
    mask_text(*out, &secrets);
  }
  pai__secrets_dispose(&secrets);
  if (rc < 0) {
    pai__tree_free(*out);
    *out = NULL;
  }
  return rc;
}

/* Returns the end of a range without its trailing white space. */
static uint32_t trim(const char *text, const pai__range *range)
{
  uint32_t end = range->end;

  while (end > range->start && strchr(" \t\r\n", text[end - 1]) != NULL)
    end--;
  return end;
}

/* Writes the names of secrets.  They are not secret, and a user who fills in
 * the values again needs them. */
static void write_keys(pai__buf *out, const pai__tree *t, pai__node secrets)
{
  pai__tree_walk walk = pai__tree_iter(t, secrets);
  const char *comma = "";
  pai__json_writer w;
  pai__node key;

  pai__buf_char(out, '{');
  while ((key = pai__tree_next(&walk)) != PAI__NO_NODE) {
    size_t len;
    const char *name = pai__tree_str(t, key, &len);
    pai__buf_str(out, comma);
    pai__json_writer_init(&w, out, false);
    pai__json_text(&w, name, len);
    pai__buf_str(out, ": \"" PAI__MASK "\"");
    comma = ", ";
  }
  pai__buf_char(out, '}');
}

static void write_masked(pai__buf *out, const pai__tree *t,
                         const pai__secrets *secrets)
{
  pai__node all = pai__tree_get(t, 0, "secrets");
  uint32_t at = 0;

  for (size_t i = 0; i < secrets->len; i++) {
    const pai__range *range = &secrets->list[i];

    pai__buf_add(out, t->text + at, range->start - at);
    if (range->start > 0 && t->text[range->start - 1] == ':')
      pai__buf_char(out, ' ');
    if (all != PAI__NO_NODE && range->node == pai__tree_real(t, all) &&
        pai__tree_type(t, all) == PAI__MAPPING)
      write_keys(out, t, all);
    else
      pai__buf_str(out, "\"" PAI__MASK "\"");
    at = trim(t->text, range);
  }
  pai__buf_add(out, t->text + at, t->len - at);
}

bool pai__spec_masked_text(pai__buf *out, const pai_spec *spec)
{
  size_t before = out->len;
  pai_spec_options o = PAI_SPEC_OPTIONS_INIT;
  pai_spec *again;
  int rc;

  write_masked(out, spec->tree, &spec->secrets);
  if (!pai__buf_ok(out))
    return false;
  if (spec->usual && spec->secrets.len == 0)
    return true;
  o.alloc = &spec->alloc;
  rc = pai_spec_parse(&again, pai__buf_text(out) + before, out->len - before,
                      &o, NULL);
  pai_spec_unref(again);
  if (rc < 0)
    pai__buf_cut(out, before);
  return rc == PAI_OK;
}
