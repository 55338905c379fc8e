/*
 * list.c - lists of jobs from the database: any filter, any order
 *
 * Nearly all lists are by submission.  Such a page is read from an index that
 * has the wanted jobs in that order: one arm of a UNION ALL for each wanted
 * user (or tag, ...), which SQLite merges up to the end of the page.  By
 * itself it would read all matching jobs and sort them.
 */
#include "store/job_index.h"

enum { MOST_NAMES = 1000, MOST_ARMS = 8 };

typedef struct value {
  const char *text; /* NULL: a number */
  int64_t number;
} value;

/* A statement's text, and the values of its parameters. */
typedef struct draft {
  const pai_alloc *alloc;
  const pai__job_query *query;
  pai__buf sql;
  pai__buf glob; /* the keyword as a pattern; empty if it has no wildcard */
  value *values;
  size_t n, cap;
  bool failed;
} draft;

static void add_value(draft *d, const char *text, int64_t number)
{
  if (PAI__VEC_ROOM(d->alloc, d->values, d->n, d->cap) == PAI_OK)
    d->values[d->n++] = (value){ text, number };
  else
    d->failed = true;
}

/* --- filters ------------------------------------------------------------- */

/* " AND COLUMN IN (?,?)" */
static void narrow(draft *d, const char *column, const pai__store_names *names)
{
  if (names->n == 0)
    return;
  pai__buf_printf(&d->sql, " AND %s IN (", column);
  for (size_t i = 0; i < names->n; i++) {
    pai__buf_str(&d->sql, i == 0 ? "?" : ",?");
    add_value(d, names->at[i], 0);
  }
  pai__buf_char(&d->sql, ')');
}

static bool is_default(const char *priority)
{
  return strcmp(priority, "default") == 0;
}

static void narrow_priorities(draft *d)
{
  const pai__store_names *names = &d->query->priorities;

  if (names->n == 0)
    return;
  pai__buf_str(&d->sql, " AND job.priority IN (");
  for (size_t i = 0; i < names->n; i++) {
    pai__buf_str(&d->sql, i == 0 ? "?" : ",?");
    add_value(d, names->at[i], 0);
    if (is_default(names->at[i]))
      pai__buf_str(&d->sql, ",x''"); /* matches no row */
  }
  pai__buf_char(&d->sql, ')');
}

static void narrow_tags(draft *d, const pai__store_names *names,
                        const char *how)
{
  if (names->n == 0)
    return;
  pai__buf_printf(&d->sql, " AND %s(SELECT 1 FROM tag t WHERE t.job=job.id",
                  how);
  narrow(d, "t.name", names);
  pai__buf_char(&d->sql, ')');
}

/* Converts a keyword with % or _ to a pattern of GLOB. */
static void make_glob(draft *d)
{
  const char *s = d->query->keyword;

  if (s == NULL || strpbrk(s, "%_") == NULL)
    return;
  pai__buf_char(&d->glob, '*');
  for (; *s != '\0'; s++) {
    if (*s == '*' || *s == '?' || *s == '[')
      pai__buf_printf(&d->glob, "[%c]", *s);
    else
      pai__buf_char(&d->glob, *s == '%' ? '*' : *s == '_' ? '?' : *s);
  }
  pai__buf_char(&d->glob, '*');
}

static void narrow_keyword(draft *d)
{
  const char *keyword = d->query->keyword;

  if (keyword == NULL || *keyword == '\0')
    return;
  if (d->glob.len > 0)
    pai__buf_str(&d->sql, " AND (job.user GLOB ? OR job.name GLOB ? OR "
                          "job.vc GLOB ?)");
  else
    pai__buf_str(&d->sql, " AND (instr(job.user,?) OR instr(job.name,?) OR "
                          "instr(job.vc,?))");
  for (int i = 0; i < 3; i++)
    add_value(d, d->glob.len > 0 ? pai__buf_text(&d->glob) : keyword, 0);
}

/* The filter that selects an arm's index; other filters are tested row by
 * row. */
enum driver {
  BY_NONE = 0,
  BY_USER = 1,
  BY_VC = 2,
  BY_STATE = 4,
  BY_PRIORITY = 8,
  BY_TAG = 16
};

static void narrow_rest(draft *d, unsigned driver)
{
  const pai__job_query *q = d->query;

  if ((driver & BY_USER) == 0)
    narrow(d, "job.user", &q->users);
  if ((driver & BY_VC) == 0)
    narrow(d, "job.vc", &q->vcs);
  if ((driver & BY_STATE) == 0)
    narrow(d, "job.state", &q->states);
  if ((driver & BY_PRIORITY) == 0)
    narrow_priorities(d);
  if ((driver & BY_TAG) == 0)
    narrow_tags(d, &q->tags, "EXISTS");
  narrow_tags(d, &q->no_tags, "NOT EXISTS");
  narrow_keyword(d);
}

