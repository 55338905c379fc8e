/* tree.c - nodes of a document, their places, and JSON pointers */
#include "base/tree.h"
#include "base/text/number.h"
#include "base/text/utf8.h"

enum {
  MARK_EVERY = 4096,
  MANY_NODES = 4096 /* enough to estimate how many there will be */
};

/* --- lines and columns -------------------------------------------------- */

static bool is_break(const char *p)
{
  return *p == '\n' || (*p == '\r' && p[1] != '\n');
}

#if defined(__GNUC__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define EVERY_BYTE(c) (UINT64_C(0x0101010101010101) * (c))

/* Sets the high bit of each byte that equals c. */
static uint64_t find_byte(uint64_t w, unsigned char c)
{
  const uint64_t low = EVERY_BYTE(0x7fu);
  uint64_t x = w ^ EVERY_BYTE(c);

  return ~(((x & low) + low) | x | low);
}

/* Counts bytes whose high bit is set; no other bits are. */
static uint32_t count_marked(uint64_t mask)
{
  return (uint32_t)(((mask >> 7) * EVERY_BYTE(1u)) >> 56);
}

/* As advance(), for eight bytes at a time; stops at bytes that need
 * advance(). */
static const char *advance_fast(pai__pos *at, const char *p, const char *end)
{
  for (; end - p >= 8; p += 8) {
    uint64_t w, breaks, chars;

    memcpy(&w, p, sizeof(w));
    if (find_byte(w, '\r') != 0)
      break;
    breaks = find_byte(w, '\n');
    chars = ~(w & ~(w << 1)) & EVERY_BYTE(0x80u);
    if (breaks != 0) {
      at->line += count_marked(breaks);
      at->column = 0;
      chars &= ~(UINT64_MAX >> __builtin_clzll(breaks));
    }
    at->column += count_marked(chars);
  }
  return p;
}
#else
static const char *advance_fast(pai__pos *at, const char *p, const char *end)
{
  (void)at;
  (void)end;
  return p;
}
#endif

/* Moves a count of lines and characters over some bytes.  *end is readable. */
static pai__pos advance(pai__pos at, const char *p, const char *end)
{
  for (p = advance_fast(&at, p, end); p < end; p++) {
    if (is_break(p)) {
      at.line++;
      at.column = 0;
    } else {
      at.column += pai__utf8_first(*p);
    }
    if (*p == '\n')
      p = advance_fast(&at, p + 1, end) - 1;
  }
  return at;
}

static bool has_bom(const char *text, size_t len)
{
  return len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0;
}

pai__pos pai__tree_pos(const pai__tree *t, size_t offset)
{
  size_t from;
  pai__pos at;

  if (offset > t->len)
    offset = t->len;
  from = offset / MARK_EVERY * MARK_EVERY;
  at = t->marks[offset / MARK_EVERY];
  if (from == 0 && has_bom(t->text, t->len))
    from = offset < 3 ? offset : 3;
  at = advance(at, t->text + from, t->text + offset);
  return (pai__pos){ at.line + 1, at.column + 1 };
}

size_t pai__tree_offset(const pai__tree *t, pai__pos pos)
{
  size_t low = 0, high = t->len / MARK_EVERY;
  const char *p, *end = t->text + t->len;
  pai__pos at;

  if (pos.line == 0 || pos.column == 0)
    return 0;
  pos.line--;
  pos.column--;
  while (low < high) { /* finds the last mark not after pos */
    size_t mid = (low + high + 1) / 2;
    const pai__pos *m = &t->marks[mid];
    if (m->line < pos.line || (m->line == pos.line && m->column <= pos.column))
      low = mid;
    else
      high = mid - 1;
  }
  p = t->text + low * MARK_EVERY;
  at = t->marks[low];
  if (low == 0 && has_bom(t->text, t->len))
    p += 3;
  for (; p < end; p++) {
    bool same_line = at.line == pos.line;
    if (same_line && ((at.column == pos.column && pai__utf8_first(*p)) ||
                      *p == '\n' || *p == '\r'))
      break;
    at = advance(at, p, p + 1);
  }
  return (size_t)(p - t->text);
}

/* --- creation ------------------------------------------------------------ */

