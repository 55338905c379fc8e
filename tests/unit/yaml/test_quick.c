/*
 * Everyday texts are read without libyaml, and all texts as with it: tricky
 * ones, real ones, and random ones of the seed OPENPAI_SEED, with OPENPAI_SOAK
 * two hundred times as many.
 */
#include "both_ways.h"
#include "rows.h"

#include "base/prng.h"

#include <stdio.h>
#include <stdlib.h>

enum { TEXTS = 50000, SOAK_TEXTS = 200 * TEXTS };

static bool both_ways(const char *text, size_t len)
{
  bool js = test_both_ways(text, len, PAI__YAML_JS);
  bool core = test_both_ways(text, len, PAI__YAML_CORE);

  return js && core;
}

/* What people write; random texts begin with these, too. */
static const char *const everyday[] = {
  "protocolVersion: 2\nname: hello # a job\ntype: job\n",
  "\n# first\na: 1\n\n  # second\n\nb: x\n",
  "a:\n  b:\n    c: 1\n  d: 2\ne: 3",
  "a:\n  - x\n  - y: 1\n    z: 2\n  -\n    w: 3\n  - - p\n    - q\n",
  "a:\n- x\n- y: 1\n  z:\n  - p\n  - q\nb: 2\n",
  "- a: 1\n  b: 2\n-   c: 3\n    d: 4\n- - e\n- f\n",
  "a:\nb:\nc: # none\n\nd:\n- \n-\n- e:\n  f:\ng:\n-\nh:",
  "- - \n  -\n-\n",
  "a: b c\n  d\n\n  e\nf:\n  g h\n    - i\n\n  # j\nk: l:m\n",
  "a: 'it''s'\nb: \"x\\n\\t\\\"y\\\\ \\/\\r\"\n'c' : ''\n\"d\": \"e # f\" # "
  "g\n",
  "a: |\n  x\n   y\n\n  z\nb: >-\n  p\n  q\n\n   r\n  s\nc: |+\n  t\n\n\n"
  "d: 1\n",
  "a: | # why\n\n  x\n\n# no\nb: >\n\n\n  y\n  z",
  "a: |+\n  x\n  ",
  "a: >-\n  x\n \n   ",
  "commands:\n  - |\n    for i in 1 2; do\n      echo $i # out\n    done\n"
  "  - python train.py --a=b\n  - >-\n    x\n    y\n",
  "- |\n  x\n- >\n x\n y\n- a: |-\n   z\n",
  "a: [1, 2.5, 'x', \"y\", z w]\nb: {c: 1, \"d\":2, e: [f, {g: h}]}\nc: []\n"
  "d: {}\n",
  "a: [\n  x, # one\n  y,\n]\nb: {\n  c: 1,\n  d: [2]\n  }\n",
  "[a, b]\n",
  "{\"a\": [1, true, null], \"b\": {\"c\": \"d\"}}\n",
  "---\na: 1\n",
  "# c\n--- # d\n\n  - a\n  - b\n",
  "uri: http://host:80/p?q=1#r\nt: 12:30\nu: a#b\nv: <% $x.y %>\nw: -1\n",
  "<<: {a: 1}\n2: ~\n1.5: y\ntrue: no\n",
  "name: caf\xc3\xa9 \xe2\x9c\x93\n\xc3\xa9: \"\xf0\x9f\x98\x80\"\nb:\n"
  "- \xc3\xa9: |\n    \xe4\xb8\xad\n- ['\xe4\xb8\xad', a]\n",
  "a: x   \nb:   y  # z\nc:   \n  - d  \n",
  "  a: 1\n  b:\n    - 2\n",
  "\xef\xbb\xbf"
  "a: 1\nb: caf\xc3\xa9\nc: d\n",
  "a: 2020-01-01\nb: 0x1F\nc: 1_000\nd: .inf\ne: 010\n",
  "a: \"x\ty\"\nb: |\n  x\ty\n  \tz\n# \t\n",
};

