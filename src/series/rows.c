/* rows.c - rows of a subject: in its rings, or not written yet */
#include "series/inside.h"

enum { WIDTH = 1 + PAI__SERIES_METRICS /* most numbers of a row in a file */ };

/* Rows of a subject that wait for the disk, by level: enough to make those of
 * the next level. */
static const size_t kept[PAI__SERIES_LEVELS] = { 64, 64, 24 };

/* A row in a file begins with the lap of its ring, so that a row of an earlier
 * lap is no row of this one.  0: none was written. */
static uint16_t lap_of(int64_t at, uint32_t step, uint32_t rows)
{
  return (uint16_t)(1 + (uint64_t)at / step / rows % 0xffff);
}

static int64_t begin_of(int64_t at, uint32_t level)
{
  return at - at % pai__series_steps[level];
}

/* --- rows that wait ------------------------------------------------------- */

/* Drops the oldest row of a level, if it has all that are kept. */
static void make_room(pai__series_subject *x, uint32_t level)
{
  size_t n = 0, oldest = x->n;

  for (size_t i = x->n; i > 0; i--)
    if (x->rows[i - 1].level == level) {
      n++;
      oldest = i - 1;
    }
  if (n < kept[level])
    return;
  x->n--;
  memmove(x->rows + oldest, x->rows + oldest + 1,
          (x->n - oldest) * sizeof(*x->rows));
}

int pai__series_push(const pai__series_store *s, pai__series_subject *x,
                     const pai__series_row *row)
{
  for (size_t i = x->n; i > 0; i--)
    if (x->rows[i - 1].level == row->level && x->rows[i - 1].at == row->at) {
      x->rows[i - 1] = *row;
      return PAI_OK;
    }
  make_room(x, row->level);
  if (PAI__VEC_ROOM(&s->alloc, x->rows, x->n, x->cap) < 0)
    return PAI_ENOMEM;
  x->rows[x->n++] = *row;
  return PAI_OK;
}

static int save_row(const pai__series_set *set, const pai__series_subject *x,
                    const pai__series_row *row)
{
  uint32_t ring = set->form->rows[row->level];
  uint32_t step = pai__series_steps[row->level];
  uint64_t slot = (uint64_t)row->at / step % ring;
  uint16_t bytes[WIDTH];
  size_t size = (1 + set->form->count) * sizeof(*bytes);

  bytes[0] = lap_of(row->at, step, ring);
  memcpy(bytes + 1, row->values, size - sizeof(*bytes));
  return pai__series_file_write(
    &set->file, pai__series_ring_at(set, x, row->level) + slot * size, bytes,
    size);
}

/* The entry of a new subject comes before its rows, so that they are nobody
 * else's.  Later the entry says up to where minutes were made, so those minutes
 * come first. */
int pai__series_save(const pai__series_set *set, pai__series_subject *x)
{
  size_t done = 0;
  int rc = PAI_OK;

  if (x->added)
    rc = pai__series_write_entry(set, x);
  x->added = x->added && rc < 0;
  while (rc == PAI_OK && done < x->n) {
    rc = save_row(set, x, &x->rows[done]);
    done += rc == PAI_OK;
  }
  x->n -= done;
  if (done > 0)
    memmove(x->rows, x->rows + done, x->n * sizeof(*x->rows));
  if (rc == PAI_OK && x->turned)
    rc = pai__series_write_entry(set, x);
  x->turned = x->turned && rc < 0;
  return rc;
}

/* --- reading -------------------------------------------------------------- */

/* Reads steps that are adjacent in the ring. */
static int read_piece(pai__series_store *s, const pai__series_set *set,
                      const pai__series_subject *x, uint32_t level, int64_t at,
                      size_t n, uint16_t (*out)[PAI__SERIES_METRICS])
{
  uint32_t ring = set->form->rows[level], step = pai__series_steps[level];
  size_t width = 1 + set->form->count, size = n * width * sizeof(uint16_t);
  uint16_t *bytes = pai__zalloc(&s->alloc, size);
  int rc;

  if (bytes == NULL)
    return PAI_ENOMEM;
  rc = pai__series_file_read(&set->file,
                             pai__series_ring_at(set, x, level) +
                               (uint64_t)at / step % ring * width *
                                 sizeof(*bytes),
                             bytes, size);
  if (rc < 0)
    pai__series_note(s, rc);
  for (size_t i = 0; rc == PAI_OK && i < n; i++) {
    int64_t when = at + (int64_t)i * step;

    if (when + step > x->since && bytes[i * width] == lap_of(when, step, ring))
      memcpy(out[i], bytes + i * width + 1, set->form->count * sizeof(*bytes));
  }
  pai__free(&s->alloc, bytes, size);
  return PAI_OK;
}

