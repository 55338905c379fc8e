/* glue.h - the facade's failures, callbacks and lists as Python objects */
#ifndef OPENPAI_BINDINGS_PYTHON_GLUE_H
#define OPENPAI_BINDINGS_PYTHON_GLUE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "facade.h"

/* Sets the exception, and frees the failure's error. */
void pai_py_raise(failure *f);

/* Makes a listener of a function or None. NULL: an exception is set. */
listener *pai_py_listener(PyObject *function);

/* (name, code); code is None before the end. */
PyObject *pai_py_state(job_state s);

PyObject *pai_py_strings(job_strings strings);
PyObject *pai_py_text(job_text text);

/* Converts JSON to a str. Invalid UTF-8, which names may have, becomes
 * U+FFFD. */
PyObject *pai_py_listing(listing l);

/* Returns the UTF-8 of a str without zeros; borrowed. NULL: an exception is
 * set. */
const char *pai_py_string(PyObject *object);

/* A str is a text, bytes are YAML. Borrowed. False: an exception is set. */
bool pai_py_value(draft_value *value, PyObject *object);

/* Convert bytes to words, a str or an int to a node, and a list of (str or
 * None, str or None, Topology) to machines, which PyMem_Free() frees. The
 * values are borrowed. False or NULL: an exception is set. */
bool pai_py_words(words *w, PyObject *object);
bool pai_py_node(node_ref *node, PyObject *object);
pai_cluster_machine *pai_py_machines(
  machine_list *machines, PyObject *list,
  const pai_topology *(*topology)(PyObject *object));

/* Converts a policy: None, a str, or (object, name, lends, hears) (script.c).
 * False: an exception is set. */
bool pai_py_policy(policy_ref *policy, PyObject *object);
/* Returns a new reference for script_ask(); NULL for None. */
void *pai_py_held(PyObject *object);
/* Wraps a host in a SWIG object that owns it; set by the module. */
extern PyObject *(*pai_py_wrap_host)(Scheduler *host);

#endif /* OPENPAI_BINDINGS_PYTHON_GLUE_H */
