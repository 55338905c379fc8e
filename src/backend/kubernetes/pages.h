/* pages.h - internal: a list that the API server gives page by page.  Pure. */
#ifndef PAI_SRC_BACKEND_KUBERNETES_PAGES_H
#define PAI_SRC_BACKEND_KUBERNETES_PAGES_H

#include "backend/kubernetes/kube.h"
#include "base/tree.h"

typedef struct pai__kube_pages {
  pai__buf all;  /* one list of what several pages had; empty: there was one */
  pai__buf rest; /* where the next one begins; empty: there is none */
} pai__kube_pages;

void pai__kube_pages_init(pai__kube_pages *p, const pai_alloc *alloc);
/* As at the beginning; there is no memory of it any more. */
void pai__kube_pages_clear(pai__kube_pages *p);
/* A page, or all: a list that was read, and its text.  PAI_EINVAL: there is no
 * end of it; PAI_ENOMEM. */
int pai__kube_pages_add(pai__kube_pages *p, const pai__tree *t,
                        const char *json, const char *kind,
                        const char *version);
/* The next page, as a value of a query; NULL: all is there. */
const char *pai__kube_pages_next(const pai__kube_pages *p);

#endif
