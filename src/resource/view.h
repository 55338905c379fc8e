/* view.h - structs of the caller's, of any age, filled with as much as they
 * hold */
#ifndef PAI_SRC_RESOURCE_VIEW_H
#define PAI_SRC_RESOURCE_VIEW_H

#include "base/base.h"

/* `last` is the last member the struct had when it was first released. */
#define PAI__FILL_VIEW(view, full, type, last)  \
  pai__fill_view((view), &(full), sizeof(full), \
                 offsetof(type, last) + sizeof((full).last))

static inline int pai__fill_view(void *view, const void *full, size_t size,
                                 size_t first)
{
  size_t wanted;

  memcpy(&wanted, view, sizeof(wanted)); /* struct_size comes first */
  if (wanted < first)
    return PAI_EINVAL;
  if (wanted > size) /* a newer header's: what we do not know is zero */
    memset((char *)view + size, 0, wanted - size);
  memcpy((char *)view + sizeof(size_t), (const char *)full + sizeof(size_t),
         (wanted < size ? wanted : size) - sizeof(size_t));
  return PAI_OK;
}

#endif
