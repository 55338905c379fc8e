/* secrets.h - internal to the room: finds the secrets of a job file */
#ifndef PAI_SRC_SPEC_SECRETS_H
#define PAI_SRC_SPEC_SECRETS_H

#include "base/secrets.h"

/* Finds secrets in the tree rather than in the text, so that they are found
 * however they are written.  Returns PAI_OK or PAI_ENOMEM; dispose of `s` in
 * both cases. */
int pai__secrets_find(pai__secrets *s, const pai__tree *tree);

/* Finds more than that, for messages about a file that may be wrong: also
 * values anywhere whose keys resemble those of secrets.  It may leave out
 * suspects that do not touch bytes [from, to) of the text. */
int pai__secrets_suspect(pai__secrets *s, const pai__tree *tree, uint32_t from,
                         uint32_t to);

#endif