int pai__tree_new(pai__tree **out, const pai_alloc *alloc, const char *text,
                  size_t len, pai_error **err)
{
  size_t nodes = len < MANY_NODES * 16 ? len / 16 + 8 : MANY_NODES;
  size_t nmarks = len / MARK_EVERY + 1;
  size_t block =
    sizeof(pai__tree) + nmarks * sizeof(pai__pos) + len + PAI__TREE_PAD;
  pai__tree *t;
  char *copy;

  t = pai__realloc(alloc, NULL, 0, block, 1);
  if (t == NULL)
    return pai__oom(err);
  *t = (pai__tree){ .alloc = *alloc, .len = len, .block = block };
  t->marks = (pai__pos *)(t + 1);
  copy = (char *)(t->marks + nmarks);
  if (len != 0)
    memcpy(copy, text, len);
  memset(copy + len, 0, PAI__TREE_PAD);
  t->text = copy;
  t->marks[0] = (pai__pos){ 0, 0 };
  for (size_t i = 1; i < nmarks; i++) {
    const char *end = copy + i * MARK_EVERY;
    const char *from = end - MARK_EVERY;
    if (i == 1 && has_bom(text, len))
      from += 3;
    t->marks[i] = advance(t->marks[i - 1], from, end);
  }
  t->nodes = pai__realloc(alloc, NULL, 0, nodes, sizeof(*t->nodes));
  if (t->nodes == NULL) {
    pai__tree_free(t);
    return pai__oom(err);
  }
  t->cap = nodes;
  *out = t;
  return PAI_OK;
}

void pai__tree_free(pai__tree *t)
{
  pai_alloc alloc;

  if (t == NULL)
    return;
  alloc = t->alloc;
  pai__free(&alloc, t->nodes, t->cap * sizeof(*t->nodes));
  pai__free(&alloc, t->strings, t->strings_cap);
  pai__free(&alloc, t->side, t->side_cap * sizeof(*t->side));
  pai__free(&alloc, t, t->block);
}

static void *copy_list(const pai_alloc *a, const void *list, size_t len,
                       size_t *cap, size_t size)
{
  void *copy = len > 0 ? pai__realloc(a, NULL, 0, len, size) : NULL;

  *cap = copy != NULL ? len : 0;
  if (copy != NULL)
    memcpy(copy, list, len * size);
  return copy;
}

int pai__tree_copy(pai__tree **out, const pai__tree *t)
{
  const pai_alloc *a = &t->alloc;
  pai__tree *copy;
  int rc = pai__tree_new(out, a, t->text, t->len, NULL);

  if (rc < 0)
    return rc;
  copy = *out;
  pai__free(a, copy->nodes, copy->cap * sizeof(*copy->nodes));
  copy->nodes =
    copy_list(a, t->nodes, t->count, &copy->cap, sizeof(*copy->nodes));
  copy->strings =
    copy_list(a, t->strings, t->strings_len, &copy->strings_cap, 1);
  copy->side =
    copy_list(a, t->side, t->side_len, &copy->side_cap, sizeof(*copy->side));
  copy->count = copy->cap;
  copy->strings_len = copy->strings_cap;
  copy->side_len = copy->side_cap;
  copy->syntax = t->syntax;
  if (copy->count == t->count && copy->strings_len == t->strings_len &&
      copy->side_len == t->side_len)
    return PAI_OK;
  pai__tree_free(copy);
  *out = NULL;
  return PAI_ENOMEM;
}

int pai__tree_grow(pai__tree *t, size_t start)
{
  size_t cap = t->cap + t->cap / 2 + 8, want = 0, most = 4 * t->cap;
  pai__tree_node *grown;

  /* Nodes come in the order of their starts, so the part read so far gives an
   * estimate of their number.  It is limited to a usual density. */
  if (start > 1024)
    want = (size_t)((double)t->count / (double)start * (double)t->len);
  want += want / 32 + 8;
  if (most < t->len / 6)
    most = t->len / 6;
  if (want > t->cap + t->cap / 8)
    cap = want < most ? want : most;
  if (cap >= PAI__NO_NODE)
    return PAI_ENOMEM;
  grown = pai__realloc(&t->alloc, t->nodes, t->cap, cap, sizeof(*grown));
  if (grown == NULL)
    return PAI_ENOMEM;
  t->nodes = grown;
  t->cap = cap;
  return PAI_OK;
}

