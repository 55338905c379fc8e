/*
 * findings.h - what is wrong with a file, as it is found
 *
 * Failure of memory is sticky and told by pai__findings_end().
 */
#ifndef PAI_SRC_BASE_FINDINGS_H
#define PAI_SRC_BASE_FINDINGS_H

#include "base/arena.h"
#include "base/tree.h"
#include "base/secrets.h"

#include <openpai/report.h>

/* What the file would have to say: of pai_diagnostic.  Its texts are static, or
 * of the arena. */
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
  pai__node at;           /* what it was found at */
  struct pai__fix *fixes; /* the arena's; NULL: none */
} pai__finding;

/* The way to a value as a reader goes it: through an alias, not to where its
 * anchor stands. */
typedef struct pai__place {
  const struct pai__place *up; /* NULL: the root */
  pai__node key;               /* of an entry, or PAI__NO_NODE */
  uint32_t index;              /* of an item */
} pai__place;

typedef struct pai__findings {
  pai__arena *arena; /* of the strings */
  const pai__tree *tree;
  /* Finds what no message may tell, when it is first asked for: all that has
   * to do with bytes [from, to) of the text.  PAI_OK or PAI_ENOMEM.  NULL:
   * there are no secrets. */
  int (*find_secrets)(pai__secrets *secrets, const pai__tree *tree,
                      uint32_t from, uint32_t to);
  pai__secrets secrets; /* pai__findings_secrets() */
  bool secrets_found;
  pai__finding *list; /* the arena's allocator's */
  size_t len, cap;
  size_t errors;
  size_t bytes;            /* of all pointers and messages */
  size_t left_out;         /* found when there was enough already */
  const pai__place *place; /* of what is found, or NULL: ask the tree */
  pai__trail trail;        /* of the pointers that the tree was asked for */
  bool failed;
} pai__findings;

void pai__findings_init(pai__findings *f, pai__arena *arena,
                        const pai__tree *tree);
void pai__findings_dispose(pai__findings *f);

/* Something at a node; a key has its value's pointer.  False: there was enough
 * already, and whatever helps with it need not be thought of. */
bool pai__find(pai__findings *f, int severity, const char *code, pai__node at,
               const char *fmt, ...) PAI__PRINTF(5, 6);
/* Whether there is no room for another one, which is counted then: nothing
 * need be worked out for it. */
bool pai__findings_full(pai__findings *f, int severity);
/* The same for a part of the node's text: `at` gives the pointer. */
void pai__find_part(pai__findings *f, int severity, const char *code,
                    pai__node at, size_t start, size_t end, const char *fmt,
                    ...) PAI__PRINTF(7, 8);
/* What the file would have to say, of what was found last, if that was kept. */
void pai__find_wanted(pai__findings *f, const pai__demand *wanted);
/* How to mend what was found last, if that was kept. */
void pai__find_help(pai__findings *f, const char *fmt, ...) PAI__PRINTF(2, 3);

/* Puts them in the order of the file; PAI_OK or PAI_ENOMEM. */
int pai__findings_end(pai__findings *f);

const pai__secrets *pai__findings_secrets(pai__findings *f);
/* When all is found and in order: those in the lines that are shown. */
const pai__secrets *pai__findings_shown(pai__findings *f);

/* A node's value for a message: 'two', 2, a list; returns out. */
enum { PAI__VALUE_TEXT = 96 };
const char *pai__value_text(char out[PAI__VALUE_TEXT], pai__findings *f,
                            pai__node n);
/* A key as it may be told: one that is an alias, as it is written, since it
 * may stand for a secret. */
const char *pai__key_shown(pai__findings *f, pai__node key, size_t *len);
/* The pointer of a node with its keys as they may be told. */
void pai__findings_pointer(pai__findings *f, pai__node at, pai__buf *out);

/* --- suggest.c ------------------------------------------------------------ */

/* A word, ready to be compared with many; a longer one is like none. */
enum { PAI__LONGEST_WORD = 64 };
typedef struct pai__word {
  const char *s;
  size_t len;
  uint64_t letters; /* bits: that it is there, and above, that it is there
                       twice; what is none may share one */
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

/* Are two words the same but for `slips`, 3 at most: letters to add, drop,
 * change or swap?  Case does not count.  A slip adds one letter that was
 * missing, at most: that settles nearly all. */
static inline bool pai__word_within(const pai__word *a, const pai__word *b,
                                    unsigned slips)
{
  uint64_t here, there;

  if (a->len > b->len + slips || b->len > a->len + slips)
    return false;
  here = a->letters & ~b->letters;
  there = b->letters & ~a->letters;
  for (unsigned i = 0; i < slips; i++) {
    here &= here - 1; /* one bit less */
    there &= there - 1;
  }
  return (here | there) == 0 && pai__word_near(a, b, slips);
}

/* May a word be a slip for a name? */
bool pai__word_like(const pai__word *word, const pai__word *name);

/* Collects names; says which of them are most like a word, if any are. */
enum { PAI__MOST_NEAR = 3 };
typedef struct pai__names {
  const char *word;
  size_t word_len;
  bool made_up; /* the names are a person's: two that are alike may both be
                   meant, so that only case is surely a slip */
  pai__word near[PAI__MOST_NEAR]; /* the most like, the first of them */
  size_t near_count;              /* that many are as like */
  unsigned distance;              /* of those */
  pai__buf list;                  /* "a, b, c" */
  size_t count;
} pai__names;

void pai__names_init(pai__names *n, const pai_alloc *alloc, const char *word,
                     size_t len);
void pai__names_add(pai__names *n, const char *name, size_t len);
/* Whether the nearest are so like the word that one of them was surely meant;
 * and whether it is the first, whoever reads it. */
bool pai__names_surely(const pai__names *n);
bool pai__names_only(const pai__names *n);
/* Helps with what was found last: "did you mean 'x'?", or the list with
 * `which` before it; and ends the collection.  The word that was found gets a
 * fix for each. */
void pai__names_help(pai__names *n, pai__findings *f, const char *which);
/* The same for an error; of no names nothing is said. */
void pai__names_tell(pai__names *n, pai_error **err, const char *which);

#endif
