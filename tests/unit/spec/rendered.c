/* rendered.c - templates and what they are about, for tests of both */
#include "spec/rendered.h"

#include "yaml/yaml.h"

static const char document[] =
  "parameters:\n"
  "  s: text\n"
  "  empty: ''\n"
  "  zero: 0\n"
  "  negative: -0.0\n"
  "  one: 1.0\n"
  "  hex: 0x1F\n"
  "  large: 1e21\n"
  "  small: 1e-7\n"
  "  inf: .inf\n"
  "  no: false\n"
  "  nul: ~\n"
  "  html: <&>\"'/`=\n"
  "  tagged: <% $parameters.s %> <% $secrets.k %>\n"
  "  lines: \"one\\ntwo\\n\"\n"
  "  wide: \"a\\u00e9\\u4f60\\U0001F600z\"\n"
  "  list: [1, two, [3, [~, 4, {a: 1}], []], ~, 2020-01-02, !!binary aGk=]\n"
  "  nothing: []\n"
  "  hollow: [[[]], []]\n"
  "  map: {a b: space, c-d: dash, '': blank, '0': key, length: own, n: ~}\n"
  "  deep: {x: [{y: [z]}]}\n"
  "  merged: {<<: {m: merged}}\n"
  "  date: 2001-12-14t21:59:43.10-05:00\n"
  "  bytes: !!binary aGn/\n"
  "  toString: own\n"
  "data: {uri: [http://a, http://b], name: d}\n"
  "secrets: {k: <% $secrets.k %>, list: [x]}\n"
  "string: root\n";

static pai__tree *tree;

int read_document(void **state)
{
  (void)state;
  return pai__yaml_parse(&tree, document, strlen(document), NULL, NULL);
}

int free_document(void **state)
{
  (void)state;
  pai__tree_free(tree);
  return 0;
}

/* The scopes of a command, and that of what is filled in later. */
static pai__template_scope scopes[5];

const pai__template *command_template(void)
{
  static pai__template t = { .scopes = scopes, .nscopes = 4 };

  scopes[0] = (pai__template_scope){ "$parameters", tree,
                                     pai__tree_get(tree, 0, "parameters") };
  scopes[1] =
    (pai__template_scope){ "$data", tree, pai__tree_get(tree, 0, "data") };
  scopes[2] = (pai__template_scope){ "$script", tree, PAI__NO_NODE };
  scopes[3] =
    (pai__template_scope){ "$output", tree, pai__tree_get(tree, 0, "string") };
  return &t;
}

const pai__template *secrets_template(void)
{
  static pai__template t = { .scopes = scopes + 4, .nscopes = 1 };

  scopes[4] = (pai__template_scope){ "$secrets", tree,
                                     pai__tree_get(tree, 0, "secrets") };
  return &t;
}

void shows(const pai__template *t, const char *text, const char *want)
{
  pai__template_fault fault = { 0, "" };
  pai__buf out;
  int rc;

  pai__buf_init(&out, &pai__libc_alloc);
  pai__buf_str(&out, " "); /* what is there stays */
  rc = pai__template_render(&out, text, strlen(text), t, &fault);
  if (rc != PAI_OK)
    fail_msg("%s: %s at %zu", text, fault.what, fault.at);
  assert_int_equal(pai__buf_text(&out)[0], ' ');
  if (strcmp(pai__buf_text(&out) + 1, want) != 0)
    fail_msg("%s\nbecame %s\nnot    %s", text, pai__buf_text(&out) + 1, want);
  pai__buf_dispose(&out);
}

void expect_refusal(const pai__template *t, const char *text, int code,
                    size_t at, const char *part)
{
  pai__template_fault fault = { 0, "" };
  pai__buf out;

  pai__buf_init(&out, &pai__libc_alloc);
  pai__buf_str(&out, "before");
  assert_int_equal(pai__template_render(&out, text, strlen(text), t, &fault),
                   code);
  if (strstr(fault.what, part) == NULL || fault.at != at)
    fail_msg("%.80s: %s at %zu", text, fault.what, fault.at);
  assert_string_equal(pai__buf_text(&out), "before");
  assert_int_equal(out.len, 6);
  assert_int_equal(pai__template_render(&out, text, strlen(text), t, NULL),
                   code);
  pai__buf_dispose(&out);
}

int hear(void *user_data, const char *name, size_t len, size_t at)
{
  heard *h = user_data;

  assert_true(len < sizeof(h->name));
  memcpy(h->name, name, len);
  h->name[len] = '\0';
  h->at = at;
  h->count++;
  return h->answer;
}
