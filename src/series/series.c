/* series.c - opening, adding rows, reading ranges */
#include "series/inside.h"

/* --- opening and closing -------------------------------------------------- */

void pai__series_note(pai__series_store *s, int rc)
{
  if (s->broken)
    return;
  if (rc < 0 && s->trouble == 0)
    pai__log_line(&s->log, PAI_LOG_WARNING,
                  "time series cannot be written: %s; the latest are kept in "
                  "memory, and written when that is possible",
                  pai__series_file_why(rc, s->why, sizeof(s->why)));
  if (rc == PAI_OK && s->trouble < 0)
    pai__log_line(&s->log, PAI_LOG_INFO, "time series are written again");
  s->trouble = rc;
}

const char *pai__series_trouble(const pai__series_store *s)
{
  return s->trouble < 0 ? s->why : NULL;
}

int pai__series_open(pai__series_store **out, const pai_alloc *alloc,
                     const pai__log *log, const char *folder)
{
  pai__series_store *s = pai__zalloc(alloc, sizeof(*s));
  int rc = PAI_OK;

  *out = NULL;
  if (s == NULL)
    return PAI_ENOMEM;
  s->alloc = *alloc;
  if (log != NULL)
    s->log = *log;
  for (int i = 0; i < PAI__SERIES_KINDS; i++) {
    s->sets[i].form = &pai__series_forms[i];
    s->sets[i].file.fd = -1;
    pai__map_init(&s->sets[i].names, &s->alloc);
  }
  if (folder != NULL)
    pai__series_note(s, pai__series_folder(folder));
  for (int i = 0; folder != NULL && i < PAI__SERIES_KINDS && rc == PAI_OK;
       i++) {
    rc = pai__series_load(s, &s->sets[i], folder);
    s->broken = s->broken || s->sets[i].file.fd < 0;
  }
  if (rc < 0) {
    pai__series_close(s);
    return rc;
  }
  *out = s;
  return PAI_OK;
}

static void free_set(const pai__series_store *s, pai__series_set *set)
{
  for (size_t i = 0; i < set->n; i++) {
    pai__series_subject *x = set->list[i];

    if (x == NULL)
      continue;
    pai__strfree(&s->alloc, x->name);
    pai__free(&s->alloc, x->rows, x->cap * sizeof(*x->rows));
    pai__free(&s->alloc, x, sizeof(*x));
  }
  pai__free(&s->alloc, set->list, set->cap * sizeof(*set->list));
  pai__map_dispose(&set->names);
  pai__series_file_close(&set->file);
}

void pai__series_close(pai__series_store *s)
{
  pai_alloc alloc;

  if (s == NULL)
    return;
  pai__series_flush(s, 0, 1);
  for (int i = 0; i < PAI__SERIES_KINDS; i++)
    free_set(s, &s->sets[i]);
  alloc = s->alloc;
  pai__free(&alloc, s, sizeof(*s));
}

/* --- writing -------------------------------------------------------------- */

static pai__series_subject *find_subject(const pai__series_store *s,
                                         enum pai__series_kind kind,
                                         const char *name)
{
  return pai__map_get(&s->sets[kind].names, name, strlen(name));
}

/* A value that rounds to 0 and is none is stored as the least. */
static uint16_t stored(const pai__series_metric *m, int64_t value)
{
  if (value <= 0)
    return pai__series_pack(value);
  return pai__series_pack(value < m->coarse ? 1 : value / m->coarse);
}

/* Samples are sometimes rarer than one a second.  A row is the mean since the
 * one before, so it is that of the seconds between them, too. */
static int fill(const pai__series_store *s, pai__series_subject *x,
                const pai__series_row *row)
{
  enum { MOST = 10 };
  pai__series_row between = *row;
  int rc = PAI_OK;

  if (row->at - x->last > MOST)
    return PAI_OK;
  for (between.at = x->last + 1; between.at < row->at && rc == PAI_OK;
       between.at++)
    rc = pai__series_push(s, x, &between);
  return rc;
}

int pai__series_put(pai__series_store *s, enum pai__series_kind kind,
                    const char *name, int64_t now, const int64_t *values)
{
  pai__series_set *set = &s->sets[kind];
  pai__series_subject *x = find_subject(s, kind, name);
  pai__series_row row = { .at = now };
  int rc = now > 0 ? PAI_OK : PAI_EINVAL;

  if (rc == PAI_OK && x == NULL)
    rc = pai__series_add(&x, s, set, name, now);
  if (rc == PAI_OK)
    rc = pai__series_turn(s, set, x, now);
  if (rc < 0)
    return rc;
  memset(row.values, 0xff, sizeof(row.values));
  for (uint32_t i = 0; i < set->form->count; i++)
    row.values[i] = stored(&set->form->metrics[i], values[i]);
  memcpy(x->values, row.values, sizeof(x->values));
  x->since = now < x->since ? now : x->since; /* the clock went back */
  rc = fill(s, x, &row);
  x->last = now;
  return rc < 0 ? rc : pai__series_push(s, x, &row);
}

