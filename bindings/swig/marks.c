/* marks.c - lists from scripts: words, numbers, and marks of GPUs */
#include "shared.h"

#include <stdlib.h>
#include <string.h>

const char *facade_word(const words *w, size_t *at)
{
  const char *word = w->bytes + *at;

  if (*at >= w->len)
    return NULL;
  *at += strlen(word) + 1;
  return word;
}

const char **facade_word_list(const words *w, size_t *count, failure *f)
{
  const char **list = calloc(w->len + 1, sizeof(*list)); /* at most */
  size_t n = 0;

  if (list == NULL)
    facade_fail(f, PAI_ENOMEM, "out of memory");
  for (size_t at = 0; list != NULL && at < w->len;)
    list[n++] = facade_word(w, &at);
  if (count != NULL)
    *count = n;
  return list;
}

bool facade_number(const char *word, int64_t most, int64_t *number)
{
  int64_t n = 0;
  const char *at = word;

  for (; *at >= '0' && *at <= '9'; at++) {
    if (n > (most - (*at - '0')) / 10)
      return false;
    n = n * 10 + (*at - '0');
  }
  *number = n;
  return at > word && *at == '\0';
}

bool facade_numbers(uint32_t *out, size_t *count, const words *w, failure *f)
{
  const char *word;
  int64_t n;

  *count = 0;
  for (size_t at = 0; (word = facade_word(w, &at)) != NULL;) {
    if (!facade_number(word, INT32_MAX, &n)) {
      facade_fail(f, PAI_EINVAL, "a number is from 0 to 2147483647");
      return false;
    }
    out[(*count)++] = (uint32_t)n;
  }
  return true;
}

/* --- marks -------------------------------------------------------------- */

static int state_of(const char *word)
{
  static const char *const names[] = { "free", "used", "sick" };
  static const int states[] = { PAI_MARK_FREE, PAI_MARK_USED, PAI_MARK_SICK };

  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
    if (strcmp(word, names[i]) == 0)
      return states[i];
  return PAI_MARK_NONE;
}

/* Reads four words as a mark. Returns false at the end, and after a
 * failure. */
static bool next_mark(pai_gpu_mark *mark, size_t *number, const words *w,
                      size_t *at, place_fn place, const void *of, failure *f)
{
  const char *node = facade_word(w, at), *gpu = facade_word(w, at);
  const char *state = facade_word(w, at), *text = facade_word(w, at);
  int64_t n = 0;

  if (text == NULL)
    return false;
  mark->state = state_of(state);
  mark->text = *text != '\0' ? text : NULL;
  if (!facade_number(gpu, INT32_MAX, &n))
    facade_fail(f, PAI_EINVAL, "a GPU's number counts from 0");
  else if (mark->state == PAI_MARK_NONE)
    facade_fail(f, PAI_EINVAL, "a GPU is marked as free, used or sick");
  else
    *number = place(of, node, (size_t)n, f);
  return f->code == PAI_OK;
}

pai_gpu_mark *facade_marks(const words *w, place_fn place, const void *of,
                           size_t gpus, failure *f)
{
  pai_gpu_mark mark, *list;
  size_t at = 0, number = 0;

  if (w->len == 0)
    return NULL;
  list = calloc(gpus + 1, sizeof(*list));
  if (list == NULL) {
    facade_fail(f, PAI_ENOMEM, "out of memory");
    return NULL;
  }
  while (next_mark(&mark, &number, w, &at, place, of, f))
    list[number] = mark;
  if (f->code == PAI_OK)
    return list;
  free(list);
  return NULL;
}
