/* commands.h - internal to the room: joins the commands of a task role */
#ifndef PAI_SRC_SPEC_COMMANDS_H
#define PAI_SRC_SPEC_COMMANDS_H

#include "base/secrets.h"
#include "spec/scan/index.h"
#include "spec/template/template.h"

/* Limit of the commands of all roles, in bytes: of the texts as written, and
 * again of the texts with their templates filled in.  Aliases and parameters
 * can multiply a short file. */
enum { PAI__MOST_COMMANDS = 64 << 20 };

/* A command, its place in the joined text, and the bytes of its value that
 * were trimmed before that. */
typedef struct pai__command {
  pai__node node;
  size_t at, trimmed;
} pai__command;

/* The commands of a role with those of the deployment in use around them, each
 * trimmed, joined by newlines. */
typedef struct pai__commands {
  pai__buf text;
  pai__command *list;
  size_t len, cap;
  size_t left;              /* bytes left of PAI__MOST_COMMANDS */
  const pai__secrets *hide; /* secrets to mask in the text, or NULL */
  bool failed;
} pai__commands;

void pai__commands_init(pai__commands *c, const pai_alloc *alloc);
void pai__commands_dispose(pai__commands *c);
/* Replaces the text by the commands of a role; `key` is its key in taskRoles.
 * Returns PAI_OK, PAI_ENOMEM, or PAI_ELIMIT if the commands of all roles so
 * far are too long. */
int pai__commands_join(pai__commands *c, const pai__index *index,
                       pai__node key);
/* Returns the command that byte `at` of the text belongs to.  *inside is the
 * byte of that command's value. */
pai__node pai__commands_at(const pai__commands *c, size_t at, size_t *inside);

/* The scopes of templates in a role's commands, without secrets. */
enum { PAI__ROLE_SCOPES = 4 };
void pai__role_scopes(pai__template_scope scopes[PAI__ROLE_SCOPES],
                      const pai__index *index, pai__node role);
/* The scope of secrets, which are filled in last, where the job runs. */
pai__template_scope pai__secrets_scope(const pai__tree *tree);

#endif
