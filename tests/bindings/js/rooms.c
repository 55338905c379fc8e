/* rooms.c - programs of openpai-bench that need nothing but the pure rooms, for
 * WebAssembly: rooms hived-replay FILE..., rooms hived-workload CLUSTER WORKLOAD */
#include "bench.h"

#include <string.h>

int main(int argc, char **argv)
{
  if (argc > 1 && strcmp(argv[1], "hived-replay") == 0)
    return bench_hived_replay(argc - 2, argv + 2);
  if (argc > 1 && strcmp(argv[1], "hived-workload") == 0)
    return bench_hived_workload(argc - 2, argv + 2);
  return 2;
}
