/* document.h - internal to the room: the documents that the client has open */
#ifndef PAI_SRC_LANGUAGE_DOCUMENT_H
#define PAI_SRC_LANGUAGE_DOCUMENT_H

#include "base/map.h"
#include "base/tree.h"
#include "language/facts/facts.h"
#include "language/lines.h"

/* What is known about how long the job of a document would wait. */
typedef struct pai__language_wait {
  uint64_t question; /* which is not answered yet; 0: none */
  uint64_t stamp;    /* of the text that was asked for; 0: none */
  char *text;        /* one line; NULL: not known */
} pai__language_wait;

typedef struct pai__language_doc {
  char *uri;
  pai__buf text;
  pai__language_lines lines;
  bool has_version;
  int64_t version; /* the client's number of the text */
  uint64_t stamp;  /* the server's own; another one after each change */
  enum pai__language_kind kind;
  bool kind_given; /* by the name of the language, not by the content */
  bool lost;       /* a change is missing: the text is not the client's */
  bool is_dirty;   /* in the list of documents to check */
  struct pai__language_doc *next_dirty;
  pai__language_wait estimate;
} pai__language_doc;

typedef struct pai__language_docs {
  const pai_alloc *alloc;
  pai__map by_uri;
  uint64_t stamps;
  pai__language_doc *dirty, *last_dirty; /* to be checked, in order */
} pai__language_docs;

void pai__docs_init(pai__language_docs *docs, const pai_alloc *alloc);
void pai__docs_dispose(pai__language_docs *docs);

/* Opens a document, or replaces its text.  *out is NULL without memory.
 * `language` is the name of its language, or "".  Returns PAI_OK or
 * PAI_ENOMEM. */
int pai__docs_open(pai__language_docs *docs, pai__language_doc **out,
                   pai__bytes uri, const char *language, pai__bytes text);
pai__language_doc *pai__docs_find(const pai__language_docs *docs,
                                  pai__bytes uri);
void pai__docs_close(pai__language_docs *docs, pai__language_doc *doc);

/* Replaces bytes [start, end).  Returns PAI_OK; after PAI_ENOMEM the document
 * is lost. */
int pai__doc_replace(pai__language_docs *docs, pai__language_doc *doc,
                     size_t start, size_t end, pai__bytes text);
/* To be called after all changes of a message: finds the language again, and
 * lists the document to be checked. */
void pai__doc_changed(pai__language_docs *docs, pai__language_doc *doc);

/* Returns a document to check and removes it from the list, or NULL. */
pai__language_doc *pai__docs_take_dirty(pai__language_docs *docs);

/* The document as the functions of facts.h read it. */
static inline pai__language_text pai__doc_text(const pai__language_docs *docs,
                                               const pai__language_doc *doc)
{
  return (pai__language_text){ pai__buf_text(&doc->text), doc->text.len,
                               doc->lost ? PAI__LANGUAGE_OTHER : doc->kind,
                               docs->alloc };
}

#endif
