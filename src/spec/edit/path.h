/*
 * path.h - internal to the room: paths to places in a document
 *
 *   taskRoles.worker.instances    keys
 *   prerequisites[0].uri          an item; [-1] is the last
 *   commands[+]                   a new last item
 *   parameters."a.b"              a key in quotes, with \" and \\ in them
 *   /taskRoles/worker             a JSON pointer; - is a new last item
 *
 * An empty path is the whole document.
 */
#ifndef PAI_SRC_SPEC_EDIT_PATH_H
#define PAI_SRC_SPEC_EDIT_PATH_H

#include "base/buf.h"

typedef enum pai__step_kind {
  PAI__STEP_KEY,
  PAI__STEP_ITEM,
  PAI__STEP_APPEND,
  PAI__STEP_TOKEN /* of a pointer: a key or an item, depending on the value
                     there */
} pai__step_kind;

typedef struct pai__spec_step {
  pai__step_kind kind;
  size_t key, len; /* KEY, TOKEN: range in path.keys */
  int64_t index;   /* ITEM: counts from the end if negative */
  size_t end;      /* end of this step in the path */
} pai__spec_step;

typedef struct pai__path {
  const pai_alloc *alloc;
  const char *text; /* borrowed */
  pai__buf keys;
  pai__spec_step *steps;
  size_t len, cap;
} pai__path;

enum { PAI__PATH_MAX = 256 }; /* steps */

/* Returns PAI_OK, PAI_EINVAL, PAI_ELIMIT or PAI_ENOMEM.  Dispose of the path
 * also after a failure. */
int pai__path_parse(pai__path *path, const char *text, const pai_alloc *alloc,
                    pai_error **err);
void pai__path_dispose(pai__path *path);

static inline const char *pai__path_key(const pai__path *path, size_t step)
{
  return pai__buf_text(&path->keys) + path->steps[step].key;
}

/* Returns what a step means in a sequence: PAI__STEP_ITEM with its index,
 * PAI__STEP_APPEND, or PAI__STEP_KEY if it names no item. */
pai__step_kind pai__path_item(const pai__path *path, size_t step,
                              int64_t *index);

#endif
