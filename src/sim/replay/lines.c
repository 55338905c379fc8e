/*
 * lines.c - reads the lines of a text in pieces, and summaries of the log's
 * lines
 *
 * Lines are read without a tree if they are written as the log writes them;
 * other lines are parsed as the scheduler parses them.
 */
#include "sim/replay/replay.h"

#include "json/json.h"

#include <inttypes.h>

enum { PIECE = 65536 }; /* least number of bytes that are read at once */

void pai__lines_init(pai__lines *l, const pai_alloc *alloc,
                     pai_read_at_cb read, void *user_data, uint64_t size)
{
  *l = (pai__lines){ .read = read, .user_data = user_data, .size = size };
  pai__buf_init(&l->here, alloc);
}

void pai__lines_dispose(pai__lines *l)
{
  pai__buf_dispose(&l->here);
}

/* --- reading ------------------------------------------------------------- */

/* Reads `more` bytes, or up to the end. */
static int add(pai__lines *l, size_t more, pai_error **err)
{
  uint64_t left = l->size - (l->from + l->here.len);

  if (more > left)
    more = (size_t)left;
  if (!pai__buf_reserve(&l->here, more)) {
    pai__buf_cut(&l->here, l->here.len);
    return pai__oom(err);
  }
  while (more != 0) {
    ptrdiff_t n = l->read(l->user_data, l->from + l->here.len,
                          l->here.data + l->here.len, more);

    if (n <= 0 || (size_t)n > more)
      return pai__fail(err, n < 0 ? (int)n : PAI_EIO,
                       "the log cannot be read at byte %" PRIu64,
                       l->from + (uint64_t)l->here.len);
    l->here.len += (size_t)n;
    more -= (size_t)n;
  }
  return PAI_OK;
}

/* Makes `here` contain the byte at `at`, if there is one. */
static int reach(pai__lines *l, uint64_t at, pai_error **err)
{
  if (at >= l->from && at < l->from + l->here.len)
    return PAI_OK;
  pai__buf_clear(&l->here);
  l->from = at;
  return add(l, PIECE, err);
}

/* Reads more bytes behind `here`, and may drop those before `at`.  Doubles the
 * size each time, so that long lines are moved rarely. */
static int extend(pai__lines *l, uint64_t at, pai_error **err)
{
  size_t gone = (size_t)(at - l->from), left = l->here.len - gone;

  if (left > PAI__TREE_MAX_TEXT)
    return pai__fail(err, PAI_ELIMIT, "a line is longer than %llu bytes",
                     (unsigned long long)PAI__TREE_MAX_TEXT);
  if (gone != 0) {
    memmove(l->here.data, l->here.data + gone, left);
    pai__buf_cut(&l->here, left);
    l->from = at;
  }
  return add(l, left > PIECE ? left : PIECE, err);
}

static bool is_all(const pai__lines *l)
{
  return l->from + l->here.len == l->size;
}

/* --- lines --------------------------------------------------------------- */

int pai__lines_next(pai__lines *l, uint64_t at, pai__line_text *line,
                    pai_error **err)
{
  size_t seen = 0;
  int rc;

  if (at >= l->size)
    return 0;
  rc = reach(l, at, err);
  while (rc == PAI_OK) {
    const char *text = l->here.data + (at - l->from), *newline;
    size_t len = l->here.len - (size_t)(at - l->from);

    newline = memchr(text + seen, '\n', len - seen);
    if (newline != NULL)
      len = (size_t)(newline - text);
    if (newline != NULL || is_all(l)) {
      *line = (pai__line_text){ .text = text,
                                .len = len,
                                .at = at,
                                .next = at + len + (newline != NULL),
                                .whole = newline != NULL };
      return 1;
    }
    seen = len;
    rc = extend(l, at, err);
  }
  return rc;
}

int pai__lines_get(pai__lines *l, uint64_t at, pai__line_text *line,
                   pai_error **err)
{
  int rc = pai__lines_next(l, at, line, err);

  while (rc == 1 && line->len == 0)
    rc = pai__lines_next(l, line->next, line, err);
  return rc;
}

/* Returns the bytes of `here` from `at` on; reads a piece if there are
 * none. */
static int next_piece(pai__lines *l, uint64_t at, const char **text,
                      size_t *len, pai_error **err)
{
  int rc = reach(l, at, err);

  *text = "";
  *len = 0;
  if (rc == PAI_OK && l->here.len != 0) {
    *text = l->here.data + (at - l->from);
    *len = l->here.len - (size_t)(at - l->from);
  }
  return rc;
}

int pai__lines_behind(pai__lines *l, uint64_t at, uint64_t *begin,
                      pai_error **err)
{
  *begin = l->size;
  while (at < l->size) {
    const char *text, *newline;
    size_t len;
    int rc = next_piece(l, at, &text, &len, err);

    if (rc < 0)
      return rc;
    newline = memchr(text, '\n', len);
    if (newline != NULL) {
      *begin = at + (uint64_t)(newline - text) + 1;
      return PAI_OK;
    }
    at += len;
  }
  return PAI_OK;
}

