/*
 * findings.h - collects the errors and warnings of a file
 *
 * Lack of memory is sticky and reported by pai__findings_end().
 */
#ifndef PAI_SRC_BASE_FINDINGS_H
#define PAI_SRC_BASE_FINDINGS_H

#include "base/arena.h"
#include "base/tree.h"
#include "base/secrets.h"

#include <openpai/report.h>

/* The expected content, for pai_diagnostic.  Its texts are static, or of the
 * arena. */
typedef struct pai__demand {
  const char *missing, *pattern;
  const char *const *allowed;
  unsigned types;
  int64_t limit;
} pai__demand;

struct pai__fix; /* fixes.h */

typedef struct pai__finding {
  int severity;     /* PAI_SEVERITY_* */
  const char *code; /* static */
  uint32_t start, end;
  const char *pointer, *message, *help; /* help: NULL for none */
  pai__demand wanted;
  pai__node at;           /* the node of the finding */
  struct pai__fix *fixes; /* of the arena; NULL: none */
} pai__finding;

/* A value's position on a reader's way: through an alias, not at its
 * anchor. */
typedef struct pai__place {
  const struct pai__place *up; /* NULL: the root */
  pai__node key;               /* of an entry, or PAI__NO_NODE */
  uint32_t index;              /* of an item */
} pai__place;

typedef struct pai__findings {
  pai__arena *arena; /* holds the strings */
  const pai__tree *tree;
  /* Finds the secrets in bytes [from, to) of the text, which messages must not
   * show.  Called when needed first.  PAI_OK or PAI_ENOMEM.  NULL: no
   * secrets. */
  int (*find_secrets)(pai__secrets *secrets, const pai__tree *tree,
                      uint32_t from, uint32_t to);
  pai__secrets secrets; /* pai__findings_secrets() */
  bool secrets_found;
  pai__finding *list; /* from the arena's allocator */
  size_t len, cap;
  size_t errors;
  size_t bytes;            /* of all pointers and messages */
  size_t left_out;         /* findings beyond the limit */
  const pai__place *place; /* of the next finding; NULL: found in the tree */
  pai__trail trail;        /* of pointers looked up in the tree */
  bool failed;
} pai__findings;

void pai__findings_init(pai__findings *f, pai__arena *arena,
                        const pai__tree *tree);
void pai__findings_dispose(pai__findings *f);

/* Adds a finding at a node; a key has its value's pointer.  False: the limit
 * is reached, and help or fixes are not needed. */
bool pai__find(pai__findings *f, int severity, const char *code, pai__node at,
               const char *fmt, ...) PAI__PRINTF(5, 6);
/* Returns whether the limit is reached; then the finding is counted, and its
 * text is not needed. */
bool pai__findings_full(pai__findings *f, int severity);
/* The same for a part of the node's text: `at` gives the pointer. */
void pai__find_part(pai__findings *f, int severity, const char *code,
                    pai__node at, size_t start, size_t end, const char *fmt,
                    ...) PAI__PRINTF(7, 8);
/* Sets the expected content of the last finding, if it was kept. */
void pai__find_wanted(pai__findings *f, const pai__demand *wanted);
/* Sets the help of the last finding, if it was kept. */
void pai__find_help(pai__findings *f, const char *fmt, ...) PAI__PRINTF(2, 3);

/* Sorts the findings by place; PAI_OK or PAI_ENOMEM. */
int pai__findings_end(pai__findings *f);

const pai__secrets *pai__findings_secrets(pai__findings *f);
/* Returns the secrets in the lines that are shown.  Call it after
 * pai__findings_end(). */
const pai__secrets *pai__findings_shown(pai__findings *f);

/* Formats a node's value for a message: 'two', 2, a list; returns out. */
enum { PAI__VALUE_TEXT = 96 };
const char *pai__value_text(char out[PAI__VALUE_TEXT], pai__findings *f,
                            pai__node n);
/* Returns a key as messages may show it.  A key that is an alias is shown as
 * it is written, because its target may be a secret. */
const char *pai__key_shown(pai__findings *f, pai__node key, size_t *len);
/* Appends the pointer of a node, with keys as messages may show them. */
void pai__findings_pointer(pai__findings *f, pai__node at, pai__buf *out);

/* --- similar names (suggest.c) ------------------------------------------- */

/* A word, prepared for many comparisons; a longer word is similar to none. */
enum { PAI__LONGEST_WORD = 64 };
typedef struct pai__word {
  const char *s;
  size_t len;
  uint64_t letters; /* bit set of letters present, and in the upper half of
                       letters present twice; other bytes may share a bit */
} pai__word;
static inline pai__word pai__word_of(const char *s, size_t len)
{
  pai__word word = { s, len, 0 };

  if (len <= PAI__LONGEST_WORD)
    for (size_t i = 0; i < len; i++) {
      uint64_t bit = (uint64_t)1 << ((unsigned char)s[i] & 31);

      word.letters |= bit | (word.letters & bit) << 32;
    }
  return word;
}

bool pai__word_near(const pai__word *a, const pai__word *b, unsigned slips);

/* Returns whether two words differ by at most `slips` (3 at most) typing
 * errors: letters to add, drop, change or swap, ignoring case.  Each error
 * adds at most one missing letter, which rules out nearly all words
 * quickly. */
static inline bool pai__word_within(const pai__word *a, const pai__word *b,
                                    unsigned slips)
{
  uint64_t here, there;

  if (a->len > b->len + slips || b->len > a->len + slips)
    return false;
  here = a->letters & ~b->letters;
  there = b->letters & ~a->letters;
  for (unsigned i = 0; i < slips; i++) {
    here &= here - 1; /* clears one bit */
    there &= there - 1;
  }
  return (here | there) == 0 && pai__word_near(a, b, slips);
}

/* Returns whether a word may be a misspelt name. */
bool pai__word_like(const pai__word *word, const pai__word *name);

/* Collects names and finds those most similar to a word. */
enum { PAI__MOST_NEAR = 3 };
typedef struct pai__names {
  const char *word;
  size_t word_len;
  bool made_up; /* the names are the user's own: two similar ones may both be
                   correct, so only a difference in case is surely an error */
  pai__word near[PAI__MOST_NEAR]; /* the first of the most similar names */
  size_t near_count;              /* number of equally similar names */
  unsigned distance;              /* of those from the word */
  pai__buf list;                  /* "a, b, c" */
  size_t count;
} pai__names;

void pai__names_init(pai__names *n, const pai_alloc *alloc, const char *word,
                     size_t len);
void pai__names_add(pai__names *n, const char *name, size_t len);
/* Returns whether the nearest names are so similar that one of them was surely
 * meant; and whether it is surely the first one. */
bool pai__names_surely(const pai__names *n);
bool pai__names_only(const pai__names *n);
/* Adds help to the last finding: "did you mean 'x'?", or the list with `which`
 * before it; and disposes of the names.  Adds a fix for each similar name. */
void pai__names_help(pai__names *n, pai__findings *f, const char *which);
/* The same for an error; adds nothing if there are no names. */
void pai__names_tell(pai__names *n, pai_error **err, const char *which);

#endif
