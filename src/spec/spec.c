/* spec.c - pai_spec: reference count and fields */
#include "spec/spec.h"

pai_spec *pai_spec_ref(pai_spec *spec)
{
  atomic_fetch_add_explicit(&spec->refs, 1, memory_order_relaxed);
  return spec;
}

void pai_spec_unref(pai_spec *spec)
{
  pai_alloc alloc;

  if (spec == NULL ||
      atomic_fetch_sub_explicit(&spec->refs, 1, memory_order_acq_rel) != 1)
    return;
  alloc = spec->alloc;
  pai__secrets_dispose(&spec->secrets);
  pai__tree_free(spec->tree);
  pai__arena_dispose(&spec->arena);
  pai__free(&alloc, spec, sizeof(*spec));
}

/* Returns an empty spec for NULL. */
static const pai_spec *or_none(const pai_spec *spec)
{
  static const pai_spec none;

  return spec != NULL ? spec : &none;
}

/* Returns a role, or an empty one if there is no such role. */
static const pai__role *role_at(const pai_spec *spec, size_t role)
{
  static const pai__role none;

  spec = or_none(spec);
  return role < spec->nroles ? &spec->roles[role] : &none;
}

const char *pai_spec_name(const pai_spec *spec)
{
  return or_none(spec)->name;
}

uint32_t pai_spec_retry_count(const pai_spec *spec)
{
  return or_none(spec)->retry_count;
}

size_t pai_spec_role_count(const pai_spec *spec)
{
  return or_none(spec)->nroles;
}

size_t pai_spec_task_count(const pai_spec *spec)
{
  return or_none(spec)->ntasks;
}

const char *pai_spec_role_name(const pai_spec *spec, size_t role)
{
  return role_at(spec, role)->name;
}

uint32_t pai_spec_role_instances(const pai_spec *spec, size_t role)
{
  return role_at(spec, role)->instances;
}

uint32_t pai_spec_role_cpus(const pai_spec *spec, size_t role)
{
  return role_at(spec, role)->cpus;
}

uint64_t pai_spec_role_milli_cpus(const pai_spec *spec, size_t role)
{
  return role_at(spec, role)->cpu_millis;
}

uint32_t pai_spec_role_memory_mb(const pai_spec *spec, size_t role)
{
  return role_at(spec, role)->memory_mb;
}

uint32_t pai_spec_role_gpus(const pai_spec *spec, size_t role)
{
  return role_at(spec, role)->gpus;
}

const char *pai_spec_role_script(const pai_spec *spec, size_t role)
{
  return role_at(spec, role)->script;
}

const char *pai_spec_unresolved(const pai_spec *spec, size_t i)
{
  spec = or_none(spec);
  return i < spec->nunresolved ? spec->unresolved[i] : NULL;
}

const char *pai_spec_missing_secret(const pai_spec *spec, size_t i,
                                    int *masked)
{
  spec = or_none(spec);
  if (masked != NULL)
    *masked = i < spec->nmissing && spec->missing[i].masked;
  return i < spec->nmissing ? spec->missing[i].pointer : NULL;
}

const char *pai_spec_note(const pai_spec *spec, size_t i)
{
  spec = or_none(spec);
  return i < spec->nnotes ? spec->notes[i] : NULL;
}
