/* state_name.c - names of the states of jobs and tasks, for hosts without a
 * platform, too */
#include <openpai/platform.h>

const char *pai_state_name(int state)
{
  switch (state) {
  case PAI_STATE_WAITING: return "waiting";
  case PAI_STATE_RUNNING: return "running";
  case PAI_STATE_STOPPING: return "stopping";
  case PAI_STATE_SUCCEEDED: return "succeeded";
  case PAI_STATE_FAILED: return "failed";
  case PAI_STATE_STOPPED: return "stopped";
  default: return "?";
  }
}