int pai__tree_reserve(pai__tree *t, size_t len)
{
  size_t want = t->strings_len + len + 1;
  size_t cap = t->strings_cap + t->strings_cap / 2;
  char *grown;

  if (want <= t->strings_cap)
    return PAI_OK;
  if (want > UINT32_MAX)
    return PAI_ENOMEM;
  if (cap < want)
    cap = want < 64 ? 64 : want;
  grown = pai__realloc(&t->alloc, t->strings, t->strings_cap, cap, 1);
  if (grown == NULL)
    return PAI_ENOMEM;
  t->strings = grown;
  t->strings_cap = cap;
  return PAI_OK;
}

int pai__tree_store(pai__tree *t, uint32_t *off, const char *s, size_t len)
{
  char *to;

  if (pai__tree_reserve(t, len) < 0)
    return PAI_ENOMEM;
  to = t->strings + t->strings_len;
  if (len != 0)
    memcpy(to, s, len);
  to[len] = '\0';
  *off = (uint32_t)t->strings_len;
  t->strings_len += len + 1;
  return PAI_OK;
}

int pai__tree_close(pai__tree *t, pai__node n, uint32_t end, int duplicates,
                    pai_error **err)
{
  pai__tree_node *p = &t->nodes[n];

  p->skip = (uint32_t)t->count;
  p->end = end;
  if (p->type == PAI__MAPPING && p->u.c.count != 0)
    return pai__tree_close_mapping(t, n, p->u.c.count / 2, duplicates, err);
  return PAI_OK;
}

/* Reallocates a shorter block; keeps the longer one if that fails. */
static void *trim(const pai_alloc *a, void *p, size_t *cap, size_t len,
                  size_t size)
{
  void *shorter;

  if (len == 0 || (*cap - len) * size < 256)
    return p;
  shorter = pai__realloc(a, p, *cap, len, size);
  if (shorter == NULL)
    return p;
  *cap = len;
  return shorter;
}

void pai__tree_trim(pai__tree *t)
{
  t->nodes = trim(&t->alloc, t->nodes, &t->cap, t->count, sizeof(*t->nodes));
  t->strings = trim(&t->alloc, t->strings, &t->strings_cap, t->strings_len, 1);
  t->side =
    trim(&t->alloc, t->side, &t->side_cap, t->side_len, sizeof(*t->side));
}

/* --- values and pointers ------------------------------------------------ */

bool pai__tree_whole(const pai__tree *t, pai__node n, int64_t *value)
{
  const pai__tree_node *p = pai__tree_at(t, n);

  if (p->type == PAI__INT) {
    *value = p->u.i;
    return true;
  }
  /* 2^63 is exact as a double; NaN fails both comparisons. */
  if (p->type != PAI__FLOAT ||
      !(p->u.f >= -9223372036854775808.0 && p->u.f < 9223372036854775808.0))
    return false;
  *value = (int64_t)p->u.f;
  return (double)*value == p->u.f;
}

void pai__pointer_add(pai__buf *out, const char *token, size_t len)
{
  size_t done = 0;

  pai__buf_char(out, '/');
  for (size_t i = 0; i < len; i++) {
    if (token[i] != '~' && token[i] != '/')
      continue;
    pai__buf_add(out, token + done, i - done);
    pai__buf_str(out, token[i] == '~' ? "~0" : "~1");
    done = i + 1;
  }
  pai__buf_add(out, token + done, len - done);
}

/* An entry of a collection: its key, or the item, and its value. */
typedef struct entry_at {
  pai__node key, child;
  uint64_t index;
} entry_at;

/* Finds the entry of collection `at` that contains n, beginning at the trail's
 * entry. */
static entry_at find_entry(const pai__tree *t, pai__node at, pai__node n,
                           size_t level, pai__trail *trail)
{
  bool keys = t->nodes[at].type == PAI__MAPPING;
  entry_at e = { at + 1, keys ? t->nodes[at + 1].skip : at + 1, 0 };

  if (level < trail->depth && trail->levels[level].in == at &&
      trail->levels[level].key <= n)
    e = (entry_at){ trail->levels[level].key, trail->levels[level].child,
                    trail->levels[level].index };
  while (t->nodes[e.child].skip <= n) {
    e.key = e.child = t->nodes[e.child].skip;
    if (keys)
      e.child = t->nodes[e.key].skip;
    e.index++;
  }
  if (level < PAI__TRAIL) {
    trail->levels[level].in = at;
    trail->levels[level].key = e.key;
    trail->levels[level].child = e.child;
    trail->levels[level].index = e.index;
    if (trail->depth <= level)
      trail->depth = level + 1;
  }
  return e;
}

