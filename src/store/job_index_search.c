/*
 * job_index_search.c - answers job lists from the index
 *
 * The filter with the fewest jobs leads: the sorted job lists of its words are
 * merged, and the other filters are tested job by job.  Wanted words are
 * marked with the search's number, so a test is one comparison.
 */
#include "store/job_index.h"

enum { MOST_ARMS = 8 };

typedef struct search {
  pai__job_index *index;
  const pai__job_query *query;
  uint64_t number;
  unsigned narrowed; /* bit set of the kinds of words to test */
  bool barred;       /* there are excluded tags */
  pai__keyword keyword;
  const pai__job_index_list *arms[MOST_ARMS];
  size_t narms;
  bool exact; /* the lists contain exactly the jobs asked for */
} search;

/* --- the filters --------------------------------------------------------- */

static const pai__store_names *names_of(const pai__job_query *q,
                                        enum pai__word_kind kind)
{
  return kind == PAI__WORD_USER       ? &q->users
         : kind == PAI__WORD_VC       ? &q->vcs
         : kind == PAI__WORD_STATE    ? &q->states
         : kind == PAI__WORD_PRIORITY ? &q->priorities
                                      : &q->tags;
}

/* The words of a filter: their job lists, if the filter leads. */
typedef struct asked {
  const pai__job_index_list *arms[MOST_ARMS];
  size_t narms, jobs;
  bool many; /* too many lists */
} asked;

static void ask_for(search *s, asked *a, enum pai__word_kind kind,
                    const char *text)
{
  pai__index_word *word = pai__job_index_word(s->index, kind, text);

  if (word == NULL || word->asked == s->number)
    return;
  word->asked = s->number;
  a->jobs += word->jobs.n;
  if (a->narms < MOST_ARMS)
    a->arms[a->narms++] = &word->jobs;
  else
    a->many = true;
}

static void ask_for_all(search *s, asked *a, enum pai__word_kind kind)
{
  const pai__store_names *names = names_of(s->query, kind);

  *a = (asked){ .narms = 0 };
  for (size_t i = 0; i < names->n; i++) {
    ask_for(s, a, kind, names->at[i]);
    if (kind == PAI__WORD_PRIORITY && strcmp(names->at[i], "default") == 0)
      ask_for(s, a, kind, PAI__NO_PRIORITY);
  }
}

static void lead(search *s, const asked *a, enum pai__word_kind kind)
{
  memcpy(s->arms, a->arms, sizeof(s->arms));
  s->narms = a->narms;
  /* A job with two of several tags is in two lists. */
  s->exact = kind != PAI__WORD_TAG || a->narms <= 1;
}

static void narrow(search *s)
{
  static const enum pai__word_kind kinds[] = { PAI__WORD_USER, PAI__WORD_VC,
                                               PAI__WORD_STATE,
                                               PAI__WORD_PRIORITY,
                                               PAI__WORD_TAG };
  size_t fewest = s->index->all.n + 1;
  unsigned leader = 0;
  asked a;

  s->arms[0] = &s->index->all;
  s->narms = 1;
  s->exact = true;
  for (size_t i = 0; i < PAI__LEN(kinds); i++) {
    if (names_of(s->query, kinds[i])->n == 0)
      continue;
    ask_for_all(s, &a, kinds[i]);
    s->narrowed |= 1u << kinds[i];
    if (a.many || a.jobs >= fewest)
      continue;
    fewest = a.jobs;
    leader = 1u << kinds[i];
    lead(s, &a, kinds[i]);
  }
  s->narrowed &= ~leader;
}

static void search_begin(search *s, pai__job_index *index,
                         const pai__job_query *q)
{
  *s = (search){ .index = index, .query = q, .number = ++index->searches };
  narrow(s);
  for (size_t i = 0; i < q->no_tags.n; i++) {
    pai__index_word *word =
      pai__job_index_word(index, PAI__WORD_TAG, q->no_tags.at[i]);

    if (word != NULL)
      word->barred = s->number;
    s->barred |= word != NULL;
  }
  s->keyword = pai__keyword_of(q->keyword);
  for (int kind = PAI__WORD_USER;
       s->keyword.text != NULL && kind <= PAI__WORD_VC; kind++)
    for (size_t i = 0; i < index->words[kind].n; i++) {
      pai__index_word *word = index->words[kind].at[i];

      if (pai__keyword_is_in(&s->keyword, word->text))
        word->matched = s->number;
    }
  s->exact =
    s->exact && s->narrowed == 0 && !s->barred && s->keyword.text == NULL;
}

/* --- testing a job ------------------------------------------------------- */

static bool has_keyword(const search *s, const pai__job_index_row *row)
{
  if ((row->pairs & s->keyword.pairs) == s->keyword.pairs &&
      pai__keyword_is_in(&s->keyword, row->name))
    return true;
  return row->of[PAI__WORD_USER]->matched == s->number ||
         row->of[PAI__WORD_VC]->matched == s->number;
}

static bool has_words(const search *s, const pai__job_index_row *row)
{
  for (int kind = 0; kind < PAI__WORDS_SEARCHED; kind++)
    if ((s->narrowed >> kind & 1) != 0 && row->of[kind]->asked != s->number)
      return false;
  return true;
}

