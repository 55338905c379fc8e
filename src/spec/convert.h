/*
 * convert.h - job config v1 into protocol v2, and back
 *
 * Pure functions from the tree of a valid file to text.  A tree that is not
 * valid gives a poor result, never a crash.
 *
 * v1 -> v2 loses nothing: what v2 has no place for stands in the mapping
 * extras.openpai.v1, under the names that v1 gave it.  On the way back such a
 * value counts for as long as the field that stood in for it is unchanged, so
 * that edits of the v2 file win.
 */
#ifndef PAI_SRC_SPEC_CONVERT_H
#define PAI_SRC_SPEC_CONVERT_H

#include "base/tree.h"

enum {
  PAI__CONVERT_INFO,    /* written otherwise, means the same */
  PAI__CONVERT_WARNING, /* kept or approximated; the job may run otherwise */
  PAI__CONVERT_ERROR    /* not in the result */
};

/* Something that is expressed otherwise, or not at all. */
typedef struct pai__convert_note {
  pai__node node;   /* of the tree converted: a value, or the key of a role */
  int severity;     /* PAI__CONVERT_* */
  const char *code; /* stable, such as "gpu-type" */
  const char *message; /* for the time of the call */
  const char *help;    /* or NULL */
} pai__convert_note;

/* A negative result ends the conversion, which returns it. */
typedef int (*pai__convert_note_cb)(void *user_data,
                                    const pai__convert_note *note);

/*
 * The tree of a v1 file, as the JSON reader makes it, to YAML; the tree of a
 * v2 file to pretty JSON.  The text goes to the end of `out`, whose allocator
 * serves for everything; after a failure what was added means nothing.
 *
 * `note` may be NULL.  Notes come in the order of the result, not of the file.
 * PAI_OK, PAI_ENOMEM, PAI_ELIMIT when nested too deep, or the callback's.
 */
int pai__convert_v1_to_v2(pai__buf *out, const pai__tree *v1,
                          pai__convert_note_cb note, void *user_data);
int pai__convert_v2_to_v1(pai__buf *out, const pai__tree *v2,
                          pai__convert_note_cb note, void *user_data);

#endif
