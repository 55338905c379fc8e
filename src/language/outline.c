/* outline.c - outline, folding, selections, semantic tokens */
#include "language/language.h"

typedef struct pai__language_listing {
  pai_language *l;
  pai__language_request *r;
  unsigned open; /* outline: items whose list of children is open */
  bool any;      /* outline: an item was written */
  size_t left;   /* selections: parents that are open */
  pai__language_position before; /* tokens: the last one */
} pai__language_listing;

/* --- outline ------------------------------------------------------------------- */

/* SymbolKind of the protocol. */
static const int kinds[] = {
  [PAI__OUTLINE_FIELD] = 7,       [PAI__OUTLINE_JOB] = 2,
  [PAI__OUTLINE_ROLE] = 5,        [PAI__OUTLINE_PREREQUISITE] = 4,
  [PAI__OUTLINE_PARAMETER] = 13,  [PAI__OUTLINE_SECRET] = 20,
  [PAI__OUTLINE_DEPLOYMENT] = 11, [PAI__OUTLINE_PORT] = 14,
  [PAI__OUTLINE_SECTION] = 3,
};

/* Ends the items that are not parents of one at `depth`. */
static void end_items(pai__language_listing *x, unsigned depth)
{
  while (x->open > depth) {
    pai__json_write(&x->r->w, "]}");
    x->open--;
  }
}

static int put_nested(void *user_data, const pai__outline_item *item)
{
  pai__language_listing *x = user_data;
  pai__json_writer *w = &x->r->w;

  end_items(x, item->depth);
  pai__json_write(w, "{name:s,kind:i",
                  item->name[0] != '\0' ? item->name : "?", kinds[item->kind]);
  pai__json_put_known(w, "detail", item->detail);
  pai__put_range(x->l, x->r->doc, w, "range", item->whole);
  pai__put_range(x->l, x->r->doc, w, "selectionRange", item->at);
  pai__json_put_array(w, "children");
  x->open = item->depth + 1;
  return PAI_OK;
}

static int put_flat(void *user_data, const pai__outline_item *item)
{
  pai__language_listing *x = user_data;
  pai__json_writer *w = &x->r->w;

  pai__json_write(w, "{name:s,kind:i,location:{uri:s",
                  item->name[0] != '\0' ? item->name : "?", kinds[item->kind],
                  x->r->doc->uri);
  pai__put_range(x->l, x->r->doc, w, "range", item->whole);
  pai__json_write(w, "}}");
  return PAI_OK;
}

PAI__LANGUAGE_HANDLER(outline)
{
  pai__language_text text = pai__doc_text(&l->docs, r->doc);
  pai__language_listing x = { .l = l, .r = r };
  int rc;

  pai__json_begin_array(&r->w);
  rc =
    pai__outline(&text, l->client.nested_outline ? put_nested : put_flat, &x);
  end_items(&x, 0);
  pai__json_end_array(&r->w);
  return rc;
}

/* --- folding --------------------------------------------------------------------- */

static int put_folding(void *user_data, pai__span span,
                       enum pai__folding_kind kind)
{
  pai__language_listing *x = user_data;
  const pai__language_lines *lines = &x->r->doc->lines;

  pai__json_write(&x->r->w, "{startLine:i,endLine:i",
                  (int)pai__language_lines_find(lines, span.start),
                  (int)pai__language_lines_find(lines, span.end));
  if (kind == PAI__FOLDING_COMMENT)
    pai__json_put_text(&x->r->w, "kind", "comment");
  pai__json_end_object(&x->r->w);
  return PAI_OK;
}

PAI__LANGUAGE_HANDLER(folding)
{
  pai__language_text text = pai__doc_text(&l->docs, r->doc);
  pai__language_listing x = { .l = l, .r = r };
  int rc;

  pai__json_begin_array(&r->w);
  rc = pai__folding(&text, put_folding, &x);
  pai__json_end_array(&r->w);
  return rc;
}

/* --- selections ------------------------------------------------------------------- */

/* Each selection is in the one after it. */
static int put_selection(void *user_data, pai__span span)
{
  pai__language_listing *x = user_data;

  if (x->left > 0)
    pai__json_member(&x->r->w, "parent");
  pai__json_begin_object(&x->r->w);
  pai__put_range(x->l, x->r->doc, &x->r->w, "range", span);
  x->left++;
  return PAI_OK;
}

static int put_selections_at(pai_language *l, pai__language_request *r,
                             pai__language_position at)
{
  pai__language_text text = pai__doc_text(&l->docs, r->doc);
  pai__language_listing x = { .l = l, .r = r };
  size_t offset = pai__language_lines_offset(&r->doc->lines, text.text,
                                             text.len, l->unit, at);
  int rc = pai__selection(&text, offset, put_selection, &x);

  if (rc == PAI_OK && x.left == 0) /* each position has a result */
    rc = put_selection(&x, (pai__span){ offset, offset });
  while (x.left-- > 0)
    pai__json_end_object(&r->w);
  return rc;
}

PAI__LANGUAGE_HANDLER(selection)
{
  pai__node list = pai__tree_get(r->tree, r->params, "positions"), n;
  pai__language_position at;
  pai__tree_walk walk;
  int rc = PAI_OK;

  if (!pai__tree_is(r->tree, list, PAI__SEQUENCE))
    return pai__language_refuse(r, PAI__RPC_INVALID_PARAMS,
                                "positions must be a list");
  pai__json_begin_array(&r->w);
  walk = pai__tree_iter(r->tree, list);
  while (rc == PAI_OK && (n = pai__tree_next(&walk)) != PAI__NO_NODE)
    rc = pai__language_read_position(r->tree, n, &at)
           ? put_selections_at(l, r, at)
           : pai__language_refuse(r, PAI__RPC_INVALID_PARAMS,
                                  "a position must have a line and a "
                                  "character, from 0");
  pai__json_end_array(&r->w);
  return rc;
}

/* --- semantic tokens ---------------------------------------------------------------- */

static int put_token(void *user_data, pai__span span,
                     enum pai__token_type type, unsigned modifiers)
{
  pai__language_listing *x = user_data;
  pai__language_doc *doc = x->r->doc;
  const char *text = pai__buf_text(&doc->text);
  pai__language_position at, end;
  pai__json_writer *w = &x->r->w;

  if ((x->r->method->flags & PAI__METHOD_RANGE) != 0 &&
      (span.end <= x->r->range.start || span.start >= x->r->range.end))
    return PAI_OK;
  at = pai__language_lines_position(&doc->lines, text, doc->text.len,
                                    x->l->unit, span.start);
  end = pai__language_lines_position(&doc->lines, text, doc->text.len,
                                     x->l->unit, span.end);
  if (end.line != at.line || end.character <= at.character)
    return PAI_OK;
  pai__json_int(w, at.line - x->before.line);
  pai__json_int(w, at.character -
                     (at.line == x->before.line ? x->before.character : 0));
  pai__json_int(w, end.character - at.character);
  pai__json_int(w, type);
  pai__json_int(w, modifiers);
  x->before = at;
  return PAI_OK;
}

PAI__LANGUAGE_HANDLER(tokens)
{
  pai__language_text text = pai__doc_text(&l->docs, r->doc);
  pai__language_listing x = { .l = l, .r = r };
  int rc;

  pai__json_write(&r->w, "{data:[");
  rc = pai__tokens(&text, put_token, &x);
  pai__json_write(&r->w, "]}");
  return rc;
}
