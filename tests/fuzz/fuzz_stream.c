/*
 * fuzz_stream.c - what comes on a stream into a task, from either end, and the
 * head of the answer before it
 *
 * Cut anywhere, it means the same; and what is taken lies in what was given.
 */
#include "check.h"

#include "http/http.h"
#include "task/frame.h"

static void check_begin(const pai_frame *f)
{
  const char *at;
  pai_begin b;

  if (!pai_begin_read(&b, f))
    return;
  CHECK(b.terminal >= f->bytes && b.words <= f->bytes + f->len);
  at = b.words;
  for (size_t i = 0; i < b.nwords; i++)
    at += strlen(at) + 1;
  CHECK(at == f->bytes + f->len);
}

static void check_frames(const char *text, size_t len)
{
  size_t at = 0;
  pai_frame f, again;
  long n;

  while ((n = pai_frame_read(&f, text + at, len - at)) > 0) {
    CHECK((size_t)n <= len - at && f.len + PAI_FRAME_HEAD == (size_t)n);
    CHECK(f.bytes == text + at + PAI_FRAME_HEAD);
    for (long part = 0; part < n && part < 8; part++)
      CHECK(pai_frame_read(&again, text + at, (size_t)part) == 0);
    check_begin(&f);
    at += (size_t)n;
  }
}

static void check_head(const char *text, size_t len)
{
  pai__http_head head, again;
  long n = pai__http_read_head(&head, text, len, "openpai-stream");

  CHECK(n >= -1 && n <= (long)len);
  if (n <= 0)
    return;
  CHECK(head.status >= 100 && head.status < 1000 && head.length >= -1);
  CHECK(!head.upgraded || head.status == 101);
  CHECK(pai__http_read_head(&again, text, (size_t)n - 1, "openpai-stream") ==
        0);
  CHECK(pai__http_read_head(&again, text, (size_t)n, "openpai-stream") == n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  char *text = malloc(size > 0 ? size : 1); /* a copy of just its length */

  CHECK(text != NULL);
  memcpy(text, data, size);
  check_frames(text, size);
  check_head(text, size);
  free(text);
  return 0;
}
