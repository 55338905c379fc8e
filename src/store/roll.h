/*
 * roll.h - internal to the room: all jobs in memory, for lists
 *
 * The roll is gathered from the database piece by piece, and follows it from
 * then on by what commits have changed.  It knows nothing that the database
 * does not have: where memory is short it is given up, and lists come from the
 * database again until it was gathered anew.
 */
#ifndef PAI_SRC_STORE_ROLL_H
#define PAI_SRC_STORE_ROLL_H

#include "store/inside.h"

typedef struct pai__roll_row pai__roll_row;

/* Jobs in the order of their submission, or by id. */
typedef struct pai__roll_list {
  pai__roll_row **at; /* `n` of them, from `begin` on */
  size_t begin, n, cap;
  bool by_id;
} pai__roll_list;

/* What many jobs have alike is there once. */
enum pai__word_kind {
  PAI__WORD_USER,
  PAI__WORD_VC,
  PAI__WORD_STATE,
  PAI__WORD_PRIORITY,
  PAI__WORDS_LISTED, /* those before it have their jobs listed, and tags */
  PAI__WORD_SUB_STATE = PAI__WORDS_LISTED,
  PAI__WORD_EXECUTION,
  PAI__WORDS_OF_ROW,
  PAI__WORD_TAG = PAI__WORDS_OF_ROW,
  PAI__WORD_KINDS
};

typedef struct pai__word {
  pai__roll_list jobs; /* that have it */
  /* The last search that asked for it, that barred it, and whose keyword is in
   * it. */
  uint64_t asked, barred, matched;
  char text[];
} pai__word;

typedef struct pai__words {
  pai__word **at; /* in the order of their bytes */
  size_t n, cap;
} pai__words;

/* No priority: what no text can be. */
#define PAI__NO_PRIORITY "\xff"

struct pai__roll_row {
  uint64_t id;
  uint64_t version; /* of this job as it is now */
  uint64_t pairs;   /* pai__pairs_of() its name */
  pai__word *of[PAI__WORDS_OF_ROW];
  pai__word **tags; /* in the order of their bytes */
  size_t ntags;
  pai_time submitted, created, launched, completed;
  pai__maybe exit_code, retry_delay;
  uint32_t user_retries, platform_retries, gpus, tasks, roles;
  bool live, output_lost;
  char name[];
};

struct pai__roll {
  pai_alloc alloc;
  pai__roll_list by_id, all; /* the first owns them */
  pai__words words[PAI__WORD_KINDS];
  uint64_t read_to;  /* ids up to it are here; UINT64_MAX: it is whole */
  uint64_t versions; /* that were given out */
  uint64_t searches; /* so far */
  bool busy;         /* a search hands out its rows */
};

static inline bool pai__roll_is_whole(const pai__roll *roll)
{
  return roll != NULL && roll->read_to == UINT64_MAX;
}

/* --- roll.c -------------------------------------------------------------------- */

void pai__roll_free(pai__roll *roll); /* NULL is allowed */
/* NULL: there is no such job, no such word. */
pai__roll_row *pai__roll_find(const pai__roll *roll, uint64_t id);
pai__word *pai__roll_word(const pai__roll *roll, enum pai__word_kind kind,
                          const char *text);

/* --- roll_order.c --------------------------------------------------------------- */

/* How many come before this job, whether it is in the list or not. */
size_t pai__roll_place(const pai__roll_list *l, pai_time submitted,
                       uint64_t id);
/* PAI_ENOMEM leaves the list as it was. */
int pai__roll_insert(pai__roll_list *l, pai__roll_row *row,
                     const pai_alloc *alloc);
/* It is in the list. */
void pai__roll_remove(pai__roll_list *l, const pai__roll_row *row,
                      const pai_alloc *alloc);
void pai__roll_dispose(pai__roll_list *l, const pai_alloc *alloc);

/* --- roll_search.c ---------------------------------------------------------------- */

/* pai__store_list() of a query by submission. */
int pai__roll_search(pai__roll *roll, const pai__job_query *query,
                     pai__job_cb cb, void *user_data, uint64_t *total);

/* --- keyword.c ---------------------------------------------------------------------- */

/* A bit for each pair of neighbours in a text, several pairs to a bit.  A text
 * in which another one is has all of its bits. */
uint64_t pai__pairs_of(const char *text);

typedef struct pai__keyword {
  const char *text; /* NULL: none, which is in everything */
  uint64_t pairs;   /* that a text must have */
  bool wild;        /* there is % or _ in it */
} pai__keyword;

pai__keyword pai__keyword_of(const char *text);
bool pai__keyword_is_in(const pai__keyword *keyword, const char *text);

#endif
