/* words.c - what tasks are started with, in tests */
#include "backend/words.h"

#include <stdio.h>

char bash[] = "/bin/bash", bwrap[] = "/bin/bwrap", podman[] = "/bin/podman",
     docker[] = "/bin/docker";

const char *const env[] = { "PAI_A=secret", "B=x=y", NULL };
const pai_launch_mount mounts[2] = { { "/data/a", "/mnt/a", 1 },
                                     { "/odd,\"name", "/mnt/b", 0 } };

const char *joined(const pai__backend_words *w)
{
  static char text[4096];
  size_t used = 0;

  text[0] = '\0';
  for (size_t i = 0; i < w->len; i++)
    used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s",
                             i > 0 ? " " : "", w->at[i]);
  return text;
}
