/*
 * roll_search.c - pages of the roll
 *
 * Of what is asked for, the words that the fewest jobs have lead: their jobs
 * are walked through in order, several lists side by side, and the rest is
 * tried job by job.  Words that are asked for bear the search's number, so a
 * try is a comparison.
 */
#include "store/roll.h"

enum { MOST_ARMS = 8 };

typedef struct search {
  pai__roll *roll;
  const pai__job_query *query;
  uint64_t number;
  unsigned narrowed; /* a bit for each kind of word that is to be tried */
  bool barred;       /* and tags that are not to be there */
  pai__keyword keyword;
  const pai__roll_list *arms[MOST_ARMS];
  size_t narms;
  bool exact; /* what the arms have is what is asked for */
} search;

/* --- what is asked for --------------------------------------------------------------- */

static const pai__names *names_of(const pai__job_query *q,
                                  enum pai__word_kind kind)
{
  return kind == PAI__WORD_USER       ? &q->users
         : kind == PAI__WORD_VC       ? &q->vcs
         : kind == PAI__WORD_STATE    ? &q->states
         : kind == PAI__WORD_PRIORITY ? &q->priorities
                                      : &q->tags;
}

/* Words that are asked for: what they lead to, if they lead. */
typedef struct asked {
  const pai__roll_list *arms[MOST_ARMS];
  size_t narms, jobs;
  bool many; /* more arms than there is room for */
} asked;

static void ask_for(search *s, asked *a, enum pai__word_kind kind,
                    const char *text)
{
  pai__word *word = pai__roll_word(s->roll, kind, text);

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
  const pai__names *names = names_of(s->query, kind);

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
  /* A job with two of several tags is in two arms. */
  s->exact = kind != PAI__WORD_TAG || a->narms <= 1;
}

