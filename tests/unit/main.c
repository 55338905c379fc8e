/* main.c - a program of tests: of the file that it is told, or of all */
#include "cases.h"

int main(int argc, char **argv)
{
  return test_main(argc > 1 ? argv[1] : NULL);
}
