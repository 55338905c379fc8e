/*
 * driver.c - runs a fuzz target without libFuzzer
 *
 * driver DIRECTORY [RUNS]: every file below the directory, then RUNS mutations
 * of them (default: $OPENPAI_FUZZ_RUNS, or 20,000).  Where OPENPAI_SLICE is
 * "K/N", an N-th of that, other ones for each K.  The same directory, number
 * and slice give the same inputs.
 */
#define _DEFAULT_SOURCE /* DT_DIR */
#include "check.h"
#include "base/prng.h"

#include <dirent.h>

enum { MOST_FILES = 1024, LONGEST = 4096 };

typedef struct corpus {
  pai__buf files[MOST_FILES];
  size_t len;
} corpus;

static corpus all;

static bool read_file(const char *path)
{
  char chunk[4096];
  pai__buf *b = &all.files[all.len];
  FILE *f = all.len < MOST_FILES ? fopen(path, "rb") : NULL;

  if (f == NULL)
    return false;
  pai__buf_init(b, &pai__libc_alloc);
  for (size_t n; (n = fread(chunk, 1, sizeof(chunk), f)) > 0;)
    pai__buf_add(b, chunk, n);
  (void)fclose(f);
  all.len++;
  return true;
}

static int is_shown(const struct dirent *e)
{
  return e->d_name[0] != '.';
}

/* Reads the files of a folder and of those below, in the order of their names.
 */
static bool read_corpus(const char *dir)
{
  struct dirent **entries;
  int n = scandir(dir, &entries, is_shown, alphasort);
  bool ok = n >= 0;

  for (int i = 0; i < n; i++) {
    char path[1024];

    (void)snprintf(path, sizeof(path), "%s/%s", dir, entries[i]->d_name);
    ok = ok &&
         (entries[i]->d_type == DT_DIR ? read_corpus(path) : read_file(path));
    free(entries[i]);
  }
  if (n >= 0)
    free(entries);
  return ok;
}

/* One change: bytes overwritten, dropped, repeated, or taken from a file. */
static size_t mutate(pai__prng *r, char *text, size_t len)
{
  static const char likely[] = "{}[]:,\"'\\ \n\t-#&*!|>%@`?0129.eE+~<=\r\x80";
  const pai__buf *other = &all.files[pai__prng_below(r, all.len)];
  size_t at = pai__prng_below(r, len + 1), n = 1 + pai__prng_below(r, 16);
  size_t from = pai__prng_below(r, other->len + 1);

  switch (pai__prng_below(r, 4)) {
  case 0:
    if (at < len)
      text[at] = pai__prng_below(r, 4) != 0
                   ? likely[pai__prng_below(r, sizeof(likely) - 1)]
                   : (char)pai__prng_next(r);
    return len;
  case 1:
    n = n < len - at ? n : len - at;
    memmove(text + at, text + at + n, len - at - n);
    return len - n;
  case 2:
    if (len + 1 > LONGEST)
      return len;
    memmove(text + at + 1, text + at, len - at);
    text[at] = likely[pai__prng_below(r, sizeof(likely) - 1)];
    return len + 1;
  default:
    n = n < other->len - from ? n : other->len - from;
    if (len + n > LONGEST)
      return len;
    memmove(text + at + n, text + at, len - at);
    if (n != 0)
      memcpy(text + at, other->data + from, n);
    return len + n;
  }
}

int main(int argc, char **argv)
{
  const char *env = getenv("OPENPAI_FUZZ_RUNS");
  const char *asked = argc > 2 ? argv[2] : env != NULL ? env : "20000";
  const char *slice = getenv("OPENPAI_SLICE");
  unsigned begin = 0, each = 1;
  bool sliced =
    slice == NULL || (sscanf(slice, "%u/%u", &begin, &each) == 2 && each != 0);
  long runs = sliced ? strtol(asked, NULL, 10) / (long)each : 0;
  pai__prng r = { 1 + begin };

  if (argc < 2 || !sliced || !read_corpus(argv[1]) || all.len == 0) {
    fprintf(stderr, "usage: [OPENPAI_SLICE=K/N] %s DIRECTORY [RUNS]\n",
            argv[0]);
    return 2;
  }
  for (size_t i = 0; i < all.len; i++)
    (void)LLVMFuzzerTestOneInput((const uint8_t *)pai__buf_text(&all.files[i]),
                                 all.files[i].len);
  for (long i = 0; i < runs; i++) {
    char text[LONGEST];
    const pai__buf *b = &all.files[pai__prng_below(&r, all.len)];
    size_t len = b->len < LONGEST ? b->len : LONGEST;

    memcpy(text, pai__buf_text(b), len);
    for (uint64_t n = 1 + pai__prng_below(&r, 4); n > 0; n--)
      len = mutate(&r, text, len);
    (void)LLVMFuzzerTestOneInput((const uint8_t *)text, len);
  }
  printf("%zu files, %ld mutations\n", all.len, runs);
  for (size_t i = 0; i < all.len; i++)
    pai__buf_dispose(&all.files[i]);
  return 0;
}
