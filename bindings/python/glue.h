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

/* (name, instances, cpus, memory_mb, gpus, script) of each. */
PyObject *pai_py_roles(job_roles roles);

PyObject *pai_py_notes(job_notes notes);

#endif /* OPENPAI_BINDINGS_PYTHON_GLUE_H */
