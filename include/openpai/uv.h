/**
 * @file openpai/uv.h
 * Use of the library on a program's own libuv loop.  The only header that
 * needs libuv's headers; not part of <openpai/openpai.h>.
 */
#ifndef OPENPAI_UV_H
#define OPENPAI_UV_H

#include <openpai/loop.h>

#include <uv.h>

PAI_BEGIN_DECLS

/**
 * Makes a loop on top of the host's libuv loop.  The host keeps running its
 * loop; pai_loop_run() and pai_loop_run_once() return PAI_EINVAL.
 *
 * @param[out] out  the loop, owned by the caller; NULL on failure
 * @param uv        the host's loop; must outlive @p out
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
