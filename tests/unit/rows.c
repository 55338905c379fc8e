/* rows.c - real inputs with known answers, a line of JSON each */
#include "rows.h"

#include "cases.h"

#include "json/json.h"

#include <stdio.h>
#include <stdlib.h>

char *test_shared_text(const char *name, size_t *len)
{
  const char *shared = getenv("OPENPAI_SHARED");
  char path[1024], chunk[65536];
  pai__buf b = test_buf();
  FILE *f;

  (void)snprintf(path, sizeof(path), "%s/data/%s",
                 shared != NULL ? shared : SOURCE_DIR "/../shared", name);
  f = fopen(path, "rb");
  if (f == NULL) {
    printf("skipped: cannot open %s\n", path);
    test_lacks_records();
    return NULL;
  }
  for (size_t n; (n = fread(chunk, 1, sizeof(chunk), f)) > 0;)
    pai__buf_add(&b, chunk, n);
  (void)fclose(f);
  *len = b.len;
  return pai__buf_take(&b);
}

const char *test_row_text(const pai__tree *row, const char *key, size_t *len)
{
  pai__node n = pai__tree_get(row, 0, key);

  return n != PAI__NO_NODE ? pai__tree_str(row, n, len) : NULL;
}

int test_each_row(const char *name, void (*check)(const pai__tree *row))
{
  char path[256];

  (void)snprintf(path, sizeof(path), "specs/%s", name);
  return test_each_line(path, check);
}

int test_each_line(const char *name, void (*check)(const pai__tree *row))
{
  size_t len;
  char *all = test_shared_text(name, &len), *line = all, *end;
  int rows = 0;

  if (all == NULL)
    return -1;
  for (; (end = memchr(line, '\n', len - (size_t)(line - all))) != NULL;
       line = end + 1) {
    pai_error *err = NULL;
    pai__tree *row;

    if (pai__json_parse(&row, line, (size_t)(end - line), NULL, &err) < 0)
      fail_msg("%s:%d: %s", name, rows + 1, pai_error_message(err));
    check(row);
    pai__tree_free(row);
    rows++;
    if ((size_t)(end + 1 - all) == len)
      break;
  }
  pai__strfree(&pai__libc_alloc, all);
  return rows;
}
