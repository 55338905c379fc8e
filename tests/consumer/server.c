/*
 * server.c - a program of somebody else that would serve a platform, and
 * lacks one
 */
#include <openpai/openpai.h>
#include <openpai/server.h>

#include <stdio.h>

static int fail(const char *what, const pai_error *err)
{
  (void)fprintf(stderr, "%s: %s\n", what, pai_error_message(err));
  return 1;
}

int main(void)
{
  pai_server_options options = PAI_SERVER_OPTIONS_INIT;
  pai_server *server;
  pai_error *err;
  pai_loop *loop;

  if (pai_loop_new(&loop, NULL, &err) < 0)
    return fail("pai_loop_new", err);
  /* Refused by the second library, told by the first one. */
  if (pai_server_new(&server, loop, NULL, &options, &err) != PAI_EINVAL ||
      server != NULL)
    return fail("pai_server_new", err);
  pai_error_free(err);
  pai_server_close(NULL, NULL, NULL);
  pai_loop_free(loop);
  return 0;
}
