# Completion of openpai(1) for bash.
# shellcheck shell=bash
_openpai()
{
  local verbs='run doctor at spec cluster sched sim trace when what-if fit help'
  local spec_verbs='check render show convert fmt diff schema'
  local cluster_verbs='show check hived top'
  local sched_verbs='replay show explain story hived-replay'
  local sim_verbs='run generate'
  local trace_verbs='show convert'
  local forms='openpai hived layout kubernetes slurm alibaba'
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}
  local verb=${COMP_WORDS[1]} options='' files=''

  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    mapfile -t COMPREPLY < <(compgen -W "$verbs --help --version" -- "$word")
    return
  fi
  if [ "$COMP_CWORD" -gt 2 ]; then
    case $verb in
      spec | cluster | sched | sim | trace) verb="$verb ${COMP_WORDS[2]}" ;;
      help) verb="help ${COMP_WORDS[*]:2:COMP_CWORD-2}" ;;
    esac
  fi
  case $verb in
    'trace '*) forms='jsonl sacct sacct_json swf philly helios alibaba2020
      alibaba2023 openpai kubernetes gavel muri' ;;
  esac
  case $verb in
    'spec schema' | 'cluster top') ;;
    run | when | what-if | fit | 'spec '* | 'cluster '* | 'sched '* | 'sim run' | 'trace '*) files=yes ;;
  esac
  case $verb in
    run) options='--json --quiet --verbose --root --param --help' ;;
    doctor) options='--json --help' ;;
    at) options='--log --json --since --help queue nodes vcs why decisions' ;;
    spec) options="$spec_verbs --help" ;;
    'spec check') options='--json --sarif --quiet --strict --hived --help' ;;
    'spec render') options='--json --role --param --help' ;;
    'spec show') options='--json --help' ;;
    'spec convert') options='--to --json --show-secrets --help' ;;
    'spec fmt') options='--write --check --help' ;;
    'spec diff') options='--json --help' ;;
    'spec schema') options='--version --help' ;;
    cluster) options="$cluster_verbs --help" ;;
    'cluster show') options='--from --as --svg --json --yaml --name --help' ;;
    'cluster check') options='--as --json --sarif --quiet --strict --help' ;;
    'cluster hived') options='--from --as --json --output --help' ;;
    'cluster top') options='--once --count --interval --json --help' ;;
    sched) options="$sched_verbs --help" ;;
    'sched replay') options='--json --check --options --policy --until --help' ;;
    'sched show') options='--json --until --help' ;;
    'sched explain') options='--json --until --help' ;;
    'sched story') options='--json --policy --help' ;;
    'sched hived-replay') options='--config-dir --json --help' ;;
    sim) options="$sim_verbs --help" ;;
    when) options='--history --arrivals --runs --seed --quick --json --help' ;;
    what-if) options='--submit --kill --drain --add --vc --policy --config --force --history --arrivals --runs --seed --quick --json --help' ;;
    fit) options='--vc --history --arrivals --runs --seed --quick --json --help' ;;
    'sim run') options='--cluster --trace --policy --as --model --sort --strict --verbose --seed --until --estimates --start-cost --restart-cost --stop-cost --checkpoint --mtbf --mttr --fail --patience --stretch --spread --json --csv --html --log --events --jobs-csv --help' ;;
    'sim generate') options='--jobs --seed --like --load --gpus --cluster
      --most-gpus --gpus-per-node --users --vcs --model --faults --help' ;;
    trace) options="$trace_verbs --help" ;;
    'trace show') options='--json --as --sort --strict --help' ;;
    'trace convert') options='--as --model --sort --strict --help' ;;
    help) options=$verbs ;;
    'help spec') options=$spec_verbs ;;
    'help cluster') options=$cluster_verbs ;;
    'help sched') options=$sched_verbs ;;
    'help sim') options=$sim_verbs ;;
    'help trace') options=$trace_verbs ;;
  esac
  if [ "$before" = --root ] || [ "$before" = --config-dir ]; then
    mapfile -t COMPREPLY < <(compgen -d -- "$word")
  elif [ "$before" = --as ]; then
    mapfile -t COMPREPLY < <(compgen -W "$forms" -- "$word")
  elif [ "$before" = --like ]; then
    mapfile -t COMPREPLY < <(compgen -W 'philly helios' -- "$word")
  elif [ "$before" = --to ] || [ "$before" = --version ]; then
    mapfile -t COMPREPLY < <(compgen -W 'v1 v2' -- "$word")
  elif [ "$before" = --log ]; then
    mapfile -t COMPREPLY < <(compgen -f -- "$word")
  elif [ -n "$files" ] && [ "${word#-}" = "$word" ]; then
    mapfile -t COMPREPLY < <(compgen -f -- "$word")
  else
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word")
  fi
}
complete -o filenames -F _openpai openpai
