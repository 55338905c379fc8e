/* vcs.h - internal to the room: virtual clusters, which are parts of the
 * machine */
#ifndef PAI_SRC_PLATFORM_VCS_H
#define PAI_SRC_PLATFORM_VCS_H

#include "platform/platform.h"

/* All but `default`, by their names. */
typedef struct pai__vc_entry {
  char *name, *description, *external;
  uint32_t part, most; /* hundredths of a percent */
  bool stopped;
} pai__vc_entry;

struct pai__vcs {
  pai__vc_entry *list;
  size_t n;
  bool changed; /* to be recorded */
};

/* vcs_record.c: what the database has of them; and what it is to have. */
int pai__vcs_load(pai_platform *p, pai_error **err);
int pai__vcs_record(pai_platform *p);

/* vcs.c: the machine with its virtual clusters, owned by the caller.  PAI_OK
 * or PAI_ENOMEM. */
int pai__vcs_cluster(pai_cluster **out, const pai_platform *p,
                     const pai__vcs *vcs);
void pai__vcs_dispose(pai__vcs *vcs, const pai_alloc *alloc);
/* By its name, or NULL. */
pai__vc_entry *pai__vcs_find(const pai__vcs *vcs, const char *name);
/* Of all by their names one's place, below PAI_VC_MOST; 0: `default`, and what
 * is not known. */
size_t pai__vcs_index(const pai__vcs *vcs, const char *name);
/* One more, with its own texts; NULL without memory. */
pai__vc_entry *pai__vcs_add(pai__vcs *vcs, const pai_alloc *alloc,
                            const pai__vc_entry *entry);
/* May a job that is new belong to the one that its file names?  PAI_OK, or
 * PAI_EPERM with those that there are. */
int pai__vcs_check(const pai__pjob *j, pai_error **err);
/* For requests: the one that the job belongs to; NULL: `default`. */
const char *pai__vcs_of(const pai__pjob *j);

#endif
