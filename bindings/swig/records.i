/* records.i - what a durable platform knows of its jobs, for openpai.i */

PAI_CALLS_BACK(Platform::tag)
PAI_CALLS_BACK(Platform::backup)
PAI_CALLS_BACK(Platform::save_all)

%newobject Platform::log;

typedef struct {} LogReader;
%extend LogReader {
  ~LogReader() { facade_log_free($self); }
  log_bytes take(failure *f) { return facade_log_take($self, f); }
  int state() { return facade_log_state($self); }
}

%extend Platform {
  pai_job_id find(const char *kind, failure *f) {
    return records_find($self, kind, f);
  }
  listing list(words fields, failure *f) {
    return records_list($self, fields, f);
  }
  listing show(pai_job_id job, int attempt, failure *f) {
    return records_show($self, job, attempt, f);
  }
  listing show_task(pai_job_id job, int attempt, const char *kind,
                    uint32_t index, failure *f) {
    return records_show_task($self, job, attempt, kind, index, f);
  }
  job_text config(pai_job_id job, const char *format, failure *f) {
    return records_config($self, job, format, f);
  }
  listing events(pai_job_id job, const char *form, failure *f) {
    return records_events($self, job, form, f);
  }
  listing why(pai_job_id job, failure *f) {
    return records_why($self, job, f);
  }
  listing ssh(pai_job_id job, failure *f) {
    return records_ssh($self, job, f);
  }
  listing ssh_key(pai_job_id job, failure *f) {
    return records_ssh_key($self, job, f);
  }
  listing status(failure *f) { return records_status($self, f); }
  job_text snapshot(failure *f) { return records_snapshot($self, f); }
  void tag(pai_job_id job, const char *kind, bool has, failure *f) {
    records_tag($self, job, kind, has, f);
  }
  void backup(const char *path, failure *f) {
    records_backup($self, path, f);
  }
  void save_all(const char *path, failure *f) {
    records_export($self, path, f);
  }
  LogReader *log(pai_job_id job, words fields, failure *f) {
    return facade_log($self, job, fields, f);
  }
}

%inline %{
static listing repair_root(const char *root, failure *f)
{
  return records_repair(root, f);
}
%}
