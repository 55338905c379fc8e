/*
 * variables.h - internal: environment variables that the platform sets for the
 * commands of a job, with their meaning, and their value where the job file
 * says it
 *
 * job/plan/ sets them, and knows the other values; a test there compares its
 * list with this one.
 */
#ifndef PAI_SRC_SPEC_VARIABLES_H
#define PAI_SRC_SPEC_VARIABLES_H

#include "spec/spec.h"

/* Whose value is asked for. */
typedef struct pai__variable_of {
  const pai_spec *spec;
  const pai__role *role; /* in the variable's name, or of the task; NULL for a
                            variable of the job */
  uint32_t tasks;        /* current number of tasks of the job */
  uint32_t role_tasks;   /* and of the role */
  uint32_t index;        /* of the task in its role */
} pai__variable_of;

/* A variable.  In its name {role} stands for the name of a task role, {index}
 * for the index of a task of that role, and {label} for a port label of it. */
typedef struct pai__platform_variable {
  const char *name; /* NULL ends the list */
  const char *says; /* a one-line description of its value */
  bool v1;          /* only for job config v1 */
  bool task;        /* its value differs by task, or by the task's role */
  /* Appends the value; NULL: the job file does not say it. */
  void (*put)(pai__buf *out, const pai__variable_of *of);
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

/* Appends the variable's name for a role, an index and a port label, as far as
 * it has them. */
void pai__variable_put_name(pai__buf *out, const pai__platform_variable *v,
                            const char *role, size_t role_len, uint64_t index,
                            const char *label, size_t label_len);

#endif
