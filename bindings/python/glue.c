/* glue.c - the facade's failures, callbacks and lists as Python objects */
#include "glue.h"

#include <stdlib.h>
#include <string.h>

/* A message may quote bytes that are not UTF-8. */
static PyObject *text_or_none(const char *s)
{
  if (s == NULL)
    Py_RETURN_NONE;
  return PyUnicode_DecodeUTF8(s, (Py_ssize_t)strlen(s), "backslashreplace");
}

static PyObject *path_or_none(const char *s)
{
  if (s == NULL)
    Py_RETURN_NONE;
  return PyUnicode_DecodeFSDefault(s);
}

static PyObject *number_or_none(bool some, long number)
{
  if (!some)
    Py_RETURN_NONE;
  return PyLong_FromLong(number);
}

/* --- failures ----------------------------------------------------------- */

/* The JSON of a report, or None. */
static PyObject *report_or_none(const pai_report *report)
{
  failure f = { 0 };
  listing l = { { NULL, 0 } };
  PyObject *text;

  if (report != NULL)
    l = facade_report(report, &f);
  text = pai_py_listing(l);
  free(l.json.bytes);
  return text;
}

/* Makes the exception for `f` with openpai._errors. New reference. */
static PyObject *make_error(PyObject *module, const failure *f)
{
  uint32_t line = pai_error_line(f->err), column = pai_error_column(f->err);
  PyObject *cause, *made = NULL;
  char *text = facade_describe(f);
  failure below;

  if (text == NULL)
    return PyErr_NoMemory();
  if (facade_cause(&below, f))
    cause = make_error(module, &below);
  else
    cause = text_or_none(NULL);
  if (cause != NULL)
    made = PyObject_CallMethod(
      module, "make", "isNNNNNNNNNNNNNLi", f->code, pai_code_name(f->code),
      text_or_none(text), text_or_none(facade_message(f)),
      text_or_none(facade_help(f)), number_or_none(line > 0, line),
      number_or_none(column > 0, column),
      text_or_none(pai_error_pointer(f->err)),
      PyBool_FromLong(facade_retriable(f)), cause, report_or_none(f->report),
      path_or_none(facade_file(f)),
      number_or_none(facade_errno(f) != 0, facade_errno(f)),
      number_or_none(facade_http_status(f) != 0, facade_http_status(f)),
      text_or_none(facade_api_code(f)), (long long)facade_retry_after(f),
      facade_no_answer(f));
  free(text);
  return made;
}

void pai_py_raise(failure *f)
{
  PyObject *module, *error = NULL;

  if (f->code != PAI_EUSER) { /* else rethrow() has set the exception */
    module = PyImport_ImportModule("openpai._errors");
    if (module != NULL)
      error = make_error(module, f);
    if (error != NULL)
      PyErr_SetObject((PyObject *)Py_TYPE(error), error);
    Py_XDECREF(error);
    Py_XDECREF(module);
  }
  facade_failure_dispose(f);
}

/* --- callbacks ---------------------------------------------------------- */

typedef struct py_listener {
  listener base;
  PyObject *function;             /* or NULL */
  PyObject *type, *value, *trace; /* first error, to be raised again */
} py_listener;

/* Keeps the first error. A later one, of a signal, is dropped. */
static void keep_error(py_listener *l)
{
  if (l->type == NULL)
    PyErr_Fetch(&l->type, &l->value, &l->trace);
  else
    PyErr_Clear();
}

static PyObject *event_value(const event_member *m)
{
  switch (m->kind) {
  case EVENT_NUMBER: return PyLong_FromLongLong(m->number);
  case EVENT_TEXT: return PyUnicode_FromString(m->text);
  case EVENT_BYTES:
    return PyBytes_FromStringAndSize(m->text, (Py_ssize_t)m->len);
  default: Py_RETURN_NONE;
  }
}

static PyObject *event_arguments(const pai_event *event)
{
  PyObject *arguments = PyTuple_New(EVENT_MEMBERS), *value;
  event_member members[EVENT_MEMBERS];

  facade_event_members(members, event);
  for (int i = 0; arguments != NULL && i < EVENT_MEMBERS; i++) {
    value = event_value(&members[i]);
    if (value != NULL)
      PyTuple_SET_ITEM(arguments, i, value);
    else
      Py_CLEAR(arguments);
  }
  return arguments;
}

static int on_event(listener *base, const pai_event *event)
{
  py_listener *l = (py_listener *)base;
  PyGILState_STATE gil = PyGILState_Ensure();
  PyObject *arguments = event_arguments(event), *result = NULL;
  int rc = PAI_OK;

  if (arguments != NULL)
    result = PyObject_CallObject(l->function, arguments);
  if (result == NULL) {
    rc = PyErr_ExceptionMatches(PyExc_KeyboardInterrupt) ? PAI_ECANCELED
                                                         : PAI_EUSER;
    keep_error(l);
  }
  Py_XDECREF(result);
  Py_XDECREF(arguments);
  PyGILState_Release(gil);
  return rc;
}

static int check(listener *base)
{
  PyGILState_STATE gil = PyGILState_Ensure();
  int failed = PyErr_CheckSignals() < 0;

  if (failed)
    keep_error((py_listener *)base);
  PyGILState_Release(gil);
  return failed;
}

