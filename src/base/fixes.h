/*
 * fixes.h - corrections of findings, as changes of the text
 *
 * A fix belongs to the last finding, and to the findings' arena.  Lack of
 * memory is sticky, as for findings.  All of these functions accept NULL, an
 * impossible fix.
 */
#ifndef PAI_SRC_BASE_FIXES_H
#define PAI_SRC_BASE_FIXES_H

#include "base/report.h"

/* Limit for one fix; a fix with more is dropped. */
enum { PAI__MOST_CHANGES = 1000 };

/* Replaces bytes [start, end) of the text. */
typedef struct pai__change {
  struct pai__change *next;
  uint32_t start, end;
  const char *text; /* of the arena, or static */
} pai__change;

typedef struct pai__fix {
  struct pai__fix *next;
  const char *title;
  bool sure;
  pai__change *changes, *last; /* in the order of the text */
  size_t count;                /* of changes */
} pai__fix;

/* Adds a fix with a title and without changes; `at` is what it changes.  NULL:
 * the last finding was not kept, or its place is reached through an alias or a
 * merge key, so a change would affect other places, too. */
pai__fix *pai__fix_add(pai__findings *f, bool sure, pai__node at,
                       const char *title, ...) PAI__PRINTF(4, 5);
/* Adds a change; changes come in the order of the text.  The text is
 * copied. */
void pai__fix_change(pai__findings *f, pai__fix *fix, size_t start, size_t end,
                     const char *text, size_t len);
/* Removes the fix that was added last. */
void pai__fix_drop(pai__findings *f, const pai__fix *fix);

/* Replaces a scalar or key by a word, quoted as before if necessary or
 * possible; "write 'WORD'".  A value on several lines is not changed. */
void pai__fix_word(pai__findings *f, bool sure, pai__node at, const char *word,
                   size_t len);
/* Replaces it by a text that needs no quotes; "write TEXT". */
void pai__fix_plain(pai__findings *f, bool sure, pai__node at,
                    const char *text);

/* Returns whether a fix of another finding adds the key to the mapping of that
 * pointer. */
bool pai__fix_offered(const pai__findings *f, const char *pointer,
                      size_t pointer_len, const char *key, size_t len);

/* Converts the fixes of a finding for the caller; PAI_OK or PAI_ENOMEM. */
int pai__report_fixes(pai_report *r, const pai__tree *tree,
                      const pai__finding *x, pai_diagnostic *d);
/* Adds a fix to the one diagnostic of a text that does not parse: the
 * corrected text, line by line.  PAI_OK or PAI_ENOMEM. */
int pai__report_mend(pai_report *r, const char *title, bool sure,
                     const char *text, size_t len, const pai__buf *mended);

#endif
