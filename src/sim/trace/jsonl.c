/* jsonl.c - JSON lines, our own form of trace: keys, and the tree parser */
#include "sim/trace/jsonl.h"

#include "base/findings.h"
#include "base/text/utf8.h"
#include "json/json.h"
#include "resource/cluster/read.h"

#include <inttypes.h>

/* --- the keys ------------------------------------------------------------ */

#define KEY(name, kind, in, type, m)                                          \
  {                                                                           \
    name, sizeof(name) - 1, PAI__KEY_##kind, PAI__IN_##in, offsetof(type, m), \
      0, INT64_MAX                                                            \
  }
#define RANGE(name, in, type, m, low, high)                                  \
  {                                                                          \
    name, sizeof(name) - 1, PAI__KEY_WHOLE, PAI__IN_##in, offsetof(type, m), \
      low, high                                                              \
  }
#define TEXT(name, what) KEY(name, TEXT, DRAFT, pai__draft, texts[what])
#define WANT(name, m, high) RANGE(name, WANT, pai__draft_want, m, 0, high)
#define WANT_KEYS                                                             \
  KEY("type", TEXT, WANT, pai__draft_want, type),                             \
    WANT("tasks", tasks, UINT32_MAX),                                         \
    WANT("min_tasks", min_tasks, UINT32_MAX), WANT("gpus", gpus, UINT32_MAX), \
    WANT("cpus", cpus, UINT32_MAX),                                           \
    KEY("memory", BYTES, WANT, pai__draft_want, memory),                      \
    WANT("ports", ports, UINT32_MAX)
#define ATTEMPT_KEYS                                              \
  KEY("duration", SECONDS, ATTEMPT, pai_trace_attempt, duration), \
    RANGE("code", ATTEMPT, pai_trace_attempt, code, INT32_MIN, INT32_MAX)

/* PAI__SEEN_* are indexes into this table. */
static const pai__key line_keys[] = {
  KEY("time", SECONDS, DRAFT, pai__draft, time),
  KEY("id", ID, DRAFT, pai__draft, texts[PAI__TEXT_ID]),
  TEXT("name", PAI__TEXT_NAME),
  TEXT("user", PAI__TEXT_USER),
  TEXT("vc", PAI__TEXT_VC),
  RANGE("priority", DRAFT, pai__draft, priority, INT32_MIN, INT32_MAX),
  WANT_KEYS,
  ATTEMPT_KEYS,
  KEY("estimate", SECONDS, DRAFT, pai__draft, estimate),
  KEY("limit", SECONDS, DRAFT, pai__draft, limit),
  KEY("patience", SECONDS, DRAFT, pai__draft, patience),
  KEY("started", SECONDS, DRAFT, pai__draft, started),
  RANGE("retries", DRAFT, pai__draft, retries, 0, UINT32_MAX),
  TEXT("pin", PAI__TEXT_PIN),
  TEXT("within", PAI__TEXT_WITHIN),
  KEY("wants", WANTS, DRAFT, pai__draft, wants),
  KEY("attempts", ATTEMPTS, DRAFT, pai__draft, attempts),
  KEY("after", AFTER, DRAFT, pai__draft, after),
  KEY("kill", ID, DRAFT, pai__draft, texts[PAI__TEXT_ID]),
  TEXT("node", PAI__TEXT_NODE),
  KEY("state", STATE, DRAFT, pai__draft, state),
  TEXT("why", PAI__TEXT_WHY),
};
static const pai__key want_keys[] = {
  KEY("name", TEXT, WANT, pai__draft_want, name),
  WANT_KEYS,
};
static const pai__key attempt_keys[] = { ATTEMPT_KEYS };

const pai__keys pai__line_keys = { "a record", line_keys,
                                   PAI__LEN(line_keys) };
const pai__keys pai__want_keys = { "an item of \"wants\"", want_keys,
                                   PAI__LEN(want_keys) };
const pai__keys pai__attempt_keys = { "an attempt", attempt_keys,
                                      PAI__LEN(attempt_keys) };
const char *const pai__node_words[] = { "up", "drain", "sick" };
const pai__draft_want pai__usual_want = { .tasks = 1 };

static void begin_line(pai__jsonl_line *line, pai_trace *t)
{
  pai__draft_clear(&t->draft);
  line->want = pai__usual_want;
  line->attempt = (pai_trace_attempt){ 0, 0 };
  line->seen = 0;
}

/* --- tree parser --------------------------------------------------------- */

typedef struct pai__slow {
  const pai__tree *tree;
  pai_trace *t;
  pai_error **err;
} pai__slow;

