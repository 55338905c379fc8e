# Completion of openpai(1) for fish.
complete -c openpai -n __fish_use_subcommand -f -l help -d 'List the verbs'
complete -c openpai -n __fish_use_subcommand -f -l version -d 'Print the version'

complete -c openpai -n __fish_use_subcommand -f -a run -d 'Run a job file on this machine'
complete -c openpai -n '__fish_seen_subcommand_from run' -l json -d 'Events as JSON lines'
complete -c openpai -n '__fish_seen_subcommand_from run' -s q -l quiet -d 'Only what the tasks print'
complete -c openpai -n '__fish_seen_subcommand_from run' -s v -l verbose -d 'Say what happens'
complete -c openpai -n '__fish_seen_subcommand_from run' -l root -r -d 'Folder of jobs'
complete -c openpai -n '__fish_seen_subcommand_from run' -l help -d 'Explain run'

complete -c openpai -n __fish_use_subcommand -f -a doctor -d 'Show what of the optional parts this machine has'
complete -c openpai -n '__fish_seen_subcommand_from doctor' -f -l json -d 'One JSON object'
complete -c openpai -n '__fish_seen_subcommand_from doctor' -f -l help -d 'Explain doctor'

complete -c openpai -n __fish_use_subcommand -f -a help -d 'List the verbs, or explain one'
complete -c openpai -n '__fish_seen_subcommand_from help' -f -a 'run doctor help'
