/* Names in files of clusters: where they are declared and used, new names,
 * completion, tokens. */
#include "cases.h"
#include "language/cursor.h"

static const char ours[] = "skus:\n"
                           "  dgx: { gpu: a100, gpus: 8 }\n"
                           "  dgx-2: { gpu: v100, gpus: 2 }\n"
                           "nodes:\n"
                           "  - { name: 'n[1-2]', sku: dgx }\n"
                           "  - { name: n3, sku: dgx-2, pin: build }\n"
                           "virtualClusters:\n"
                           "  a: { cells: { dgx: 1, dgx-numa: 2 } }\n"
                           "  b: { cells: { dgx-2: 1 }, pins: [ build ] }\n";

static const char hived[] = "physicalCluster:\n"
                            "  skuTypes: { P100: { gpu: 1 } }\n"
                            "  cellTypes:\n"
                            "    NODE:\n"
                            "      childCellType: P100\n"
                            "      childCellNumber: 2\n"
                            "    RACK: { childCellType: NODE }\n"
                            "  physicalCells:\n"
                            "    - cellType: RACK\n"
                            "      cellChildren:\n"
                            "        - cellAddress: 10.0.0.1\n"
                            "          pinnedCellId: P1\n"
                            "virtualClusters:\n"
                            "  A:\n"
                            "    virtualCells:\n"
                            "      - { cellType: RACK.NODE, cellNumber: 1 }\n"
                            "    pinnedCells: [ { pinnedCellId: P1 } ]\n";

/* The cursor is at the nth place of `at`, in front of the name. */
static cursor_text text_at(const char *text, const char *at, int nth)
{
  const char *place = text - 1;
  pai__buf marked = test_buf();
  cursor_text c;

  for (int i = 0; i < nth; i++) {
    place = strstr(place + 1, at);
    assert_non_null(place);
  }
  pai__buf_printf(&marked, "%.*s^%s", (int)(place - text), text, place);
  c = cursor_open(pai__buf_text(&marked), NULL);
  pai__buf_dispose(&marked);
  return c;
}

typedef struct lines {
  const cursor_text *c;
  pai__buf out;
} lines;

static unsigned line_of(const cursor_text *c, size_t at)
{
  unsigned line = 1;

  for (size_t i = 0; i < at; i++)
    line += c->t.text[i] == '\n';
  return line;
}

static int on_reference(void *user_data, const pai__reference *r)
{
  lines *l = user_data;

  pai__buf_printf(&l->out, "%s%u:%s%s", l->out.len > 0 ? " " : "",
                  line_of(l->c, r->span.start), cursor_part(l->c, r->span),
                  r->is_declaration ? "!" : "");
  return PAI_OK;
}

/* Occurrences with their lines, and ! for the declaration. */
static const struct named {
  const char *name, *text, *at;
  int nth;
  const char *want;
} names[] = {
  { "a SKU", ours, "dgx:", 1, "2:dgx! 5:dgx 8:dgx 8:dgx" },
  { "a SKU by a type that is derived", ours, "dgx-numa", 1,
    "2:dgx! 5:dgx 8:dgx 8:dgx" },
  { "a SKU whose name begins like another", ours, "dgx-2,", 1,
    "3:dgx-2! 6:dgx-2 9:dgx-2" },
  { "a pin", ours, "build", 2, "6:build! 9:build" },
  { "a node", ours, "n3", 1, "6:n3!" },
  { "a type of cell", hived, "NODE:", 1, "4:NODE! 7:NODE 16:NODE" },
  { "a type in a path", hived, "RACK.NODE", 1, "7:RACK! 9:RACK 16:RACK" },
  { "the second type in a path", hived, "NODE,", 1, "4:NODE! 7:NODE 16:NODE" },
  { "a type of leaf cell", hived, "P100\n", 1, "2:P100! 5:P100" },
  { "a pinned cell, in a cell of a cell", hived, "P1 }", 1, "12:P1! 17:P1" },
  { "an address", hived, "10.0.0.1", 1, "11:10.0.0.1" },
  { "no name", hived, "childCellNumber", 1, "" },
};

static void check_names(const void *of)
{
  const struct named *n = of;
  cursor_text c = text_at(n->text, n->at, n->nth);
  lines l = { &c, test_buf() };

  assert_ok(pai__references(&c.t, c.at, on_reference, &l));
  assert_string_equal(pai__buf_text(&l.out), n->want);
  pai__buf_dispose(&l.out);
  cursor_close(&c);
}

TEST_TABLE(check_names, names);

