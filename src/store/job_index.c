/* job_index.c - content of the job index, and its updates after commits */
#include "store/job_index.h"

#include <stddef.h>

enum { SLICE = 512 /* jobs; takes some milliseconds */ };

/* --- words --------------------------------------------------------------- */

/* Returns the number of words before this one; *there: whether the word
 * exists. */
static size_t place_of(const pai__index_words *words, const char *text,
                       bool *there)
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

pai__index_word *pai__job_index_word(const pai__job_index *index,
                                     enum pai__word_kind kind,
                                     const char *text)
{
  const pai__index_words *words = &index->words[kind];
  bool there;
  size_t i = place_of(words, text, &there);

  return there ? words->at[i] : NULL;
}

static size_t size_of_word(const char *text)
{
  return sizeof(pai__index_word) + strlen(text) + 1;
}

/* Returns the existing word or a new one; NULL when out of memory. */
static pai__index_word *need_word(pai__job_index *index,
                                  enum pai__word_kind kind, const char *text)
{
  pai__index_words *words = &index->words[kind];
  bool there;
  size_t i = place_of(words, text, &there);
  pai__index_word *word;

  if (there)
    return words->at[i];
  if (PAI__VEC_ROOM(&index->alloc, words->at, words->n, words->cap) < 0)
    return NULL;
  word = pai__zalloc(&index->alloc, size_of_word(text));
  if (word == NULL)
    return NULL;
  memcpy(word->text, text, strlen(text) + 1);
  memmove(words->at + i + 1, words->at + i,
          (words->n - i) * sizeof(*words->at));
  words->at[i] = word;
  words->n++;
  return word;
}

static void free_word(pai__job_index *index, pai__index_word *word)
{
  pai__job_index_dispose(&word->jobs, &index->alloc);
  pai__free(&index->alloc, word, size_of_word(word->text));
}

/* Removes a job from a word; frees the word if it was the last. */
static void leave_word(pai__job_index *index, enum pai__word_kind kind,
                       pai__index_word *word, const pai__job_index_row *row)
{
  pai__index_words *words = &index->words[kind];
  bool there;
  size_t i;

  pai__job_index_remove(&word->jobs, row, &index->alloc);
  if (word->jobs.n > 0)
    return;
  i = place_of(words, word->text, &there);
  words->n--;
  memmove(words->at + i, words->at + i + 1,
          (words->n - i) * sizeof(*words->at));
  free_word(index, word);
}

/* Replaces a job's word of this kind. */
static int set_word(pai__job_index *index, pai__job_index_row *row,
                    enum pai__word_kind kind, const char *text)
{
  pai__index_word *old = row->of[kind], *word;

  if (old != NULL && strcmp(old->text, text) == 0)
    return PAI_OK;
  word = need_word(index, kind, text);
  if (word == NULL)
    return PAI_ENOMEM;
  if (old != NULL)
    leave_word(index, kind, old, row);
  row->of[kind] = word;
  return pai__job_index_insert(&word->jobs, row, &index->alloc);
}

/* --- rows ---------------------------------------------------------------- */

pai__job_index_row *pai__job_index_find(const pai__job_index *index,
                                        uint64_t id)
{
  size_t i = pai__job_index_place(&index->by_id, 0, id);
  pai__job_index_row *row =
    i < index->by_id.n ? index->by_id.at[index->by_id.begin + i] : NULL;

  return row != NULL && row->job.id == id ? row : NULL;
}

static void free_row(pai__job_index *index, pai__job_index_row *row)
{
  pai__free(&index->alloc, row->tags, row->ntags * sizeof(*row->tags));
  pai__free(&index->alloc, row, sizeof(*row) + strlen(row->name) + 1);
}

/* Adds a row with the constant fields of a job to the lists. */
static pai__job_index_row *add_row(pai__job_index *index,
                                   const pai__job_row *from)
{
  size_t len = strlen(from->name) + 1;
  pai__job_index_row *row = pai__zalloc(&index->alloc, sizeof(*row) + len);

  if (row == NULL)
    return NULL;
  row->job.id = from->id;
  row->job.submitted = from->submitted;
  memcpy(row->name, from->name, len);
  row->pairs = pai__pairs_of(row->name);
  if (pai__job_index_insert(&index->by_id, row, &index->alloc) < 0) {
    free_row(index, row);
    return NULL;
  }
  return pai__job_index_insert(&index->all, row, &index->alloc) == PAI_OK
           ? row
           : NULL;
}

/* PAI__WORD_OTHER: not searched for. */
static enum pai__word_kind kind_of(const pai__column *c)
{
  static const size_t searched[PAI__WORDS_SEARCHED] = {
    [PAI__WORD_USER] = offsetof(pai__job_row, user),
    [PAI__WORD_VC] = offsetof(pai__job_row, vc),
    [PAI__WORD_STATE] = offsetof(pai__job_row, state),
    [PAI__WORD_PRIORITY] = offsetof(pai__job_row, priority),
  };
  int kind = 0;

