/*
 * sched.c - the scheduler inside a program that starts things itself
 *
 * Usage: sched ["NODES"]  Two jobs want the same machines; the clock is made
 * up.  A real program starts and stops tasks where this one prints.
 */
#include <openpai/openpai.h>

#include <stdio.h>

static int print(void *user_data, const char *bytes, size_t len)
{
  return fwrite(bytes, 1, len, user_data) == len ? PAI_OK : PAI_EIO;
}

/* So many equal tasks, which start together or not at all. */
static int submit(pai_sched *sched, pai_time now, uint64_t id, uint32_t tasks,
                  uint32_t gpus, pai_error **err)
{
  pai_want want = { .struct_size = sizeof(want),
                    .tasks = tasks,
                    .gpus = gpus };
  pai_request request = {
    .struct_size = sizeof(request), .id = id, .wants = &want, .nwants = 1
  };
  pai_sched_event event = { .struct_size = sizeof(event),
                            .kind = PAI_SCHED_SUBMIT,
                            .time = now,
                            .request = &request };

  return pai_sched_send(sched, &event, err);
}

/* Does what is to be done: here, it prints where the tasks start. */
static int decide(pai_sched *sched, pai_time now, pai_error **err)
{
  int count = pai_sched_decide(sched, now, err), rc = count;

  for (int i = 0; i < count && rc >= 0; i++)
    rc = pai_sched_write_decision(sched, (size_t)i, print, stdout, err);
  return rc;
}

static int play(pai_sched *sched, pai_error **err)
{
  pai_sched_event finished = { .struct_size = sizeof(finished),
                               .kind = PAI_SCHED_FINISHED,
                               .time = 60000000,
                               .id = 1 };
  int rc = submit(sched, 0, 1, 2, 8, err);

  if (rc == PAI_OK)
    rc = submit(sched, 1000000, 2, 1, 4, err);
  if (rc == PAI_OK)
    rc = decide(sched, 1000000, err); /* the first one starts */
  if (rc >= 0)
    rc = pai_sched_explain(sched, 2, 0, print, stdout, err);
  if (rc >= 0)
    rc = pai_sched_send(sched, &finished, err);
  return rc < 0 ? rc : decide(sched, 60000000, err); /* now the second */
}

int main(int argc, char **argv)
{
  pai_cluster *cluster = NULL;
  pai_sched *sched = NULL;
  pai_error *err = NULL;
  int rc = pai_cluster_synthetic(
    &cluster, argc > 1 ? argv[1] : "nodes:2 gpu:8:h100", NULL, &err);

  if (rc == PAI_OK)
    rc = pai_sched_new(&sched, cluster, NULL, &err);
  if (rc == PAI_OK)
    rc = play(sched, &err);
  if (rc < 0)
    fprintf(stderr, "%s\n", pai_error_message(err));
  pai_error_free(err);
  pai_sched_free(sched);
  pai_cluster_free(cluster);
  return rc < 0;
}