/* Finds the last line in a text that begins with `word` and follows a
 * newline. */
static const char *find_last(const char *text, size_t len, const char *word)
{
  size_t n = strlen(word);

  for (size_t at = len >= n ? len - n : 0; at > 0; at--)
    if (text[at - 1] == '\n' && memcmp(text + at, word, n) == 0)
      return text + at;
  return NULL;
}

int pai__lines_last(pai__lines *l, uint64_t before, const char *word,
                    uint64_t *begin, pai_error **err)
{
  size_t n = strlen(word);

  *begin = 0;
  while (before > 1) {
    uint64_t from = before > PIECE ? before - PIECE : 0;
    const char *found;
    int rc;

    /* The word may reach beyond `before`. */
    pai__buf_clear(&l->here);
    l->from = from;
    rc = add(l, (size_t)(before - from) + n - 1, err);
    if (rc < 0)
      return rc;
    found = find_last(l->here.data, l->here.len, word);
    if (found != NULL) {
      *begin = from + (uint64_t)(found - l->here.data);
      return PAI_OK;
    }
    before = from != 0 ? from + 1 : 0;
  }
  return PAI_OK;
}

int pai__lines_count(pai__lines *l, uint64_t at, uint64_t *count,
                     pai_error **err)
{
  *count = 0;
  for (uint64_t from = 0; from < at;) {
    const char *text, *end;
    size_t len;
    int rc = next_piece(l, from, &text, &len, err);

    if (rc < 0)
      return rc;
    if (len > at - from)
      len = (size_t)(at - from);
    end = text + len;
    from += len;
    while ((text = memchr(text, '\n', (size_t)(end - text))) != NULL) {
      ++*count;
      text++;
    }
  }
  return PAI_OK;
}

/* --- summary of a line --------------------------------------------------- */

/* Rest of a text that is read from the front. */
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

static front front_of(const pai__line_text *line)
{
  return (front){ line->text, line->text + line->len };
}

static int parse(pai__tree **tree, const pai__line_text *line,
                 const pai_alloc *alloc, pai_error **err)
{
  pai__json_options o = { .max_bytes = PAI__TREE_MAX_TEXT, .alloc = alloc };

  return pai__json_parse(tree, line->text, line->len, &o, err);
}

static pai__node member(const pai__tree *tree, const char *key)
{
  return pai__tree_type(tree, 0) == PAI__MAPPING ? pai__tree_get(tree, 0, key)
                                                 : PAI__NO_NODE;
}

/* --- head ---------------------------------------------------------------- */

static bool ends(const front *f)
{
  return f->at < f->end && (*f->at == ',' || *f->at == '}');
}

bool pai__line_head_glance(pai__line_head *head, const pai__line_text *line)
{
  front f = front_of(line);
  int64_t version;

  head->snapshot =
    word(&f, PAI__SNAPSHOT_BEGINS) && number(&f, &version) && ends(&f);
  if (!head->snapshot) {
    f = front_of(line);
    return word(&f, "{\"time\":") && number(&f, &head->time) && ends(&f);
  }
  return word(&f, ",\"time\":") && number(&f, &head->time) &&
         word(&f, ",\"events\":") && number(&f, &head->events) && ends(&f);
}

int pai__line_head_read(pai__line_head *head, const pai__line_text *line,
                        const pai_alloc *alloc, pai_error **err)
{
  pai__tree *tree;
  pai__node time;
  int rc;

  *head = (pai__line_head){ .events = -1 };
  if (pai__line_head_glance(head, line))
    return PAI_OK;
  rc = parse(&tree, line, alloc, err);
  if (rc < 0)
    return rc;
  head->events = -1;
  head->snapshot = member(tree, "snapshot") != PAI__NO_NODE;
  time = member(tree, "time");
  if (time != PAI__NO_NODE && pai__tree_type(tree, time) == PAI__INT)
    head->time = pai__tree_int(tree, time);
  else
    rc = pai__fail_at(err, PAI_EINVAL, (pai__pos){ 1, 1 },
                      "this is not a line of a scheduler log: it has no time");
  pai__tree_free(tree);
  return rc;
}

/* --- event --------------------------------------------------------------- */

/* Events that a timeline needs. */
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
  front f = front_of(line);
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
  pai__form form = { .tree = tree, .err = err };
  pai__line line;
  pai__arena arena;
  int rc;

  *out = (pai__line_event){ 0 };
  if (member(tree, "snapshot") != PAI__NO_NODE)
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
  front f = front_of(line);
  pai__tree *tree;
  int rc;

  *out = (pai__line_event){ 0 };
  if (glance(out, line))
    return PAI_OK;
  *out = (pai__line_event){ 0 };
  if (word(&f, PAI__SNAPSHOT_BEGINS))
    return PAI_OK;
  rc = parse(&tree, line, alloc, err);
  if (rc < 0)
    return rc;
  rc = read_whole(out, tree, alloc, err);
  pai__tree_free(tree);
  return rc;
}
