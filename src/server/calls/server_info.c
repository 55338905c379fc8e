/* server_info.c - health check and banner, which clients ask for first */
#include "server/server.h"

void pai__do_server_health(pai__request *r)
{
  pai__answer_text(r, 200, "text/plain; charset=utf-8", "ok\n");
}

void pai__do_server_banner(pai__request *r)
{
  pai__answer_text(r, 200, "text/plain; charset=utf-8",
                   "Welcome to OpenPAI RESTful API\n");
}
