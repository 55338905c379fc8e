/*
 * notes.h - internal to the room: the parts of a spec that are computed last
 */
#ifndef PAI_SRC_SPEC_NOTES_H
#define PAI_SRC_SPEC_NOTES_H

#include "spec/spec.h"

/* template/render.c: the roles' scripts.  Returns PAI_OK or PAI_ENOMEM. */
int pai__spec_scripts(pai_spec *spec);
/* explain/environment.c: the variables of its commands.  Returns PAI_OK or
 * PAI_ENOMEM. */
int pai__spec_environment(pai_spec *spec);
/* Calls back with the name of each secret that a variable needs and the job
 * lacks.  Returns PAI_OK, or what the callback returned. */
int pai__spec_environment_secrets(const pai_spec *spec,
                                  int (*cb)(void *user_data, const char *name,
                                            size_t len),
                                  void *user_data);
/* extras.c: its time limit, and the jobs that it waits for.  Returns PAI_OK or
 * PAI_ENOMEM. */
int pai__spec_extras(pai_spec *spec);
/* lint/missing.c: the secrets it lacks; needs its scripts.  Returns PAI_OK or
 * PAI_ENOMEM. */
int pai__spec_missing(pai_spec *spec);
/* notes.c: the fields that are ignored.  Returns PAI_OK or PAI_ENOMEM. */
int pai__spec_notes(pai_spec *spec);

#endif
