/* explain_text.c - explains a spec as text: a table and a few lines */
#include "spec/explain/explain.h"

#include "base/text/milli.h"
#include "base/text/utf8.h"
#include "spec/format/write.h"

#include <inttypes.h>

/* --- pieces ------------------------------------------------------------- */

/* Appends a text of the file on one line, without control characters. */
static void add_plain(pai__buf *out, const char *s, size_t len)
{
  for (size_t i = 0; i < len; i++) {
    unsigned char c = (unsigned char)s[i];
    bool control = c < ' ' || c == 0x7f ||
                   (c == 0xc2 && i + 1 < len && (s[i + 1] & 0xe0) == 0x80);

    pai__buf_char(out, control ? '?' : s[i]);
    i += control && c == 0xc2;
  }
}

/* Appends 512 MiB, 50 GiB, 1.5 GiB: rounded to tenths, halves up. */
static void add_memory(pai__buf *out, uint64_t mb)
{
  uint64_t tenths = (mb * 10 + 512) / 1024;

  if (mb < 1024)
    pai__buf_printf(out, "%" PRIu64 " MiB", mb);
  else if (tenths % 10 == 0)
    pai__buf_printf(out, "%" PRIu64 " GiB", tenths / 10);
  else
    pai__buf_printf(out, "%" PRIu64 ".%" PRIu64 " GiB", tenths / 10,
                    tenths % 10);
}

/* Appends the ports that the file asks for; ssh and http always exist. */
static void add_ports(pai__buf *out, const pai__role *role)
{
  enum { MAX_LABELS = 4 };
  size_t said = 0, left = 0;

  for (size_t i = 0; i < role->nports; i++) {
    const pai__port *port = &role->ports[i];

    if (port->count == 1 &&
        (strcmp(port->label, "ssh") == 0 || strcmp(port->label, "http") == 0))
      continue;
    if (said == MAX_LABELS) {
      left++;
      continue;
    }
    pai__buf_str(out, said++ > 0 ? ", " : "");
    pai__buf_str(out, port->label);
    if (port->count != 1)
      pai__buf_printf(out, " x %u", port->count);
  }
  if (left > 0)
    pai__buf_printf(out, ", %zu more", left);
  if (said == 0)
    pai__buf_char(out, '-');
}

/* --- the table ---------------------------------------------------------- */

enum { COLUMNS = 7 };

/* The cells row by row, each followed by a NUL. */
typedef struct table {
  pai__buf cells;
  size_t count;
  size_t start; /* start of the open cell */
  size_t width[COLUMNS];
} table;

static size_t characters(const char *s)
{
  size_t n = 0;

  for (; *s != '\0'; s++)
    n += pai__utf8_first(*s);
  return n;
}

static void end_cell(table *t)
{
  size_t *width = &t->width[t->count++ % COLUMNS], n;

  if (!pai__buf_ok(&t->cells))
    return;
  n = characters(pai__buf_text(&t->cells) + t->start);
  if (n > *width)
    *width = n;
  pai__buf_char(&t->cells, '\0');
  t->start = t->cells.len;
}

static void add_cell(table *t, const char *text)
{
  pai__buf_str(&t->cells, text);
  end_cell(t);
}

static void add_number_cell(table *t, uint64_t n, const char *more)
{
  pai__buf_printf(&t->cells, "%" PRIu64 "%s", n, more);
  end_cell(t);
}

static void add_role(table *t, const pai__spec_explained *e,
                     const pai__role *role)
{
  char cpus[PAI__MILLI_TEXT];
  size_t len;
  const char *image = pai__explain_image(e, role, &len);

  add_cell(t, role->name);
  add_number_cell(t, role->instances, " x");
  add_cell(t, pai__milli_text(cpus, role->cpu_millis));
  add_memory(&t->cells, role->memory_mb);
  end_cell(t);
  add_number_cell(t, role->gpus, "");
  add_ports(&t->cells, role);
  end_cell(t);
  add_plain(&t->cells, image, len);
  end_cell(t);
}

static void add_sum(table *t, const pai__spec_explained *e)
{
  char cpus[PAI__MILLI_TEXT];

  add_cell(t, "in all");
  add_number_cell(t, e->spec->ntasks, "  ");
  add_cell(t, pai__milli_text(cpus, e->cpu_millis));
  add_memory(&t->cells, e->memory_mb);
  end_cell(t);
  add_number_cell(t, e->gpus, "");
  add_cell(t, "");
  add_cell(t, "");
}

static void pad(pai__buf *out, size_t n)
{
  while (n-- > 0)
    pai__buf_char(out, ' ');
}

/* Writes the table.  The second to fifth columns hold numbers. */
static void print_table(pai__buf *out, const table *t)
{
  const char *cell = pai__buf_text(&t->cells);
  size_t owed = 0; /* spaces before the next cell of the line */

  for (size_t i = 0; i < t->count && pai__buf_ok(&t->cells); i++) {
    size_t column = i % COLUMNS, n = characters(cell);
    size_t space = t->width[column] - n;
    bool right = column >= 1 && column <= 4;

    if (n > 0) {
      pad(out, owed + (right ? space : 0));
      pai__buf_str(out, cell);
      owed = right ? 2 : space + 2;
    } else {
      owed += space + 2;
    }
    if (column == COLUMNS - 1) {
      pai__buf_char(out, '\n');
      owed = 0;
    }
    cell += strlen(cell) + 1;
  }
}

