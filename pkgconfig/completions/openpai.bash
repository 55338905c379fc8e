# Completion of openpai(1) for bash.
# shellcheck shell=bash
_openpai()
{
  local verbs='run doctor help'
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}
  local options=

  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    mapfile -t COMPREPLY < <(compgen -W "$verbs --help --version" -- "$word")
    return
  fi
  case ${COMP_WORDS[1]} in
    run) options='--json --quiet --verbose --root --help' ;;
    doctor) options='--json --help' ;;
    help) options=$verbs ;;
  esac
  if [ "$before" = --root ]; then
    mapfile -t COMPREPLY < <(compgen -d -- "$word")
  elif [ "${COMP_WORDS[1]}" = run ] && [ "${word#-}" = "$word" ]; then
    mapfile -t COMPREPLY < <(compgen -f -- "$word")
  else
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word")
  fi
}
complete -o filenames -F _openpai openpai
