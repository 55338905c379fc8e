/*
 * convert_v2.h - internal: a v2 job on its way to v1
 */
#ifndef PAI_SRC_SPEC_CONVERT_V2_H
#define PAI_SRC_SPEC_CONVERT_V2_H

#include "json/writer.h"
#include "spec/convert_common.h"

typedef struct v2_job {
  convert c;
  pai__json_writer w;
  pai__node roles, parameters, extras;
  pai__node kept;     /* extras.openpai.v1 */
  pai__node selected; /* the deployment that is applied */
  pai__map resources; /* "type/name" to a v2_resource */
  text image;
  text dirs[PAI__CONV_DIRS];
  bool same_exports; /* the deployment does the same before each role */
  pai__map envs;     /* names to texts: what it exports */
} v2_job;

/* A prerequisite. */
typedef struct v2_resource {
  pai__node node;
  bool used;
} v2_resource;

static inline pai__node pai__v2_get(const v2_job *j, const char *field)
{
  return pai__conv_get(&j->c, 0, field);
}

static inline void pai__v2_key(v2_job *j, const char *key)
{
  pai__json_key(&j->w, key, strlen(key));
}

static inline void pai__v2_text(v2_job *j, const char *key, text value)
{
  pai__v2_key(j, key);
  pai__json_text(&j->w, value.s, value.len);
}

static inline void pai__v2_int(v2_job *j, const char *key, int64_t value)
{
  pai__v2_key(j, key);
  pai__json_int(&j->w, value);
}

/* Finds what the job's roles have in common: image, folders (convert_uses.c);
 * variables (convert_commands.c).  Notes what v1 cannot say about them. */
void pai__v2_uses(v2_job *j);
void pai__v2_exports(v2_job *j);
/* The uri of the folder that a role uses, or none. */
text pai__v2_folder(v2_job *j, pai__node role, size_t i);
/* Everything that a role runs, as one command. */
text pai__v2_command(v2_job *j, pai__node key);
/* Writes taskRoles (convert_roles.c). */
void pai__v2_put_roles(v2_job *j);
/* Notes the entries of a mapping but those named; NULL ends them. */
void pai__v2_note_others(v2_job *j, pai__node mapping, const char *code,
                         const char *what, const char *const *known);

#endif
