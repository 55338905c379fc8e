/* suggest.c - suggests names similar to a misspelt word */
#include "base/fixes.h"

#include "base/text/utf8.h"

enum { LONGEST = PAI__LONGEST_WORD, MOST_LISTED = 20, FARTHEST = 3 };

static char lower(char c)
{
  return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static unsigned least(unsigned a, unsigned b)
{
  return a < b ? a : b;
}

/* Returns the edit distance (add, drop, change or swap letters, ignoring
 * case).  A distance above `most`, which is FARTHEST at most, may be returned
 * as any larger number: only cells near the diagonal are computed, and
 * computing ends after two rows above `most`, because files can have very many
 * names. */
static unsigned distance(const char *a, size_t na, const char *b, size_t nb,
                         unsigned most)
{
  unsigned rows[3][LONGEST + 2], lowest = 0, lower_row;

  if (na > LONGEST || nb > LONGEST || na > nb + most || nb > na + most)
    return LONGEST;
  for (size_t j = 0; j <= nb + 1 && j <= FARTHEST + 1; j++)
    rows[0][j] = (unsigned)j;
  for (size_t i = 1; i <= na; i++) {
    unsigned *now = rows[i % 3];
    const unsigned *last = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];
    size_t from = i > most ? i - most : 1;
    size_t to = i + most < nb ? i + most : nb;

    lower_row = now[from - 1] = from == 1 ? (unsigned)i : LONGEST;
    for (size_t j = from; j <= to; j++) {
      char ca = lower(a[i - 1]), cb = lower(b[j - 1]);
      unsigned best = last[j - 1] + (ca != cb);

      best = least(best, least(last[j], now[j - 1]) + 1);
      if (i > 1 && j > 1 && ca == lower(b[j - 2]) && cb == lower(a[i - 2]))
        best = least(best, before[j - 2] + 1);
      now[j] = best;
      lower_row = least(lower_row, best);
    }
    now[to + 1] = LONGEST;
    if (lowest > most && lower_row > most)
      return LONGEST;
    lowest = lower_row;
  }
  return rows[na % 3][nb];
}

/* Returns how many typing errors are likely in a word of that length. */
static unsigned slips(size_t len)
{
  return len < 4 ? 1 : len < 8 ? 2 : FARTHEST;
}

bool pai__word_near(const pai__word *a, const pai__word *b, unsigned slips)
{
  return distance(a->s, a->len, b->s, b->len, slips) <= slips;
}

bool pai__word_like(const pai__word *word, const pai__word *name)
{
  unsigned most = slips(word->len);

  if (word->len <= most)
    most = word->len == 0 ? 0 : (unsigned)word->len - 1;
  return word->len > 0 && pai__word_within(word, name, most);
}

void pai__names_init(pai__names *n, const pai_alloc *alloc, const char *word,
                     size_t len)
{
  *n = (pai__names){ .word = word, .word_len = len, .distance = LONGEST };
  pai__buf_init(&n->list, alloc);
}

/* Adds a name at the least distance, unless it is there already. */
static void add_near(pai__names *n, const char *name, size_t len)
{
  for (size_t i = 0; i < n->near_count && i < PAI__MOST_NEAR; i++)
    if (n->near[i].len == len && memcmp(n->near[i].s, name, len) == 0)
      return;
  if (n->near_count < PAI__MOST_NEAR)
    n->near[n->near_count] = pai__word_of(name, len);
  n->near_count++;
}

void pai__names_add(pai__names *n, const char *name, size_t len)
{
  unsigned d = distance(n->word, n->word_len, name, len, FARTHEST);
  char piece[PAI__EXCERPT];

  if (d < n->distance) {
    n->distance = d;
    n->near_count = 0;
  }
  if (d == n->distance && d <= FARTHEST)
    add_near(n, name, len);
  n->count++;
  if (n->count == MOST_LISTED + 1)
    pai__buf_str(&n->list, ", …");
  if (n->count > MOST_LISTED)
    return;
  if (n->count > 1)
    pai__buf_str(&n->list, ", ");
  pai__buf_str(&n->list, pai__excerpt(piece, name, len));
}

