/*
 * openpai.i - SWIG interface of the facade, the same for all languages
 *
 * interface.i, with its classes and functions, is made of ../interface.txt.
 * The public headers are not included: the facade is made for scripts, and its
 * names differ from the library's. <language>.swg defines how failures,
 * callbacks and lists look.
 */
#if defined(SWIGPYTHON)
%module(package="openpai") facade
#else
%module openpai
#endif

%{
#include "client_shared.h"
#include "facade.h"
#include "facade_platform.h"
#include "options.h"
#include "shared.h"
#include "sim_shared.h"
%}

%include <stdint.i>
typedef uint64_t pai_job_id;

/*
 * PAI_CALLS_BACK(decl): a call that may wait, or run script code.
 * <language>.swg has typemaps for
 *   failure *f                      raised, or returned
 *   const char *path, *below        in: a file name; also `root`
 *   const char *place               in: a place in a draft; also `yaml`
 *   (const char *text, size_t len)  in: bytes
 *   draft_value                     in: the new value of a place
 *   bool secrets, (int version, bool hived)  in: options
 *   listener *l                     in: a function or nil/None
 *   log_bytes                       out: bytes
 *   job_state, job_strings, job_text, listing, findings  out; and of
 *                                   job_text `get`
 *   const char *kind, *description, *format  in: a text without zeros
 *   const char *form, *why          in: such a text or nil/None
 *   const char *nvml                in: as `root`
 *   words gpus, marks               in: numbers; marks of GPUs
 *   node_ref, machine_list          in: a name or number; machines
 *   (words paths, ...), (... groups)  in: the options of a call
 *   policy_ref, log_ref             in: a name or object; an object
 *   const char *options, *node_name, *name  in: as `form`
 *   const char *strategy, *lack     in: as `kind`
 *   draft_value line                in: an event, as JSON
 *   const char *method, *target, *uid, *reason  in: as `kind`
 *   words fields, names             in: names and values; names
 *   const char *nodes, *vc, *share  in: as `form`
 *   History *history, Cluster *from in: an object or nil/None
 *   (const char *code, size_t code_len)  in: bytes
 */
#if defined(SWIGPYTHON)
%include "../python/python.swg"
#elif defined(SWIGLUA)
%include "../lua/lua.swg"
#endif

%nodefaultctor;
%include "interface.i"

#if defined(SWIGLUA) /* for node in cluster:nodes() do */
%extend Cluster {
  node_walk nodes() { return (node_walk){ $self }; }
}
#endif

%rename(version) pai_version;
const char *pai_version(void);
