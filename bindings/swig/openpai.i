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
 *   const char *path, *below        in: a file's name; and `root`
 *   const char *place               in: a place in a draft; and `yaml`
 *   (const char *text, size_t len)  in: bytes
 *   draft_value                     in: what a place is set to
 *   (bool secrets, int version), (int version, bool hived)  in: options
 *   listener *l                     in: a function, or nothing
 *   log_bytes                       out: bytes
 *   job_state, job_strings, job_text, listing, pai_report *  out; and of
 *                                   job_text `diff`, `get`
 * and for resource.i
 *   const char *kind, *description, *format  in: a text without zeros
 *   const char *form, *why          in: the same, or nothing
 *   const char *nvml                in: as `root`
 *   words gpus, marks               in: numbers; what GPUs are marked with
 *   node_ref, machine_list          in: a name or number; machines
 *   (words paths, ...), (... groups)  in: the options of a call
 * and for sched.i
 *   policy_ref, log_ref             in: a name or object; an object
 *   const char *options, *node_name, *name  in: as `form`
 *   const char *strategy, *lack     in: as `kind`
 *   draft_value line                in: an event, as JSON
 * and for hived.i
 *   const char *method, *target, *uid, *reason  in: as `kind`
 * and for sim.i
 *   words fields, names             in: names and values; names
 *   const char *nodes, *vc, *share  in: as `form`
 *   History *history, Cluster *from in: one, or nothing
 * and for client.i
 *   (const char *code, size_t code_len)  in: bytes
 */
#if defined(SWIGPYTHON)
%include "../python/python.swg"
#elif defined(SWIGLUA)
%include "../lua/lua.swg"
#endif

PAI_CALLS_BACK(Job::load)
PAI_CALLS_BACK(Job::parse)
PAI_CALLS_BACK(Job::check)
PAI_CALLS_BACK(Job::check_file)
PAI_CALLS_BACK(Platform::dispatch)
PAI_CALLS_BACK(Platform::submit)
PAI_CALLS_BACK(Platform::step)
PAI_CALLS_BACK(Platform::wait)
PAI_CALLS_BACK(Platform::close)
PAI_CALLS_BACK(Platform::~Platform)
PAI_CALLS_BACK(run)

%nodefaultctor;
%newobject Job::load;
%newobject Job::parse;
%newobject Job::masked;
%newobject Draft::make;
%newobject Draft::job;
%newobject Platform::open;
%newobject Platform::dir;

typedef struct {} Job;
%extend Job {
  static Job *load(const char *path, failure *f) {
    return facade_load(path, f);
  }
  static Job *parse(const char *text, size_t len, failure *f) {
    return facade_parse(text, len, f);
  }
  static pai_report *check(const char *text, size_t len, int version,
                           bool hived, failure *f) {
    return facade_check(text, len, version, hived, f);
  }
  static pai_report *check_file(const char *path, int version, bool hived,
                                failure *f) {
    return facade_check_file(path, version, hived, f);
  }
  static job_text fix(const char *text, size_t len, int version, bool hived,
                      failure *f) {
    return facade_fix(text, len, version, hived, f);
  }
  static listing at(const char *text, size_t len, uint32_t line,
                    uint32_t column, failure *f) {
    return facade_at(text, len, line, column, f);
  }
  static listing range(const char *text, size_t len, const char *place,
                       failure *f) {
    return facade_range(text, len, place, f);
  }
  static job_text schema(int version, failure *f) {
    return facade_schema(version, f);
  }
  ~Job() { pai_spec_unref($self); }
  const char *name() { return pai_spec_name($self); }
  const char *__str__() { return pai_spec_name($self); }
  uint32_t retry_count() { return pai_spec_retry_count($self); }
  size_t task_count() { return pai_spec_task_count($self); }
  const char *virtual_cluster() {
    return facade_job_view($self).virtual_cluster;
  }
  const char *deployment() { return facade_job_view($self).deployment; }
  const char *description() { return facade_job_view($self).description; }
  const char *contributor() { return facade_job_view($self).contributor; }
  bool gang() { return facade_job_view($self).gang != 0; }
  listing roles(failure *f) { return facade_roles($self, f); }
  listing prerequisites(failure *f) {
    return facade_prerequisites($self, f);
  }
  job_strings notes() { return (job_strings){ $self, pai_spec_note }; }
  job_strings unresolved() {
    return (job_strings){ $self, pai_spec_unresolved };
  }
  job_strings missing_secrets() {
    return (job_strings){ $self, facade_missing_secret };
  }
  Job *masked(failure *f) {
    pai_spec *spec;

    f->code = pai_spec_masked(&spec, $self, &f->err);
    return spec;
  }
  job_text to_yaml(bool secrets, int version, failure *f) {
    return facade_write($self, PAI_FORMAT_YAML, version, secrets, f);
  }
  job_text to_json(bool secrets, int version, failure *f) {
    return facade_write($self, PAI_FORMAT_JSON, version, secrets, f);
  }
  job_text get(const char *place, failure *f) {
    return facade_job_get($self, place, f);
  }
  job_text docker_config(failure *f) {
    return facade_docker_config($self, f);
  }
  job_text explain(failure *f) {
    return facade_explain($self, PAI_FORMAT_TEXT, f);
  }
  job_text explain_json(failure *f) {
    return facade_explain($self, PAI_FORMAT_JSON, f);
  }
  job_text diff(Job *other, failure *f) {
    return facade_diff($self, other, f);
  }
  pai_report *v1_report(failure *f) { return facade_v1_report($self, f); }
  Job *with_options(words fields, failure *f) {
    return facade_job_with($self, fields, f);
  }
}