/* What is not for every day, or wrong, or nearly. */
static const char *const tricky[] = {
  "",
  "\n",
  " ",
  "# c",
  "a",
  "a\n---b\n",
  "a\n---\nb\n",
  "'a'",
  "'a': b: c",
  "---",
  "--- \n...\n",
  "---\n---\n",
  "---a\n",
  "--- a\n",
  "a: 1\n---\nb: 2\n",
  "a: 1\n...\n",
  "a:\n  b\n...",
  "a: |\n  x\n---\n",
  "[a,\n---\n]",
  "[a,\n--- , b]",
  "[a,\n---,b]",
  "[a,\n'x',\nb\n]",
  "%YAML 1.2\n---\na: 1",
  "a: &x 1\nb: *x\n",
  "a: !!str 1\n",
  "? a\n: b\n",
  "a: b: c\n",
  "a: - b\n",
  "a: 'x' y\n",
  "a: 'x'#y\n",
  "a: [x]#y\n",
  "a: [x] y\n",
  "a: [x]: y\n",
  "[x]: y\n",
  "{a: b}: c\n",
  "[a: b]\n",
  "{a, b: c}\n",
  "{a: , b:}\n",
  "{a: 'b'c}\n",
  "{a:1}\n",
  "{'a':1}\n",
  "{'a'\n:1}\n",
  "{a :1}\n",
  "{a\n: 1}\n",
  "[a\nb]\n",
  "[a:,b]\n",
  "[http://x, y?z, a#b]\n",
  "[a, #b\n]\n",
  "[a,#b\n]\n",
  "[,]",
  "[a,,b]",
  "[a]]",
  "[a}",
  "[a\n",
  "{a: [b\n",
  "a: [\nb\n]\nc: d\n",
  "a: [b\n]: c\n",
  "a: 1\n b: 2\n",
  "a:\n    b: 1\n  c: 2\n",
  "a:\n  - b\n - c\n",
  "a:\n - b\n- c\n",
  "a: b\n- c\n",
  "- a\nb: c\n",
  "- a\n- b: c\n d: e\n",
  "a:\n- b\n c: d\n",
  "a: b\n  c: d\n",
  "a: b\n  # c\n  d\n",
  "a: b #c\n  d\n",
  "a: b\n: c\n",
  "a:\n  : c\n",
  "a: b\n  :c\n",
  "a: b\n\tc: d\n",
  "a: b\n \tc\n",
  "a: b\n \n\t\nc: d\n",
  "a: b\t# c\n",
  "a:\tb\n",
  "-\ta\n",
  "-a\n-b: c\n",
  "-,a: b\n",
  "a: -,b\n",
  "a: |\nb: 1\n",
  "a: |",
  "a: |\n",
  "a: |\n\n\n",
  "a: |\n    \n  x\n",
  "a: |\n  x\n y\n",
  "a: |\n  x\n\ty\n",
  "a: |\n  x\n \t\n  y\n",
  "a: |\n  x\n  \t\n  y\n",
  "a: |\n \tx\n",
  "a: >\n  \tx\n  y\n",
  "a: |+\n  x\n   ",
  "a: >\n  x\n  \ty\n  z\n",
  "a: >\n   x\n    y\n\n    z\n   w\n",
  "a: >+\n\n  x\n\n\n",
  "a: |2\n   x\n",
  "a: |-+\n  x\n",
  "a: |x\n  x\n",
  "a: |#c\n  x\n",
  "a: |\t\n  x\n",
  "|\nx\n",
  "|\n x\n",
  "- |\n x\n  y\nz\n",
  "a:\n- |\n x\n- b\n",
  "a:\n- |\nx: y\n",
  "a: 'x\n  y'\n",
  "a: \"x\\\n  y\"\n",
  "a: \"\\x41\\q\"\n",
  "a: 'x\n",
  "a: \"x",
  "a: @x\n",
  "a: `x\n",
  "a: %x\n",
  "%a: b\n",
  "a: 1\na: 2\n",
  "a: 1\r\nb: 2\r\n",
  "a: # x\ry\n",
  "a: |\n  x\ry\n",
  "a: x\xc2\x85y\n",
  "a: x\xe2\x80\xa8y\n",
  "a: \"\\U0001F600\"\nb: x\xc2\x85y\n",
  "- \xf3\xb0\x80\x80\xf3\xb0\x81\x80\xf3\xb0\x82\x80\xf3\xb0\x83\x80"
  "\xf3\xb0\x84\x80\xf3\xb0\x85\x80\xf3\xb0\x86\x80\xf3\xb0\x87\x80"
  "x\xc2\x85y\n", /* no stand-ins are left */
  "a: \x7f\n",
  "a: \"\x7f\"\n",
  "a: \xff\n",
  "a: \x01\n",
  "- - - - - - a\n",
  "- - a: - b\n",
  "-   - a\n    - b\n  - c\n",
};

static void everyday_texts_need_no_libyaml(void **state)
{
  (void)state;
  for (size_t i = 0; i < PAI__LEN(everyday); i++)
    if (!both_ways(everyday[i], strlen(everyday[i])))
      fail_msg("needs libyaml: %s", everyday[i]);
}

static void tricky_texts_are_read_alike(void **state)
{
  (void)state;
  for (size_t i = 0; i < PAI__LEN(tricky); i++)
    (void)both_ways(tricky[i], strlen(tricky[i]));
}

/* Every beginning of a text: ends come at the worst places. */
static void beginnings_are_read_alike(void **state)
{
  (void)state;
  for (size_t i = 0; i < PAI__LEN(everyday); i++)
    for (size_t len = strlen(everyday[i]); len-- > 0;)
      (void)both_ways(everyday[i], len);
}