static void rethrow(listener *base)
{
  py_listener *l = (py_listener *)base;
  PyGILState_STATE gil = PyGILState_Ensure();

  PyErr_Restore(l->type, l->value, l->trace);
  l->type = l->value = l->trace = NULL;
  PyGILState_Release(gil);
}

static void free_listener(listener *base)
{
  py_listener *l = (py_listener *)base;
  PyGILState_STATE gil = PyGILState_Ensure();

  Py_XDECREF(l->function);
  Py_XDECREF(l->type);
  Py_XDECREF(l->value);
  Py_XDECREF(l->trace);
  PyMem_Free(l);
  PyGILState_Release(gil);
}

listener *pai_py_listener(PyObject *function)
{
  py_listener *l;

  if (function != Py_None && !PyCallable_Check(function)) {
    PyErr_Format(PyExc_TypeError, "on_event must be callable, not %.100s",
                 Py_TYPE(function)->tp_name);
    return NULL;
  }
  l = PyMem_Calloc(1, sizeof(*l));
  if (l == NULL) {
    PyErr_NoMemory();
    return NULL;
  }
  l->base.check = check;
  l->base.rethrow = rethrow;
  l->base.free = free_listener;
  if (function != Py_None) {
    Py_INCREF(function);
    l->function = function;
    l->base.on_event = on_event;
  }
  return &l->base;
}

/* --- lists -------------------------------------------------------------- */

PyObject *pai_py_state(job_state s)
{
  if (s.state == 0) /* the call failed */
    Py_RETURN_NONE;
  return Py_BuildValue("(zN)", facade_state_name(s.state),
                       number_or_none(facade_is_final(s.state), s.code));
}

/* Appends a new object, and drops its reference. False: an exception is
 * set. */
static bool append(PyObject *list, PyObject *made)
{
  int rc = made != NULL ? PyList_Append(list, made) : -1;

  Py_XDECREF(made);
  return rc == 0;
}

PyObject *pai_py_strings(job_strings strings)
{
  PyObject *list = PyList_New(0);
  bool good = list != NULL;
  const char *s;

  for (size_t i = 0; good && (s = strings.get(strings.spec, i)); i++)
    good = append(list, text_or_none(s));
  if (!good)
    Py_CLEAR(list);
  return list;
}

PyObject *pai_py_text(job_text text)
{
  if (text.bytes == NULL) /* the call failed */
    Py_RETURN_NONE;
  return PyUnicode_DecodeUTF8(text.bytes, (Py_ssize_t)text.len,
                              "backslashreplace");
}

PyObject *pai_py_listing(listing l)
{
  if (l.json.bytes == NULL) /* the call failed */
    Py_RETURN_NONE;
  return PyUnicode_DecodeUTF8(l.json.bytes, (Py_ssize_t)l.json.len, "replace");
}

/* --- arguments ---------------------------------------------------------- */

const char *pai_py_string(PyObject *object)
{
  Py_ssize_t len;
  const char *s;

  s = PyUnicode_AsUTF8AndSize(object, &len);
  if (s != NULL && strlen(s) != (size_t)len) {
    PyErr_SetString(PyExc_ValueError, "embedded null character");
    return NULL;
  }
  return s;
}

bool pai_py_value(draft_value *value, PyObject *object)
{
  Py_ssize_t len = 0;

  value->is_text = PyUnicode_Check(object);
  if (value->is_text) {
    value->text = PyUnicode_AsUTF8AndSize(object, &len);
    value->len = (size_t)len;
  } else {
    value->text = PyBytes_AsString(object);
  }
  return value->text != NULL;
}

bool pai_py_words(words *w, PyObject *object)
{
  char *bytes;
  Py_ssize_t len;

  if (PyBytes_AsStringAndSize(object, &bytes, &len) < 0)
    return false;
  w->bytes = bytes;
  w->len = (size_t)len;
  return true;
}

bool pai_py_node(node_ref *node, PyObject *object)
{
  node->name = NULL;
  if (PyUnicode_Check(object)) {
    node->name = pai_py_string(object);
    return node->name != NULL;
  }
  node->number = PyLong_AsSize_t(object);
  return node->number != SIZE_MAX || PyErr_Occurred() == NULL;
}

static bool make_machine(pai_cluster_machine *m, PyObject *tuple,
                         const pai_topology *(*topology)(PyObject *object))
{
  PyObject *given;

  *m = (pai_cluster_machine){ .struct_size = sizeof(*m) };
  if (!PyArg_ParseTuple(tuple, "zzO", &m->name, &m->rack, &given))
    return false;
  m->topology = given != Py_None ? topology(given) : NULL;
  if (m->topology == NULL)
    PyErr_SetString(PyExc_TypeError, "a Topology is wanted");
  return m->topology != NULL;
}

pai_cluster_machine *pai_py_machines(
  machine_list *machines, PyObject *list,
  const pai_topology *(*topology)(PyObject *object))
{
  Py_ssize_t count = PyList_Check(list) ? PyList_GET_SIZE(list) : 0;
  pai_cluster_machine *m;

  m = PyMem_Calloc((size_t)count + 1, sizeof(*m));
  if (m == NULL) {
    PyErr_NoMemory();
    return NULL;
  }
  for (Py_ssize_t i = 0; i < count; i++)
    if (!make_machine(m + i, PyList_GET_ITEM(list, i), topology)) {
      PyMem_Free(m);
      return NULL;
    }
  *machines = (machine_list){ m, (size_t)count };
  return m;
}
