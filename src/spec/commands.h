/* commands.h - internal to the room: the commands of a role as one text */
#ifndef PAI_SRC_SPEC_COMMANDS_H
#define PAI_SRC_SPEC_COMMANDS_H

#include "base/secrets.h"
#include "spec/index.h"
#include "spec/template.h"

/* Bytes of the commands of all roles together: so many as they are written,
 * and so many with their templates filled in.  Aliases and parameters make much
 * out of little. */
enum { PAI__MOST_COMMANDS = 64 << 20 };

/* One command, where it stands in the text, and how many bytes of its value were
 * trimmed before it. */
typedef struct pai__command {
  pai__node node;
  size_t at, trimmed;
} pai__command;

/* The commands of the used deployment around those of the role, each trimmed,
 * joined by newlines. */
typedef struct pai__commands {
  pai__buf text;
  pai__command *list;
  size_t len, cap;
  size_t left;              /* of PAI__MOST_COMMANDS */
  const pai__secrets *hide; /* NULL, or what is only masked */
  bool failed;
} pai__commands;

void pai__commands_init(pai__commands *c, const pai_alloc *alloc);
void pai__commands_dispose(pai__commands *c);
/* Of the role of a key in taskRoles, instead of what was there.  PAI_OK,
 * PAI_ENOMEM, or PAI_ELIMIT: those of all roles so far are too many. */
int pai__commands_join(pai__commands *c, const pai__index *index,
                       pai__node key);
/* The command that byte `at` of the text belongs to, and which byte of that
 * command's value it is. */
pai__node pai__commands_at(const pai__commands *c, size_t at, size_t *inside);

/* What templates in a role's commands may name. */
enum { PAI__ROLE_SCOPES = 4 };
void pai__role_scopes(pai__template_scope scopes[PAI__ROLE_SCOPES],
                      const pai__index *index, pai__node role);
/* And what is filled in last, where the job runs. */
pai__template_scope pai__secrets_scope(const pai__tree *tree);

#endif