static uint32_t line_of(const pai_trace *t)
{
  return t->source.line < UINT32_MAX ? (uint32_t)t->source.line : UINT32_MAX;
}

static int fail_at(const pai__slow *s, pai__node at, const char *fmt, ...)
  PAI__PRINTF(3, 4);

static int fail_at(const pai__slow *s, pai__node at, const char *fmt, ...)
{
  pai__pos pos = pai__tree_where(s->tree, at);
  pai__buf text;
  va_list ap;

  pos.line = line_of(s->t);
  pai__buf_init(&text, &s->t->alloc);
  va_start(ap, fmt);
  pai__buf_vprintf(&text, fmt, ap);
  va_end(ap);
  if (pai__buf_ok(&text))
    (void)pai__fail_at(s->err, PAI_EINVAL, pos, "%s", pai__buf_text(&text));
  else
    (void)pai__oom(s->err);
  pai__buf_dispose(&text);
  return pai_error_code(*s->err);
}

static int unknown_key(const pai__slow *s, const pai__keys *keys, pai__node at)
{
  char shown[PAI__EXCERPT];
  pai__buf list;
  size_t len;
  const char *name = pai__tree_str(s->tree, at, &len);
  pai__word word = pai__word_of(name, len);
  int rc = fail_at(s, at, "%s has no \"%s\"", keys->what,
                   pai__excerpt(shown, name, len));

  for (uint32_t i = 0; i < keys->count; i++) {
    pai__word key = pai__word_of(keys->list[i].key, keys->list[i].len);

    if (pai__word_like(&word, &key)) {
      pai__error_help(s->err, "did you mean \"%s\"?", keys->list[i].key);
      return rc;
    }
  }
  pai__buf_init(&list, &s->t->alloc);
  for (uint32_t i = 0; i < keys->count; i++)
    pai__buf_printf(&list, "%s%s", i > 0 ? ", " : "", keys->list[i].key);
  if (pai__buf_ok(&list))
    pai__error_help(s->err, "it may have: %s", pai__buf_text(&list));
  pai__buf_dispose(&list);
  return rc;
}

static pai__slice source_of(const pai__slow *s, pai__node n)
{
  const pai__tree_node *node = pai__tree_at(s->tree, n);

  return (pai__slice){ s->tree->text + node->start,
                       (size_t)(node->end - node->start) };
}

static int read_text(const pai__slow *s, const pai__key *key, pai__node n,
                     pai__slice *out)
{
  int type = pai__tree_type(s->tree, n);

  if (key->kind == PAI__KEY_ID && type == PAI__INT) {
    *out = source_of(s, n);
    return PAI_OK;
  }
  if (type != PAI__STRING)
    return fail_at(s, n, "\"%s\" is a string", key->key);
  out->s = pai__tree_str(s->tree, n, &out->len);
  if (strlen(out->s) != out->len)
    return fail_at(s, n, "\"%s\" has a NUL in it", key->key);
  return PAI_OK;
}

static int read_whole(const pai__slow *s, const pai__key *key, pai__node n,
                      void *to)
{
  int64_t value;
  uint32_t narrow;

  if (pai__tree_type(s->tree, n) != PAI__INT)
    return fail_at(s, n, "\"%s\" is a whole number", key->key);
  value = pai__tree_int(s->tree, n);
  if (value < key->low || value > key->high)
    return fail_at(s, n,
                   "\"%s\" is from %" PRId64 " to %" PRId64 ", not %" PRId64,
                   key->key, key->low, key->high, value);
  narrow = (uint32_t)value;
  memcpy(to, &narrow, sizeof(narrow));
  return PAI_OK;
}

static int read_seconds(const pai__slow *s, const pai__key *key, pai__node n,
                        pai_time *to)
{
  int type = pai__tree_type(s->tree, n);
  pai__slice text = source_of(s, n);

  if ((type != PAI__INT && type != PAI__FLOAT) ||
      !pai__seconds_read(text.s, text.len, to))
    return fail_at(s, n, "\"%s\" is a number of seconds, as 3600 or 0.5",
                   key->key);
  return PAI_OK;
}

static int read_bytes(const pai__slow *s, const pai__key *key, pai__node n,
                      uint64_t *to)
{
  int type = pai__tree_type(s->tree, n);
  pai__slice text = source_of(s, n);

  if (type == PAI__STRING)
    text.s = pai__tree_str(s->tree, n, &text.len);
  if ((type != PAI__STRING && type != PAI__INT) ||
      !pai__size_parse(to, text.s, text.len))
    return fail_at(s, n, "\"%s\" is a number of bytes, or as \"64G\"",
                   key->key);
  return PAI_OK;
}

