/*
 * app.c - a program of somebody else, as C and as C++: that it compiles, links
 * and runs is the test.  It calls into each private library, so that a static
 * link has to find them all.
 */
#include <openpai/openpai.h>

#include <stdio.h>
#include <string.h>

int main(void)
{
  pai_loop_options options = PAI_LOOP_OPTIONS_INIT;
  pai_loop *loop = NULL;
  pai_spec *spec = NULL;
  pai_error *err = NULL;

  if (pai_version_number() != PAI_VERSION_NUMBER) {
    fprintf(stderr, "headers and library differ\n");
    return 1;
  }
  if (pai_loop_new(&loop, &options, &err) != PAI_OK) {
    fprintf(stderr, "pai_loop_new: %s\n", pai_error_message(err));
    return 1;
  }
  pai_loop_free(loop);
  if (pai_spec_parse(&spec, "- no job", 8, NULL, &err) == PAI_OK ||
      strcmp(pai_error_message(err), "") == 0) {
    fprintf(stderr, "pai_spec_parse: took what is no job\n");
    return 1;
  }
  pai_error_free(err);
  printf("openpai %s\n", pai_version());
  return 0;
}
