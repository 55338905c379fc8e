/*
 * crossing.c - some calls of the library as an extension of Python by hand
 *
 * As little as such a one can be: no checks but of arguments' types, errors
 * without their details.  What a call through our façade costs is measured
 * against it, by crossing.py.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <openpai/openpai.h>

#include <stdlib.h>
#include <string.h>

typedef struct handle {
  PyObject_HEAD union {
    pai_spec *job;
    pai_sched *sched;
    pai_allocation *set;
  } is;
} handle;

static PyTypeObject job_type, sched_type, set_type;

static PyObject *made(PyTypeObject *type, void *is, int rc)
{
  handle *h = rc >= 0 ? PyObject_New(handle, type) : NULL;

  if (rc < 0)
    return PyErr_Format(PyExc_RuntimeError, "failed: %d", rc);
  if (h != NULL)
    h->is.job = is;
  return (PyObject *)h;
}

/* --- a job ------------------------------------------------------------------ */

static PyObject *job(PyObject *self, PyObject *text)
{
  pai_spec *spec = NULL;
  Py_ssize_t len;
  const char *bytes = PyUnicode_AsUTF8AndSize(text, &len);
  int rc;

  (void)self;
  if (bytes == NULL)
    return NULL;
  rc = pai_spec_parse(&spec, bytes, (size_t)len, NULL, NULL);
  return made(&job_type, spec, rc);
}

static void job_free(PyObject *self)
{
  pai_spec_unref(((handle *)self)->is.job);
  PyObject_Free(self);
}

static PyObject *job_name(PyObject *self, void *closure)
{
  (void)closure;
  return PyUnicode_FromString(pai_spec_name(((handle *)self)->is.job));
}

static PyGetSetDef job_fields[] = { { "name", job_name, NULL, NULL, NULL },
                                    { NULL, NULL, NULL, NULL, NULL } };
static PyTypeObject job_type = { PyVarObject_HEAD_INIT(NULL, 0).tp_name =
                                   "crossing.Job",
                                 .tp_basicsize = sizeof(handle),
                                 .tp_dealloc = job_free,
                                 .tp_getset = job_fields };

/* --- a scheduler -------------------------------------------------------------- */

static PyObject *sched(PyObject *self, PyObject *text)
{
  const char *nodes = PyUnicode_AsUTF8(text);
  pai_cluster *cluster = NULL;
  pai_sched *made_one = NULL;
  int rc;

  (void)self;
  if (nodes == NULL)
    return NULL;
  rc = pai_cluster_synthetic(&cluster, nodes, NULL, NULL);
  if (rc == PAI_OK)
    rc = pai_sched_new(&made_one, cluster, NULL, NULL);
  pai_cluster_free(cluster);
  return made(&sched_type, made_one, rc);
}

static void sched_free(PyObject *self)
{
  pai_sched_free(((handle *)self)->is.sched);
  PyObject_Free(self);
}

static PyObject *sched_now(PyObject *self, void *closure)
{
  pai_sched_view view = { .struct_size = sizeof(view) };

  (void)closure;
  pai_sched_view_sums(((handle *)self)->is.sched, &view);
  return PyLong_FromLongLong(view.now);
}

static PyGetSetDef sched_fields[] = { { "now", sched_now, NULL, NULL, NULL },
                                      { NULL, NULL, NULL, NULL, NULL } };
static PyTypeObject sched_type = { PyVarObject_HEAD_INIT(NULL, 0).tp_name =
                                     "crossing.Scheduler",
                                   .tp_basicsize = sizeof(handle),
                                   .tp_dealloc = sched_free,
                                   .tp_getset = sched_fields };

/* --- a set of resources --------------------------------------------------------- */

static PyObject *set(PyObject *self, PyObject *text)
{
  pai_allocation *made_one = NULL;
  Py_ssize_t len;
  const char *bytes = PyUnicode_AsUTF8AndSize(text, &len);
  int rc;

  (void)self;
  if (bytes == NULL)
    return NULL;
  rc = pai_allocation_parse(&made_one, bytes, (size_t)len, NULL, NULL);
  return made(&set_type, made_one, rc);
}

static void set_free(PyObject *self)
{
  pai_allocation_free(((handle *)self)->is.set);
  PyObject_Free(self);
}

