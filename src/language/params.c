/* params.c - what methods are asked about: a document, a position, a range */
#include "language/language.h"

pai__bytes pai__language_bytes(const pai__tree *t, pai__node n)
{
  pai__bytes out = { "", 0 };

  if (pai__tree_is(t, n, PAI__STRING))
    out.data = pai__tree_str(t, n, &out.len);
  return out;
}

bool pai__language_read_position(const pai__tree *t, pai__node n,
                                 pai__language_position *out)
{
  int64_t line, character;
  pai__node a = pai__tree_get(t, n, "line"),
            b = pai__tree_get(t, n, "character");

  if (a == PAI__NO_NODE || b == PAI__NO_NODE ||
      !pai__tree_whole(t, a, &line) || !pai__tree_whole(t, b, &character) ||
      line < 0 || character < 0)
    return false;
  *out =
    (pai__language_position){ line < UINT32_MAX ? (uint32_t)line : UINT32_MAX,
                              character < UINT32_MAX ? (uint32_t)character
                                                     : UINT32_MAX };
  return true;
}

static size_t offset_of(pai_language *l, pai__language_doc *doc,
                        pai__language_position at)
{
  return pai__language_lines_offset(&doc->lines, pai__buf_text(&doc->text),
                                    doc->text.len, l->unit, at);
}

bool pai__language_read_range(pai_language *l, pai__language_doc *doc,
                              const pai__tree *t, pai__node n, pai__span *out)
{
  pai__language_position start, end;

  if (!pai__language_read_position(t, pai__tree_get(t, n, "start"), &start) ||
      !pai__language_read_position(t, pai__tree_get(t, n, "end"), &end))
    return false;
  out->start = offset_of(l, doc, start);
  out->end = offset_of(l, doc, end);
  if (out->end < out->start) { /* as editors do */
    size_t swap = out->start;

    out->start = out->end;
    out->end = swap;
  }
  return true;
}

static int read_document(pai_language *l, pai__language_request *r)
{
  pai__bytes uri = pai__language_bytes(
    r->tree,
    pai__tree_get(r->tree, pai__tree_get(r->tree, r->params, "textDocument"),
                  "uri"));

  if (uri.len == 0)
    return pai__language_refuse(r, PAI__RPC_INVALID_PARAMS,
                                "textDocument.uri must be a string");
  r->doc = pai__docs_find(&l->docs, uri);
  if (r->doc == NULL)
    return pai__language_refuse(r, PAI__RPC_INVALID_PARAMS,
                                "this document is not open: %.300s",
                                (const char *)uri.data);
  return PAI_OK;
}

int pai__language_read_params(pai_language *l, pai__language_request *r)
{
  pai__language_position at;
  unsigned flags = r->method->flags;
  int rc = PAI_OK;

  if ((flags & PAI__METHOD_DOCUMENT) != 0)
    rc = read_document(l, r);
  if (rc < 0)
    return rc;
  if ((flags & PAI__METHOD_AT) != 0) {
    if (!pai__language_read_position(
          r->tree, pai__tree_get(r->tree, r->params, "position"), &at))
      return pai__language_refuse(r, PAI__RPC_INVALID_PARAMS,
                                  "position must have a line and a character, "
                                  "from 0");
    r->at = offset_of(l, r->doc, at);
  }
  if ((flags & PAI__METHOD_RANGE) != 0 &&
      !pai__language_read_range(l, r->doc, r->tree,
                                pai__tree_get(r->tree, r->params, "range"),
                                &r->range))
    return pai__language_refuse(r, PAI__RPC_INVALID_PARAMS,
                                "range must have a start and an end");
  return PAI_OK;
}
