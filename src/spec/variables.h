/*
 * variables.h - internal: environment variables that the platform sets for the
 * commands of a job, with their meaning
 *
 * job/plan/ sets them; a test there compares its list with this one.
 */
#ifndef PAI_SRC_SPEC_VARIABLES_H
#define PAI_SRC_SPEC_VARIABLES_H

#include <stdbool.h>
#include <stddef.h>

/* A variable.  In its name {role} stands for the name of a task role, {index}
 * for the index of a task of that role, and {label} for a port label of it. */
typedef struct pai__platform_variable {
  const char *name; /* NULL ends the list */
  const char *says; /* a one-line description of its value */
  bool v1;          /* only for job config v1 */
} pai__platform_variable;

extern const pai__platform_variable pai__platform_variables[];

/* The parts of a variable's name: where they begin, and their length.  A part
 * with a `fixed` text of that length can only be this text.  A part that the
 * name has not is empty. */
enum { PAI__VARIABLE_ROLE, PAI__VARIABLE_INDEX, PAI__VARIABLE_LABEL };
typedef struct pai__variable_part {
  const char *fixed; /* or NULL */
  size_t at, len;
} pai__variable_part;
typedef struct pai__variable_parts {
  pai__variable_part part[3];
} pai__variable_parts;

/* Returns whether a name is one of this variable, and fills in the parts. */
bool pai__variable_fits(const pai__platform_variable *v, const char *name,
                        size_t len, pai__variable_parts *parts);
/* Returns whether the variable's name has a part. */
bool pai__variable_has(const pai__platform_variable *v, int part);

#endif
