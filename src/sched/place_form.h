/* place_form.h - internal: where a task is, as JSON */
#ifndef PAI_SRC_SCHED_PLACE_FORM_H
#define PAI_SRC_SCHED_PLACE_FORM_H

#include "sched/form.h"

typedef struct pai__place_form {
  const char *node;
  uint64_t gpus;
  const uint64_t *cpus;
  uint32_t cpu_words;
  const uint32_t *ports;
  uint32_t nports;
} pai__place_form;

/* Its members; `list` is for a text meanwhile. */
void pai__place_put(pai__json_writer *w, pai__buf *list,
                    const pai__place_form *p);

void pai__mask_put(pai__json_writer *w, const char *key, uint64_t mask);
void pai__ports_put(pai__json_writer *w, const char *key,
                    const uint32_t *ports, uint32_t n);

#endif
