/* fuzz_allocation.c - allocation sets from text, and back; two sets, divided
 * by |, against the laws of their algebra */
#include "check.h"

#include <openpai/allocation.h>

#include "base/buf.h"

/* NULL for a text that is refused, rightly as far as can be seen. */
static pai_allocation *read_set(const char *data, size_t size)
{
  char *text = malloc(size != 0 ? size : 1); /* exact: reading on is seen */
  pai_allocation *set = NULL;
  pai_error *err = NULL;
  int rc;

  if (text == NULL)
    return NULL;
  if (size != 0)
    memcpy(text, data, size);
  rc = pai_allocation_parse(&set, text, size, NULL, &err);
  free(text);
  CHECK((rc < 0) == (set == NULL));
  if (rc < 0) {
    check_error(err, rc);
    CHECK(pai_error_line(err) > 0 && pai_error_column(err) > 0);
  } else {
    CHECK(err == NULL);
  }
  pai_error_free(err);
  return set;
}

static void check_text(const pai_allocation *set)
{
  pai_allocation *back;
  pai__buf out, again;

  pai__buf_init(&out, &pai__libc_alloc);
  pai__buf_init(&again, &pai__libc_alloc);
  CHECK(pai_allocation_write(set, test_collect, &out, NULL) == PAI_OK);
  back = read_set(pai__buf_text(&out), out.len);
  CHECK(back != NULL && pai_allocation_equal(set, back));
  CHECK(pai_allocation_hash(set) == pai_allocation_hash(back));
  CHECK(pai_allocation_write(back, test_collect, &again, NULL) == PAI_OK);
  CHECK(out.len == again.len &&
        memcmp(pai__buf_text(&out), pai__buf_text(&again), out.len) == 0);
  pai_allocation_free(back);
  pai__buf_dispose(&out);
  pai__buf_dispose(&again);
}

static void check_laws(const pai_allocation *a, const pai_allocation *b)
{
  pai_allocation *all, *both, *only, *sum;

  CHECK(pai_allocation_union(&all, a, b, NULL) == PAI_OK);
  CHECK(pai_allocation_intersection(&both, a, b, NULL) == PAI_OK);
  CHECK(pai_allocation_difference(&only, a, b, NULL) == PAI_OK);
  CHECK(pai_allocation_contains(all, a) && pai_allocation_contains(all, b));
  CHECK(pai_allocation_contains(a, both) && pai_allocation_contains(b, both));
  CHECK(!pai_allocation_overlaps(only, b));
  for (int kind = PAI_ALLOCATION_GPU; kind <= PAI_ALLOCATION_PORT; kind++)
    CHECK(pai_allocation_total(all, kind) + pai_allocation_total(both, kind) ==
          pai_allocation_total(a, kind) + pai_allocation_total(b, kind));
  check_text(all);
  /* Whole again, memory included. */
  CHECK(pai_allocation_copy(&sum, only, NULL) == PAI_OK);
  CHECK(pai_allocation_give(sum, both, NULL) == PAI_OK);
  CHECK(pai_allocation_equal(sum, a));
  CHECK(pai_allocation_take(sum, only, NULL) == PAI_OK);
  CHECK(pai_allocation_equal(sum, both));
  pai_allocation_free(all);
  pai_allocation_free(both);
  pai_allocation_free(only);
  pai_allocation_free(sum);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  const char *text = (const char *)data;
  const char *bar = size != 0 ? memchr(text, '|', size) : NULL;
  size_t len = bar != NULL ? (size_t)(bar - text) : size;
  pai_allocation *a = read_set(text, len), *b = NULL;

  if (bar != NULL)
    b = read_set(bar + 1, size - len - 1);
  if (a != NULL)
    check_text(a);
  if (a != NULL && b != NULL)
    check_laws(a, b);
  pai_allocation_free(a);
  pai_allocation_free(b);
  return 0;
}