bool pai__names_surely(const pai__names *n)
{
  return n->near_count > 0 && n->distance <= slips(n->word_len) &&
         n->distance < n->word_len;
}

/* Moves to the next digit. */
static const char *to_digit(const char *s, const char *end)
{
  while (s < end && !(*s >= '0' && *s <= '9'))
    s++;
  return s;
}

/* Returns whether the word and the nearest name have the same numbers:
 * numbered names are similar but different. */
static bool has_digits_of(const pai__names *n)
{
  const char *a = n->word, *a_end = a + n->word_len;
  const char *b = n->near[0].s, *b_end = b + n->near[0].len;

  do {
    a = to_digit(a, a_end);
    b = to_digit(b, b_end);
    if (a == a_end || b == b_end)
      return a == a_end && b == b_end;
  } while (*a++ == *b++);
  return false;
}

bool pai__names_only(const pai__names *n)
{
  return pai__names_surely(n) && n->near_count == 1 &&
         (n->distance == 0 || !n->made_up) && has_digits_of(n);
}

/* Adds fixes that replace the last finding by the nearest names.  A key gets
 * none that the fix of another key of its mapping gives. */
static void fix_word(const pai__names *n, pai__findings *f)
{
  const pai__finding *x = f->len > 0 ? &f->list[f->len - 1] : NULL;
  const pai__tree_node *node;
  const char *slash;

  if (x == NULL || f->failed || f->left_out > 0 ||
      n->near_count > PAI__MOST_NEAR)
    return;
  node = &f->tree->nodes[x->at];
  if (node->type != PAI__STRING || node->start != x->start ||
      node->u.s.len != n->word_len ||
      memcmp(f->tree->strings + node->u.s.off, n->word, n->word_len) != 0)
    return;
  slash = strrchr(x->pointer, '/');
  for (size_t i = 0; i < n->near_count; i++)
    if ((node->flags & PAI__IS_KEY) == 0 || slash == NULL ||
        !pai__fix_offered(f, x->pointer, (size_t)(slash - x->pointer),
                          n->near[i].s, n->near[i].len))
      pai__fix_word(f, pai__names_only(n), x->at, n->near[i].s,
                    n->near[i].len);
}

/* "'a', 'b' or 'c'" */
static void put_near(pai__buf *b, const pai__names *n)
{
  size_t most =
    n->near_count < PAI__MOST_NEAR ? n->near_count : PAI__MOST_NEAR;
  char piece[PAI__EXCERPT];

  for (size_t i = 0; i < most; i++)
    pai__buf_printf(b, "%s'%s'",
                    i == 0          ? ""
                    : i + 1 == most ? " or "
                                    : ", ",
                    pai__excerpt(piece, n->near[i].s, n->near[i].len));
}

void pai__names_help(pai__names *n, pai__findings *f, const char *which)
{
  if (pai__names_surely(n)) {
    pai__buf_clear(&n->list);
    put_near(&n->list, n);
    pai__find_help(f, "did you mean %s?", pai__buf_text(&n->list));
    fix_word(n, f);
  } else if (n->count == 0)
    pai__find_help(f, "%s: none", which);
  else
    pai__find_help(f, "%s: %s", which, pai__buf_text(&n->list));
  pai__buf_dispose(&n->list);
}

void pai__names_tell(pai__names *n, pai_error **err, const char *which)
{
  if (pai__names_surely(n)) {
    pai__buf_clear(&n->list);
    put_near(&n->list, n);
    pai__error_help(err, "did you mean %s?", pai__buf_text(&n->list));
  } else if (n->count != 0)
    pai__error_help(err, "%s: %s", which, pai__buf_text(&n->list));
  pai__buf_dispose(&n->list);
}
