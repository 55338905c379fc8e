/*
 * fixes.h - how to correct what was found: changes of the text
 *
 * A fix belongs to what was found last, and to the findings' arena.  Failure of
 * memory is sticky, as that of the findings.  Where a fix cannot be had it is
 * NULL, which all of these take.
 */
#ifndef PAI_SRC_BASE_FIXES_H
#define PAI_SRC_BASE_FIXES_H

#include "base/report.h"

/* Of one fix; what needs more is none. */
enum { PAI__MOST_CHANGES = 1000 };

/* Bytes [start, end) of the text become others. */
typedef struct pai__change {
  struct pai__change *next;
  uint32_t start, end;
  const char *text; /* the arena's, or static */
} pai__change;

typedef struct pai__fix {
  struct pai__fix *next;
  const char *title;
  bool sure;
  pai__change *changes, *last; /* in the order of the text */
  size_t count;                /* of changes */
} pai__fix;

/* A fix without changes, with a title; `at` is what it changes.  NULL: what was
 * found last was not kept, or is met through an alias or a merge key, so that a
 * change would be one of other places, too. */
pai__fix *pai__fix_add(pai__findings *f, bool sure, pai__node at,
                       const char *title, ...) PAI__PRINTF(4, 5);
/* One more change; they come in the order of the text.  The text is copied. */
void pai__fix_change(pai__findings *f, pai__fix *fix, size_t start, size_t end,
                     const char *text, size_t len);
/* Takes a fix back, the last that was added. */
void pai__fix_drop(pai__findings *f, const pai__fix *fix);

/* A scalar or key becomes a word, quoted as it was, if it must be or may; "write
 * 'WORD'".  What stands on several lines stays. */
void pai__fix_word(pai__findings *f, bool sure, pai__node at, const char *word,
                   size_t len);
/* It becomes a text that needs no quotes; "write TEXT". */
void pai__fix_plain(pai__findings *f, bool sure, pai__node at,
                    const char *text);

/* Whether the mapping of a pointer, of so many bytes, will get a key by a fix of
 * another one. */
bool pai__fix_offered(const pai__findings *f, const char *pointer,
                      size_t pointer_len, const char *key, size_t len);

/* The fixes of a finding, as the caller sees them; PAI_OK or PAI_ENOMEM. */
int pai__report_fixes(pai_report *r, const pai__tree *tree,
                      const pai__finding *x, pai_diagnostic *d);
/* The one diagnostic of a text that is no document gets a fix: the text as it
 * should be, line by line.  PAI_OK or PAI_ENOMEM. */
int pai__report_mend(pai_report *r, const char *title, bool sure,
                     const char *text, size_t len, const pai__buf *mended);

#endif