  while (kind < PAI__WORDS_SEARCHED && searched[kind] != c->at)
    kind++;
  return kind < PAI__WORDS_SEARCHED ? (enum pai__word_kind)kind
                                    : PAI__WORD_OTHER;
}

/* Copies a text of a job into the index.  PAI_OK or PAI_ENOMEM. */
static int own_text(const char **text, pai__job_index *index,
                    pai__job_index_row *row, const pai__column *c)
{
  enum pai__word_kind kind = kind_of(c);
  const char *none = c->kind == PAI__COLUMN_CLASS ? PAI__NO_PRIORITY : "";
  const pai__index_word *word;

  if (c->at == offsetof(pai__job_row, name)) {
    *text = row->name;
    return PAI_OK;
  }
  if (*text == NULL && kind == PAI__WORD_OTHER)
    return PAI_OK;
  if (kind == PAI__WORD_OTHER)
    word = need_word(index, kind, *text);
  else
    word = set_word(index, row, kind, *text != NULL ? *text : none) == PAI_OK
             ? row->of[kind]
             : NULL;
  if (word == NULL)
    return PAI_ENOMEM;
  if (*text != NULL || c->kind != PAI__COLUMN_CLASS)
    *text = word->text;
  return PAI_OK;
}

static int put_job(pai__job_index *index, const pai__job_row *from)
{
  pai__job_index_row *row = pai__job_index_find(index, from->id);
  pai__job_listed job = from->listed;

  if (row == NULL)
    row = add_row(index, from);
  if (row == NULL)
    return PAI_ENOMEM;
  for (const pai__column *c = pai__job_columns; c->column != NULL; c++) {
    char *member = (char *)&job + c->at;
    const char *text;

    if (c->kind > PAI__COLUMN_CLASS)
      continue;
    memcpy(&text, member, sizeof(text));
    if (own_text(&text, index, row, c) < 0)
      return PAI_ENOMEM;
    memcpy(member, &text, sizeof(text));
  }
  row->job = job;
  row->version = ++index->versions;
  return PAI_OK;
}

/* --- tags ---------------------------------------------------------------- */

/* Returns how many of a job's tags come before this one. */
static size_t count_before(const pai__job_index_row *row, const char *tag)
{
  size_t i = 0;

  while (i < row->ntags && strcmp(row->tags[i]->text, tag) < 0)
    i++;
  return i;
}

static bool has_at(const pai__job_index_row *row, size_t i, const char *tag)
{
  return i < row->ntags && strcmp(row->tags[i]->text, tag) == 0;
}

static int put_tag(pai__job_index *index, uint64_t job, const char *tag)
{
  pai__job_index_row *row = pai__job_index_find(index, job);
  size_t i = row != NULL ? count_before(row, tag) : 0;
  pai__index_word **tags, *word;

  if (row == NULL || has_at(row, i, tag))
    return PAI_OK;
  word = need_word(index, PAI__WORD_TAG, tag);
  tags = word != NULL ? pai__realloc(&index->alloc, row->tags, row->ntags,
                                     row->ntags + 1, sizeof(*tags))
                      : NULL;
  if (tags == NULL)
    return PAI_ENOMEM;
  memmove(tags + i + 1, tags + i, (row->ntags - i) * sizeof(*tags));
  tags[i] = word;
  row->tags = tags;
  row->ntags++;
  row->version = ++index->versions;
  return pai__job_index_insert(&word->jobs, row, &index->alloc);
}

static int drop_tag(pai__job_index *index, uint64_t job, const char *tag)
{
  pai__job_index_row *row = pai__job_index_find(index, job);
  size_t i = row != NULL ? count_before(row, tag) : 0;
  pai__index_word **tags;

  if (row == NULL || !has_at(row, i, tag))
    return PAI_OK;
  leave_word(index, PAI__WORD_TAG, row->tags[i], row);
  memmove(row->tags + i, row->tags + i + 1,
          (row->ntags - i - 1) * sizeof(*tags));
  row->version = ++index->versions;
  tags = row->ntags > 1 ? pai__realloc(&index->alloc, row->tags, row->ntags,
                                       row->ntags - 1, sizeof(*tags))
                        : NULL;
  if (row->ntags == 1)
    pai__free(&index->alloc, row->tags, sizeof(*tags));
  else if (tags == NULL)
    return PAI_ENOMEM;
  row->tags = tags;
  row->ntags--;
  return PAI_OK;
}