static const struct renaming {
  const char *name, *text, *at, *to;
  int code;
  const char *says;
} renamings[] = {
  { "a SKU", ours, "dgx:", "dgx_1", PAI_OK, NULL },
  { "a SKU with a point", ours, "dgx:", "dgx.1", PAI_EINVAL,
    "'dgx.1' is not a name of a type of cell" },
  { "a SKU that is there", ours, "dgx:", "dgx-2", PAI_EEXISTS,
    "there is a type of cell 'dgx-2'" },
  { "an address", hived, "10.0.0.1", "10.0.0.2", PAI_OK, NULL },
};

static void check_renaming(const void *of)
{
  const struct renaming *r = of;
  cursor_text c = text_at(r->text, r->at, 1);
  pai_error *err;
  pai__span name;

  if (r->code == PAI_OK)
    assert_ok(pai__can_rename(&c.t, c.at, r->to, &name, &err));
  else
    assert_fails(pai__can_rename(&c.t, c.at, r->to, &name, &err), err, r->code,
                 r->says);
  cursor_close(&c);
}

TEST_TABLE(check_renaming, renamings);

static const cursor_row completions[] = {
  { "SKUs for a node",
    "skus: { dgx: { gpu: a }, cpu: {} }\nnodes:\n  - name: a\n    sku: ^\n",
    { "dgx (type of cell)", "cpu (type of cell)" },
    { NULL } },
  { "types of cells",
    "physicalCluster:\n  cellTypes:\n    NODE: { childCellType: P }\n    "
    "RACK:\n"
    "      childCellType: ^\n",
    { "NODE (type of cell)", "RACK (type of cell)" },
    { NULL } },
  { "types of cells for a share",
    "physicalCluster: { cellTypes: { NODE: { childCellType: P } } }\n"
    "virtualClusters: { a: { virtualCells: [ { cellType: ^ } ] } }\n",
    { "NODE (type of cell)" },
    { NULL } },
  { "pins for a share",
    "nodes: [ { name: n, pin: x } ]\nvirtualClusters:\n  a:\n    pins:\n"
    "      - ^\n",
    { "x (pinned cell)" },
    { "n" } },
  { "fields of a cell in a cell",
    "physicalCluster:\n  physicalCells:\n    - cellChildren:\n"
    "        - cellAddress: a\n          ^\n",
    { "pinnedCellId -> pinnedCellId: " },
    { "cellAddress" } },
};

TEST_TABLE(cursor_check_row, completions);

static int on_token(void *user_data, pai__span span, enum pai__token_type type,
                    unsigned modifiers)
{
  lines *l = user_data;

  assert_int_equal(type, PAI__TOKEN_TYPE);
  pai__buf_printf(&l->out, "%s%s%s", l->out.len > 0 ? " " : "",
                  cursor_part(l->c, span),
                  (modifiers & PAI__TOKEN_DECLARATION) != 0 ? "!" : "");
  return PAI_OK;
}

TEST(types_are_tokens)
{
  cursor_text c = text_at(hived, "RACK", 1);
  lines l = { &c, test_buf() };

  assert_ok(pai__tokens(&c.t, on_token, &l));
  assert_string_equal(pai__buf_text(&l.out),
                      "P100! NODE! P100 RACK! NODE RACK RACK NODE");
  pai__buf_dispose(&l.out);
  cursor_close(&c);
}

static int on_hint(void *user_data, size_t at, const char *text)
{
  lines *l = user_data;

  pai__buf_printf(&l->out, "%u: %s\n", line_of(l->c, at), text);
  return PAI_OK;
}

TEST(hints_of_machines)
{
  static const struct {
    const char *text, *want;
  } rows[] = {
    { "skus:\n  a: { gpu: v100, gpus: 8, cpus: 4, memory: 2T }\n  b: { cpus: "
      "1 "
      "}\n^nodes:\n- { name: 'n[1-3]', sku: a }\n- { name: c, sku: b }\n",
      "4: 4 nodes, 24 GPUs, 13 CPUs, 6144 GiB in all\n2: 3 nodes, 24 GPUs\n"
      "3: 1 node\n" },
    { "^nodes:\n- { name: n, sku: none }\n", "" }, /* an error */
    { "nodes: [^", "" },
  };

  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    cursor_text c = cursor_open(rows[i].text, NULL);
    lines l = { &c, test_buf() };

    c.t.kind = PAI__LANGUAGE_CLUSTER;
    assert_ok(pai__hints(&c.t, on_hint, &l));
    assert_string_equal(pai__buf_text(&l.out), rows[i].want);
    pai__buf_dispose(&l.out);
    cursor_close(&c);
  }
}

TEST_FAULTS(without_memory)
{
  cursor_text c = text_at(hived, "RACK", 1);
  lines l = { &c, test_buf() };
  int rc;

  c.t.alloc = alloc;
  rc = pai__references(&c.t, c.at, on_reference, &l);
  if (rc == PAI_OK)
    rc = pai__hints(&c.t, on_hint, &l);
  pai__buf_dispose(&l.out);
  cursor_close(&c);
  return rc;
}
