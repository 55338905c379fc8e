/* writer.c - the YAML writer: lines and indentation */
#include "yaml/writer.h"
#include "base/text/number.h"

/* Readers refuse a key of more than 1,024 characters without "?".  An escape
 * may make six characters of a byte. */
enum { LONGEST_SIMPLE_KEY = 128 };

void pai__yaml_writer_init(pai__yaml_writer *w, pai__buf *out)
{
  *w = (pai__yaml_writer){ .out = out };
}

static void indent(pai__yaml_writer *w, size_t column)
{
  for (size_t i = 0; i < column; i++)
    pai__buf_char(w->out, ' ');
}

/* Returns the column of the innermost collection's entries. */
static size_t column(const pai__yaml_writer *w)
{
  return w->nest.depth != 0 ? (w->nest.depth - 1) * 2 : 0;
}

/* Moves to where an entry of the innermost collection begins. */
static void start_entry(pai__yaml_writer *w, bool first)
{
  bool in_sequence = w->nest.depth > 1 && (w->nest.level[w->nest.depth - 2] &
                                           PAI__NEST_MAPPING) == 0;

  if (first && in_sequence) { /* on the line of its dash */
    pai__buf_char(w->out, ' ');
    return;
  }
  if (first && w->nest.depth > 1)
    pai__buf_char(w->out, '\n'); /* after the key */
  indent(w, column(w));
}

void pai__yaml_key(pai__yaml_writer *w, const char *s, size_t len)
{
  bool first, indicator;
  pai__yaml_form form;

  if (!pai__nest_key(&w->nest, &first))
    return;
  start_entry(w, first);
  form = pai__yaml_choose_form(s, len, &indicator);
  if (len > LONGEST_SIMPLE_KEY)
    pai__buf_str(w->out, "? ");
  pai__yaml_put_line(w->out, s, len, form);
  if (len > LONGEST_SIMPLE_KEY) {
    pai__buf_char(w->out, '\n');
    indent(w, column(w));
  }
  pai__buf_char(w->out, ':');
}

/* Moves to where a value begins, without the space before it.  Returns false
 * if no value is allowed here.  *root says that it is the whole document. */
static bool start_value(pai__yaml_writer *w, bool *root)
{
  bool sequence =
    w->nest.depth != 0 && (pai__nest_top(&w->nest) & PAI__NEST_MAPPING) == 0;
  bool first;

  *root = w->nest.depth == 0;
  if (!pai__nest_value(&w->nest, &first))
    return false;
  if (sequence) {
    start_entry(w, first);
    pai__buf_char(w->out, '-');
  }
  return true;
}

void pai__yaml_verbatim(pai__yaml_writer *w, const char *text)
{
  bool root;

  if (!start_value(w, &root))
    return;
  if (!root)
    pai__buf_char(w->out, ' ');
  pai__buf_str(w->out, text);
  pai__buf_char(w->out, '\n');
}

static void begin(pai__yaml_writer *w, bool mapping)
{
  bool root;

  if (start_value(w, &root))
    (void)pai__nest_open(&w->nest, mapping);
}

static void end(pai__yaml_writer *w, bool mapping)
{
  bool empty;

  if (!pai__nest_close(&w->nest, mapping, &empty) || !empty)
    return;
  if (w->nest.depth != 0)
    pai__buf_char(w->out, ' ');
  pai__buf_str(w->out, mapping ? "{}\n" : "[]\n");
}

void pai__yaml_begin_mapping(pai__yaml_writer *w)
{
  begin(w, true);
}

void pai__yaml_end_mapping(pai__yaml_writer *w)
{
  end(w, true);
}

void pai__yaml_begin_sequence(pai__yaml_writer *w)
{
  begin(w, false);
}

void pai__yaml_end_sequence(pai__yaml_writer *w)
{
  end(w, false);
}

void pai__yaml_text(pai__yaml_writer *w, const char *s, size_t len)
{
  pai__yaml_form form;
  bool root, indicator;

  if (!start_value(w, &root))
    return;
  if (!root)
    pai__buf_char(w->out, ' ');
  form = pai__yaml_choose_form(s, len, &indicator);
  if (form == PAI__FORM_LITERAL && !(root && indicator)) {
    pai__yaml_put_header(w->out, s, len, indicator);
    pai__buf_char(w->out, '\n');
    pai__yaml_put_lines(w->out, s, len, root ? 2 : column(w) + 2);
    return;
  }
  pai__yaml_put_line(w->out, s, len, form);
  pai__buf_char(w->out, '\n');
}

void pai__yaml_int(pai__yaml_writer *w, int64_t v)
{
  char text[PAI__DOUBLE_TEXT];

  (void)pai__format_int(text, v);
  pai__yaml_verbatim(w, text);
}

void pai__yaml_double(pai__yaml_writer *w, double v)
{
  char text[PAI__DOUBLE_TEXT], whole[PAI__DOUBLE_TEXT + 4], *e;
  size_t n;

  if (v - v != 0) {
    pai__yaml_verbatim(w, v != v ? ".nan" : v < 0 ? "-.inf" : ".inf");
    return;
  }
  (void)pai__format_double(text, v);
  if (v == 0 && 1 / v < 0)
    memcpy(text, "-0", 3);
  if (strchr(text, '.') != NULL) {
    pai__yaml_verbatim(w, text);
    return;
  }
  e = strchr(text, 'e'); /* YAML 1.1 requires a point before the exponent */
  n = e != NULL ? (size_t)(e - text) : strlen(text);
  memcpy(whole, text, n);
  memcpy(whole + n, ".0", 2);
  memcpy(whole + n + 2, text + n, strlen(text + n) + 1);
  pai__yaml_verbatim(w, whole);
}

void pai__yaml_boolean(pai__yaml_writer *w, bool v)
{
  pai__yaml_verbatim(w, v ? "true" : "false");
}

void pai__yaml_nothing(pai__yaml_writer *w)
{
  pai__yaml_verbatim(w, "null");
}

int pai__yaml_finish(pai__yaml_writer *w)
{
  int rc = pai__nest_finish(&w->nest);

  if (rc == PAI_OK && !pai__buf_ok(w->out))
    rc = PAI_ENOMEM;
  return rc;
}
