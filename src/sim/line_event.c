/*
 * line_event.c - what a line of a log tells, in short
 *
 * As the log writes it, it is read without a tree; else it is read as the
 * scheduler does.
 */
#include "sim/line_event.h"

#include "json/json.h"
#include "sim/replay.h"

/* A text that is read from its front. */
typedef struct front {
  const char *at, *end;
} front;

static bool word(front *f, const char *text)
{
  size_t n = strlen(text);

  if ((size_t)(f->end - f->at) < n || memcmp(f->at, text, n) != 0)
    return false;
  f->at += n;
  return true;
}

static bool number(front *f, int64_t *out)
{
  bool minus = word(f, "-");
  const char *begin = f->at;
  int64_t v = 0;

  for (; f->at < f->end && *f->at >= '0' && *f->at <= '9'; f->at++) {
    if (v > (INT64_MAX - 9) / 10)
      return false;
    v = v * 10 + (*f->at - '0');
  }
  *out = minus ? -v : v;
  return f->at != begin;
}

/* Those of which a story wants to know more than their kind. */
static const struct {
  const char *text;
  int kind;
} kinds[] = { { "decide\"", PAI__LINE_DECIDE },
              { "submit\",\"request\":{\"id\":", PAI_SCHED_SUBMIT },
              { "started\",\"id\":", PAI_SCHED_STARTED },
              { "finished\",\"id\":", PAI_SCHED_FINISHED },
              { "returned\",\"id\":", PAI_SCHED_RETURNED } };

static bool glance(pai__line_event *out, const pai__line_text *line)
{
  front f = { line->text, line->text + line->len };
  int64_t v;
  size_t i = 0;

  if (!word(&f, "{\"time\":") || !number(&f, &out->time) ||
      !word(&f, ",\"event\":\""))
    return false;
  while (i < PAI__LEN(kinds) && !word(&f, kinds[i].text))
    i++;
  if (i == PAI__LEN(kinds))
    return false;
  out->kind = kinds[i].kind;
  if (out->kind == PAI__LINE_DECIDE)
    return true;
  if (!number(&f, &v) || v <= 0)
    return false;
  out->id = (uint64_t)v;
  if (out->kind == PAI_SCHED_SUBMIT)
    return true;
  if (word(&f, ",\"instance\":")) {
    if (!number(&f, &v) || v < 0 || v > UINT32_MAX)
      return false;
    out->instance = (uint32_t)v;
  }
  if (word(&f, ",\"code\":") && !number(&f, &out->code))
    return false;
  return word(&f, "}") || word(&f, ",\"failed\":true}");
}

static int read_whole(pai__line_event *out, const pai__tree *tree,
                      const pai_alloc *alloc, pai_error **err)
{
  pai__form form = { tree, err };
  pai__line line;
  pai__arena arena;
  int rc;

  *out = (pai__line_event){ 0 };
  if (pai__tree_type(tree, 0) == PAI__MAPPING &&
      pai__tree_get(tree, 0, "snapshot") != PAI__NO_NODE)
    return PAI_OK;
  pai__arena_init(&arena, alloc);
  rc = pai__line_read(&form, &arena, &line);
  if (rc == PAI_OK) {
    out->kind = line.e.kind;
    out->time = line.e.time;
    out->id = line.e.request != NULL ? line.e.request->id : line.e.id;
    out->instance = line.e.instance;
    out->code = line.e.number;
  }
  pai_cluster_free(line.cluster);
  pai__arena_dispose(&arena);
  return rc;
}

int pai__line_event_read(pai__line_event *out, const pai__line_text *line,
                         const pai_alloc *alloc, pai_error **err)
{
  pai__json_options o = { .max_bytes = PAI__TREE_MAX_TEXT, .alloc = alloc };
  size_t n = sizeof(PAI__SNAPSHOT_BEGINS) - 1;
  pai__tree *tree;
  int rc;

  *out = (pai__line_event){ 0 };
  if (glance(out, line))
    return PAI_OK;
  *out = (pai__line_event){ 0 };
  if (line->len > n && memcmp(line->text, PAI__SNAPSHOT_BEGINS, n) == 0)
    return PAI_OK;
  rc = pai__json_parse(&tree, line->text, line->len, &o, err);
  if (rc < 0)
    return rc;
  rc = read_whole(out, tree, alloc, err);
  pai__tree_free(tree);
  return rc;
}