/* Deep and long things, of both sides of each limit. */
static void limits_are_alike(void **state)
{
  static const char *const nested[] = { "- ", "[", "{a: " };
  pai__buf b;

  (void)state;
  pai__buf_init(&b, &pai__libc_alloc);
  for (size_t n = 0; n < PAI__LEN(nested); n++)
    for (int depth = 60; depth < 70; depth++) {
      b.len = 0;
      for (int i = 0; i < depth; i++)
        pai__buf_str(&b, nested[n]);
      pai__buf_char(&b, 'x');
      for (int i = 0; i < depth && n != 0; i++)
        pai__buf_char(&b, nested[n][0] == '[' ? ']' : '}');
      (void)both_ways(b.data, b.len);
    }
  for (int len = 990; len < 1035; len++)
    for (int quoted = 0; quoted < 2; quoted++) {
      b.len = 0;
      pai__buf_str(&b, quoted ? "{\"" : "");
      for (int i = 0; i < len; i++)
        pai__buf_char(&b, 'x');
      pai__buf_str(&b, quoted ? "\": y}" : ": y");
      (void)both_ways(b.data, b.len);
    }
  pai__buf_dispose(&b);
}

/* --- random texts ------------------------------------------------------- */

static const char *const pieces[] = {
  "\n",  "\n",  "\n ", "\n  ", "\n  ",     "\n    ", "\n\n", " ",    "  ",
  "\t",  "a",   "b c", "-",    "- ",       "- ",     ":",    ": ",   ": ",
  ":\n", "? ",  "#",   " # ",  "[",        "]",      "{",    "}",    ",",
  ", ",  "'",   "\"",  "|",    "|\n",      "|-",     ">",    ">+\n", "|2",
  "\\",  "\\n", "&x ", "*x",   "!",        "%",      "@",    "`",    "---",
  "...", "\r",  "<<",  "1",    "\xc3\xa9",
};

static const char *piece(pai__prng *r)
{
  return pieces[pai__prng_below(r, PAI__LEN(pieces))];
}

static void insert(pai__buf *b, size_t at, const char *s)
{
  size_t len = strlen(s), behind = b->len - at;

  pai__buf_str(b, s);
  if (pai__buf_ok(b)) {
    memmove(b->data + at + len, b->data + at, behind);
    memcpy(b->data + at, s, len);
  }
}

/* Inserts something, takes something out, or doubles it. */
static void mutate(pai__prng *r, pai__buf *b)
{
  size_t at = pai__prng_below(r, b->len + 1), n = 1 + pai__prng_below(r, 4);
  char copy[8] = "";

  if (n > b->len - at)
    n = b->len - at;
  switch (pai__prng_below(r, 4)) {
  case 0:
    memmove(b->data + at, b->data + at + n, b->len - at - n);
    b->len -= n;
    break;
  case 1:
    memcpy(copy, b->data + at, n);
    insert(b, pai__prng_below(r, b->len + 1), copy);
    break;
  default: insert(b, at, piece(r)); break;
  }
}

static void make_text(pai__prng *r, pai__buf *b)
{
  size_t soup = pai__prng_below(r, 24), changes = pai__prng_below(r, 5);

  b->len = 0;
  if (pai__prng_below(r, 2) == 0)
    for (size_t i = 0; i < soup; i++)
      pai__buf_str(b, piece(r));
  else
    pai__buf_str(b, everyday[pai__prng_below(r, PAI__LEN(everyday))]);
  while (changes-- > 0 && b->len != 0)
    mutate(r, b);
}

static void random_texts_are_read_alike(void **state)
{
  const char *seed = getenv("OPENPAI_SEED");
  pai__prng r = { seed != NULL ? strtoull(seed, NULL, 10) : 1 };
  int texts = getenv("OPENPAI_SOAK") != NULL ? SOAK_TEXTS : TEXTS, quick = 0;
  pai__buf b;

  (void)state;
  pai__buf_init(&b, &pai__libc_alloc);
  for (int i = 0; i < texts; i++) {
    make_text(&r, &b);
    quick += both_ways(pai__buf_text(&b), b.len);
  }
  pai__buf_dispose(&b);
  printf("%d random texts, %d without libyaml\n", texts, quick);
  assert_true(quick > texts / 10); /* or they are no test of it */
}

/* --- real texts --------------------------------------------------------- */

static int valid, valid_quick;
static bool skipped;

static void check_row(const pai__tree *row)
{
  size_t len;
  const char *text = test_row_text(row, "text", &len);
  bool quick = both_ways(text, len);

  if (strcmp(test_row_text(row, "verdict", NULL), "valid") == 0) {
    valid++;
    valid_quick += quick;
  }
}

static void job_files_are_read_alike(void **state)
{
  (void)state;
  skipped = test_each_row("v1-cases.jsonl", check_row) < 0;
  valid = valid_quick = 0;
  skipped = test_each_row("v2-cases.jsonl", check_row) < 0 || skipped;
  if (!skipped) {
    printf("%d valid job files, %d without libyaml\n", valid, valid_quick);
    assert_true(valid > 100 && valid_quick * 10 >= valid * 8);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(everyday_texts_need_no_libyaml),
    cmocka_unit_test(tricky_texts_are_read_alike),
    cmocka_unit_test(beginnings_are_read_alike),
    cmocka_unit_test(limits_are_alike),
    cmocka_unit_test(random_texts_are_read_alike),
    cmocka_unit_test(job_files_are_read_alike),
  };
  int failed = cmocka_run_group_tests(tests, NULL, NULL);

  return failed != 0 ? failed : skipped ? 77 : 0;
}
