/*
 * reuse.h - internal: memory that is taken and given back again and again
 *
 * Of forks that are made one after the other, each has blocks of the sizes of
 * the one before, of megabytes where thousands wait.  The system takes such
 * blocks back, and hands them out anew page by page, which costs more than the
 * copying.  So some are kept.
 */
#ifndef PAI_SRC_SCHED_REUSE_H
#define PAI_SRC_SCHED_REUSE_H

#include "base/base.h"

enum { PAI__REUSE_BLOCKS = 64 };

typedef struct pai__reuse {
  pai_alloc from;
  struct {
    void *block;
    size_t size;
  } kept[PAI__REUSE_BLOCKS];
  uint32_t next; /* is replaced next */
} pai__reuse;

/* It stays where it is as long as something is taken of it. */
void pai__reuse_init(pai__reuse *r, const pai_alloc *from);
/* All that was taken was given back. */
void pai__reuse_dispose(pai__reuse *r);

pai_alloc pai__reuse_alloc(pai__reuse *r);

#endif
