/* sync.c - follows the documents of the client: open, change, close */
#include "language/language.h"

static bool is_name(pai__bytes s)
{
  return s.len > 0 && memchr(s.data, '\0', s.len) == NULL;
}

static void take_version(pai__language_doc *doc, const pai__tree *t,
                         pai__node item)
{
  pai__node n = pai__tree_get(t, item, "version");

  doc->has_version = n != PAI__NO_NODE && pai__tree_whole(t, n, &doc->version);
}

/* A document whose text is not known any more. */
static int lose(pai_language *l, pai__language_doc *doc, pai_error **err)
{
  doc->lost = true;
  l->checked.stamp = 0;
  return pai__oom(err);
}

PAI__LANGUAGE_HANDLER(open)
{
  pai__node item = pai__tree_get(r->tree, r->params, "textDocument"),
            text = pai__tree_get(r->tree, item, "text");
  pai__bytes uri =
    pai__language_bytes(r->tree, pai__tree_get(r->tree, item, "uri"));
  pai__language_doc *doc;

  if (!is_name(uri) || !pai__tree_is(r->tree, text, PAI__STRING))
    return pai__language_refuse(r, PAI__RPC_INVALID_PARAMS,
                                "textDocument must have a uri and a text");
  if (l->docs.by_uri.live >= l->o.max_open &&
      pai__docs_find(&l->docs, uri) == NULL)
    return pai__language_refuse(r, PAI__RPC_FAILED,
                                "%u documents are open, the most",
                                (unsigned)l->o.max_open);
  if (pai__docs_open(&l->docs, &doc, uri,
                     pai__tree_look_text(r->tree, item, "languageId", ""),
                     pai__language_bytes(r->tree, text)) < 0)
    return doc != NULL ? lose(l, doc, r->err) : pai__oom(r->err);
  take_version(doc, r->tree, item);
  pai__doc_changed(&l->docs, doc);
  return PAI_OK;
}

/* Applies one change: of a range, or of the whole text. */
static int apply(pai_language *l, pai__language_doc *doc, const pai__tree *t,
                 pai__node change, pai_error **err)
{
  pai__node range = pai__tree_get(t, change, "range"),
            text = pai__tree_get(t, change, "text");
  pai__span span = { 0, doc->text.len };

  if (!pai__tree_is(t, text, PAI__STRING) ||
      (range != PAI__NO_NODE && !pai__tree_is(t, range, PAI__NULL) &&
       !pai__language_read_range(l, doc, t, range, &span)))
    return pai__fail(err, PAI_EINVAL, "a change must have a text");
  if (range == PAI__NO_NODE)
    doc->lost = false;
  return pai__doc_replace(&l->docs, doc, span.start, span.end,
                          pai__language_bytes(t, text)) < 0
           ? pai__oom(err)
           : PAI_OK;
}

PAI__LANGUAGE_HANDLER(change)
{
  pai__node item = pai__tree_get(r->tree, r->params, "textDocument"), n;
  pai__bytes uri =
    pai__language_bytes(r->tree, pai__tree_get(r->tree, item, "uri"));
  pai__language_doc *doc = pai__docs_find(&l->docs, uri);
  pai__node list = pai__tree_get(r->tree, r->params, "contentChanges");
  pai__tree_walk walk;
  int rc = PAI_OK;

  if (doc == NULL)
    return pai__language_refuse(r, PAI__RPC_INVALID_PARAMS,
                                "this document is not open: %.300s",
                                (const char *)uri.data);
  if (!pai__tree_is(r->tree, list, PAI__SEQUENCE))
    return pai__language_refuse(r, PAI__RPC_INVALID_PARAMS,
                                "contentChanges must be a list");
  walk = pai__tree_iter(r->tree, list);
  while (rc == PAI_OK && (n = pai__tree_next(&walk)) != PAI__NO_NODE)
    rc = apply(l, doc, r->tree, n, r->err);
  if (rc < 0) /* the next edits are about another text */
    doc->lost = true;
  take_version(doc, r->tree, item);
  pai__doc_changed(&l->docs, doc);
  return rc;
}

PAI__LANGUAGE_HANDLER(close)
{
  pai__node item = pai__tree_get(r->tree, r->params, "textDocument");
  pai__bytes uri =
    pai__language_bytes(r->tree, pai__tree_get(r->tree, item, "uri"));
  pai__language_doc *doc = pai__docs_find(&l->docs, uri);

  if (doc == NULL)
    return pai__language_refuse(r, PAI__RPC_INVALID_PARAMS,
                                "this document is not open: %.300s",
                                (const char *)uri.data);
  pai__language_drop_question(l, doc);
  pai__docs_close(&l->docs, doc);
  return l->client.pulls ? PAI_OK
                         : pai__language_publish_none(l, uri.data, r->err);
}
