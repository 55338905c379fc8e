/*
 * facade_hived.h - HiveD's extender, for facade.h, which includes this
 *
 * It reads its own configuration, so that no script changes the cluster under
 * it.  Times are microseconds since the epoch.
 */
#ifndef OPENPAI_BINDINGS_FACADE_HIVED_H
#define OPENPAI_BINDINGS_FACADE_HIVED_H

#include "facade.h"

typedef struct HiveD HiveD;

HiveD *facade_hived_load(const char *path, failure *f);
HiveD *facade_hived_parse(const char *text, size_t len, failure *f);
void facade_hived_free(HiveD *h);

/* An event of Kubernetes' API server, as JSON. */
void facade_hived_tell(HiveD *h, const char *text, size_t len, int64_t now,
                       failure *f);
/* Status, body and so on; and a binding if the host has to send one. */
listing facade_hived_request(HiveD *h, const char *method, const char *target,
                             const char *text, size_t len, int64_t now,
                             failure *f);
listing facade_hived_unbound(HiveD *h, const char *uid, const char *why,
                             failure *f);

#endif /* OPENPAI_BINDINGS_FACADE_HIVED_H */