static int read_state(const pai__slow *s, pai__node n, int *to)
{
  if (pai__tree_type(s->tree, n) == PAI__STRING)
    for (size_t i = 0; i <= PAI_NODE_SICK; i++)
      if (strcmp(pai__tree_str(s->tree, n, NULL), pai__node_words[i]) == 0) {
        *to = (int)i;
        return PAI_OK;
      }
  return fail_at(s, n, "\"state\" is \"up\", \"drain\" or \"sick\"");
}

static int read_object(const pai__slow *s, const pai__keys *keys, pai__node n,
                       void *const in[PAI__INS], uint32_t *seen);

static int read_item(const pai__slow *s, const pai__key *key, pai__node n)
{
  pai__draft_want want = pai__usual_want;
  pai_trace_attempt a = { 0, 0 };
  pai__key id = *key;
  pai__slice text = { NULL, 0 };
  void *in[PAI__INS] = { NULL, &want, &a };
  uint32_t seen = 0;
  int rc;

  if (key->kind == PAI__KEY_AFTER) {
    id.kind = PAI__KEY_ID;
    rc = read_text(s, &id, n, &text);
    pai__draft_add_after(s->t, text);
    return rc;
  }
  rc = read_object(
    s, key->kind == PAI__KEY_WANTS ? &pai__want_keys : &pai__attempt_keys, n,
    in, &seen);
  if (key->kind == PAI__KEY_WANTS)
    pai__draft_add_want(s->t, &want);
  else
    pai__draft_add_attempt(s->t, a.duration, a.code);
  return rc;
}

static int read_list(const pai__slow *s, const pai__key *key, pai__node n)
{
  pai__tree_walk walk;
  int rc = PAI_OK;

  if (pai__tree_type(s->tree, n) != PAI__SEQUENCE)
    return fail_at(s, n, "\"%s\" is a list", key->key);
  walk = pai__tree_iter(s->tree, n);
  while (rc == PAI_OK && (n = pai__tree_next(&walk)) != PAI__NO_NODE)
    rc = read_item(s, key, n);
  return rc;
}

static int read_value(const pai__slow *s, const pai__key *key, pai__node n,
                      void *to)
{
  switch (key->kind) {
  case PAI__KEY_SECONDS: return read_seconds(s, key, n, to);
  case PAI__KEY_TEXT:
  case PAI__KEY_ID: return read_text(s, key, n, to);
  case PAI__KEY_WHOLE: return read_whole(s, key, n, to);
  case PAI__KEY_BYTES: return read_bytes(s, key, n, to);
  case PAI__KEY_STATE: return read_state(s, n, to);
  default: return read_list(s, key, n);
  }
}

static int read_object(const pai__slow *s, const pai__keys *keys, pai__node n,
                       void *const in[PAI__INS], uint32_t *seen)
{
  pai__tree_walk walk;
  pai__node key;
  int rc = PAI_OK;

  if (pai__tree_type(s->tree, n) != PAI__MAPPING)
    return fail_at(s, n, "%s is an object", keys->what);
  walk = pai__tree_iter(s->tree, n);
  while (rc == PAI_OK && (key = pai__tree_next(&walk)) != PAI__NO_NODE) {
    size_t len;
    const char *name = pai__tree_str(s->tree, key, &len);
    uint32_t i = 0;

    while (i < keys->count && (keys->list[i].len != len ||
                               memcmp(keys->list[i].key, name, len) != 0))
      i++;
    if (i == keys->count) {
      rc = unknown_key(s, keys, key);
    } else {
      *seen |= 1u << i;
      rc = read_value(s, &keys->list[i], pai__tree_value(s->tree, key),
                      (char *)in[keys->list[i].in] + keys->list[i].offset);
    }
  }
  return rc;
}

/* --- kinds of lines ------------------------------------------------------ */

enum {
  WANT_SEEN = PAI__SEEN_TYPE | PAI__SEEN_TASKS | PAI__SEEN_MIN_TASKS |
              PAI__SEEN_GPUS | PAI__SEEN_CPUS | PAI__SEEN_MEMORY |
              PAI__SEEN_PORTS,
  ATTEMPT_SEEN = PAI__SEEN_DURATION | PAI__SEEN_CODE,
  NODE_SEEN = PAI__SEEN_NODE | PAI__SEEN_STATE,
  NODE_MAY = NODE_SEEN | PAI__SEEN_TIME | PAI__SEEN_WHY,
  KILL_MAY = PAI__SEEN_KILL | PAI__SEEN_TIME
};

