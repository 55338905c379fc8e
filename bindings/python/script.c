/* script.c - Python objects that the library calls: policies and callbacks */
#include "glue.h"

PyObject *(*pai_py_wrap_host)(Scheduler *host);

/* An exception raised earlier, set aside while further methods are called. */
typedef struct kept {
  PyObject *type, *value, *trace;
} kept;

static kept put_aside(void)
{
  kept k;

  PyErr_Fetch(&k.type, &k.value, &k.trace);
  return k;
}

/* Restores the earlier exception, if there was one, instead of a new one. */
static void take_back(kept k)
{
  if (k.type == NULL)
    return;
  PyErr_Clear();
  PyErr_Restore(k.type, k.value, k.trace);
}

/* --- calling --------------------------------------------------------------- */

/* Calls a method. Returns a new reference, or NULL. */
static PyObject *call(PyObject *object, const char *method, Scheduler *host,
                      const char *text, size_t len)
{
  PyObject *wrapped, *result;

  if (host == NULL && text == NULL)
    return PyObject_CallMethod(object, method, NULL);
  if (host == NULL)
    return PyObject_CallMethod(object, method, "s#", text, (Py_ssize_t)len);
  wrapped = pai_py_wrap_host(host);
  if (wrapped == NULL)
    return NULL; /* out of memory: the host leaks */
  result = text != NULL ? PyObject_CallMethod(object, method, "Os#", wrapped,
                                              text, (Py_ssize_t)len)
                        : PyObject_CallMethod(object, method, "O", wrapped);
  facade_host_end(host); /* the script may still refer to it */
  Py_DECREF(wrapped);
  return result;
}

static bool collect(job_text *answer, PyObject *result)
{
  Py_ssize_t len;
  const char *s = PyUnicode_AsUTF8AndSize(result, &len);

  if (s == NULL)
    return false;
  answer->bytes = malloc((size_t)len + 1);
  if (answer->bytes == NULL) {
    PyErr_NoMemory();
    return false;
  }
  memcpy(answer->bytes, s, (size_t)len + 1);
  answer->len = (size_t)len;
  return true;
}

int script_ask(void *object, const char *method, Scheduler *host,
               const char *text, size_t len, job_text *answer)
{
  PyGILState_STATE gil = PyGILState_Ensure();
  kept before = put_aside();
  PyObject *result = call(object, method, host, text, len);
  bool good = result != NULL;

  if (good && answer != NULL)
    good = collect(answer, result);
  Py_XDECREF(result);
  take_back(before);
  PyGILState_Release(gil);
  return good ? PAI_OK : PAI_EUSER;
}

bool script_settle(bool failed)
{
  PyGILState_STATE gil = PyGILState_Ensure();
  bool raised = PyErr_Occurred() != NULL;

  if (raised && !failed && PyErr_ExceptionMatches(PyExc_Exception)) {
    PyErr_Clear(); /* KeyboardInterrupt is not an Exception, and stays */
    raised = false;
  }
  PyGILState_Release(gil);
  return raised;
}

bool script_signals(void)
{
  PyGILState_STATE gil = PyGILState_Ensure();
  bool raised = PyErr_CheckSignals() < 0;

  PyGILState_Release(gil);
  return raised;
}

/* --- life ------------------------------------------------------------------ */

void *script_hold(void *object)
{
  PyGILState_STATE gil = PyGILState_Ensure();

  Py_INCREF((PyObject *)object);
  PyGILState_Release(gil);
  return object;
}

void *script_clone(void *object)
{
  PyGILState_STATE gil = PyGILState_Ensure();
  kept before = put_aside();
  PyObject *copy = PyObject_CallMethod(object, "clone", NULL);

  take_back(before);
  PyGILState_Release(gil);
  return copy;
}

void script_drop(void *object)
{
  PyGILState_STATE gil;

  if (object == NULL)
    return;
  gil = PyGILState_Ensure();
  Py_DECREF((PyObject *)object);
  PyGILState_Release(gil);
}

/* --- arguments ------------------------------------------------------------- */

bool pai_py_policy(policy_ref *policy, PyObject *object)
{
  PyObject *given;
  int lends, hears;

  *policy = (policy_ref){ NULL, NULL, false, false };
  if (object == Py_None)
    return true;
  if (PyUnicode_Check(object)) {
    policy->name = pai_py_string(object);
    return policy->name != NULL;
  }
  if (!PyArg_ParseTuple(object, "Ospp", &given, &policy->name, &lends, &hears))
    return false;
  policy->lends = lends != 0;
  policy->hears = hears != 0;
  policy->object = script_hold(given);
  return true;
}

void *pai_py_held(PyObject *object)
{
  return object != Py_None ? script_hold(object) : NULL;
}
