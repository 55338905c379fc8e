/* selector.h - internal to the room: Kubernetes' label and field selectors */
#ifndef PAI_SRC_SERVER_CALLS_SELECTOR_H
#define PAI_SRC_SERVER_CALLS_SELECTOR_H

#include "base/base.h"

/* Returns the value of a label or field; NULL if the object has none. */
typedef const char *(*pai__select_cb)(void *user_data, const char *key,
                                      size_t len);

/*
 * Returns 1 if the object matches a labelSelector ("a=b,c!=d,e in (f,g),h,!i")
 * or, with `fields`, a fieldSelector ("a=b,c!=d"); 0 if not.  Returns
 * PAI_EINVAL if the selector is invalid or names an unknown field, even if the
 * rest matches.
 */
int pai__select(const char *selector, bool fields, pai__select_cb value,
                void *user_data);

#endif
