/*
 * facade_files.h - files of a platform's job, and of this machine, for facade.h,
 * which includes this
 *
 * A Call "files", "get_file" or "put_file" does the same for a server's job.
 */
#ifndef OPENPAI_BINDINGS_FACADE_FILES_H
#define OPENPAI_BINDINGS_FACADE_FILES_H

#include "facade.h"

typedef struct FileList FileList;
typedef struct FileReader FileReader;
typedef struct FileCopy FileCopy;

/* Asks for a page of a list.  Fields: path, after, limit, recursive. */
FileList *facade_list_files(Platform *p, pai_job_id job, words fields,
                            failure *f);
void file_list_free(FileList *l);
int file_list_state(const FileList *l); /* 0: not yet */
listing file_list_answer(const FileList *l, failure *f);

FileReader *facade_open_file(Platform *p, pai_job_id job, const char *path,
                             failure *f);
void file_reader_free(FileReader *r);
/* At most so many bytes, none at the end. */
log_bytes file_reader_read(FileReader *r, uint32_t most, failure *f);
/* Its descriptor, which is the script's from now on; -1: it has it already. */
int file_reader_detach(FileReader *r);

/* Copies a file of the job to the path `to`.  Fields: path, to, size, modified,
 * executable, as the list says. */
FileCopy *facade_download(Platform *p, pai_job_id job, words fields,
                          failure *f);
/* Copies the file at the path `local` to the job.  Fields: path, local. */
FileCopy *facade_upload(Platform *p, pai_job_id job, words fields, failure *f);
void file_copy_free(FileCopy *c);
/* Copies some MiB.  False: the file is whole, and in its place. */
bool file_copy_step(FileCopy *c, failure *f);

/* As facade_forget(), and tells {"kept"}. */
listing facade_forget_keep(Platform *p, pai_job_id job, failure *f);

/* Of this machine.  A file that was downloaded before has the size and time of
 * change of the job's. */
bool local_is_folder(const char *path);
bool local_has(const char *path, uint64_t size, int64_t modified);
void local_make_folder(const char *path, failure *f);
/* The place of a file that is listed, from the folder that is downloaded; the
 * folders above it are made.  Allocated. */
char *local_place(const char *folder, const char *below, failure *f);
/* Makes a link.  False: it would lead out of the folder, and is not made. */
bool local_link(const char *folder, const char *below, const char *target,
                failure *f);
/* Paths of the files in a folder, from there.  Links to files are followed. */
listing local_list(const char *path, failure *f);

#endif /* OPENPAI_BINDINGS_FACADE_FILES_H */
