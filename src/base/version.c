/* version.c - pai_version(): version this library was built as */
#include "base/base.h"

#define STR_(x) #x
#define STR(x) STR_(x)

const char *pai_version(void)
{
  return STR(PAI_VERSION_MAJOR) "." STR(PAI_VERSION_MINOR) "." STR(
    PAI_VERSION_PATCH);
}

uint32_t pai_version_number(void)
{
  return PAI_VERSION_NUMBER;
}