/* --- arms ---------------------------------------------------------------- */

/* Indexes that return the jobs in order of submission. */
static const struct {
  unsigned driver;
  const char *index;
} indexes[] = {
  { BY_NONE, "job_submitted" },
  { BY_USER, "job_user" },
  { BY_USER | BY_STATE, "job_user_state" },
  { BY_VC, "job_vc" },
  { BY_VC | BY_STATE, "job_vc_state" },
  { BY_STATE, "job_state" },
  { BY_PRIORITY, "job_priority" },
};

static const char *index_of(unsigned driver)
{
  for (size_t i = 0; i < PAI__LEN(indexes); i++)
    if (indexes[i].driver == driver)
      return indexes[i].index;
  return "job_submitted";
}

/* Chooses the filter that probably leaves the fewest jobs. */
static unsigned choose_driver(const pai__job_query *q)
{
  unsigned driver = BY_NONE;

  if (q->users.n > 0)
    driver = BY_USER;
  else if (q->tags.n > 0)
    driver = BY_TAG;
  else if (q->vcs.n > 0)
    driver = BY_VC;
  else if (q->states.n > 0)
    driver = BY_STATE;
  else if (q->priorities.n > 0)
    driver = BY_PRIORITY;
  if ((driver & (BY_USER | BY_VC)) != 0 && q->states.n > 0)
    driver |= BY_STATE;
  return driver;
}

/* The lists whose pairs are the arms: the second one may be empty. */
static const pai__store_names *first_of(const pai__job_query *q,
                                        unsigned driver)
{
  return (driver & BY_USER) != 0    ? &q->users
         : (driver & BY_TAG) != 0   ? &q->tags
         : (driver & BY_VC) != 0    ? &q->vcs
         : (driver & BY_STATE) != 0 ? &q->states
                                    : &q->priorities;
}

static bool has_states(unsigned driver)
{
  return (driver & BY_STATE) != 0 && driver != BY_STATE;
}

static void add_columns(draft *d, bool of_tag)
{
  for (const pai__column *f = pai__job_columns; f->kind != PAI__COLUMN_END;
       f++) {
    const char *column = f->column;
    if (f != pai__job_columns)
      pai__buf_char(&d->sql, ',');
    if (of_tag && strcmp(column, "id") == 0)
      pai__buf_str(&d->sql, "tag.job AS id"); /* the column of its index */
    else if (of_tag && strcmp(column, "submitted") == 0)
      pai__buf_str(&d->sql, "tag.submitted AS submitted");
    else
      pai__buf_printf(&d->sql, "job.%s", column);
  }
}

static void add_after(draft *d, bool of_tag)
{
  const pai__job_query *q = d->query;

  if (q->after_id == 0 || q->order != PAI__BY_SUBMITTED)
    return;
  pai__buf_printf(&d->sql, " AND (%s)%s(?,?)",
                  of_tag ? "tag.submitted,tag.job" : "job.submitted,job.id",
                  q->ascending ? ">" : "<");
  add_value(d, NULL, q->after_submitted);
  add_value(d, NULL, (int64_t)q->after_id);
}

static void add_tag_arm(draft *d, size_t at)
{
  const pai__store_names *tags = &d->query->tags;
  pai__store_names before = { tags->at, at };

  pai__buf_str(&d->sql, "SELECT ");
  add_columns(d, true);
  pai__buf_str(&d->sql, " FROM tag CROSS JOIN job ON job.id=tag.job "
                        "WHERE tag.name=?");
  add_value(d, tags->at[at], 0);
  narrow_tags(d, &before, "NOT EXISTS"); /* each job once */
  add_after(d, true);
  narrow_rest(d, BY_TAG);
}

static void add_arm(draft *d, unsigned driver, const char *first,
                    const char *state)
{
  pai__buf_str(&d->sql, "SELECT ");
  add_columns(d, false);
  pai__buf_printf(&d->sql, " FROM job INDEXED BY %s WHERE 1",
                  index_of(driver));
  if ((driver & BY_PRIORITY) != 0 && is_default(first)) {
    pai__buf_str(&d->sql, " AND job.priority=x''");
  } else if (first != NULL) {
    pai__buf_printf(&d->sql, " AND job.%s=?",
                    (driver & BY_USER) != 0    ? "user"
                    : (driver & BY_VC) != 0    ? "vc"
                    : (driver & BY_STATE) != 0 ? "state"
                                               : "priority");
    add_value(d, first, 0);
  }
  if (state != NULL) {
    pai__buf_str(&d->sql, " AND job.state=?");
    add_value(d, state, 0);
  }
  add_after(d, false);
  narrow_rest(d, driver);
}

