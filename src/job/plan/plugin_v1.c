/*
 * plugin_v1.c - data, output and code folders of job configs v1
 *
 * In OpenPAI they were addresses in HDFS, which does not exist here.  A folder
 * of this machine may be given instead, also after an empty
 * $PAI_DEFAULT_FS_URI.  Commands get dataDir and outputDir as variables;
 * codeDir was copied before they started (job-spec 2.2).
 */
#include "job/plan/plugin.h"

/*
 * pai__v1_path ADDRESS: sets `path`.
 *
 * pai__v1_folder FIELD VARIABLE ADDRESS: for dataDir and outputDir.
 *
 * pai__v1_code ADDRESS: commands use the folder's own name.  If the address is
 * not on this machine, the folder may be in the job's working directory, or be
 * that directory.
 */
static const char script[] =
  "pai__v1_path() {\n"
  "  local name\n"
  "  path=$1\n"
  "  for name in PAI_DEFAULT_FS_URI PAI_JOB_NAME PAI_USER_NAME PAI_USERNAME; "
  "do\n"
  "    path=${path//\"\\$$name\"/\"${!name}\"}\n"
  "  done\n"
  "  path=${path#file://}\n"
  "  while [[ $path == ?*/ ]]; do path=${path%/}; done\n"
  "}\n"
  "pai__v1_folder() {\n"
  "  local path\n"
  "  pai__v1_path \"$3\"\n"
  "  if [[ $path == *://* ]]; then\n"
  "    pai__log \"$1 $path is not on this machine: $2 is its address, and no "
  "more\"\n"
  "  elif [ \"$1\" = outputDir ]; then\n"
  "    mkdir -p -- \"$path\" 2> /dev/null || pai__log \"outputDir $path "
  "cannot "
  "be made\"\n"
  "  elif [ ! -e \"$path\" ]; then\n"
  "    pai__log \"there is no dataDir $path on this machine\"\n"
  "  fi\n"
  "}\n"
  "pai__v1_code() {\n"
  "  local path name from size why='there is no such folder on this machine'\n"
  "  pai__v1_path \"$1\"\n"
  "  name=${path##*/}\n"
  "  if [[ $path != *://* ]] && [ -d \"$path\" ]; then\n"
  "    from=$path\n"
  "    size=$(du -sb -- \"$path\" 2> /dev/null | cut -f 1) || size=0\n"
  "    [ \"${size:-0}\" -le 200000000 ] ||\n"
  "      pai__fail 1 \"codeDir $path has $size bytes, more than 200000000: "
  "give it to openpai run --code\"\n"
  "  elif [ -d \"$PWD/$name\" ]; then\n"
  "    from=$PWD/$name\n"
  "  elif [ \"${PWD##*/}\" = \"$PAI_JOB_NAME\" ]; then\n" /* by --code */
  "    from=$PWD\n"
  "  else\n"
  "    [[ $path != *://* ]] || why='such addresses are not fetched'\n"
  "    [[ $path != /tmp/* ]] || why=\"$why, or it is hidden by a sandbox, "
  "which has a /tmp of its own\"\n"
  "    pai__fail 1 \"codeDir $path: $why; have its folder $name where the job "
  "begins, or give it to openpai run --code\"\n"
  "  fi\n"
  "  mkdir -p -- \"$pai__dir/work\"\n"
  "  cp -r -- \"$from\" \"$pai__dir/work/$name\"\n"
  "  pai__log \"the code is that of $from: a copy is in $pai__dir/work, where "
  "the commands begin\"\n"
  "}\n";

static void put_folder(pai__buf *out, const char *call, const char *folder)
{
  pai__buf_str(out, call);
  pai__put_word(out, folder);
  pai__buf_char(out, '\n');
}

static bool is_given(const char *folder)
{
  return folder != NULL && *folder != '\0';
}

void pai__plugin_v1(pai__plugin_piece *out, const char *data,
                    const char *output, const char *code)
{
  pai__buf_str(&out->before, script);
  if (is_given(data))
    put_folder(&out->before, "pai__v1_folder dataDir PAI_DATA_DIR ", data);
  if (is_given(output))
    put_folder(&out->before, "pai__v1_folder outputDir PAI_OUTPUT_DIR ",
               output);
  else
    pai__buf_str(&out->before, "[ -z \"${PAI_OUTPUT_DIR:-}\" ] || "
                               "mkdir -p -- \"$PAI_OUTPUT_DIR\"\n");
  if (!is_given(code))
    return;
  put_folder(&out->before, "pai__v1_code ", code);
  pai__buf_str(&out->sets, "if [ -d \"$pai__dir/work\" ]; then\n"
                           "  cd -- \"$pai__dir/work\"\n"
                           "  export PAI_WORK_DIR=\"$PWD\"\n"
                           "fi\n");
}
