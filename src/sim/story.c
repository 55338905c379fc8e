#include "sim/replay.h"
int pai_replay_story(pai_replay *replay, uint64_t id,
                     const pai_story_options *opts, int format,
                     pai_write_cb write, void *user_data, pai_error **err)
{
  (void)replay;
  (void)id;
  (void)opts;
  (void)format;
  (void)write;
  (void)user_data;
  return pai__fail(err, PAI_ENOTSUP, "x");
}
