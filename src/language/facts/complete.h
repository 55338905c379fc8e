/* complete.h - internal to complete*.c: a completion in progress */
#ifndef PAI_SRC_LANGUAGE_FACTS_COMPLETE_H
#define PAI_SRC_LANGUAGE_FACTS_COMPLETE_H

#include "language/facts/parts.h"

/* Order of the groups of completions. */
enum pai__complete_group {
  PAI__GROUP_REQUIRED,
  PAI__GROUP_FIRST,
  PAI__GROUP_USUAL,
  PAI__GROUP_SNIPPET,
  PAI__GROUP_LAST
};

typedef struct pai__complete_state {
  pai__facts *f;
  size_t at;
  const pai__cluster_names *names; /* or NULL */
  pai__spec_scan place;            /* of the cursor */
  pai__span replaces;              /* of the next completion */
  size_t column;                   /* of `replaces` in its line */
  enum pai__piece_form form;
  pai__completion_cb cb;
  void *user_data;
  unsigned count;
  int rc; /* sticky */
} pai__complete_state;

/* Tells a completion; its `sort` and `replaces` are filled in. */
void pai__complete_tell(pai__complete_state *s, pai__completion *c,
                        enum pai__complete_group group);

/* complete_key.c: keys of the mapping at a place, which need not exist. */
void pai__complete_keys(pai__complete_state *s, const pai__spec_rule *rule,
                        pai__node mapping);
/* Items of the list whose rule this is. */
void pai__complete_items(pai__complete_state *s, const pai__spec_rule *rule,
                         pai__node list);

/* complete_value.c: values of a place.  `before` precedes each. */
void pai__complete_values(pai__complete_state *s, const pai__spec_ruled *ruled,
                          const char *before);

/* complete_text.c: names in a template or a command; false: the cursor is in
 * neither. */
bool pai__complete_text(pai__complete_state *s, const pai__spec_rule *rule);

#endif
