/* retry.c - decides whether and when a request may be retried; pure */
#include "client/inside.h"

enum { MOST_DOUBLED = 30 };

bool pai__retry_may(const char *method, bool again, int http_status,
                    bool retriable, bool sent)
{
  bool harmless = again || strcmp(method, "GET") == 0 ||
                  strcmp(method, "HEAD") == 0 || strcmp(method, "PUT") == 0 ||
                  strcmp(method, "DELETE") == 0;

  if (http_status == 429 || http_status == 503)
    return true; /* the server did not process it */
  if (http_status == 502 || http_status == 504)
    return harmless; /* from a proxy, which does not know whether the server
                        processed it */
  return http_status == 0 && retriable && (harmless || !sent);
}

pai_time pai__retry_wait(pai__prng *random, uint32_t tries, pai_time first,
                         pai_time most, pai_time asked_for)
{
  uint32_t times = tries - 1 < MOST_DOUBLED ? tries - 1 : MOST_DOUBLED;
  pai_time wait = first > most >> times ? most : first << times;

  /* Random between half and all of it, so that clients of one outage do not
   * retry at the same time. */
  wait -= (pai_time)pai__prng_below(random, (uint64_t)wait / 2 + 1);
  return wait > asked_for ? wait : asked_for;
}
