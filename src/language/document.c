/* document.c - the documents that the client has open */
#include "language/document.h"

/* Names of languages, as in `textDocument.languageId`, that say what a
 * document is, whatever its content. */
static const struct {
  const char *name;
  enum pai__language_kind kind;
} languages[] = {
  { "openpai-job", PAI__LANGUAGE_JOB },
  { "openpai-cluster", PAI__LANGUAGE_CLUSTER },
  { "hived", PAI__LANGUAGE_HIVED },
};

void pai__docs_init(pai__language_docs *docs, const pai_alloc *alloc)
{
  *docs = (pai__language_docs){ .alloc = alloc };
  pai__map_init(&docs->by_uri, alloc);
}

static void free_doc(pai__language_docs *docs, pai__language_doc *doc)
{
  pai__language_lines_dispose(&doc->lines, docs->alloc);
  pai__buf_dispose(&doc->text);
  pai__strfree(docs->alloc, doc->estimate.text);
  pai__strfree(docs->alloc, doc->uri);
  pai__free(docs->alloc, doc, sizeof(*doc));
}

void pai__docs_dispose(pai__language_docs *docs)
{
  const pai__map_entry *e;

  for (size_t i = 0; (e = pai__map_next(&docs->by_uri, &i)) != NULL;)
    free_doc(docs, e->value);
  pai__map_dispose(&docs->by_uri);
}

pai__language_doc *pai__docs_find(const pai__language_docs *docs,
                                  pai__bytes uri)
{
  return pai__map_get(&docs->by_uri, uri.data, uri.len);
}

static pai__language_doc *add_doc(pai__language_docs *docs, pai__bytes uri)
{
  pai__language_doc *doc = pai__zalloc(docs->alloc, sizeof(*doc));

  if (doc == NULL)
    return NULL;
  pai__buf_init(&doc->text, docs->alloc);
  doc->uri = pai__strndup(docs->alloc, uri.data, uri.len);
  if (doc->uri != NULL &&
      pai__map_set(&docs->by_uri, uri.data, uri.len, doc) == PAI_OK)
    return doc;
  free_doc(docs, doc);
  return NULL;
}

static void take_language(pai__language_doc *doc, const char *name)
{
  doc->kind_given = false;
  for (size_t i = 0; i < PAI__LEN(languages); i++)
    if (strcmp(languages[i].name, name) == 0) {
      doc->kind = languages[i].kind;
      doc->kind_given = true;
    }
}

int pai__docs_open(pai__language_docs *docs, pai__language_doc **out,
                   pai__bytes uri, const char *language, pai__bytes text)
{
  pai__language_doc *doc = pai__docs_find(docs, uri);

  if (doc == NULL)
    doc = add_doc(docs, uri);
  *out = doc;
  if (doc == NULL)
    return PAI_ENOMEM;
  doc->lost = false;
  take_language(doc, language);
  return pai__doc_replace(docs, doc, 0, doc->text.len, text);
}

static void remove_dirty(pai__language_docs *docs, pai__language_doc *doc)
{
  pai__language_doc **at = &docs->dirty, *before = NULL;

  while (*at != doc) {
    before = *at;
    at = &(*at)->next_dirty;
  }
  *at = doc->next_dirty;
  if (docs->last_dirty == doc)
    docs->last_dirty = before;
}

void pai__docs_close(pai__language_docs *docs, pai__language_doc *doc)
{
  if (doc->is_dirty)
    remove_dirty(docs, doc);
  (void)pai__map_remove(&docs->by_uri, doc->uri, strlen(doc->uri));
  free_doc(docs, doc);
}

static int splice(pai__buf *b, size_t start, size_t end, pai__bytes text)
{
  pai__buf_cut(b, b->len); /* forgets an earlier failure */
  if (text.len > end - start && !pai__buf_reserve(b, text.len - (end - start)))
    return PAI_ENOMEM;
  if (b->data == NULL) /* nothing to remove, and nothing new */
    return PAI_OK;
  memmove(b->data + start + text.len, b->data + end, b->len - end + 1);
  if (text.len > 0)
    memcpy(b->data + start, text.data, text.len);
  b->len += text.len - (end - start);
  return PAI_OK;
}

int pai__doc_replace(pai__language_docs *docs, pai__language_doc *doc,
                     size_t start, size_t end, pai__bytes text)
{
  size_t old_len = doc->text.len;
  bool is_whole = (start == 0 && end == old_len) || doc->lines.count == 0;
  int rc = splice(&doc->text, start, end, text);

  doc->stamp = ++docs->stamps;
  if (rc == PAI_OK && is_whole)
    rc = pai__language_lines_read(&doc->lines, docs->alloc,
                                  pai__buf_text(&doc->text), doc->text.len);
  else if (rc == PAI_OK)
    rc = pai__language_lines_replace(&doc->lines, docs->alloc, doc->text.data,
                                     doc->text.len, old_len, start, end);
  if (rc < 0)
    doc->lost = true;
  return rc;
}

void pai__doc_changed(pai__language_docs *docs, pai__language_doc *doc)
{
  if (!doc->kind_given)
    doc->kind =
      pai__language_detect(doc->uri, pai__buf_text(&doc->text), doc->text.len);
  if (doc->is_dirty)
    return;
  doc->is_dirty = true;
  doc->next_dirty = NULL;
  if (docs->dirty == NULL)
    docs->dirty = doc;
  else
    docs->last_dirty->next_dirty = doc;
  docs->last_dirty = doc;
}

pai__language_doc *pai__docs_take_dirty(pai__language_docs *docs)
{
  pai__language_doc *doc = docs->dirty;

  if (doc != NULL) {
    remove_dirty(docs, doc);
    doc->is_dirty = false;
  }
  return doc;
}