typedef struct {} Draft;
%extend Draft {
  static Draft *make(const char *text, size_t len, failure *f) {
    pai_draft *draft;

    f->code = pai_draft_new(&draft, text, len, NULL, &f->err);
    return draft;
  }
  ~Draft() { pai_draft_free($self); }
  const char *text() { return pai_draft_text($self, NULL); }
  const char *__str__() { return pai_draft_text($self, NULL); }
  void set(const char *place, draft_value value, failure *f) {
    facade_set($self, place, value, f);
  }
  void set_yaml(const char *place, const char *yaml, failure *f) {
    f->code = pai_draft_set($self, place, yaml, &f->err);
  }
  job_text get(const char *place, failure *f) {
    return facade_get($self, place, f);
  }
  void unset(const char *place, failure *f) {
    f->code = pai_draft_unset($self, place, &f->err);
  }
  void format(failure *f) { f->code = pai_draft_format($self, &f->err); }
  Job *job(failure *f) { return facade_draft_job($self, f); }
  pai_report *check(int version, bool hived, failure *f) {
    return facade_draft_check($self, version, hived, f);
  }
}

typedef struct {} Platform;
%extend Platform {
  static Platform *open(const char *root, bool durable, const char *form,
                        const char *why, listener *l, words fields,
                        failure *f) {
    return facade_open(root, durable, form, why, l, fields, f);
  }
  ~Platform() { facade_free($self); }
  pai_job_id submit(Job *job, words fields, failure *f) {
    return facade_submit($self, job, fields, f);
  }
  void stop(pai_job_id job, failure *f) { facade_stop($self, job, f); }
  void forget(pai_job_id job, failure *f) { facade_forget($self, job, f); }
  void rescale(pai_job_id job, const char *kind, uint32_t tasks, failure *f) {
    facade_rescale($self, job, kind, tasks, f);
  }
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
  bool step(int most_ms, failure *f) {
    return facade_step($self, most_ms, f);
  }
  void close(bool leave, failure *f) { facade_close($self, leave, f); }
  bool closed() { return facade_is_closed($self); }
}

%inline %{
static job_state run(Job *job, const char *root, listener *l, failure *f)
{
  return facade_run(job, root, l, f);
}
%}

%include "resource.i"
%include "sched.i"
%include "hived.i"
%include "life.i"
%include "records.i"
%include "follow.i"
%include "client.i"
%include "exec.i"
%include "files.i"
%include "accounts.i"
%include "sim.i"

%rename(version) pai_version;
const char *pai_version(void);
