/*
 * fuzz_sched.c - logs of schedulers, as somebody might have changed them
 *
 * The first line may be a snapshot; else there is a small cluster.  Each line
 * behind it is read.  Whatever comes of it, the state is saved, and loaded
 * again, and is the same.
 */
#include "check.h"

#include <openpai/sched.h>

#include "base/buf.h"
#include "sched/sched.h"

static pai_sched *small_one(void)
{
  static const char text[] =
    "{\"skus\":{\"a\":{\"gpu\":\"t4\",\"gpus\":4,\"cpus\":8,\"memory\":"
    "\"8Gi\"}},\"nodes\":[{\"name\":\"n1\",\"sku\":\"a\",\"rack\":\"r\"},{"
    "\"name\":\"n2\",\"sku\":\"a\",\"rack\":\"r\"}]}";
  pai_cluster *c;
  pai_sched *s;

  CHECK(pai_cluster_parse(&c, text, sizeof(text) - 1, NULL, NULL) == PAI_OK);
  CHECK(pai_sched_new(&s, c, NULL, NULL) == PAI_OK);
  pai_cluster_free(c);
  return s;
}

/* NULL for what is refused, rightly as far as can be seen. */
static pai_sched *load(const char *data, size_t len)
{
  char *text = malloc(len != 0 ? len : 1); /* exact: reading on is seen */
  pai_sched *s = NULL;
  pai_error *err = NULL;
  int rc;

  if (text == NULL)
    return NULL;
  if (len != 0)
    memcpy(text, data, len);
  rc = pai_sched_load(&s, text, len, NULL, &err);
  free(text);
  CHECK((rc < 0) == (s == NULL));
  if (rc < 0) {
    check_error(err, rc);
    CHECK(pai_error_line(err) > 0 && pai_error_column(err) > 0);
  }
  pai_error_free(err);
  return s;
}

typedef int (*saver)(const pai_sched *s, pai__buf *out, pai_error **err);

/* In the form for people, or in that of the middle of a log. */
static void check_saved(const pai_sched *s, saver save)
{
  pai__buf first, again;
  pai_sched *back;

  pai__buf_init(&first, &pai__libc_alloc);
  pai__buf_init(&again, &pai__libc_alloc);
  CHECK(save(s, &first, NULL) == PAI_OK);
  back = load(pai__buf_text(&first), first.len);
  CHECK(back != NULL);
  CHECK(save(back, &again, NULL) == PAI_OK);
  CHECK(first.len == again.len &&
        memcmp(pai__buf_text(&first), pai__buf_text(&again), first.len) == 0);
  pai_sched_free(back);
  pai__buf_dispose(&first);
  pai__buf_dispose(&again);
}

static void read_line(pai_sched *s, const char *line, size_t len)
{
  char *text = malloc(len != 0 ? len : 1);
  pai_error *err = NULL;
  int rc;

  if (text == NULL)
    return;
  if (len != 0)
    memcpy(text, line, len);
  rc = pai_sched_send_json(s, text, len, &err);
  free(text);
  if (rc < 0)
    check_error(err, rc);
  pai_error_free(err);
  for (int i = 0; i < rc; i++) {
    pai__buf out;

    pai__buf_init(&out, &pai__libc_alloc);
    CHECK(pai_sched_write_decision(s, (size_t)i, test_collect, &out, NULL) ==
          PAI_OK);
    pai__buf_dispose(&out);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  const char *text = (const char *)data, *end = text + size, *next;
  pai_sched *s = NULL;

  for (; text < end; text = next) {
    const char *newline = memchr(text, '\n', (size_t)(end - text));
    size_t len = (size_t)((newline != NULL ? newline : end) - text);

    next = newline != NULL ? newline + 1 : end;
    if (s == NULL) {
      s = load(text, len);
      if (s != NULL)
        continue;
      s = small_one();
    }
    if (check_small(s))
      read_line(s, text, len);
  }
  if (s != NULL) {
    check_saved(s, pai__save);
    check_saved(s, pai__save_lean);
  }
  pai_sched_free(s);
  return 0;
}
