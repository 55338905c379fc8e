/* vcs.h - internal to the room: virtual clusters, which are shares of the
 * machine */
#ifndef PAI_SRC_PLATFORM_PLACE_VCS_H
#define PAI_SRC_PLATFORM_PLACE_VCS_H

#include "platform/platform.h"

/* A virtual cluster other than `default`; sorted by name. */
typedef struct pai__vc_entry {
  char *name, *description, *external;
  uint32_t part, most;           /* hundredths of a percent */
  uint32_t idle_warn, idle_stop; /* minutes; 0: never */
  bool stopped;
} pai__vc_entry;

/* Of a virtual cluster for which nothing else is set, as `default`. */
enum { PAI__VC_IDLE_WARN = 60, PAI__VC_MOST_IDLE = 525600 };

struct pai__vcs {
  pai__vc_entry *list;
  size_t n;
  bool changed; /* to be recorded */
};

/* vcs_record.c: read them from the database; write them to the batch. */
int pai__vcs_load(pai_platform *p, pai_error **err);
int pai__vcs_record(pai_platform *p);

/* vcs.c: makes the cluster model of the machine with its virtual clusters,
 * owned by the caller.  PAI_OK or PAI_ENOMEM. */
int pai__vcs_cluster(pai_cluster **out, const pai_platform *p,
                     const pai__vcs *vcs);
void pai__vcs_dispose(pai__vcs *vcs, const pai_alloc *alloc);
/* Finds a virtual cluster by its name, or returns NULL. */
pai__vc_entry *pai__vcs_find(const pai__vcs *vcs, const char *name);
/* Returns the index of a virtual cluster, below PAI_VC_MOST; 0: `default`, or
 * unknown. */
size_t pai__vcs_index(const pai__vcs *vcs, const char *name);
/* Adds a virtual cluster, with copies of the texts; NULL without memory. */
pai__vc_entry *pai__vcs_add(pai__vcs *vcs, const pai_alloc *alloc,
                            const pai__vc_entry *entry);
/* Checks that a new job may use the virtual cluster that its file names.
 * PAI_OK, or PAI_EPERM with the names of the usable ones. */
int pai__vcs_check(const pai__pjob *j, pai_error **err);
/* Returns the job's virtual cluster, for requests; NULL: `default`. */
const char *pai__vcs_of(const pai__pjob *j);

#endif
