/**
 * @file openpai/uv.h
 * For programs that run a libuv loop already.  The only header that needs
 * libuv's; not part of <openpai/openpai.h>.
 */
#ifndef OPENPAI_UV_H
#define OPENPAI_UV_H

#include <openpai/loop.h>

#include <uv.h>

PAI_BEGIN_DECLS

/**
 * Puts the library's objects on the host's libuv loop, which the host goes on
 * running; pai_loop_run() and its like then answer PAI_EINVAL.
 *
 * @param[out] out  the loop, owned by the caller; NULL on failure
 * @param uv        the host's loop; must outlive what is put on it
 * @param opts      options, or NULL for defaults; not kept
 * @param[out] err  NULL, or receives the error of a failure
 * @return as pai_loop_new()
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_loop_attach_uv(pai_loop **out, uv_loop_t *uv,
                                             const pai_loop_options *opts,
                                             pai_error **err);

PAI_END_DECLS

#endif /* OPENPAI_UV_H */
