/* order.h - internal to src/backend/local: writes orders for supervisors;
 * pure */
#ifndef PAI_SRC_BACKEND_LOCAL_ORDER_H
#define PAI_SRC_BACKEND_LOCAL_ORDER_H

#include "base/buf.h"

/* The content of an order; lists end with NULL, and NULL is none. */
typedef struct pai__backend_order {
  const char *const *argv, *const *env, *const *cleanup;
  const char *const *procs, *const *groups;
  const char *const *enter, *const *enter_tty, *const *enter_env;
  const char *workdir, *script, *oom_file, *note, *tmp, *status;
  const char *cpus, *numa_nodes; /* lists, as "0-3,8" */
  const char
    *gids; /* with PAI_ORDER_BE_USER: the user's supplementary groups; NULL:
              none */
  uint32_t uid, gid;
  uint64_t log_limit, memory;
  uint32_t nice, flags, holder;
} pai__backend_order;

/* PAI_OK; PAI_ENOMEM; PAI_EINVAL: `cpus` or `numa_nodes` is not a list. */
int pai__order_write(pai__buf *out, const pai__backend_order *order);

#endif
