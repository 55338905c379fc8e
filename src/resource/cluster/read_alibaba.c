/*
 * read_alibaba.c - read node lists of Alibaba's published traces:
 * openb_node_list_*.csv of 2023, and pai_machine_spec.csv of 2020
 *
 * The rows become a tree of lists, so that findings have places as in other
 * forms.
 */
#include "resource/cluster/import.h"

enum { NAME, MODEL, CPUS, MEMORY, GPUS, COLUMNS };

static const char *const openb_names[COLUMNS] = { "sn", "model", "cpu_milli",
                                                  "memory_mib", "gpu" };
static const char *const spec_names[COLUMNS] = { "machine", "gpu_type",
                                                 "cap_cpu", "cap_mem",
                                                 "cap_gpu" };

/* --- the tree ------------------------------------------------------------ */

static size_t line_len(const char *text, size_t len)
{
  const char *end = memchr(text, '\n', len);

  return end != NULL ? (size_t)(end - text) : len;
}

/* Whether a row is like "82e5af3c,T4,96,512,2": five fields, of which the last
 * three are numbers. */
static bool is_spec_row(const char *text, size_t len)
{
  size_t cell = 0;

  for (size_t i = 0; i < len && text[i] != '\r'; i++) {
    bool is_digit = (text[i] >= '0' && text[i] <= '9') || text[i] == '.';
    bool is_word = (text[i] >= 'a' && text[i] <= 'z') ||
                   (text[i] >= 'A' && text[i] <= 'Z') || text[i] == '-';

    if (text[i] == ',')
      cell++;
    else if (!is_digit && (cell >= CPUS || !is_word))
      return false;
  }
  return cell == COLUMNS - 1;
}

bool pai__is_node_rows(const char *text, size_t len)
{
  pai__piece line = { text, line_len(text, len) };

  return pai__piece_begins(line, "sn,") ||
         pai__piece_begins(line, "machine,gpu_type,") ||
         is_spec_row(line.s, line.len);
}

/* Adds a field as a whole number, also for "512.0", or as a text. */
static int add_cell(pai__tree *t, const char *s, size_t len)
{
  uint32_t start = (uint32_t)(s - t->text);
  pai__tree_node *n;
  size_t digits = 0, end;
  int64_t value = 0;

  for (; digits < len && digits < 18 && s[digits] >= '0' && s[digits] <= '9';
       digits++)
    value = value * 10 + (s[digits] - '0');
  end = digits;
  if (end > 0 && end < len && s[end] == '.')
    for (end++; end < len && s[end] == '0';)
      end++;
  if (digits > 0 && end == len) {
    n = pai__tree_push(t, PAI__INT, start, start + (uint32_t)len);
    if (n != NULL)
      n->u.i = value;
    return n != NULL ? PAI_OK : PAI_ENOMEM;
  }
  n = pai__tree_push(t, PAI__STRING, start, start + (uint32_t)len);
  if (n == NULL)
    return PAI_ENOMEM;
  n->u.s.len = (uint32_t)len;
  return pai__tree_store(t, &n->u.s.off, s, len);
}

static int add_row(pai__tree *t, const char *s, size_t len)
{
  pai__node row = (pai__node)t->count;
  const char *end = s + len;
  uint32_t count = 0;
  int rc = PAI_OK;

  if (pai__tree_push(t, PAI__SEQUENCE, (uint32_t)(s - t->text), 0) == NULL)
    return PAI_ENOMEM;
  while (rc == PAI_OK) {
    const char *comma = memchr(s, ',', (size_t)(end - s));
    const char *stop = comma != NULL ? comma : end;

    rc = add_cell(t, s, (size_t)(stop - s));
    count++;
    if (comma == NULL)
      break;
    s = comma + 1;
  }
  t->nodes[row].u.c.count = count;
  t->nodes[row].u.c.side = 0;
  if (rc == PAI_OK)
    rc = pai__tree_close(t, row, (uint32_t)(end - t->text),
                         PAI__REFUSE_DUPLICATES, NULL);
  return rc;
}

static int add_rows(pai__tree *t)
{
  uint32_t count = 0;
  int rc = PAI_OK;

  if (pai__tree_push(t, PAI__SEQUENCE, 0, 0) == NULL)
    return PAI_ENOMEM;
  for (size_t at = 0; at < t->len && rc == PAI_OK;) {
    size_t len = line_len(t->text + at, t->len - at), used = len;

    if (used > 0 && t->text[at + used - 1] == '\r')
      used--;
    if (used > 0) {
      rc = add_row(t, t->text + at, used);
      count++;
    }
    at += len + 1;
  }
  t->nodes[0].u.c.count = count;
  t->nodes[0].u.c.side = 0;
  if (rc == PAI_OK)
    rc = pai__tree_close(t, 0, (uint32_t)t->len, PAI__REFUSE_DUPLICATES, NULL);
  return rc;
}

int pai__node_rows_parse(pai__tree **out, const char *text, size_t len,
                         const pai_cluster_options *o, pai_error **err)
{
  int rc;

  *out = NULL;
  if (len > o->max_bytes)
    return pai__fail(err, PAI_ELIMIT, "the text has more than %zu bytes",
                     (size_t)o->max_bytes);
  rc = pai__tree_new(out, o->alloc, text, len, err);
  if (rc < 0)
    return rc;
  if (add_rows(*out) == PAI_OK)
    return PAI_OK;
  pai__tree_free(*out);
  *out = NULL;
  return pai__oom(err);
}