static void narrow(search *s)
{
  static const enum pai__word_kind kinds[] = { PAI__WORD_USER, PAI__WORD_VC,
                                               PAI__WORD_STATE,
                                               PAI__WORD_PRIORITY,
                                               PAI__WORD_TAG };
  size_t fewest = s->roll->all.n + 1;
  unsigned leader = 0;
  asked a;

  s->arms[0] = &s->roll->all;
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

static void search_begin(search *s, pai__roll *roll, const pai__job_query *q)
{
  *s = (search){ .roll = roll, .query = q, .number = ++roll->searches };
  narrow(s);
  for (size_t i = 0; i < q->no_tags.n; i++) {
    pai__word *word = pai__roll_word(roll, PAI__WORD_TAG, q->no_tags.at[i]);

    if (word != NULL)
      word->barred = s->number;
    s->barred |= word != NULL;
  }
  s->keyword = pai__keyword_of(q->keyword);
  for (int kind = PAI__WORD_USER;
       s->keyword.text != NULL && kind <= PAI__WORD_VC; kind++)
    for (size_t i = 0; i < roll->words[kind].n; i++) {
      pai__word *word = roll->words[kind].at[i];

      if (pai__keyword_is_in(&s->keyword, word->text))
        word->matched = s->number;
    }
  s->exact =
    s->exact && s->narrowed == 0 && !s->barred && s->keyword.text == NULL;
}

/* --- trying a job --------------------------------------------------------------------- */

static bool has_keyword(const search *s, const pai__roll_row *row)
{
  if ((row->pairs & s->keyword.pairs) == s->keyword.pairs &&
      pai__keyword_is_in(&s->keyword, row->name))
    return true;
  return row->of[PAI__WORD_USER]->matched == s->number ||
         row->of[PAI__WORD_VC]->matched == s->number;
}

static bool has_words(const search *s, const pai__roll_row *row)
{
  for (int kind = 0; kind < PAI__WORDS_LISTED; kind++)
    if ((s->narrowed >> kind & 1) != 0 && row->of[kind]->asked != s->number)
      return false;
  return true;
}

static bool has_tags(const search *s, const pai__roll_row *row)
{
  bool wanted = (s->narrowed >> PAI__WORD_TAG & 1) == 0;

  for (size_t i = 0; i < row->ntags; i++) {
    wanted = wanted || row->tags[i]->asked == s->number;
    if (row->tags[i]->barred == s->number)
      return false;
  }
  return wanted;
}

static bool is_wanted(const search *s, const pai__roll_row *row)
{
  return s->exact || (has_words(s, row) && has_tags(s, row) &&
                      (s->keyword.text == NULL || has_keyword(s, row)));
}

/* --- walking --------------------------------------------------------------------------- */

/* What is left of each arm. */
typedef struct walk {
  pai__roll_row *const *low[MOST_ARMS], *const *high[MOST_ARMS];
  size_t n;
  bool ascending;
} walk;

static void walk_begin(walk *w, const search *s)
{
  w->n = 0;
  w->ascending = s->query->ascending;
  for (size_t i = 0; i < s->narms; i++) {
    pai__roll_row *const *at = s->arms[i]->at;

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

/* Only what comes behind a job is left. */
static void walk_behind(walk *w, const search *s)
{
  const pai__job_query *q = s->query;

  w->n = 0;
  for (size_t i = 0; i < s->narms; i++) {
    const pai__roll_list *l = s->arms[i];
    size_t place = pai__roll_place(
      l, q->after_submitted, w->ascending ? q->after_id + 1 : q->after_id);

    if (w->ascending ? place == l->n : place == 0)
      continue;
    w->low[w->n] = l->at + l->begin + (w->ascending ? place : 0);
    w->high[w->n++] = l->at + l->begin + (w->ascending ? l->n : place);
  }
}

static pai__roll_row *head(const walk *w, size_t i)
{
  return w->ascending ? *w->low[i] : w->high[i][-1];
}

static bool comes_first(const walk *w, const pai__roll_row *a,
                        const pai__roll_row *b)
{
  bool less =
    a->submitted != b->submitted ? a->submitted < b->submitted : a->id < b->id;

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

/* The next one, each once; NULL: that was all. */
static pai__roll_row *walk_on(walk *w)
{
  pai__roll_row *row;

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

/* Where nothing is to be tried, what is passed over need not be looked at. */
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

/* --- answering -------------------------------------------------------------------------- */

static uint64_t count(const search *s)
{
  const pai__roll_row *row;
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

/* All that lists show; the rest of `out` stays empty.  Field by field: copies
 * of whole rows were a sixth of a page. */
static void fill_row(pai__job_row *out, const pai__roll_row *row)
{
  const char *priority = row->of[PAI__WORD_PRIORITY]->text;

  out->id = row->id;
  out->version = row->version;
  out->user = row->of[PAI__WORD_USER]->text;
  out->name = row->name;
  out->submitted = row->submitted;
  out->vc = row->of[PAI__WORD_VC]->text;
  out->priority = strcmp(priority, PAI__NO_PRIORITY) == 0 ? NULL : priority;
  out->state = row->of[PAI__WORD_STATE]->text;
  out->sub_state = row->of[PAI__WORD_SUB_STATE]->text;
  out->execution = row->of[PAI__WORD_EXECUTION]->text;
  out->live = row->live;
  out->output_lost = row->output_lost;
  out->created = row->created;
  out->launched = row->launched;
  out->completed = row->completed;
  out->exit_code = row->exit_code;
  out->user_retries = row->user_retries;
  out->platform_retries = row->platform_retries;
  out->retry_delay = row->retry_delay;
  out->gpus = row->gpus;
  out->tasks = row->tasks;
  out->roles = row->roles;
}

static int hand_out(const search *s, pai__job_cb cb, void *user_data)
{
  uint64_t left = s->query->limit, offset;
  pai__job_row full = { .id = 0 };
  const pai__roll_row *row;
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
    fill_row(&full, row);
    rc = cb(user_data, &full);
  }
  return rc < 0 ? rc : PAI_OK;
}

int pai__roll_search(pai__roll *roll, const pai__job_query *query,
                     pai__job_cb cb, void *user_data, uint64_t *total)
{
  search s;
  int rc = PAI_OK;

  search_begin(&s, roll, query);
  if (total != NULL)
    *total = count(&s);
  if (query->limit > 0) {
    roll->busy = true;
    rc = hand_out(&s, cb, user_data);
    roll->busy = false;
  }
  return rc;
}
