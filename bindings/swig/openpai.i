/*
 * openpai.i - what scripts see, the same for all languages
 *
 * The public headers are not included: the facade is shaped for scripts, and
 * its names stay apart from the library's.  How a failure, a callback or a
 * list looks is said once per language, in <language>.swg.
 */
#if defined(SWIGPYTHON)
%module(package="openpai") facade
#else
%module openpai
#endif

%{
#include "facade.h"
%}

%include <stdint.i>
typedef uint64_t pai_job_id;

/*
 * PAI_CALLS_BACK(decl): a call that may wait, or run script code.
 * <language>.swg has typemaps for
 *   failure *f                      raised, or returned
 *   const char *path                in: a file's name; and `root`
 *   (const char *text, size_t len)  in: bytes
 *   listener *l                     in: a function, or nothing
 *   job_state, job_roles, job_notes out
 */
#if defined(SWIGPYTHON)
%include "../python/python.swg"
#elif defined(SWIGLUA)
%include "../lua/lua.swg"
#endif

PAI_CALLS_BACK(Job::load)
PAI_CALLS_BACK(Job::parse)
PAI_CALLS_BACK(Platform::dispatch)
PAI_CALLS_BACK(Platform::wait)
PAI_CALLS_BACK(Platform::close)
PAI_CALLS_BACK(Platform::~Platform)
PAI_CALLS_BACK(run)

%nodefaultctor;
%newobject Job::load;
%newobject Job::parse;
%newobject Platform::open;
%newobject Platform::dir;

typedef struct {} Job;
%extend Job {
  static Job *load(const char *path, failure *f) {
    pai_spec *spec;

    f->code = pai_spec_load(&spec, path, NULL, &f->err);
    return spec;
  }
  static Job *parse(const char *text, size_t len, failure *f) {
    pai_spec *spec;

    f->code = pai_spec_parse(&spec, text, len, NULL, &f->err);
    return spec;
  }
  ~Job() { pai_spec_unref($self); }
  const char *name() { return pai_spec_name($self); }
  const char *__str__() { return pai_spec_name($self); }
  uint32_t retry_count() { return pai_spec_retry_count($self); }
  size_t task_count() { return pai_spec_task_count($self); }
  job_roles roles() { return (job_roles){ $self }; }
  job_notes notes() { return (job_notes){ $self }; }
}

typedef struct {} Platform;
%extend Platform {
  static Platform *open(const char *root, listener *l, failure *f) {
    return facade_open(root, l, f);
  }
  ~Platform() { facade_free($self); }
  pai_job_id submit(Job *job, failure *f) {
    return facade_submit($self, job, f);
  }
  void stop(pai_job_id job, failure *f) { facade_stop($self, job, f); }
  void forget(pai_job_id job, failure *f) { facade_forget($self, job, f); }
  job_state wait(pai_job_id job, failure *f) {
    return facade_wait($self, job, f);
  }
  job_state state(pai_job_id job, failure *f) {
    return facade_state($self, job, f);
  }
  char *dir(pai_job_id job, failure *f) {
    return facade_dir($self, job, f);
  }
  int fileno(failure *f) { return facade_fd($self, f); }
  int timeout_ms(failure *f) { return facade_timeout_ms($self, f); }
  bool dispatch(failure *f) { return facade_dispatch($self, f); }
  void close(failure *f) { facade_close($self, f); }
  bool closed() { return facade_is_closed($self); }
}

%inline %{
static job_state run(Job *job, const char *root, listener *l, failure *f)
{
  return facade_run(job, root, l, f);
}
%}

%rename(version) pai_version;
const char *pai_version(void);
