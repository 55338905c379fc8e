/* convert.h - internal to the room: converts job config v1 to protocol v2 */
#ifndef PAI_SRC_SPEC_CONVERT_CONVERT_H
#define PAI_SRC_SPEC_CONVERT_CONVERT_H

#include "base/findings.h"

/*
 * Appends the v1 file of f to `out`, as a v2 file in YAML.  f's tree should be
 * valid; one that is not gives a poor result, but no crash.
 *
 * Nothing is lost: fields that v2 lacks are kept in the mapping
 * extras.openpai.v1, under their v1 names.  f gets a warning where the job may
 * run differently in v2.
 *
 * Returns PAI_OK, PAI_ENOMEM, or PAI_ELIMIT when nested too deep or too long.
 * After a failure the appended text means nothing.
 */
int pai__convert_v1_to_v2(pai__buf *out, pai__findings *f);

#endif
