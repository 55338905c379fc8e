/*
 * job_index.h - internal to src/store: all jobs in memory, for lists
 *
 * The index is read from the database piece by piece, and then follows each
 * commit.  It holds nothing that the database does not have.  When memory is
 * short the index is freed, and lists come from the database until it has been
 * read again.
 */
#ifndef PAI_SRC_STORE_JOB_INDEX_H
#define PAI_SRC_STORE_JOB_INDEX_H

#include "store/inside.h"

typedef struct pai__job_index_row pai__job_index_row;

/* Jobs in the order of their submission, or by id. */
typedef struct pai__job_index_list {
  pai__job_index_row **at; /* `n` of them, from `begin` on */
  size_t begin, n, cap;
  bool by_id;
} pai__job_index_list;

/* Texts that many jobs share are stored once. */
enum pai__word_kind {
  PAI__WORD_USER,
  PAI__WORD_VC,
  PAI__WORD_STATE,
  PAI__WORD_PRIORITY,
  PAI__WORDS_SEARCHED, /* kinds before this one, and tags, have lists of their
                          jobs */
  PAI__WORD_TAG = PAI__WORDS_SEARCHED,
  PAI__WORD_OTHER, /* texts that are not searched for; there are few */
  PAI__WORD_KINDS
};

typedef struct pai__index_word {
  pai__job_index_list jobs; /* jobs with this word */
  /* Number of the last search that asked for this word, that excluded it, and
   * whose keyword it contains. */
  uint64_t asked, barred, matched;
  char text[];
} pai__index_word;

typedef struct pai__index_words {
  pai__index_word **at; /* sorted by bytes */
  size_t n, cap;
} pai__index_words;

/* The word of a job without priority; no valid text has this byte. */
#define PAI__NO_PRIORITY "\xff"

struct pai__job_index_row {
  pai__job_listed job; /* its texts are words, except `name` */
  uint64_t version;    /* increases with each change of the job */
  uint64_t pairs;      /* pai__pairs_of() its name */
  pai__index_word *of[PAI__WORDS_SEARCHED];
  pai__index_word **tags; /* sorted by bytes */
  size_t ntags;
  char name[];
};

struct pai__job_index {
  pai_alloc alloc;
  pai__job_index_list by_id, all; /* by_id owns the rows */
  pai__index_words words[PAI__WORD_KINDS];
  uint64_t read_to;  /* ids up to this one are in memory; UINT64_MAX: all
                        are */
  uint64_t versions; /* versions given out so far */
  uint64_t searches; /* number of searches so far */
  bool busy;         /* a search is passing rows to its callback */
};

static inline bool pai__job_index_is_whole(const pai__job_index *index)
{
  return index != NULL && index->read_to == UINT64_MAX;
}

/* --- job_index.c --------------------------------------------------------- */

void pai__job_index_free(pai__job_index *index); /* NULL is allowed */
/* Returns NULL if there is no such job or word. */
pai__job_index_row *pai__job_index_find(const pai__job_index *index,
                                        uint64_t id);
pai__index_word *pai__job_index_word(const pai__job_index *index,
                                     enum pai__word_kind kind,
                                     const char *text);

/* --- job_index_order.c --------------------------------------------------- */

/* Returns how many jobs come before this one, which need not be in the
 * list. */
size_t pai__job_index_place(const pai__job_index_list *l, pai_time submitted,
                            uint64_t id);
/* PAI_ENOMEM leaves the list as it was. */
int pai__job_index_insert(pai__job_index_list *l, pai__job_index_row *row,
                          const pai_alloc *alloc);
/* The job must be in the list. */
void pai__job_index_remove(pai__job_index_list *l,
                           const pai__job_index_row *row,
                           const pai_alloc *alloc);
void pai__job_index_dispose(pai__job_index_list *l, const pai_alloc *alloc);

/* --- job_index_search.c -------------------------------------------------- */

/* pai__store_list() of a query by submission. */
int pai__job_index_search(pai__job_index *index, const pai__job_query *query,
                          pai__job_cb cb, void *user_data, uint64_t *total);

/* --- keyword.c ----------------------------------------------------------- */

/* Returns a bit set of the pairs of adjacent bytes in a text, several pairs to
 * a bit.  A text has all bits of its substrings. */
uint64_t pai__pairs_of(const char *text);

typedef struct pai__keyword {
  const char *text; /* NULL: no keyword, which matches everything */
  uint64_t pairs;   /* bits that a matching text has */
  bool wild;        /* contains % or _ */
} pai__keyword;

pai__keyword pai__keyword_of(const char *text);
bool pai__keyword_is_in(const pai__keyword *keyword, const char *text);

#endif
