/*
 * allocation_read.c - allocation sets: parse text, write text and JSON
 *
 * Nodes may come in any order, so shares are collected as they come and sorted
 * at the end.  The start of each is kept for the message about a duplicate
 * node.
 */
#include "base/text/utf8.h"
#include "json/writer.h"
#include "resource/allocation/allocation.h"

#include <inttypes.h>
#include <stdlib.h>

enum { SCRATCH = PAI__BITS_WORDS(PAI_ALLOCATION_PORTS) };

/* A share, and the place of its node's name. */
typedef struct origin {
  uint32_t node;
  size_t share, at;
} origin;

typedef struct reader {
  const char *text;
  size_t len, at;
  pai_allocation *set;
  origin *origins; /* of each share */
  size_t count, cap;
  pai_error **err;
  uint64_t words[SCRATCH]; /* for one list; 0 when unused */
} reader;

/* --- places ------------------------------------------------------------- */

static pai__pos place(const reader *r, size_t at)
{
  pai__pos pos = { 1, 1 };

  for (size_t i = 0; i < at && i < r->len; i++) {
    if (r->text[i] == '\n')
      pos = (pai__pos){ pos.line + 1, 1 };
    else if (pai__utf8_first(r->text[i]))
      pos.column++;
  }
  return pos;
}

/* Returns the word at a place, for a message. */
static const char *word_at(const reader *r, size_t at, char out[PAI__EXCERPT])
{
  size_t end = at;

  while (end < r->len && memchr(" \t\r\n:;,", r->text[end], 8) == NULL)
    end++;
  if (end == at && at < r->len)
    end++;
  if (end == at)
    return "the end";
  return pai__excerpt(out, r->text + at, end - at);
}

static int expected(const reader *r, size_t at, const char *what)
{
  char word[PAI__EXCERPT];

  if (at == r->len)
    return pai__fail_at(r->err, PAI_EINVAL, place(r, at),
                        "the text ends where %s is expected", what);
  return pai__fail_at(r->err, PAI_EINVAL, place(r, at),
                      "expected %s, not '%s'", what, word_at(r, at, word));
}

/* --- words and numbers -------------------------------------------------- */

static void skip_blanks(reader *r)
{
  while (r->at < r->len && memchr(" \t\r", r->text[r->at], 3) != NULL)
    r->at++;
}

/* Skips separators of nodes. */
static void skip_ends(reader *r)
{
  while (r->at < r->len && memchr(" \t\r\n;", r->text[r->at], 5) != NULL)
    r->at++;
}

static bool at_end_of_node(const reader *r)
{
  return r->at == r->len || r->text[r->at] == '\n' || r->text[r->at] == ';';
}

