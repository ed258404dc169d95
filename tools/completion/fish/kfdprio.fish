# SPDX-License-Identifier: GPL-2.0
# fish completion for kfdprio(1) and kfdtrace(1): what bash's offers, which bash is asked for.

function __kfdprio_offered # COMMAND
    set -l file @share@/bash-completion/completions/$argv[1]
    set -q KFDPRIO_COMPLETIONS; and set file $KFDPRIO_COMPLETIONS/$argv[1]
    set -l before (commandline -opc)
    test -r $file; or return
    bash -c '
        . "$1"
        compopt() { :; }
        offers=_$2
        COMP_CWORD=$3
        shift 3
        COMP_WORDS=("$@")
        "$offers"
        printf "%s\n" "${COMPREPLY[@]}"
    ' bash $file $argv[1] (count $before) $before (string unescape -- (commandline -ct)) 2>/dev/null | string match -v ''
end

complete -c kfdprio -f -a '(__kfdprio_offered kfdprio)'
complete -c kfdtrace -f -a '(__kfdprio_offered kfdtrace)'
