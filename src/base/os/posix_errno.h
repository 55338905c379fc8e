/* posix_errno.h - error numbers of the system as texts */
#ifndef PAI_SRC_BASE_OS_POSIX_ERRNO_H
#define PAI_SRC_BASE_OS_POSIX_ERRNO_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

/* Writes the system's message for an error number to `text` and returns it:
 * "No such file or directory". */
const char *pai__errno_text(int number, char *text, size_t size);

/* The same in a buffer that lives as long as the enclosing block. */
#define PAI__ERRNO_TEXT(number) pai__errno_text(number, (char[128]){ 0 }, 128)

/* Returns whether the machine lacks disk space, inodes, memory, processes or
 * descriptors.  Then the same call may succeed later. */
bool pai__errno_is_shortage(int number);

/* The help for a file that a user named and that cannot be written. */
static inline const char *pai__errno_write_help(int number)
{
  return number == ENOSPC || number == EDQUOT
           ? "free space there, or choose another folder"
           : "choose a folder that exists and in which you can create files";
}

#endif