void pai__series_flush(pai__series_store *s, uint32_t part, uint32_t parts)
{
  int rc = PAI_OK;

  for (int i = 0; i < PAI__SERIES_KINDS; i++) {
    pai__series_set *set = &s->sets[i];

    if (rc == PAI_OK && set->file.fd >= 0)
      rc = pai__series_write_head(set);
    for (size_t k = part; k < set->n && rc == PAI_OK && set->file.fd >= 0;
         k += parts)
      if (set->list[k] != NULL)
        rc = pai__series_save(set, set->list[k]);
  }
  pai__series_note(s, rc);
}

/* --- reading -------------------------------------------------------------- */

const char *pai__series_next(const pai__series_store *s,
                             enum pai__series_kind kind, const char *prefix,
                             size_t *i)
{
  const pai__series_set *set = &s->sets[kind];
  size_t len = strlen(prefix);

  while (*i < set->n) {
    const pai__series_subject *x = set->list[(*i)++];

    if (x != NULL && strncmp(x->name, prefix, len) == 0)
      return x->name;
  }
  return NULL;
}

static int64_t natural(const pai__series_metric *m, uint16_t packed)
{
  int64_t value = pai__series_unpack(packed);

  return value < 0 ? -1 : value * m->coarse;
}

int64_t pai__series_last(const pai__series_store *s,
                         enum pai__series_kind kind, const char *name,
                         int metric, int64_t oldest)
{
  const pai__series_subject *x = find_subject(s, kind, name);

  if (x == NULL || metric < 0 || x->last < oldest)
    return -1;
  return natural(&pai__series_forms[kind].metrics[metric], x->values[metric]);
}

pai__series_range pai__series_plan(enum pai__series_kind kind, int64_t from,
                                   int64_t to, uint32_t step, int64_t now)
{
  const pai__series_form *form = &pai__series_forms[kind];
  pai__series_range r = { .from = from > 0 ? from : 0,
                          .to = to > now ? now + 1 : to };
  int64_t oldest, least;

  while (r.level + 1 < PAI__SERIES_LEVELS &&
         (r.from <
            now - (int64_t)form->rows[r.level] * pai__series_steps[r.level] ||
          step >= pai__series_steps[r.level + 1]))
    r.level++;
  r.step = pai__series_steps[r.level];
  oldest = now - (int64_t)(form->rows[r.level] - 1) * r.step;
  r.from = r.from < oldest ? oldest : r.from;
  r.to = r.to > r.from ? r.to : r.from;
  least = (r.to - r.from) / (PAI__SERIES_POINTS - 1) + 1;
  least = step > least ? step : least;
  r.step *= (uint32_t)((least + r.step - 1) / r.step);
  r.from -= r.from % r.step;
  return r;
}

size_t pai__series_points(const pai__series_range *range)
{
  return (size_t)((range->to - range->from + range->step - 1) / range->step);
}

/* Makes the points of rows: means of the known values. */
static void join(const pai__series_form *form, size_t each,
                 uint16_t (*rows)[PAI__SERIES_METRICS], size_t n,
                 int64_t (*out)[PAI__SERIES_METRICS])
{
  for (size_t i = 0; i < n * form->count; i++) {
    size_t point = i / form->count, metric = i % form->count;
    int64_t sum = 0, known = 0;

    for (size_t k = point * each; k < (point + 1) * each; k++) {
      int64_t value = natural(&form->metrics[metric], rows[k][metric]);

      sum += value >= 0 ? value : 0;
      known += value >= 0;
    }
    out[point][metric] = known > 0 ? sum / known : -1;
  }
}

/* The step of the last row is not over, so its row is made here. */
static int add_open(pai__series_store *s, const pai__series_set *set,
                    const pai__series_subject *x,
                    const pai__series_range *range, size_t n,
                    uint16_t (*rows)[PAI__SERIES_METRICS])
{
  pai__series_row row = { .at = -1 };
  int rc = range->level > 0
             ? pai__series_open_row(s, set, x, range->level, &row)
             : PAI_OK;
  int64_t at = row.at - range->from;

  at /= pai__series_steps[range->level];
  if (rc == PAI_OK && row.at >= range->from && (size_t)at < n)
    memcpy(rows[at], row.values, sizeof(row.values));
  return rc;
}

int pai__series_read(pai__series_store *s, enum pai__series_kind kind,
                     const char *name, const pai__series_range *range,
                     int64_t (*out)[PAI__SERIES_METRICS])
{
  const pai__series_set *set = &s->sets[kind];
  const pai__series_subject *x = find_subject(s, kind, name);
  size_t n = pai__series_points(range);
  size_t each = range->step / pai__series_steps[range->level];
  size_t size = n * each * sizeof(uint16_t[PAI__SERIES_METRICS]);
  uint16_t(*rows)[PAI__SERIES_METRICS];
  int rc;

  memset(out, 0xff, n * sizeof(*out)); /* -1 */
  if (x == NULL || n == 0)
    return PAI_OK;
  rows = pai__zalloc(&s->alloc, size);
  if (rows == NULL)
    return PAI_ENOMEM;
  rc = pai__series_rows(s, set, x, range->level, range->from, n * each, rows);
  if (rc == PAI_OK)
    rc = add_open(s, set, x, range, n * each, rows);
  if (rc == PAI_OK)
    join(set->form, each, rows, n, out);
  pai__free(&s->alloc, rows, size);
  return rc;
}
