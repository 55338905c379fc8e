/* pages.h - internal: joins the pages of a list from the API server.  Pure. */
#ifndef PAI_SRC_BACKEND_KUBERNETES_PAGES_H
#define PAI_SRC_BACKEND_KUBERNETES_PAGES_H

#include "backend/kubernetes/kube.h"
#include "base/tree.h"

typedef struct pai__kube_pages {
  pai__buf all;  /* the joined list; empty: there was one page */
  pai__buf rest; /* token of the next page; empty: there is none */
} pai__kube_pages;

void pai__kube_pages_init(pai__kube_pages *p, const pai_alloc *alloc);
/* Resets it and frees its memory. */
void pai__kube_pages_clear(pai__kube_pages *p);
/* Adds a page: the parsed list and its text.  PAI_EINVAL: the list has no end;
 * PAI_ENOMEM. */
int pai__kube_pages_add(pai__kube_pages *p, const pai__tree *t,
                        const char *json, const char *kind,
                        const char *version);
/* Returns the query value for the next page; NULL: the list is complete. */
const char *pai__kube_pages_next(const pai__kube_pages *p);

#endif