static void drop_job(pai__job_index *index, uint64_t id)
{
  pai__job_index_row *row = pai__job_index_find(index, id);

  if (row == NULL)
    return;
  for (size_t i = 0; i < row->ntags; i++)
    leave_word(index, PAI__WORD_TAG, row->tags[i], row);
  for (int kind = 0; kind < PAI__WORDS_SEARCHED; kind++)
    leave_word(index, (enum pai__word_kind)kind, row->of[kind], row);
  pai__job_index_remove(&index->all, row, &index->alloc);
  pai__job_index_remove(&index->by_id, row, &index->alloc);
  free_row(index, row);
}

/* --- following commits --------------------------------------------------- */

static int follow(pai__job_index *index, const pai__store_change *change)
{
  if (change->job > index->read_to)
    return PAI_OK; /* the job will be read */
  switch (change->kind) {
  case PAI__PUT_JOB: return put_job(index, change->row);
  case PAI__PUT_TAG: return put_tag(index, change->job, change->name);
  case PAI__DROP_TAG: return drop_tag(index, change->job, change->name);
  case PAI__DROP_JOB: drop_job(index, change->job); return PAI_OK;
  default: return PAI_OK;
  }
}

static void give_up(pai__store *store)
{
  store->versions = store->index->versions; /* versions are never reused */
  pai__job_index_free(store->index);
  store->index = NULL;
}

/* Reads during this commit may have seen it already, so every change must be
 * safe to apply twice. */
void pai__store_committed(pai__store *store, const pai__batch *batch)
{
  for (const pai__store_change *i = batch->first; i != NULL; i = i->next)
    if (store->index != NULL && follow(store->index, i) < 0)
      give_up(store);
}

/* --- reading the database ------------------------------------------------ */

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

    (void)pai__fields_read(pai__job_columns, rows.stmt, 0, &row);
    /* SQLite reads such a damaged page without an error, and one job would be
     * taken for another. */
    if (row.id <= *last)
      rows.code = pai__sql_fail(err, store->reader, SQLITE_CORRUPT,
                                "read the jobs of", store->path);
    else if (put_job(store->index, &row) < 0)
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
                             (sqlite3_int64)store->index->read_to);
    (void)sqlite3_bind_int64(rows.stmt, 2, (sqlite3_int64)last);
  }
  while (pai__answer_next(&rows)) {
    const char *tag = (const char *)sqlite3_column_text(rows.stmt, 1);

    if (tag == NULL ||
        put_tag(store->index, (uint64_t)sqlite3_column_int64(rows.stmt, 0),
                tag) < 0)
      rows.code = pai__oom(err);
  }
  return pai__answer_end(&rows, err);
}

/* Reads the next slice.  It is of a later moment than the one before, whose
 * changes since then were followed. */
static int read_slice(pai__store *store, pai_error **err)
{
  uint64_t last = store->index->read_to;
  unsigned n = 0;
  int rc = pai__store_hold(store, err);

  if (rc < 0)
    return rc;
  rc = read_jobs(store, &last, &n, err);
  if (rc == PAI_OK)
    rc = read_tags(store, last, err);
  pai__store_let_go(store);
  if (rc == PAI_OK)
    store->index->read_to = n < SLICE ? UINT64_MAX : last;
  return rc;
}

int pai__store_gather(pai__store *store, pai_error **err)
{
  int rc;

  pai__clear_err(err);
  if (pai__job_index_is_whole(store->index))
    return PAI_OK;
  if (sqlite3_get_autocommit(store->reader) == 0)
    return 1; /* a held snapshot may be older than the index */
  if (store->index == NULL) {
    store->index = pai__zalloc(&store->alloc, sizeof(*store->index));
    if (store->index == NULL)
      return pai__oom(err);
    store->index->alloc = store->alloc;
    store->index->by_id.by_id = true;
    store->index->versions = store->versions;
  }
  rc = read_slice(store, err);
  if (rc < 0)
    give_up(store);
  return rc < 0 || pai__job_index_is_whole(store->index) ? rc : 1;
}

void pai__job_index_free(pai__job_index *index)
{
  pai_alloc alloc;

  if (index == NULL)
    return;
  alloc = index->alloc;
  for (size_t i = 0; i < index->by_id.n; i++)
    free_row(index, index->by_id.at[index->by_id.begin + i]);
  pai__job_index_dispose(&index->by_id, &alloc);
  pai__job_index_dispose(&index->all, &alloc);
  for (int kind = 0; kind < PAI__WORD_KINDS; kind++) {
    pai__index_words *words = &index->words[kind];

    for (size_t i = 0; i < words->n; i++)
      free_word(index, words->at[i]);
    pai__free(&alloc, words->at, words->cap * sizeof(*words->at));
  }
  pai__free(&alloc, index, sizeof(*index));
}
