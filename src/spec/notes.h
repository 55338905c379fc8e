/* notes.h - internal to the room: the parts of a spec that are made last */
#ifndef PAI_SRC_SPEC_NOTES_H
#define PAI_SRC_SPEC_NOTES_H

#include "spec/spec.h"

/* render.c: the roles' scripts.  PAI_OK or PAI_ENOMEM. */
int pai__spec_scripts(pai_spec *spec);
/* environment.c: the variables of its commands, when it has its scripts.  PAI_OK
 * or PAI_ENOMEM. */
int pai__spec_environment(pai_spec *spec);
/* Hands out the names of secrets that they need and the job lacks.  PAI_OK, or
 * what the callback returned. */
int pai__spec_environment_secrets(const pai_spec *spec,
                                  int (*cb)(void *user_data, const char *name,
                                            size_t len),
                                  void *user_data);
/* extras.c: its time limit, and the jobs that it waits for.  PAI_OK or
 * PAI_ENOMEM. */
int pai__spec_extras(pai_spec *spec);
/* missing.c: the secrets it lacks, when it has its scripts.  PAI_OK or
 * PAI_ENOMEM. */
int pai__spec_missing(pai_spec *spec);
/* notes.c: what is not acted on.  PAI_OK or PAI_ENOMEM. */
int pai__spec_notes(pai_spec *spec);

#endif
