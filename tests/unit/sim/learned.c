/* learned.c - what a history was told, and what it guesses, in few words */
#include "learned.h"

#define SECOND INT64_C(1000000)

pai_history *learned_new(void)
{
  pai_history *h;

  assert_int_equal(pai_history_new(&h, NULL, NULL), PAI_OK);
  return h;
}

int learned_add(pai_history *h, const char *user, const char *name,
                uint64_t gpus, int64_t seconds)
{
  return pai_history_add(h,
                         &(pai_past){ .struct_size = sizeof(pai_past),
                                      .user = user,
                                      .name = name,
                                      .gpus = gpus,
                                      .duration = seconds * SECOND },
                         NULL);
}

pai_guess learned_guess(const pai_history *h, const char *user,
                        const char *name, uint64_t gpus, int64_t ran)
{
  pai_guess g = { .struct_size = sizeof(g) };
  pai_past p = {
    .struct_size = sizeof(p), .user = user, .name = name, .gpus = gpus
  };

  assert_int_equal(pai_history_guess(h, &p, ran * SECOND, &g), PAI_OK);
  return g;
}
