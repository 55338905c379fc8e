/* roll.c - what is in the roll, and how it follows the database */
#include "store/roll.h"

#include <stdlib.h>

enum { SLICE = 512 /* jobs, some milliseconds */ };

/* --- words ------------------------------------------------------------------------ */

/* How many words come before this one; *there: and whether it follows. */
static size_t place_of(const pai__words *words, const char *text, bool *there)
{
  size_t low = 0, high = words->n;

  *there = false;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    int rc = strcmp(words->at[middle]->text, text);

    if (rc == 0) {
      *there = true;
      return middle;
    }
    if (rc < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

pai__word *pai__roll_word(const pai__roll *roll, enum pai__word_kind kind,
                          const char *text)
{
  const pai__words *words = &roll->words[kind];
  bool there;
  size_t i = place_of(words, text, &there);

  return there ? words->at[i] : NULL;
}

static size_t size_of_word(const char *text)
{
  return sizeof(pai__word) + strlen(text) + 1;
}

/* The one that there is, or a new one; NULL without memory. */
static pai__word *need_word(pai__roll *roll, enum pai__word_kind kind,
                            const char *text)
{
  pai__words *words = &roll->words[kind];
  bool there;
  size_t i = place_of(words, text, &there);
  pai__word *word;

  if (there)
    return words->at[i];
  if (PAI__VEC_ROOM(&roll->alloc, words->at, words->n, words->cap) < 0)
    return NULL;
  word = pai__zalloc(&roll->alloc, size_of_word(text));
  if (word == NULL)
    return NULL;
  memcpy(word->text, text, strlen(text) + 1);
  memmove(words->at + i + 1, words->at + i,
          (words->n - i) * sizeof(*words->at));
  words->at[i] = word;
  words->n++;
  return word;
}

static void free_word(pai__roll *roll, pai__word *word)
{
  pai__roll_dispose(&word->jobs, &roll->alloc);
  pai__free(&roll->alloc, word, size_of_word(word->text));
}

/* A job has it no longer: one that no job has is forgotten. */
static void leave_word(pai__roll *roll, enum pai__word_kind kind,
                       pai__word *word, const pai__roll_row *row)
{
  pai__words *words = &roll->words[kind];
  bool there;
  size_t i;

  if (kind >= PAI__WORDS_LISTED && kind != PAI__WORD_TAG)
    return; /* there are few of them */
  pai__roll_remove(&word->jobs, row, &roll->alloc);
  if (word->jobs.n > 0)
    return;
  i = place_of(words, word->text, &there);
  words->n--;
  memmove(words->at + i, words->at + i + 1,
          (words->n - i) * sizeof(*words->at));
  free_word(roll, word);
}

static int set_word(pai__roll *roll, pai__roll_row *row,
                    enum pai__word_kind kind, const char *text)
{
  pai__word *old = row->of[kind], *word;

  if (text == NULL)
    text = kind == PAI__WORD_PRIORITY ? PAI__NO_PRIORITY : "";
  if (old != NULL && strcmp(old->text, text) == 0)
    return PAI_OK;
  word = need_word(roll, kind, text);
  if (word == NULL)
    return PAI_ENOMEM;
  if (old != NULL)
    leave_word(roll, kind, old, row);
  row->of[kind] = word;
  return kind < PAI__WORDS_LISTED
           ? pai__roll_insert(&word->jobs, row, &roll->alloc)
           : PAI_OK;
}

/* --- rows ------------------------------------------------------------------------- */

pai__roll_row *pai__roll_find(const pai__roll *roll, uint64_t id)
{
  size_t i = pai__roll_place(&roll->by_id, 0, id);
  pai__roll_row *row =
    i < roll->by_id.n ? roll->by_id.at[roll->by_id.begin + i] : NULL;

  return row != NULL && row->id == id ? row : NULL;
}

static void free_row(pai__roll *roll, pai__roll_row *row)
{
  pai__free(&roll->alloc, row->tags, row->ntags * sizeof(*row->tags));
  pai__free(&roll->alloc, row, sizeof(*row) + strlen(row->name) + 1);
}

/* One with what never changes of a job, in its lists. */
static pai__roll_row *add_row(pai__roll *roll, const pai__job_row *from)
{
  size_t len = strlen(from->name) + 1;
  pai__roll_row *row = pai__zalloc(&roll->alloc, sizeof(*row) + len);

  if (row == NULL)
    return NULL;
  row->id = from->id;
  row->submitted = from->submitted;
  memcpy(row->name, from->name, len);
  row->pairs = pai__pairs_of(row->name);
  if (pai__roll_insert(&roll->by_id, row, &roll->alloc) < 0) {
    free_row(roll, row);
    return NULL;
  }
  return pai__roll_insert(&roll->all, row, &roll->alloc) == PAI_OK &&
             set_word(roll, row, PAI__WORD_USER, from->user) == PAI_OK
           ? row
           : NULL;
}

static int put_job(pai__roll *roll, const pai__job_row *from)
{
  pai__roll_row *row = pai__roll_find(roll, from->id);

  if (row == NULL)
    row = add_row(roll, from);
  if (row == NULL || set_word(roll, row, PAI__WORD_VC, from->vc) < 0 ||
      set_word(roll, row, PAI__WORD_STATE, from->state) < 0 ||
      set_word(roll, row, PAI__WORD_PRIORITY, from->priority) < 0 ||
      set_word(roll, row, PAI__WORD_SUB_STATE, from->sub_state) < 0 ||
      set_word(roll, row, PAI__WORD_EXECUTION, from->execution) < 0)
    return PAI_ENOMEM;
  row->version = ++roll->versions;
  row->created = from->created;
  row->launched = from->launched;
  row->completed = from->completed;
  row->exit_code = from->exit_code;
  row->retry_delay = from->retry_delay;
  row->user_retries = from->user_retries;
  row->platform_retries = from->platform_retries;
  row->gpus = from->gpus;
  row->tasks = from->tasks;
  row->roles = from->roles;
  row->live = from->live;
  row->output_lost = from->output_lost;
  return PAI_OK;
}

/* --- tags ------------------------------------------------------------------------- */

/* How many of a job's tags come before this one. */
static size_t count_before(const pai__roll_row *row, const char *tag)
{
  size_t i = 0;

  while (i < row->ntags && strcmp(row->tags[i]->text, tag) < 0)
    i++;
  return i;
}

static bool has_at(const pai__roll_row *row, size_t i, const char *tag)
{
  return i < row->ntags && strcmp(row->tags[i]->text, tag) == 0;
}

static int put_tag(pai__roll *roll, uint64_t job, const char *tag)
{
  pai__roll_row *row = pai__roll_find(roll, job);
  size_t i = row != NULL ? count_before(row, tag) : 0;
  pai__word **tags, *word;

  if (row == NULL || has_at(row, i, tag))
    return PAI_OK;
  word = need_word(roll, PAI__WORD_TAG, tag);
  tags = word != NULL ? pai__realloc(&roll->alloc, row->tags, row->ntags,
                                     row->ntags + 1, sizeof(*tags))
                      : NULL;
  if (tags == NULL)
    return PAI_ENOMEM;
  memmove(tags + i + 1, tags + i, (row->ntags - i) * sizeof(*tags));
  tags[i] = word;
  row->tags = tags;
  row->ntags++;
  row->version = ++roll->versions;
  return pai__roll_insert(&word->jobs, row, &roll->alloc);
}

static int drop_tag(pai__roll *roll, uint64_t job, const char *tag)
{
  pai__roll_row *row = pai__roll_find(roll, job);
  size_t i = row != NULL ? count_before(row, tag) : 0;
  pai__word **tags;

  if (row == NULL || !has_at(row, i, tag))
    return PAI_OK;
  leave_word(roll, PAI__WORD_TAG, row->tags[i], row);
  memmove(row->tags + i, row->tags + i + 1,
          (row->ntags - i - 1) * sizeof(*tags));
  row->version = ++roll->versions;
  tags = row->ntags > 1 ? pai__realloc(&roll->alloc, row->tags, row->ntags,
                                       row->ntags - 1, sizeof(*tags))
                        : NULL;
  if (row->ntags == 1)
    pai__free(&roll->alloc, row->tags, sizeof(*tags));
  else if (tags == NULL)
    return PAI_ENOMEM;
  row->tags = tags;
  row->ntags--;
  return PAI_OK;
}

static void drop_job(pai__roll *roll, uint64_t id)
{
  pai__roll_row *row = pai__roll_find(roll, id);

  if (row == NULL)
    return;
  for (size_t i = 0; i < row->ntags; i++)
    leave_word(roll, PAI__WORD_TAG, row->tags[i], row);
  for (int kind = 0; kind < PAI__WORDS_LISTED; kind++)
    leave_word(roll, (enum pai__word_kind)kind, row->of[kind], row);
  pai__roll_remove(&roll->all, row, &roll->alloc);
  pai__roll_remove(&roll->by_id, row, &roll->alloc);
  free_row(roll, row);
}

/* --- following ---------------------------------------------------------------------- */

static int follow(pai__roll *roll, const pai__change *change)
{
  if (change->job > roll->read_to)
    return PAI_OK; /* it will be read */
  switch (change->kind) {
  case PAI__PUT_JOB: return put_job(roll, change->row);
  case PAI__PUT_TAG: return put_tag(roll, change->job, change->name);
  case PAI__DROP_TAG: return drop_tag(roll, change->job, change->name);
  case PAI__DROP_JOB: drop_job(roll, change->job); return PAI_OK;
  default: return PAI_OK;
  }
}

static void give_up(pai__store *store)
{
  store->versions = store->roll->versions; /* none is given out twice */
  pai__roll_free(store->roll);
  store->roll = NULL;
}

/* What was read of the database while this commit was on its way has it
 * already: all changes may be made twice. */
void pai__store_committed(pai__store *store, const pai__batch *batch)
{
  for (const pai__change *i = batch->first; i != NULL; i = i->next)
    if (store->roll != NULL && follow(store->roll, i) < 0)
      give_up(store);
}

/* --- gathering ---------------------------------------------------------------------- */

static int read_jobs(pai__store *store, uint64_t *last, unsigned *n,
                     pai_error **err)
{
  pai__answer rows;

  pai__answer_begin(&rows, store, PAI__SQL_GATHER, err);
  if (rows.stmt != NULL) {
    (void)sqlite3_bind_int64(rows.stmt, 1, (sqlite3_int64)*last);
    (void)sqlite3_bind_int(rows.stmt, 2, SLICE);
  }
  for (; pai__answer_next(&rows); ++*n) {
    pai__job_row row = { 0 };

    (void)pai__fields_read(pai__job_fields, rows.stmt, 0, &row);
    /* SQLite reads such a damaged page without a word, and one job would be
     * taken for another. */
    if (row.id <= *last)
      rows.code = pai__sql_fail(err, store->reader, SQLITE_CORRUPT,
                                "read the jobs of", store->path);
    else if (put_job(store->roll, &row) < 0)
      rows.code = pai__oom(err);
    *last = row.id;
  }
  return pai__answer_end(&rows, err);
}

static int read_tags(pai__store *store, uint64_t last, pai_error **err)
{
  pai__answer rows;

  pai__answer_begin(&rows, store, PAI__SQL_GATHER_TAGS, err);
  if (rows.stmt != NULL) {
    (void)sqlite3_bind_int64(rows.stmt, 1,
                             (sqlite3_int64)store->roll->read_to);
    (void)sqlite3_bind_int64(rows.stmt, 2, (sqlite3_int64)last);
  }
  while (pai__answer_next(&rows)) {
    const char *tag = (const char *)sqlite3_column_text(rows.stmt, 1);

    if (tag == NULL ||
        put_tag(store->roll, (uint64_t)sqlite3_column_int64(rows.stmt, 0),
                tag) < 0)
      rows.code = pai__oom(err);
  }
  return pai__answer_end(&rows, err);
}

/* The next slice; it is a moment later than the one before, whose changes since
 * then are followed. */
static int read_slice(pai__store *store, pai_error **err)
{
  uint64_t last = store->roll->read_to;
  unsigned n = 0;
  int rc = pai__store_hold(store, err);

  if (rc < 0)
    return rc;
  rc = read_jobs(store, &last, &n, err);
  if (rc == PAI_OK)
    rc = read_tags(store, last, err);
  pai__store_let_go(store);
  if (rc == PAI_OK)
    store->roll->read_to = n < SLICE ? UINT64_MAX : last;
  return rc;
}

int pai__store_gather(pai__store *store, pai_error **err)
{
  int rc;

  if (err != NULL)
    *err = NULL;
  if (pai__roll_is_whole(store->roll))
    return PAI_OK;
  if (sqlite3_get_autocommit(store->reader) == 0)
    return 1; /* what is held may be of an earlier moment than the roll */
  if (store->roll == NULL) {
    store->roll = pai__zalloc(&store->alloc, sizeof(*store->roll));
    if (store->roll == NULL)
      return pai__oom(err);
    store->roll->alloc = store->alloc;
    store->roll->by_id.by_id = true;
    store->roll->versions = store->versions;
  }
  rc = read_slice(store, err);
  if (rc < 0)
    give_up(store);
  return rc < 0 || pai__roll_is_whole(store->roll) ? rc : 1;
}

void pai__roll_free(pai__roll *roll)
{
  pai_alloc alloc;

  if (roll == NULL)
    return;
  alloc = roll->alloc;
  for (size_t i = 0; i < roll->by_id.n; i++)
    free_row(roll, roll->by_id.at[roll->by_id.begin + i]);
  pai__roll_dispose(&roll->by_id, &alloc);
  pai__roll_dispose(&roll->all, &alloc);
  for (int kind = 0; kind < PAI__WORD_KINDS; kind++) {
    pai__words *words = &roll->words[kind];

    for (size_t i = 0; i < words->n; i++)
      free_word(roll, words->at[i]);
    pai__free(&alloc, words->at, words->cap * sizeof(*words->at));
  }
  pai__free(&alloc, roll, sizeof(*roll));
}
