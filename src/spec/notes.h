/* notes.h - internal to the room: the parts of a spec that are made last */
#ifndef PAI_SRC_SPEC_NOTES_H
#define PAI_SRC_SPEC_NOTES_H

#include "spec/spec.h"

/* render.c: the roles' scripts.  PAI_OK or PAI_ENOMEM. */
int pai__spec_scripts(pai_spec *spec);
/* missing.c: the secrets it lacks, when it has its scripts.  PAI_OK or
 * PAI_ENOMEM. */
int pai__spec_missing(pai_spec *spec);
/* notes.c: what is not acted on.  PAI_OK or PAI_ENOMEM. */
int pai__spec_notes(pai_spec *spec);

#endif