static bool is_letter(char c)
{
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Skips a word if it is next; returns false if it is not. */
static bool skip_word(reader *r, const char *word)
{
  size_t n = strlen(word);

  if (r->len - r->at < n || memcmp(r->text + r->at, word, n) != 0 ||
      (r->len - r->at > n && is_letter(r->text[r->at + n])))
    return false;
  r->at += n;
  return true;
}

static bool skip_char(reader *r, char c)
{
  if (r->at == r->len || r->text[r->at] != c)
    return false;
  r->at++;
  return true;
}

static bool is_digit(const reader *r)
{
  return r->at < r->len && r->text[r->at] >= '0' && r->text[r->at] <= '9';
}

/* Reads a number up to a limit, which is far below 2^60. */
static int read_number(reader *r, uint64_t limit, const char *what,
                       uint64_t *out)
{
  size_t start = r->at;
  char word[PAI__EXCERPT];
  uint64_t v = 0;

  if (!is_digit(r))
    return expected(r, r->at, what);
  for (; is_digit(r); r->at++) {
    v = v * 10 + (uint64_t)(r->text[r->at] - '0');
    if (v > limit)
      return pai__fail_at(r->err, PAI_ELIMIT, place(r, start),
                          "%s '%s' is too large: the largest that can be is "
                          "%" PRIu64,
                          what, word_at(r, start, word), limit);
  }
  *out = v;
  return PAI_OK;
}

/* --- what is on a node -------------------------------------------------- */

/* Reads a list into the scratch words, and counts the used words in *n. */
static int read_list(reader *r, int kind, size_t *n)
{
  size_t end = r->at;
  char word[PAI__EXCERPT];
  pai__bits_fault fault;
  uint32_t limit;
  const char *name = pai__allocation_kind(kind, &limit);
  int rc;

  while (end < r->len && (memchr("0123456789,-", r->text[end], 12) != NULL))
    end++;
  if (end == r->at)
    return expected(r, r->at, "a list of numbers, as 0-3,7,");
  rc = pai__bits_read_list(r->words, n, limit, r->text + r->at, end - r->at,
                           &fault);
  if (rc == PAI_OK) {
    r->at = end;
    return PAI_OK;
  }
  if (rc == PAI_ELIMIT)
    return pai__fail_at(r->err, rc, place(r, r->at + fault.at),
                        "%s '%s' is too large: the last that can be is "
                        "%" PRIu32,
                        name, word_at(r, r->at + fault.at, word), limit - 1);
  return pai__fail_at(r->err, rc, place(r, r->at + fault.at), "%s '%s': %s",
                      name, pai__excerpt(word, r->text + r->at, end - r->at),
                      fault.what);
}

/* Allocates a block of words and sets *at to its offset. */
static int make_block(reader *r, size_t words, size_t *at)
{
  pai__set_room room = { 0, words };

  if (pai__allocation_reserve(r->set, room) < 0)
    return pai__oom(r->err);
  *at = pai__allocation_block(r->set, words);
  return PAI_OK;
}

static int read_bits(reader *r, int kind, unsigned k)
{
  pai__set_share *s = &r->set->shares[r->set->len - 1];
  size_t n, at = 0;
  int rc = read_list(r, kind, &n);

  if (rc < 0)
    return rc;
  if (n > 1) {
    rc = make_block(r, n, &at);
    if (rc == PAI_OK)
      memcpy(r->set->pool + at, r->words, n * sizeof(*r->words));
  }
  if (rc == PAI_OK) {
    s->bits[k] = n > 1 ? at : r->words[0];
    s->words[k] = (uint8_t)n;
  }
  memset(r->words, 0, n * sizeof(*r->words));
  return rc;
}

/* Converts a bit set to ranges of ports; returns their number. */
static size_t list_ranges(const uint64_t *words, size_t n, uint32_t *out)
{
  uint32_t first = 0, last = 0, from = 0;
  size_t count = 0;

  for (; pai__bits_run(words, n, from, &first, &last); from = last + 1) {
    if (out != NULL)
      out[count] = pai__port_range(first, last);
    count++;
  }
  return count;
}

static int read_ports(reader *r)
{
  pai__set_share *s = &r->set->shares[r->set->len - 1];
  size_t n, at = 0, ranges;
  int rc = read_list(r, PAI_ALLOCATION_PORT, &n);

  if (rc < 0)
    return rc;
  ranges = list_ranges(r->words, n, NULL);
  if (ranges <= PAI__RANGES_HERE) {
    (void)list_ranges(r->words, n, s->ports);
  } else {
    rc = make_block(r, pai__range_words(ranges), &at);
    if (rc == PAI_OK) {
      (void)list_ranges(r->words, n, (uint32_t *)(void *)(r->set->pool + at));
      s->ports[0] = (uint32_t)at;
    }
  }
  if (rc == PAI_OK)
    s->ranges = (uint16_t)ranges;
  memset(r->words, 0, n * sizeof(*r->words));
  return rc;
}

static int read_memory(reader *r)
{
  static const char units[] = "KMGT";
  size_t start = r->at;
  char word[PAI__EXCERPT];
  const char *unit;
  uint64_t v = 0;
  unsigned shift = 0;
  int rc =
    read_number(r, PAI_ALLOCATION_MAX_MEMORY, "an amount of memory", &v);

  if (rc < 0)
    return rc;
  unit = r->at < r->len && is_letter(r->text[r->at])
           ? strchr(units, r->text[r->at])
           : NULL;
  if (unit != NULL) {
    shift = 10 * (unsigned)(unit - units + 1);
    r->at++;
    if (skip_char(r, 'i'))
      (void)skip_char(r, 'B');
  }
  if (r->at < r->len && is_letter(r->text[r->at]))
    return expected(r, r->at, "a unit, as K, M, G, T, Ki or KiB,");
  if (v > PAI_ALLOCATION_MAX_MEMORY >> shift)
    return pai__fail_at(r->err, PAI_ELIMIT, place(r, start),
                        "memory of '%s' is too much: the most that can be is "
                        "128T",
                        word_at(r, start, word));
  r->set->shares[r->set->len - 1].memory = v << shift;
  return PAI_OK;
}

/* --- nodes -------------------------------------------------------------- */

enum { MEMORY = PAI_ALLOCATION_PORT + 1 };

/* Reads the name of a kind; returns 0 if there is none. */
static int read_kind(reader *r)
{
  uint32_t limit;

  for (int kind = PAI_ALLOCATION_GPU; kind <= PAI_ALLOCATION_PORT; kind++)
    if (skip_word(r, pai__allocation_kind(kind, &limit)))
      return kind;
  return skip_word(r, "mem") ? MEMORY : 0;
}

static int read_value(reader *r, int kind)
{
  skip_blanks(r);
  switch (kind) {
  case PAI_ALLOCATION_GPU: return read_bits(r, kind, PAI__GPUS);
  case PAI_ALLOCATION_CPU: return read_bits(r, kind, PAI__CPUS);
  case PAI_ALLOCATION_PORT: return read_ports(r);
  default: return read_memory(r);
  }
}

/* Reads "gpu 0-3,7 cpu 0-31" to the end of the node. */
static int read_parts(reader *r)
{
  unsigned seen = 0;
  int rc = PAI_OK;

  skip_blanks(r);
  do {
    size_t start = r->at;
    char word[PAI__EXCERPT];
    int kind = read_kind(r);

    if (kind == 0)
      return expected(r, start, "gpu, cpu, mem or port");
    if ((seen >> kind & 1) != 0) {
      rc =
        pai__fail_at(r->err, PAI_EINVAL, place(r, start),
                     "'%s' stands twice on one node", word_at(r, start, word));
      pai__error_help(r->err, "write one list: gpu 0-3,7");
      return rc;
    }
    seen |= 1u << kind;
    rc = read_value(r, kind);
    if (rc == PAI_OK && r->at < r->len &&
        memchr(" \t\r\n;", r->text[r->at], 5) == NULL)
      rc = expected(r, r->at, "a space");
    skip_blanks(r);
  } while (rc == PAI_OK && !at_end_of_node(r));
  return rc;
}

/* Reads "node 3:" and its content. */
static int read_node(reader *r)
{
  pai__set_room room = { 1, 0 };
  size_t start = r->at;
  uint64_t node = 0;
  int rc;

  if (!skip_word(r, "node"))
    return expected(r, start, "'node'");
  skip_blanks(r);
  start = r->at;
  rc = read_number(r, PAI_ALLOCATION_NODES - 1, "the number of a node", &node);
  if (rc < 0)
    return rc;
  skip_blanks(r);
  if (!skip_char(r, ':'))
    return expected(r, r->at, "':'");
  if (PAI__VEC_ROOM(&r->set->alloc, r->origins, r->count, r->cap) < 0 ||
      pai__allocation_reserve(r->set, room) < 0)
    return pai__oom(r->err);
  r->origins[r->count++] = (origin){ (uint32_t)node, r->set->len, start };
  r->set->shares[r->set->len++] = (pai__set_share){ .node = (uint32_t)node };
  return read_parts(r);
}

/* --- order -------------------------------------------------------------- */

static int by_node(const void *a, const void *b)
{
  const origin *x = a, *y = b;

  if (x->node != y->node)
    return x->node < y->node ? -1 : 1;
  return (x->at > y->at) - (x->at < y->at);
}

/* Sorts the shares by node, without empty ones. */
static int sort(reader *r)
{
  pai_allocation *set = r->set;
  pai__set_share *sorted = NULL;
  size_t n = 0;

  if (set->len == 0)
    return PAI_OK;
  qsort(r->origins, r->count, sizeof(*r->origins), by_node);
  for (size_t i = 1; i < r->count; i++)
    if (r->origins[i].node == r->origins[i - 1].node)
      return pai__fail_at(r->err, PAI_EINVAL, place(r, r->origins[i].at),
                          "node %" PRIu32 " stands twice: first in line "
                          "%" PRIu32,
                          r->origins[i].node,
                          place(r, r->origins[i - 1].at).line);
  sorted = pai__realloc(&set->alloc, NULL, 0, r->count, sizeof(*sorted));
  if (sorted == NULL)
    return pai__oom(r->err);
  for (size_t i = 0; i < r->count; i++) {
    sorted[n] = set->shares[r->origins[i].share];
    n += !pai__share_is_empty(&sorted[n]); /* "mem 0" makes an empty share */
  }
  pai__free(&set->alloc, set->shares, set->cap * sizeof(*set->shares));
  set->shares = sorted;
  set->cap = r->count;
  set->len = n;
  return PAI_OK;
}

static int read_all(reader *r)
{
  int rc = PAI_OK;

  for (skip_ends(r); rc == PAI_OK && r->at < r->len; skip_ends(r))
    rc = read_node(r);
  return rc == PAI_OK ? sort(r) : rc;
}

int pai_allocation_parse(pai_allocation **out, const char *text, size_t len,
                         const pai_alloc *alloc, pai_error **err)
{
  pai_allocation *set;
  reader *r;
  int rc;

  PAI__CLEAR_OUT(out, err);
  PAI__CHECK_ARG_ERR(text != NULL || len == 0, err);
  rc = pai_allocation_new(&set, alloc, err);
  if (rc < 0)
    return rc;
  r = pai__zalloc(&set->alloc, sizeof(*r)); /* too large for the stack */
  if (r == NULL) {
    pai_allocation_free(set);
    return pai__oom(err);
  }
  r->text = text;
  r->len = len;
  r->set = set;
  r->err = err;
  rc = read_all(r);
  pai__free(&set->alloc, r->origins, r->cap * sizeof(*r->origins));
  pai__free(&set->alloc, r, sizeof(*r));
  if (rc == PAI_OK)
    *out = set;
  else
    pai_allocation_free(set);
  return rc;
}

/* --- sets as text and as JSON -------------------------------------------- */

/* add_ports() and add_words() write nothing for an empty set. */
static void add_ports(pai__buf *out, const char *before, pai__ports p)
{
  pai__buf_str(out, p.n > 0 ? before : "");
  for (size_t i = 0; i < p.n; i++)
    pai__bits_write_run(out, i > 0, pai__port_first(p.ranges[i]),
                        pai__port_last(p.ranges[i]));
}

static void add_words(pai__buf *out, const char *before,
                      const pai_allocation *set, const pai__set_share *s,
                      unsigned kind)
{
  pai__buf_str(out, s->words[kind] != 0 ? before : "");
  pai__bits_write_list(out, pai__share_words(set, s, kind), s->words[kind]);
}

/* Uses the largest unit that gives a whole number: "64G". */
static void add_memory(pai__buf *out, uint64_t bytes)
{
  size_t unit = 0;

  for (; unit < 4 && bytes % 1024 == 0; unit++)
    bytes /= 1024;
  pai__buf_printf(out, "%llu%.*s", (unsigned long long)bytes, unit != 0,
                  &"?KMGT"[unit]);
}

static void add_share(pai__buf *out, const pai_allocation *set,
                      const pai__set_share *s)
{
  pai__buf_str(out, "node ");
  pai__bits_write_run(out, false, s->node, s->node);
  pai__buf_char(out, ':');
  add_words(out, " gpu ", set, s, PAI__GPUS);
  add_words(out, " cpu ", set, s, PAI__CPUS);
  if (s->memory != 0) {
    pai__buf_str(out, " mem ");
    add_memory(out, s->memory);
  }
  add_ports(out, " port ", pai__share_ports(set, s));
}

/* Passes the text to `write` and clears the buffer. */
static int flush(pai__buf *out, pai_write_cb write, void *user_data,
                 pai_error **err)
{
  int rc;

  if (!pai__buf_ok(out))
    return pai__oom(err);
  if (out->len == 0)
    return PAI_OK;
  rc = write(user_data, out->data, out->len);
  pai__buf_clear(out);
  return rc < 0 ? rc : PAI_OK;
}

enum { CHUNK = 16384 };

int pai_allocation_write(const pai_allocation *set, pai_write_cb write,
                         void *user_data, pai_error **err)
{
  int rc = PAI_OK;
  pai__buf out;

  PAI__CHECK_ARG_ERR(set != NULL && write != NULL, err);
  pai__buf_init(&out, &set->alloc);
  for (size_t i = 0; rc == PAI_OK && i < set->len; i++) {
    if (i > 0)
      pai__buf_str(&out, "; ");
    add_share(&out, set, &set->shares[i]);
    if (out.len >= CHUNK)
      rc = flush(&out, write, user_data, err);
  }
  if (rc == PAI_OK)
    rc = flush(&out, write, user_data, err);
  pai__buf_dispose(&out);
  return rc;
}

/* --- JSON --------------------------------------------------------------- */

/* Writes the list as the value of a key; nothing for an empty list. */
static void put_list(pai__json_writer *w, const char *key, pai__buf *list)
{
  /* the caller of put_share() checks the buffer */
  if (!pai__buf_ok(list) || list->len == 0)
    return;
  pai__json_member(w, key);
  pai__json_text(w, list->data, list->len);
  pai__buf_cut(list, 0);
}

/* `list` is a buffer for the lists, one after the other. */
static void put_share(pai__json_writer *w, pai__buf *list,
                      const pai_allocation *set, const pai__set_share *s)
{
  pai__json_begin_object(w);
  pai__json_put_int(w, "node", s->node);
  add_words(list, "", set, s, PAI__GPUS);
  put_list(w, "gpu", list);
  add_words(list, "", set, s, PAI__CPUS);
  put_list(w, "cpu", list);
  if (s->memory != 0)
    pai__json_put_int(w, "memory", (int64_t)s->memory);
  add_ports(list, "", pai__share_ports(set, s));
  put_list(w, "port", list);
  pai__json_end_object(w);
}

int pai_allocation_write_json(const pai_allocation *set, pai_write_cb write,
                              void *user_data, pai_error **err)
{
  pai__json_writer w;
  pai__buf out, list;
  int rc = PAI_OK;

  PAI__CHECK_ARG_ERR(set != NULL && write != NULL, err);
  pai__buf_init(&out, &set->alloc);
  pai__buf_init(&list, &set->alloc);
  pai__json_writer_init(&w, &out, false);
  pai__json_begin_object(&w);
  pai__json_put_array(&w, "nodes");
  for (size_t i = 0; rc == PAI_OK && i < set->len; i++) {
    put_share(&w, &list, set, &set->shares[i]);
    if (!pai__buf_ok(&list))
      rc = pai__oom(err);
    else if (out.len >= CHUNK)
      rc = flush(&out, write, user_data, err);
  }
  pai__json_end_array(&w);
  pai__json_end_object(&w);
  if (rc == PAI_OK && pai__json_finish(&w) < 0)
    rc = pai__oom(err);
  if (rc == PAI_OK)
    rc = flush(&out, write, user_data, err);
  pai__buf_dispose(&list);
  pai__buf_dispose(&out);
  return rc;
}
