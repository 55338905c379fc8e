/* yaml.c - the YAML reader against libyaml's bare events */
#include "bench.h"
#include "yaml/yaml.h"

#include <yaml.h>

static pai__buf text;

static void *setup_spec(void)
{
  pai__buf_init(&text, &pai__libc_alloc);
  bench_yaml_spec(&text);
  return pai__buf_ok(&text) ? &text : NULL;
}

static void *setup_list(void)
{
  pai__buf_init(&text, &pai__libc_alloc);
  bench_yaml_list(&text, 1000);
  return pai__buf_ok(&text) ? &text : NULL;
}

static void teardown(void *data)
{
  pai__buf_dispose(data);
}

static int parse(void *data)
{
  const pai__buf *b = data;
  pai__tree *t;
  int rc = pai__yaml_parse(&t, b->data, b->len, NULL, NULL);

  pai__tree_free(t);
  return rc;
}

int bench_yaml_events(void *data)
{
  const pai__buf *b = data;
  yaml_parser_t p;
  bool more = true;

  if (!yaml_parser_initialize(&p))
    return PAI_ENOMEM;
  yaml_parser_set_input_string(&p, (const unsigned char *)b->data, b->len);
  while (more) {
    yaml_event_t event;
    if (!yaml_parser_parse(&p, &event))
      break;
    more = event.type != YAML_STREAM_END_EVENT;
    yaml_event_delete(&event);
  }
  yaml_parser_delete(&p);
  return more ? PAI_EINVAL : PAI_OK;
}

const bench bench_yaml[] = {
  { "yaml-tree-spec", "a job spec as a tree, against libyaml's events", "spec",
    0.65, setup_spec, teardown, parse, bench_yaml_events },
  { "yaml-tree-list", "1,000 jobs as a tree, against libyaml's events", "list",
    0.65, setup_list, teardown, parse, bench_yaml_events },
  { NULL, NULL, NULL, 0, NULL, NULL, NULL, NULL },
};
