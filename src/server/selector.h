/* selector.h - internal to the room: selectors of Kubernetes' lists */
#ifndef PAI_SRC_SERVER_SELECTOR_H
#define PAI_SRC_SERVER_SELECTOR_H

#include "base/base.h"

/* The value of a label or a field; NULL: it has none of that name. */
typedef const char *(*pai__select_cb)(void *user_data, const char *key,
                                      size_t len);

/*
 * Does something match, as labelSelector ("a=b,c!=d,e in (f,g),h,!i") or, of
 * `fields`, as fieldSelector ("a=b,c!=d") has it?  1; 0; or PAI_EINVAL: that is
 * none, or it is of a field that there is not, whatever else matches.
 */
int pai__select(const char *selector, bool fields, pai__select_cb value,
                void *user_data);

#endif
