/* files.i - files of a job, and those of this machine that they come from or go
 * to, for openpai.i */

PAI_CALLS_BACK(FileCopy::step)
PAI_CALLS_BACK(FileCopy::~FileCopy)

%newobject Platform::list_files;
%newobject Platform::open_file;
%newobject Platform::download;
%newobject Platform::upload;

typedef struct {} FileList;
%extend FileList {
  ~FileList() { file_list_free($self); }
  int state() { return file_list_state($self); }
  void cancel() {} /* what is answered is thrown away */
  listing answer(failure *f) { return file_list_answer($self, f); }
}

typedef struct {} FileReader;
%extend FileReader {
  ~FileReader() { file_reader_free($self); }
  log_bytes read(uint32_t most, failure *f) {
    return file_reader_read($self, most, f);
  }
  int detach() { return file_reader_detach($self); }
}

typedef struct {} FileCopy;
%extend FileCopy {
  ~FileCopy() { file_copy_free($self); }
  bool step(failure *f) { return file_copy_step($self, f); }
}

%extend Platform {
  FileList *list_files(pai_job_id job, words fields, failure *f) {
    return facade_list_files($self, job, fields, f);
  }
  FileReader *open_file(pai_job_id job, const char *path, failure *f) {
    return facade_open_file($self, job, path, f);
  }
  FileCopy *download(pai_job_id job, words fields, failure *f) {
    return facade_download($self, job, fields, f);
  }
  FileCopy *upload(pai_job_id job, words fields, failure *f) {
    return facade_upload($self, job, fields, f);
  }
  listing forget_keep(pai_job_id job, failure *f) {
    return facade_forget_keep($self, job, f);
  }
}

bool local_is_folder(const char *path);
bool local_has(const char *path, uint64_t size, int64_t modified);
void local_make_folder(const char *path, failure *f);
%newobject local_place;
char *local_place(const char *path, const char *below, failure *f);
bool local_link(const char *path, const char *below, const char *place,
                failure *f);
listing local_list(const char *path, failure *f);
