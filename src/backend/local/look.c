/*
 * look.c - queries podman and docker in a worker thread
 *
 * Finding out whether an engine works and has an image takes up to half a
 * minute.  A thread does that on a copy of the known facts.  Then its results
 * replace those here, and the owner repeats its starts.
 */
#include "backend/local/local.h"

static void on_run(void *user_data)
{
  local_look *look = user_data;
  pai__surroundings around = { .root = NULL };

  pai__engines_probe(&look->found, &pai__libc_alloc, &look->plan, &around);
}

static void on_done(void *user_data)
{
  local *l = user_data;
  local_look *look = &l->look;

  l->runtimes.podman = look->found.podman;
  l->runtimes.docker = look->found.docker;
  memcpy(l->runtimes.images, look->found.images, sizeof(look->found.images));
  l->runtimes.next_image = look->found.next_image;
  pai__strfree(&l->alloc, look->image);
  look->image = NULL;
  look->busy = false;
  if (l->closed == NULL && !l->detached)
    l->host.ready(l->host.user_data);
  l->unfreed--;
  pai__local_task_freed(l);
}

static void run_look(void *user_data)
{
  on_run(&((local *)user_data)->look);
}

static int begin(local *l, const pai_launch_plan *plan)
{
  local_look *look = &l->look;

  if (look->work == NULL && pai__work_new(&look->work, &l->alloc, l->host.loop,
                                          run_look, on_done, l) < 0)
    return PAI_ENOMEM;
  look->image =
    plan->image != NULL ? pai__strdup(&l->alloc, plan->image) : NULL;
  if (plan->image != NULL && look->image == NULL)
    return PAI_ENOMEM;
  look->plan = (pai_launch_plan){ .runtime = plan->runtime,
                                  .image = look->image,
                                  .gpus = plan->gpus };
  look->found = l->runtimes;
  look->found.stop = &look->stop;
  look->busy = true;
  l->unfreed++;
  pai__work_start(look->work);
  return PAI_OK;
}

int pai__local_look(local *l, const pai_launch_plan *plan,
                    pai__surroundings *around, pai_error **err)
{
  int rc;

  if (l->host.ready == NULL ||
      !pai__engines_ask(&l->runtimes, &l->alloc, plan)) {
    rc = pai__runtimes_probe(&l->runtimes, &l->alloc, plan, around);
    return rc < 0 ? pai__oom(err) : PAI_OK;
  }
  rc = l->look.busy ? PAI_OK : begin(l, plan);
  if (rc < 0)
    return pai__oom(err);
  rc = pai__fail(err, PAI_EBUSY, "checking whether podman or docker works");
  pai__error_retriable(err);
  return rc;
}

void pai__local_look_end(local *l)
{
  atomic_store(&l->look.stop, true);
}
