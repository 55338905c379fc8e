/* fuzz_template.c - templates, over one document with values of all kinds */
#include "check.h"
#include "spec/template/template.h"
#include "yaml/yaml.h"

static const char document[] =
  "{s: text, tag: '<% $p.s %>', wide: \"a\\u00e9\\U0001F600z\", n: 1e21, "
  "no: false, nul: ~, date: 2020-01-02, bytes: !!binary aGk=, "
  "list: [1, [2, [~]], {a: 1}, two], map: {x: {y: [z]}, 'a b': c, '': e}}";

typedef struct told {
  const pai__buf *out;
  size_t size, next; /* of the text; the least place of the next tag */
} told;

/* Tags come in order, and each when it has just been written back. */
static int tell(void *user_data, const char *name, size_t len, size_t at)
{
  told *d = user_data;
  const char *end = pai__buf_text(d->out) + d->out->len;

  CHECK(at >= d->next && at < d->size);
  d->next = at + 1;
  CHECK(d->out->len >= len + 6);
  CHECK(memcmp(end - len - 6, "<% ", 3) == 0);
  CHECK(memcmp(end - len - 3, name, len) == 0);
  CHECK(memcmp(end - 3, " %>", 3) == 0);
  return PAI_OK;
}

static void check_trim(const char *text, size_t size)
{
  const char *s = text, *again;
  size_t len = size, again_len;

  pai__template_trim(&s, &len);
  CHECK(s >= text && s + len <= text + size);
  again = s;
  again_len = len;
  pai__template_trim(&again, &again_len);
  CHECK(again == s && again_len == len);
}

/* A smaller limit gives the same, or an error and nothing. */
static void check_limit(const pai__template *t, const char *text, size_t size,
                        const pai__buf *want)
{
  pai__template less = *t;
  pai__template_fault fault = { SIZE_MAX, NULL };
  pai__buf out;
  int rc;

  less.unresolved = NULL;
  less.max_bytes = want->len / 2 + 1;
  pai__buf_init(&out, &pai__libc_alloc);
  rc = pai__template_render(&out, text, size, &less, &fault);
  CHECK(rc == PAI_OK || rc == PAI_ELIMIT);
  if (rc == PAI_OK) {
    CHECK(out.len == want->len && out.len <= less.max_bytes);
    CHECK(memcmp(pai__buf_text(&out), pai__buf_text(want), out.len) == 0);
  } else {
    CHECK(out.len == 0 && fault.at < size && fault.what != NULL);
  }
  pai__buf_dispose(&out);
}

static void render(const pai__tree *tree, const char *text, size_t size)
{
  pai__template_scope scopes[] = { { "$p", tree, 0 },
                                   { "$data", tree, PAI__NO_NODE } };
  pai__buf out;
  told d = { &out, size, 0 };
  pai__template t = { scopes, PAI__LEN(scopes), 0, tell, &d };
  pai__template_fault fault = { SIZE_MAX, NULL };
  int rc;

  pai__buf_init(&out, &pai__libc_alloc);
  rc = pai__template_render(&out, text, size, &t, &fault);
  if (rc < 0) {
    CHECK(rc == PAI_EINVAL || rc == PAI_ELIMIT);
    CHECK(out.len == 0 && fault.at < size && fault.what != NULL);
  } else {
    CHECK(fault.what == NULL);
    check_limit(&t, text, size, &out);
    check_trim(pai__buf_text(&out), out.len);
  }
  pai__buf_dispose(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  static pai__tree *tree;                    /* read once */
  char *text = malloc(size != 0 ? size : 1); /* exact: reading on is seen */

  if (tree == NULL)
    CHECK(pai__yaml_parse(&tree, document, strlen(document), NULL, NULL) ==
          PAI_OK);
  if (text == NULL)
    return 0;
  if (size != 0)
    memcpy(text, data, size);
  render(tree, text, size);
  free(text);
  return 0;
}
