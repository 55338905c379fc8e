/* glue.h - the facade's failures, callbacks and lists as Python objects */
#ifndef OPENPAI_BINDINGS_PYTHON_GLUE_H
#define OPENPAI_BINDINGS_PYTHON_GLUE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "facade.h"

/* Sets the exception, and frees the error. */
void pai_py_raise(failure *f);

/* `function` may be None.  NULL: an exception is set. */
listener *pai_py_listener(PyObject *function);

/* (name, code); code is None before the end. */
PyObject *pai_py_state(job_state s);

PyObject *pai_py_strings(job_strings strings);
PyObject *pai_py_text(job_text text);

/* The same of JSON; what is no UTF-8, as names may be, is U+FFFD. */
PyObject *pai_py_listing(listing l);

/* (kind, pointer, old, new) of each, of facade_diff(). */
PyObject *pai_py_changes(job_text changes);

/* (valid, version, [diagnostic...]), or None for NULL; a diagnostic is a tuple
 * in the order of the struct, with its fixes last. */
PyObject *pai_py_report(const pai_report *report);

/* A str without zeros; borrowed.  NULL: an exception is set. */
const char *pai_py_string(PyObject *object);

/* A str stays a text; bytes are YAML.  Borrowed; false: an exception is set. */
bool pai_py_value(draft_value *value, PyObject *object);

/* These borrow, and are false, or NULL, with an exception set: bytes; a str or
 * an int; a list of (str or None, str or None, Topology), to be freed. */
bool pai_py_words(words *w, PyObject *object);
bool pai_py_node(node_ref *node, PyObject *object);
pai_cluster_machine *pai_py_machines(
  machine_list *machines, PyObject *list,
  const pai_topology *(*topology)(PyObject *object));

/* A policy (script.c): None, a str, or (object, name, lends, hears).  False: an
 * exception is set. */
bool pai_py_policy(policy_ref *policy, PyObject *object);
/* For script_ask(); NULL for None. */
void *pai_py_held(PyObject *object);
/* SWIG's own, of the module: an object that owns a host. */
extern PyObject *(*pai_py_wrap_host)(Scheduler *host);

#endif /* OPENPAI_BINDINGS_PYTHON_GLUE_H */
