/* front.c - whether anybody is there, and who: asked before all else */
#include "server/server.h"

static void do_health(pai__request *r)
{
  pai__answer_text(r, 200, "text/plain; charset=utf-8", "ok\n");
}

static void do_banner(pai__request *r)
{
  pai__answer_text(r, 200, "text/plain; charset=utf-8",
                   "Welcome to OpenPAI RESTful API\n");
}

/* --- routes --- */

static const pai__route routes[] = {
  { .method = "GET",
    .path = "/healthz",
    .handle = do_health,
    .right = PAI__OF_ALL,
    .result = &pai__text_result,
    .summary = "Check that the server answers" },
  { .path = "/api/v2",
    .handle = do_banner,
    .right = PAI__OF_ALL,
    .result = &pai__text_result,
    .summary = "Get information about this server, as text" },
};

const pai__routes pai__front_routes = { routes, PAI__LEN(routes) };
