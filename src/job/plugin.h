/*
 * plugin.h - internal to the room: OpenPAI's runtime plugins
 *
 * A plugin (job-spec 4.4) becomes pieces of the task's script: what runs before
 * the commands, what they find set, and what runs after them when they went
 * well.  Pieces are made once for each role; what differs between its tasks
 * they find in variables: those of OpenPAI's, $pai__dir, the task's folder, and
 * $pai__job, that of the job's attempt.
 */
#ifndef PAI_SRC_JOB_PLUGIN_H
#define PAI_SRC_JOB_PLUGIN_H

#include "base/shell_word.h"
#include "job/plan.h"
#include "spec/template.h"

enum { PAI__PLUGIN_SCOPES = 5 };

/* One of a role's. */
typedef struct pai__plugin {
  const pai__plan_context *context;
  pai__arena *arena; /* of what is made of it */
  const pai__role *role;
  const char *name;
  pai__node params;                  /* or PAI__NO_NODE */
  bool ignore;                       /* that it fails changes nothing */
  const pai__template_scope *scopes; /* of templates in its parameters */
} pai__plugin;

typedef struct pai__piece {
  pai__buf before, sets, after;
  bool failed; /* memory */
} pai__piece;

/* --- what plugins ask -------------------------------------------------------- */

/* A parameter, or PAI__NO_NODE; of null likewise. */
pai__node pai__plugin_get(const pai__plugin *p, const char *key);
/* A text with its templates filled in; NULL: it is none, or there is no
 * memory, which sticks to the piece. */
const char *pai__plugin_text(pai__piece *out, const pai__plugin *p,
                             pai__node n);
/* Is it true? */
bool pai__plugin_is(const pai__plugin *p, const char *key);

/* Adds a command that says why a plugin cannot be, and fails. */
void pai__plugin_refuse(pai__piece *out, const char *why);

/* --- each of them: adds its pieces ---------------------------------------------- */

void pai__plugin_cmd(pai__piece *out, const pai__plugin *p);
void pai__plugin_git(pai__piece *out, const pai__plugin *p);
void pai__plugin_ssh(pai__piece *out, const pai__plugin *p);
void pai__plugin_tensorboard(pai__piece *out, const pai__plugin *p);

/* Puts storages where the job wants them, if nothing else has done so. */
void pai__plugin_storages(pai__piece *out, const pai_launch_mount *mounts,
                          size_t n);

/* The folders of a job config v1, each of which may be NULL: that of its output
 * is made; its code is copied to a folder in which the commands begin. */
void pai__plugin_v1(pai__piece *out, const char *data, const char *output,
                    const char *code);

/* --- all of a role ---------------------------------------------------------------- */

/* Adds what stands before its commands and behind them to `role`, whose mounts
 * are known; "" for nothing.  PAI_OK or PAI_ENOMEM. */
int pai__plugin_scripts(pai__plan_role *role, pai__arena *arena,
                        const pai__plan_context *context, uint32_t number);

/* The address of a role's image, or NULL. */
const char *pai__plugin_image(const pai_spec *spec, uint32_t role);

#endif