static bool is_twice(const pai__store_names *names, size_t at)
{
  for (size_t i = 0; i < at; i++)
    if (strcmp(names->at[i], names->at[at]) == 0)
      return true;
  return false;
}

/* Adds an arm for each name, or for each pair of name and state. */
static void add_arms(draft *d, unsigned driver)
{
  const pai__store_names *names = first_of(d->query, driver);
  const pai__store_names *states = &d->query->states;
  size_t nstates = has_states(driver) ? states->n : 1, arms = 0;

  for (size_t i = 0; i < names->n; i++) {
    for (size_t j = 0; j < nstates; j++) {
      if (is_twice(names, i) || (has_states(driver) && is_twice(states, j)))
        continue;
      if (arms++ > 0)
        pai__buf_str(&d->sql, " UNION ALL ");
      if (driver == BY_TAG)
        add_tag_arm(d, i);
      else
        add_arm(d, driver, names->at[i],
                has_states(driver) ? states->at[j] : NULL);
    }
  }
}

/* --- orders -------------------------------------------------------------- */

static const char *const order_columns[] = {
  [PAI__BY_SUBMITTED] = "submitted",
  [PAI__BY_NAME] = "job.name",
  [PAI__BY_USER] = "job.user",
  [PAI__BY_VC] = "job.vc",
  [PAI__BY_RETRIES] = "job.user_retries+job.platform_retries",
  [PAI__BY_TASKS] = "job.tasks",
  [PAI__BY_GPUS] = "job.gpus",
  [PAI__BY_STATE] = "job.state",
  [PAI__BY_COMPLETED] = "job.completed",
  [PAI__BY_PRIORITY] = "job.priority",
};

/* By submission: the arms of the best filter.  In any other order SQLite
 * chooses between an index of that order and one of a filter. */
static void write_page(draft *d)
{
  const pai__job_query *q = d->query;
  const char *way = q->ascending ? "ASC" : "DESC";
  unsigned driver = choose_driver(q);
  const pai__store_names *names = first_of(q, driver);
  size_t arms = names->n * (has_states(driver) ? q->states.n : 1);

  if (q->order == PAI__BY_SUBMITTED && driver != BY_NONE &&
      arms <= MOST_ARMS) {
    add_arms(d, driver);
  } else if (q->order == PAI__BY_SUBMITTED) {
    add_arm(d, BY_NONE, NULL, NULL);
  } else {
    pai__buf_str(&d->sql, "SELECT ");
    add_columns(d, false);
    pai__buf_str(&d->sql, " FROM job WHERE 1");
    narrow_rest(d, BY_NONE);
  }
  pai__buf_str(&d->sql, " ORDER BY ");
  if (q->order != PAI__BY_SUBMITTED)
    pai__buf_printf(&d->sql, "%s %s,", order_columns[q->order], way);
  pai__buf_printf(&d->sql, "submitted %s,id %s LIMIT ? OFFSET ?", way, way);
  add_value(d, NULL, q->limit < INT64_MAX ? (int64_t)q->limit : INT64_MAX);
  add_value(d, NULL, q->offset < INT64_MAX ? (int64_t)q->offset : INT64_MAX);
}

/* --- running ------------------------------------------------------------- */

/* Returns a cached statement, or replaces the least recently used one. */
static sqlite3_stmt *find_statement(pai__store *store, const draft *d,
                                    int *sql_rc)
{
  pai__list_sql *at = NULL;

  for (size_t i = 0; i < PAI__LIST_SQLS; i++) {
    pai__list_sql *l = &store->lists[i];
    if (l->text != NULL && strcmp(l->text, pai__buf_text(&d->sql)) == 0 &&
        !sqlite3_stmt_busy(l->stmt)) {
      l->used = ++store->nlists;
      return l->stmt;
    }
    if ((l->stmt == NULL || !sqlite3_stmt_busy(l->stmt)) &&
        (at == NULL || l->used < at->used))
      at = l;
  }
  *sql_rc = SQLITE_BUSY; /* too many nested lists */
  if (at == NULL)
    return NULL;
  (void)sqlite3_finalize(at->stmt);
  pai__strfree(&store->alloc, at->text);
  *at = (pai__list_sql){ .used = ++store->nlists };
  at->text = pai__strdup(&store->alloc, pai__buf_text(&d->sql));
  *sql_rc = at->text == NULL
              ? SQLITE_NOMEM
              : sqlite3_prepare_v3(store->reader, at->text, -1,
                                   SQLITE_PREPARE_PERSISTENT, &at->stmt, NULL);
  if (at->stmt == NULL) {
    pai__strfree(&store->alloc, at->text);
    at->text = NULL;
  }
  return at->stmt;
}

