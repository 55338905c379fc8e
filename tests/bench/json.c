/* json.c - the JSON reader against jansson */
#include "bench.h"
#include "json/json.h"

#include <jansson.h>

static pai__buf text;

static void *setup_spec(void)
{
  pai__buf_init(&text, &pai__libc_alloc);
  bench_json_spec(&text);
  return pai__buf_ok(&text) ? &text : NULL;
}

static void *setup_list(int njobs)
{
  pai__buf_init(&text, &pai__libc_alloc);
  bench_json_list(&text, njobs);
  return pai__buf_ok(&text) ? &text : NULL;
}

static void *setup_page(void)
{
  return setup_list(20);
}

static void *setup_all(void)
{
  return setup_list(5000);
}

static void teardown(void *data)
{
  pai__buf_dispose(data);
}

static int parse(void *data)
{
  const pai__buf *b = data;
  pai__tree *t;
  int rc = pai__json_parse(&t, b->data, b->len, NULL, NULL);

  pai__tree_free(t);
  return rc;
}

static int load(void *data)
{
  const pai__buf *b = data;
  json_t *root = json_loadb(b->data, b->len, 0, NULL);

  json_decref(root);
  return root != NULL ? PAI_OK : PAI_EINVAL;
}

const bench bench_json[] = {
  { "json-tree-spec", "a job spec as a tree, against json_loadb()", "spec", 4,
    setup_spec, teardown, parse, load },
  { "json-tree-page", "20 jobs as a tree, against json_loadb()", "page", 4,
    setup_page, teardown, parse, load },
  { "json-tree-list", "5,000 jobs as a tree, against json_loadb()", "list", 4,
    setup_all, teardown, parse, load },
  { NULL, NULL, NULL, 0, NULL, NULL, NULL, NULL },
};