static bool has_tags(const search *s, const pai__job_index_row *row)
{
  bool wanted = (s->narrowed >> PAI__WORD_TAG & 1) == 0;

  for (size_t i = 0; i < row->ntags; i++) {
    wanted = wanted || row->tags[i]->asked == s->number;
    if (row->tags[i]->barred == s->number)
      return false;
  }
  return wanted;
}

static bool is_wanted(const search *s, const pai__job_index_row *row)
{
  return s->exact || (has_words(s, row) && has_tags(s, row) &&
                      (s->keyword.text == NULL || has_keyword(s, row)));
}

/* --- merging ------------------------------------------------------------- */

/* The rest of each list. */
typedef struct walk {
  pai__job_index_row *const *low[MOST_ARMS], *const *high[MOST_ARMS];
  size_t n;
  bool ascending;
} walk;

static void walk_begin(walk *w, const search *s)
{
  w->n = 0;
  w->ascending = s->query->ascending;
  for (size_t i = 0; i < s->narms; i++) {
    pai__job_index_row *const *at = s->arms[i]->at;

    if (s->arms[i]->n == 0)
      continue;
    w->low[w->n] = at + s->arms[i]->begin;
    w->high[w->n++] = at + s->arms[i]->begin + s->arms[i]->n;
  }
}

static void drop_arm(walk *w, size_t i)
{
  w->n--;
  w->low[i] = w->low[w->n];
  w->high[i] = w->high[w->n];
}

/* Leaves only the jobs after the given one. */
static void walk_behind(walk *w, const search *s)
{
  const pai__job_query *q = s->query;

  w->n = 0;
  for (size_t i = 0; i < s->narms; i++) {
    const pai__job_index_list *l = s->arms[i];
    size_t place = pai__job_index_place(
      l, q->after_submitted, w->ascending ? q->after_id + 1 : q->after_id);

    if (w->ascending ? place == l->n : place == 0)
      continue;
    w->low[w->n] = l->at + l->begin + (w->ascending ? place : 0);
    w->high[w->n++] = l->at + l->begin + (w->ascending ? l->n : place);
  }
}

static pai__job_index_row *head(const walk *w, size_t i)
{
  return w->ascending ? *w->low[i] : w->high[i][-1];
}

static bool comes_first(const walk *w, const pai__job_index_row *a,
                        const pai__job_index_row *b)
{
  bool less = a->job.submitted != b->job.submitted
                ? a->job.submitted < b->job.submitted
                : a->job.id < b->job.id;

  return less == w->ascending;
}

static void step(walk *w, size_t i)
{
  if (w->ascending)
    w->low[i]++;
  else
    w->high[i]--;
  if (w->low[i] == w->high[i])
    drop_arm(w, i);
}

/* Returns the next job, each once; NULL at the end. */
static pai__job_index_row *walk_on(walk *w)
{
  pai__job_index_row *row;

  if (w->n == 0)
    return NULL;
  row = head(w, 0);
  for (size_t i = 1; i < w->n; i++)
    if (head(w, i) != row && comes_first(w, head(w, i), row))
      row = head(w, i);
  for (size_t i = w->n; i-- > 0;)
    if (head(w, i) == row)
      step(w, i);
  return row;
}

/* Skips the offset without looking at the jobs, if no filter needs testing. */
static uint64_t skip(walk *w, const search *s, uint64_t offset)
{
  size_t n = w->n == 1 ? (size_t)(w->high[0] - w->low[0]) : 0;

  if (!s->exact || n == 0)
    return offset;
  if (offset >= n) {
    w->n = 0;
    return 0;
  }
  if (w->ascending)
    w->low[0] += offset;
  else
    w->high[0] -= offset;
  return 0;
}

/* --- results ------------------------------------------------------------- */

static uint64_t count(const search *s)
{
  const pai__job_index_row *row;
  uint64_t n = 0;
  walk w;

  if (s->exact) {
    for (size_t i = 0; i < s->narms; i++)
      n += s->arms[i]->n;
    return n;
  }
  walk_begin(&w, s);
  while ((row = walk_on(&w)) != NULL)
    n += is_wanted(s, row);
  return n;
}

static int hand_out(const search *s, pai__job_cb cb, void *user_data)
{
  uint64_t left = s->query->limit, offset;
  pai__job_row full = { .id = 0 }; /* the fields that lists show */
  const pai__job_index_row *row;
  int rc = PAI_OK;
  walk w;

  walk_begin(&w, s);
  if (s->query->after_id != 0)
    walk_behind(&w, s);
  offset = skip(&w, s, s->query->offset);
  while (rc >= 0 && left > 0 && (row = walk_on(&w)) != NULL) {
    if (!is_wanted(s, row))
      continue;
    if (offset > 0) {
      offset--;
      continue;
    }
    left--;
    full.listed = row->job;
    full.version = row->version;
    rc = cb(user_data, &full);
  }
  return rc < 0 ? rc : PAI_OK;
}

int pai__job_index_search(pai__job_index *index, const pai__job_query *query,
                          pai__job_cb cb, void *user_data, uint64_t *total)
{
  search s;
  int rc = PAI_OK;

  search_begin(&s, index, query);
  if (total != NULL)
    *total = count(&s);
  if (query->limit > 0) {
    index->busy = true;
    rc = hand_out(&s, cb, user_data);
    index->busy = false;
  }
  return rc;
}