static void begin(pai__answer *rows, pai__store *store, const draft *d,
                  pai_error **err)
{
  int rc = SQLITE_NOMEM;

  *rows = (pai__answer){ .store = store };
  if (!d->failed && pai__buf_ok(&d->sql) && pai__buf_ok(&d->glob))
    rows->stmt = find_statement(store, d, &rc);
  if (rows->stmt == NULL) {
    rows->code = pai__sql_fail(err, store->reader, rc, "list", store->path);
    return;
  }
  for (size_t i = 0; i < d->n; i++) {
    if (d->values[i].text != NULL)
      (void)sqlite3_bind_text(rows->stmt, (int)i + 1, d->values[i].text, -1,
                              SQLITE_STATIC);
    else
      (void)sqlite3_bind_int64(rows->stmt, (int)i + 1, d->values[i].number);
  }
}

static void draft_init(draft *d, pai__store *store, const pai__job_query *q)
{
  *d = (draft){ .alloc = &store->alloc, .query = q };
  pai__buf_init(&d->sql, d->alloc);
  pai__buf_init(&d->glob, d->alloc);
  make_glob(d);
}

static void draft_dispose(draft *d)
{
  pai__buf_dispose(&d->sql);
  pai__buf_dispose(&d->glob);
  pai__free(d->alloc, d->values, d->cap * sizeof(*d->values));
}

static int count(pai__store *store, const pai__job_query *q, uint64_t *total,
                 pai_error **err)
{
  pai__answer rows;
  draft d;
  int rc;

  draft_init(&d, store, q);
  pai__buf_str(&d.sql, "SELECT count(*) FROM job WHERE 1");
  narrow_rest(&d, BY_NONE);
  begin(&rows, store, &d, err);
  if (pai__answer_next(&rows))
    *total = (uint64_t)sqlite3_column_int64(rows.stmt, 0);
  rc = pai__answer_end(&rows, err);
  draft_dispose(&d);
  return rc;
}

static int hand_page(pai__store *store, const pai__job_query *q,
                     pai__job_cb cb, void *user_data, pai_error **err)
{
  pai__answer rows;
  draft d;
  int rc;

  draft_init(&d, store, q);
  write_page(&d);
  begin(&rows, store, &d, err);
  while (pai__answer_next(&rows)) {
    pai__job_row row = { 0 };
    (void)pai__fields_read(pai__job_columns, rows.stmt, 0, &row);
    rows.code = cb(user_data, &row);
  }
  rc = pai__answer_end(&rows, err);
  draft_dispose(&d);
  return rc;
}

static int check(const pai__job_query *q, pai_error **err)
{
  size_t names = q->users.n + q->vcs.n + q->states.n + q->priorities.n +
                 q->tags.n + q->no_tags.n;

  PAI__CHECK_ARG_ERR((size_t)q->order < PAI__LEN(order_columns), err);
  if (names > MOST_NAMES)
    return pai__fail(
      err, PAI_ELIMIT,
      "a list of jobs has %zu names to filter by; the limit is %d", names,
      MOST_NAMES);
  return PAI_OK;
}

bool pai__store_has_list(const pai__store *store, const pai__job_query *query)
{
  return query->order == PAI__BY_SUBMITTED &&
         pai__job_index_is_whole(store->index) && !store->index->busy;
}

int pai__store_list(pai__store *store, const pai__job_query *query,
                    pai__job_cb cb, void *user_data, uint64_t *total,
                    pai_error **err)
{
  bool hold;
  int rc;

  pai__clear_err(err);
  rc = check(query, err);
  if (rc < 0)
    return rc;
  if (pai__store_has_list(store, query))
    return pai__job_index_search(store->index, query, cb, user_data, total);
  /* A page and its count must be of the same moment. */
  hold = total != NULL && sqlite3_get_autocommit(store->reader) != 0;
  if (hold)
    rc = pai__store_hold(store, err);
  if (rc == PAI_OK && total != NULL)
    rc = count(store, query, total, err);
  if (rc == PAI_OK && query->limit > 0)
    rc = hand_page(store, query, cb, user_data, err);
  if (hold)
    pai__store_let_go(store);
  return rc;
}