/* --- the form ------------------------------------------------------------ */

typedef struct pai__rows {
  pai__reader *r;
  pai__shapes shapes;
  const char *const *names;
  size_t at[COLUMNS]; /* index of each column's field */
  size_t width;
  bool is_openb;
} pai__rows;

static bool is_alibaba(const pai__tree *t)
{
  return pai__tree_type(t, 0) == PAI__SEQUENCE && pai__tree_count(t, 0) > 0 &&
         pai__tree_type(t, 1) == PAI__SEQUENCE;
}

/* Gets the fields of a row; an absent field is PAI__NO_NODE. */
static size_t cells_of(const pai__rows *rows, pai__node row,
                       pai__node cells[COLUMNS])
{
  pai__tree_walk walk = pai__tree_iter(rows->r->t, row);
  size_t count = 0;
  pai__node n;

  for (size_t i = 0; i < COLUMNS; i++)
    cells[i] = PAI__NO_NODE;
  for (; (n = pai__tree_next(&walk)) != PAI__NO_NODE; count++)
    for (size_t i = 0; i < COLUMNS; i++)
      if (rows->at[i] == count)
        cells[i] = n;
  return count;
}

/* Finds the columns in the first row; returns false if that row is a node and
 * not a header. */
static bool read_names(pai__rows *rows, pai__node row)
{
  pai__reader *r = rows->r;
  pai__tree_walk walk = pai__tree_iter(r->t, row);
  pai__piece first = pai__import_text(r, row + 1);
  size_t count = 0;
  pai__node n;

  rows->is_openb = pai__piece_is(first, openb_names[NAME]);
  rows->names = rows->is_openb ? openb_names : spec_names;
  rows->width = pai__tree_count(r->t, row);
  for (size_t i = 0; i < COLUMNS; i++)
    rows->at[i] = i;
  if (!rows->is_openb && !pai__piece_is(first, spec_names[NAME]))
    return false;
  for (size_t i = 0; i < COLUMNS; i++)
    rows->at[i] = SIZE_MAX;
  for (; (n = pai__tree_next(&walk)) != PAI__NO_NODE; count++)
    for (size_t i = 0; i < COLUMNS; i++)
      if (pai__piece_is(pai__import_text(r, n), rows->names[i]))
        rows->at[i] = count;
  for (size_t i = 0; i < COLUMNS; i++)
    if (rows->at[i] == SIZE_MAX)
      (void)pai__find(r->f, PAI_SEVERITY_ERROR, "missing-key", row,
                      "there is no column '%s'", rows->names[i]);
  return true;
}

static void read_shape(pai__rows *rows, pai__node cells[COLUMNS],
                       pai__import_shape *shape)
{
  pai__reader *r = rows->r;
  uint32_t unit = rows->is_openb ? 1000 : 1;
  uint32_t shift = rows->is_openb ? 20 : 30, kind, gpus;
  uint64_t memory;

  pai__shape_init(shape);
  shape->sku.cpus = pai__read_uint32(r, cells[CPUS], rows->names[CPUS], 0,
                                     PAI__IMPORT_CPUS * unit, 0) /
                    unit;
  memory = pai__read_uint32(r, cells[MEMORY], rows->names[MEMORY], 0,
                            (uint32_t)(PAI__MOST_MEMORY >> shift), 0);
  shape->sku.memory = memory << shift;
  gpus = pai__read_uint32(r, cells[GPUS], rows->names[GPUS], 0,
                          PAI__NODE_MAX_GPUS, 0);
  if (gpus == 0)
    return;
  kind = pai__import_kind(r, cells[MODEL], pai__import_text(r, cells[MODEL]));
  if (kind != PAI__NOTHING)
    pai__shape_add(r, cells[GPUS], shape, kind, gpus, 0);
}

static void read_node(pai__rows *rows, pai__node row)
{
  pai__node cells[COLUMNS];
  pai__import_shape shape;
  const char *name;
  size_t count = cells_of(rows, row, cells);

  if (count != rows->width) {
    (void)pai__find(rows->r->f, PAI_SEVERITY_ERROR, "wrong-type", row,
                    "this row has %zu cells, and the first one %zu", count,
                    rows->width);
    return;
  }
  name = pai__import_name(rows->r, cells[NAME]);
  if (name == NULL)
    return;
  read_shape(rows, cells, &shape);
  if (!rows->r->f->failed)
    (void)pai__shape_node(rows->r, &rows->shapes, row, name, &shape);
}

static void read_rows(pai__reader *r)
{
  pai__rows rows = { .r = r };
  pai__tree_walk walk = pai__tree_iter(r->t, 0);
  pai__node row = pai__tree_next(&walk);

  if (read_names(&rows, row))
    row = pai__tree_next(&walk);
  if (r->f->errors > 0)
    return;
  pai__shapes_init(&rows.shapes, r->c);
  for (; row != PAI__NO_NODE && !r->full && !r->f->failed;
       row = pai__tree_next(&walk))
    read_node(&rows, row);
  pai__shapes_dispose(&rows.shapes);
}

const pai__cluster_form pai__form_alibaba = { "alibaba", is_alibaba, read_rows,
                                              NULL };