static const char *bad_job(uint32_t seen)
{
  if ((seen & (NODE_MAY & ~(uint32_t)PAI__SEEN_TIME)) != 0)
    return "a line for a node has \"node\", \"state\" and \"why\", and no key "
           "of a job";
  if ((seen & PAI__SEEN_WANTS) != 0 && (seen & WANT_SEEN) != 0)
    return "a job has either \"wants\" or keys such as \"gpus\" and \"tasks\"";
  if ((seen & PAI__SEEN_ATTEMPTS) != 0 && (seen & ATTEMPT_SEEN) != 0)
    return "a job has either \"attempts\" or \"duration\" and \"code\"";
  if ((seen & (PAI__SEEN_ATTEMPTS | PAI__SEEN_DURATION)) == 0)
    return "a job needs \"duration\" or \"attempts\"";
  return NULL;
}

/* Finds the kind of the line.  Returns what is wrong with it as a whole, or
 * NULL. */
static const char *bad_line(uint32_t seen, int *kind)
{
  bool is_node = (seen & NODE_SEEN) == NODE_SEEN;

  if ((seen & PAI__SEEN_TIME) == 0)
    return "a record needs \"time\"";
  if (is_node && (seen & ~(uint32_t)NODE_MAY) == 0) {
    *kind = PAI_RECORD_NODE;
    return NULL;
  }
  if ((seen & PAI__SEEN_KILL) == 0)
    return bad_job(seen);
  *kind = PAI_RECORD_KILL;
  return (seen & ~(uint32_t)KILL_MAY) == 0
           ? NULL
           : "a line with \"kill\" may only have \"time\" beside it";
}

static int put_line(pai_trace *t, const pai__jsonl_line *line, pai_error **err)
{
  const char *why = bad_line(line->seen, &t->draft.kind);

  if (why != NULL)
    return pai__trace_skip(t, t->source.line, err, "%s", why);
  if (t->draft.kind == PAI_RECORD_JOB && (line->seen & PAI__SEEN_WANTS) == 0)
    pai__draft_add_want(t, &line->want);
  if (t->draft.kind == PAI_RECORD_JOB &&
      (line->seen & PAI__SEEN_ATTEMPTS) == 0)
    pai__draft_add_attempt(t, line->attempt.duration, line->attempt.code);
  return pai__trace_put(t, t->source.line, err);
}

/* --- reading ------------------------------------------------------------- */

static int read_slowly(pai_trace *t, pai__jsonl_line *line, const char *text,
                       size_t len, pai_error **err)
{
  const pai__json_options opts = { .alloc = &t->alloc };
  pai_error *why = NULL;
  pai__tree *tree;
  pai__slow s = { NULL, t, &why };
  void *in[PAI__INS] = { &t->draft, &line->want, &line->attempt };
  int rc;

  begin_line(line, t);
  rc = pai__json_parse(&tree, text, len, &opts, &why);
  if (rc < 0) {
    pai__pos pos = { line_of(t), pai_error_column(why) };
    pai_error *placed = NULL;

    if (rc == PAI_ENOMEM)
      return pai__trace_refuse(t, t->source.line, why, err);
    (void)pai__fail_at(&placed, PAI_EINVAL, pos, "%s", pai_error_message(why));
    pai_error_free(why);
    return pai__trace_refuse(t, t->source.line, placed, err);
  }
  s.tree = tree;
  rc = read_object(&s, &pai__line_keys, 0, in, &line->seen);
  rc = rc < 0 ? pai__trace_refuse(t, t->source.line, why, err)
              : put_line(t, line, err);
  pai__tree_free(tree);
  return rc;
}

static bool is_blank(const char *text, size_t len)
{
  for (size_t i = 0; i < len; i++)
    if (text[i] != ' ' && text[i] != '\t')
      return false;
  return true;
}

int pai__jsonl_read(pai_trace *t, pai_error **err)
{
  pai__jsonl_line line;
  char *text;
  size_t len;
  int rc = pai__source_line(&t->source, &text, &len, err);

  if (rc <= 0 || is_blank(text, len))
    return rc;
  text[len] = '\0';
  begin_line(&line, t);
  rc = pai__jsonl_scan(&line, text, len, t)
         ? put_line(t, &line, err)
         : read_slowly(t, &line, text, len, err);
  return rc < 0 ? rc : 1;
}

int pai__jsonl_begin(pai_trace *t, pai_error **err)
{
  pai__habits *habits = pai__zalloc(&t->alloc, sizeof(*habits));

  t->state = habits;
  return habits != NULL ? PAI_OK : pai__oom(err);
}

void pai__jsonl_end(pai_trace *t)
{
  pai__free(&t->alloc, t->state, sizeof(pai__habits));
  t->state = NULL;
}