typedef int change(pai_allocation *set, const pai_allocation *other,
                   pai_error **err);

static PyObject *changed(PyObject *self, PyObject *other, change *by)
{
  int rc;

  if (!PyObject_TypeCheck(other, &set_type))
    return PyErr_Format(PyExc_TypeError, "no set");
  rc = by(((handle *)self)->is.set, ((handle *)other)->is.set, NULL);
  if (rc < 0)
    return PyErr_Format(PyExc_RuntimeError, "failed: %d", rc);
  Py_RETURN_NONE;
}

static PyObject *set_take(PyObject *self, PyObject *other)
{
  return changed(self, other, pai_allocation_take);
}

static PyObject *set_give(PyObject *self, PyObject *other)
{
  return changed(self, other, pai_allocation_give);
}

static PyMethodDef set_methods[] = { { "take", set_take, METH_O, NULL },
                                     { "give", set_give, METH_O, NULL },
                                     { NULL, NULL, 0, NULL } };
static PyTypeObject set_type = { PyVarObject_HEAD_INIT(NULL, 0).tp_name =
                                   "crossing.Allocation",
                                 .tp_basicsize = sizeof(handle),
                                 .tp_dealloc = set_free,
                                 .tp_methods = set_methods };

/* --- a simulation, whose policy is in C ------------------------------------------ */

typedef struct answer {
  char *bytes;
  size_t len;
} answer;

static int keep(void *user_data, const char *bytes, size_t len)
{
  answer *a = user_data;
  char *longer = realloc(a->bytes, a->len + len);

  if (longer == NULL)
    return PAI_ENOMEM;
  memcpy(longer + a->len, bytes, len);
  a->bytes = longer;
  a->len += len;
  return PAI_OK;
}

static int simulated(answer *a, const char *plugin, const char *nodes,
                     const char *path)
{
  pai_sim_options options = PAI_SIM_OPTIONS_INIT;
  pai_sim_report *report = NULL;
  const pai_sim_report *one;
  pai_cluster *cluster = NULL;
  pai_trace *trace = NULL;
  int rc = pai_policy_load(&options.table, plugin, NULL);

  if (rc == PAI_OK)
    rc = pai_cluster_synthetic(&cluster, nodes, NULL, NULL);
  if (rc == PAI_OK)
    rc = pai_trace_load(&trace, path, NULL, NULL);
  if (rc == PAI_OK)
    rc = pai_sim_run(&report, cluster, trace, &options, NULL);
  one = report;
  if (rc == PAI_OK)
    rc = pai_sim_write(&one, 1, PAI_FORMAT_JSON, keep, a, NULL);
  pai_sim_report_free(report);
  pai_trace_free(trace);
  pai_cluster_free(cluster);
  return rc;
}

static PyObject *simulate(PyObject *self, PyObject *given)
{
  const char *plugin, *nodes, *path;
  answer a = { NULL, 0 };
  PyObject *result;
  int rc;

  (void)self;
  if (!PyArg_ParseTuple(given, "sss", &plugin, &nodes, &path))
    return NULL;
  rc = simulated(&a, plugin, nodes, path);
  result = rc >= 0 ? PyUnicode_FromStringAndSize(a.bytes, (Py_ssize_t)a.len)
                   : PyErr_Format(PyExc_RuntimeError, "failed: %d", rc);
  free(a.bytes);
  return result;
}

/* --- the module ------------------------------------------------------------------ */

static PyMethodDef functions[] = { { "Job", job, METH_O, NULL },
                                   { "Scheduler", sched, METH_O, NULL },
                                   { "Allocation", set, METH_O, NULL },
                                   { "simulate", simulate, METH_VARARGS,
                                     NULL },
                                   { NULL, NULL, 0, NULL } };
static struct PyModuleDef module = { PyModuleDef_HEAD_INIT,
                                     .m_name = "crossing", .m_size = -1,
                                     .m_methods = functions };

PyMODINIT_FUNC PyInit_crossing(void);
PyMODINIT_FUNC PyInit_crossing(void)
{
  if (PyType_Ready(&job_type) < 0 || PyType_Ready(&sched_type) < 0 ||
      PyType_Ready(&set_type) < 0)
    return NULL;
  return PyModule_Create(&module);
}
