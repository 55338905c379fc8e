/*
 * plugin.h - internal to src/job/plan: OpenPAI's runtime plugins
 *
 * A plugin (job-spec 4.4) becomes parts of the task's script: what runs before
 * the commands, variables for them, and what runs after them if they succeed.
 * The parts are made once for each role.  They find what differs between tasks
 * in variables: OpenPAI's own, $pai__dir, the task's folder, and $pai__job,
 * the folder of the job's attempt.
 */
#ifndef PAI_SRC_JOB_PLAN_PLUGIN_H
#define PAI_SRC_JOB_PLAN_PLUGIN_H

#include "base/text/shell_word.h"
#include "job/plan/plan.h"
#include "spec/template/template.h"

enum { PAI__PLUGIN_SCOPES = 5 };

/* One plugin of a role. */
typedef struct pai__plugin {
  const pai__plan_context *context;
  pai__arena *arena; /* for everything made here */
  const pai__role *role;
  const char *name;
  pai__node params;                  /* or PAI__NO_NODE */
  bool ignore;                       /* ignore failures */
  const pai__template_scope *scopes; /* for templates in its parameters */
} pai__plugin;

typedef struct pai__plugin_piece {
  pai__buf before, sets, after;
  bool failed; /* out of memory */
} pai__plugin_piece;

/* --- helpers for plugins ------------------------------------------------- */

/* Returns a parameter; PAI__NO_NODE if it is missing or null. */
pai__node pai__plugin_get(const pai__plugin *p, const char *key);
/* Returns a text with its templates filled in; NULL if it is not a text, or
 * out of memory, which is recorded in the piece. */
const char *pai__plugin_text(pai__plugin_piece *out, const pai__plugin *p,
                             pai__node n);
/* Returns whether the parameter is true. */
bool pai__plugin_is(const pai__plugin *p, const char *key);

/* Appends a command that reports why the plugin is impossible, and fails. */
void pai__plugin_refuse(pai__plugin_piece *out, const char *why);

/* --- plugins: each appends its parts ------------------------------------- */

void pai__plugin_cmd(pai__plugin_piece *out, const pai__plugin *p);
void pai__plugin_git(pai__plugin_piece *out, const pai__plugin *p);
void pai__plugin_ssh(pai__plugin_piece *out, const pai__plugin *p);
void pai__plugin_tensorboard(pai__plugin_piece *out, const pai__plugin *p);

/* Links storages to the places that the job requests, unless they are mounted
 * there. */
void pai__plugin_storages(pai__plugin_piece *out,
                          const pai_launch_mount *mounts, size_t n);

/* Sets up the folders of a job config v1, each of which may be NULL: creates
 * the output folder; copies the code to the folder in which the commands
 * begin. */
void pai__plugin_v1(pai__plugin_piece *out, const char *data,
                    const char *output, const char *code);

/* --- all plugins of a role ----------------------------------------------- */

/* Sets the script parts around the role's commands; "" for nothing.  The
 * role's mounts must be set.  PAI_OK or PAI_ENOMEM. */
int pai__plugin_scripts(pai__plan_role *role, pai__arena *arena,
                        const pai__plan_context *context, uint32_t number);

/* Returns the URI of a role's image, or NULL. */
const char *pai__plugin_image(const pai_spec *spec, uint32_t role);

#endif