static void add_waiting(const pai__series_subject *x, uint32_t level,
                        int64_t at, size_t n,
                        uint16_t (*out)[PAI__SERIES_METRICS])
{
  uint32_t step = pai__series_steps[level];

  for (size_t i = 0; i < x->n; i++) {
    const pai__series_row *row = &x->rows[i];

    if (row->level == level && row->at >= at &&
        (uint64_t)(row->at - at) / step < n)
      memcpy(out[(row->at - at) / step], row->values, sizeof(row->values));
  }
}

int pai__series_rows(pai__series_store *s, const pai__series_set *set,
                     const pai__series_subject *x, uint32_t level, int64_t at,
                     size_t n, uint16_t (*out)[PAI__SERIES_METRICS])
{
  uint32_t ring = set->form->rows[level], step = pai__series_steps[level];
  int rc = PAI_OK;

  memset(out, 0xff, n * sizeof(*out));
  for (size_t done = 0; set->file.fd >= 0 && done < n && rc == PAI_OK;) {
    int64_t from = at + (int64_t)done * step;
    size_t piece = ring - (size_t)((uint64_t)from / step % ring);

    piece = piece < n - done ? piece : n - done;
    rc = read_piece(s, set, x, level, from, piece, out + done);
    done += piece;
  }
  add_waiting(x, level, at, n, out);
  return rc;
}

/* --- from level to level -------------------------------------------------- */

/* Makes the row of a step from those of the level below.  `open` is a row of
 * that level which is not over yet, or NULL. */
static int fold(pai__series_store *s, const pai__series_set *set,
                const pai__series_subject *x, pai__series_row *row,
                const pai__series_row *open)
{
  enum { MOST = 60 };
  uint16_t rows[MOST][PAI__SERIES_METRICS];
  int rc = pai__series_rows(s, set, x, row->level - 1, row->at, MOST, rows);

  if (open != NULL && open->at >= row->at)
    memcpy(rows[(open->at - row->at) / pai__series_steps[open->level]],
           open->values, sizeof(open->values));
  memset(row->values, 0xff, sizeof(row->values));
  for (uint32_t k = 0; rc == PAI_OK && k < set->form->count; k++) {
    int64_t sum = 0, n = 0;

    for (size_t i = 0; i < MOST; i++) {
      int64_t value = pai__series_unpack(rows[i][k]);

      sum += value >= 0 ? value : 0;
      n += value >= 0;
    }
    if (n > 0)
      row->values[k] = pai__series_pack((sum + n / 2) / n);
  }
  return rc;
}

int pai__series_turn(pai__series_store *s, pai__series_set *set,
                     pai__series_subject *x, int64_t now)
{
  int rc = PAI_OK;

  for (uint32_t level = 1; level < PAI__SERIES_LEVELS && rc == PAI_OK;
       level++) {
    pai__series_row row = { .at = begin_of(x->last, level), .level = level };

    if (row.at == begin_of(now, level))
      break;
    rc = fold(s, set, x, &row, NULL);
    if (rc == PAI_OK)
      rc = pai__series_push(s, x, &row);
    x->turned = true;
  }
  return rc;
}

int pai__series_open_row(pai__series_store *s, const pai__series_set *set,
                         const pai__series_subject *x, uint32_t level,
                         pai__series_row *row)
{
  pai__series_row open = { .level = 0 };
  int rc = PAI_OK;

  for (uint32_t i = 1; i <= level && rc == PAI_OK; i++) {
    *row = (pai__series_row){ .at = begin_of(x->last, i), .level = i };
    rc = fold(s, set, x, row, i > 1 ? &open : NULL);
    open = *row;
  }
  return rc;
}
