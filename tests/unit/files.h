/* files.h - files and folders in tests */
#ifndef PAI_TESTS_FILES_H
#define PAI_TESTS_FILES_H

#include "testing.h"

/* What is in a file, up to 1 MiB; NULL where there is none.  Until the next
 * call. */
const char *test_file(const char *path);
/* Writes it anew. */
void test_write_file(const char *path, const char *text);
/* A folder under /tmp; false: there can be none. */
bool test_make_folder(char path[64]);
/* Removes a file, or a folder with all in it: what remove() answers. */
int test_remove(const char *path);

#endif
