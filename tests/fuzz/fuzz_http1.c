/*
 * fuzz_http1.c - a request's bytes, cut anywhere
 *
 * The first byte says where.  What is read does not depend on it; a sound head
 * has no control character, one Host, and one measure of its body at most.
 */
#include "check.h"

#include "http1/http1.h"

#include <string.h>

static void read_head(pai__http1_head *h, char *bytes, const uint8_t *data,
                      size_t size, size_t step)
{
  memset(h, 0, sizeof(*h));
  memcpy(bytes, data, size);
  for (size_t have = step < size ? step : size;
       !pai__http1_read_head(h, bytes, have) && have < size;)
    have = have + step < size ? have + step : size;
}

static void check_head(const pai__http1_head *h, const char *bytes)
{
  const char *path;
  size_t at = 0;

  CHECK(h->seen <= PAI__HTTP1_HEAD && h->nfields <= PAI__HTTP1_FIELDS);
  if (h->fault.status != 0) {
    CHECK(h->fault.status >= 400 && h->fault.why != NULL);
    return;
  }
  if (!h->whole)
    return;
  CHECK(!h->measured || !h->chunked);
  CHECK(bytes[h->method] != '\0' && bytes[h->target] != '\0');
  for (const char *c = bytes + h->target; *c != '\0'; c++)
    CHECK((unsigned char)*c > ' ' && *c != 0x7f);
  path = pai__http1_path(bytes + h->target);
  CHECK(path[0] == '/' || path[0] == '?' || strcmp(path, "*") == 0);
  for (size_t i = 0; i < h->nfields; i++)
    CHECK(strpbrk(bytes + h->fields[i].name, " \t:") == NULL &&
          strpbrk(bytes + h->fields[i].value, "\r\n") == NULL);
  CHECK(pai__http1_find(h, bytes, "host", &at) != NULL || h->old);
  CHECK(pai__http1_find(h, bytes, "host", &at) == NULL);
}

static size_t read_chunks(pai__http1_chunks *k, char *to, const uint8_t *data,
                          size_t size, size_t step)
{
  const char *bytes = (const char *)data, *piece;
  size_t at = 0, n = 0, len;

  *k = (pai__http1_chunks){ .over = false };
  while (at < size && !k->over && k->fault.status == 0) {
    size_t left = size - at < step ? size - at : step;
    size_t used = pai__http1_read_chunks(k, bytes + at, left, &piece, &len);

    CHECK(used > 0 && used <= left && len <= used);
    memcpy(to + n, piece, len);
    n += len;
    at += used;
  }
  return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  static char bytes[2][(20 << 10) + 1];
  static pai__http1_head all, cut;
  pai__http1_chunks whole, pieces;
  size_t step, n;

  if (size < 2 || size > sizeof(bytes[0]))
    return 0;
  step = *data % 64 + 1;
  data++;
  size--;
  read_head(&all, bytes[0], data, size, size);
  read_head(&cut, bytes[1], data, size, step);
  CHECK(memcmp(&all, &cut, sizeof(all)) == 0);
  check_head(&all, bytes[0]);
  n = read_chunks(&whole, bytes[0], data, size, size);
  CHECK(read_chunks(&pieces, bytes[1], data, size, step) == n &&
        memcmp(bytes[0], bytes[1], n) == 0);
  CHECK(whole.over == pieces.over &&
        whole.fault.status == pieces.fault.status);
  return 0;
}