static void add_table(pai__buf *out, const pai__spec_explained *e)
{
  static const char *const heads[COLUMNS] = { "role",   "tasks", "CPUs",
                                              "memory", "GPUs",  "ports",
                                              "image" };
  table t = { .count = 0 };

  pai__buf_init(&t.cells, &e->spec->alloc);
  for (size_t i = 0; i < COLUMNS; i++)
    add_cell(&t, heads[i]);
  for (size_t i = 0; i < e->spec->nroles; i++)
    add_role(&t, e, &e->spec->roles[i]);
  if (e->spec->ntasks > 1)
    add_sum(&t, e);
  print_table(out, &t);
  out->failed |= !pai__buf_ok(&t.cells);
  pai__buf_dispose(&t.cells);
}

/* --- the lines ---------------------------------------------------------- */

static void begin_line(pai__buf *out, const char *head)
{
  pai__buf_printf(out, "%-13s", head);
}

static void add_line(pai__buf *out, const char *head, const char *text)
{
  begin_line(out, head);
  pai__buf_printf(out, "%s\n", text);
}

static void add_cluster(pai__buf *out, const pai__spec_explained *e)
{
  pai__json_writer w;
  pai__buf text;
  const char *s;
  size_t len;

  if (e->cluster == PAI__NO_NODE) {
    add_line(out, "queues in", "virtual cluster default");
    return;
  }
  begin_line(out, "queues in");
  pai__buf_str(out, "virtual cluster ");
  s = pai__text_at(e->spec->tree, e->cluster, &len);
  pai__buf_init(&text, &e->spec->alloc);
  if (s == NULL || pai__secrets_hide(&e->secrets, e->cluster)) {
    /* any type of value is valid */
    pai__json_writer_init(&w, &text, false);
    pai__value_write(&w, &e->secrets, e->cluster);
    out->failed |= pai__json_finish(&w) == PAI_ENOMEM;
    s = pai__buf_text(&text);
    len = text.len;
  }
  add_plain(out, s, len);
  pai__buf_char(out, '\n');
  pai__buf_dispose(&text);
}

/* Writes a line of names, if there are any. */
static void add_names(pai__buf *out, const char *head,
                      const pai__spec_explained *e, const char *list,
                      const char *field)
{
  pai__spec_named names = pai__named_iter(e, list, field);
  const char *name;
  size_t len, said = 0;

  while ((name = pai__named_next(&names, &len)) != NULL) {
    if (said++ == 0)
      begin_line(out, head);
    else
      pai__buf_str(out, ", ");
    add_plain(out, name, len);
  }
  if (said > 0)
    pai__buf_char(out, '\n');
}

static void add_retries(pai__buf *out, const pai__spec_explained *e)
{
  uint32_t n = e->spec->retry_count;

  begin_line(out, "retries");
  if (n == 0)
    pai__buf_str(out, "never\n");
  else if (n == 1)
    pai__buf_str(out, "once\n");
  else
    pai__buf_printf(out, "up to %u times\n", n);
}

static void add_notes(pai__buf *out, const pai_spec *spec)
{
  for (size_t i = 0; i < spec->nunresolved; i++) {
    begin_line(out, i == 0 ? "no value for" : "");
    add_plain(out, spec->unresolved[i], strlen(spec->unresolved[i]));
    pai__buf_char(out, '\n');
  }
  if (spec->nnotes > 0)
    pai__buf_str(out, "\nIn this version:\n");
  for (size_t i = 0; i < spec->nnotes; i++)
    pai__buf_printf(out, "  - %s\n", spec->notes[i]);
  if (spec->obstacle != NULL)
    pai__buf_printf(out, "\nIt cannot run: %s.\n", spec->obstacle);
}

int pai__explain_text(const pai__spec_explained *e, pai_write_cb write,
                      void *user_data)
{
  const pai_spec *spec = e->spec;
  pai__buf out;
  int rc = PAI_ENOMEM;

  pai__buf_init(&out, &spec->alloc);
  pai__buf_printf(&out, "%s: %zu task%s in %zu role%s\n\n",
                  pai__explain_name(e), spec->ntasks,
                  spec->ntasks == 1 ? "" : "s", spec->nroles,
                  spec->nroles == 1 ? "" : "s");
  add_table(&out, e);
  pai__buf_char(&out, '\n');
  add_line(&out, "fails", pai__buf_text(&e->fails));
  add_line(&out, "succeeds", pai__buf_text(&e->succeeds));
  add_retries(&out, e);
  if (spec->ntasks > 1)
    add_line(&out, "starts",
             e->gang ? "all tasks together" : "each task as soon as it can");
  add_cluster(&out, e);
  if (e->deployment != NULL)
    add_line(&out, "deployment", e->deployment);
  add_names(&out, "storages", e, "storages", "name");
  add_names(&out, "plugins", e, PAI__PLUGINS, "plugin");
  add_notes(&out, spec);
  if (pai__buf_ok(&out))
    rc = write(user_data, pai__buf_text(&out), out.len);
  pai__buf_dispose(&out);
  return rc;
}