void pai__tree_pointer_along(const pai__tree *t, pai__node n, pai__buf *out,
                             pai__trail *trail)
{
  pai__node at = 0;
  bool merged = false; /* in the list of a merge key, which has no index */

  for (size_t level = 0; at != n && t->nodes[at].skip > at + 1; level++) {
    entry_at e = find_entry(t, at, n, level, trail);

    if (t->nodes[at].type == PAI__MAPPING) {
      size_t len;
      const char *text = trail->show_key != NULL
                           ? trail->show_key(trail->user_data, e.key, &len)
                           : pai__tree_str(t, e.key, &len);
      bool merge = (t->nodes[e.key].flags & PAI__IS_MERGE) != 0;
      if (!merge)
        pai__pointer_add(out, text, len);
      merged = merge && t->nodes[e.child].type == PAI__SEQUENCE;
    } else {
      char digits[PAI__DOUBLE_TEXT];
      size_t len = pai__format_int(digits, (int64_t)e.index);
      if (!merged)
        pai__pointer_add(out, digits, len);
      merged = false;
    }
    if (n < e.child) /* n is the key, or its original non-string value */
      return;
    at = e.child;
  }
}

void pai__tree_pointer(const pai__tree *t, pai__node n, pai__buf *out)
{
  pai__trail trail;

  trail.depth = 0;
  trail.show_key = NULL;
  pai__tree_pointer_along(t, n, out, &trail);
}

/* Returns the item of a sequence for a token. */
static pai__node item(const pai__tree *t, pai__node n, const char *token,
                      size_t len)
{
  uint32_t index = 0;
  pai__tree_walk w;
  pai__node child;

  if (len == 0 || len > 9 || (token[0] == '0' && len > 1))
    return PAI__NO_NODE;
  for (size_t i = 0; i < len; i++) {
    if (token[i] < '0' || token[i] > '9')
      return PAI__NO_NODE;
    index = index * 10 + (uint32_t)(token[i] - '0');
  }
  for (w = pai__tree_iter(t, n); (child = pai__tree_next(&w)) != PAI__NO_NODE;)
    if (index-- == 0)
      return child;
  return PAI__NO_NODE;
}

/* Returns whether an escaped token equals this key. */
static bool same_token(const char *token, size_t len, const char *key,
                       size_t key_len)
{
  size_t k = 0;

  for (size_t i = 0; i < len; i++, k++) {
    char c = token[i];
    if (c == '~') {
      if (++i == len || (token[i] != '0' && token[i] != '1'))
        return false;
      c = token[i] == '0' ? '~' : '/';
    }
    if (k == key_len || key[k] != c)
      return false;
  }
  return k == key_len;
}

/* Returns the value for a token. */
static pai__node entry(const pai__tree *t, pai__node n, const char *token,
                       size_t len)
{
  pai__tree_walk w;
  pai__node key;

  if (memchr(token, '~', len) == NULL) {
    key = pai__tree_find(t, n, token, len);
    return key == PAI__NO_NODE ? key : pai__tree_value(t, key);
  }
  for (w = pai__tree_iter(t, n); (key = pai__tree_next(&w)) != PAI__NO_NODE;) {
    size_t key_len;
    const char *text = pai__tree_str(t, key, &key_len);
    if (same_token(token, len, text, key_len))
      return pai__tree_value(t, key);
  }
  return PAI__NO_NODE;
}

pai__node pai__tree_resolve(const pai__tree *t, const char *pointer)
{
  pai__node n = 0;

  while (*pointer != '\0' && n != PAI__NO_NODE) {
    const char *token = pointer + 1;
    size_t len;

    if (*pointer != '/')
      return PAI__NO_NODE;
    len = strcspn(token, "/");
    if (pai__tree_type(t, n) == PAI__SEQUENCE)
      n = item(t, n, token, len);
    else
      n = entry(t, n, token, len);
    pointer = token + len;
  }
  return n;
}
