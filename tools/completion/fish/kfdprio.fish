# SPDX-License-Identifier: GPL-2.0
# fish completion for kfdprio(1): what bash's offers, which bash is asked for.

function __kfdprio_offered
    set -l file @share@/bash-completion/completions/kfdprio
    set -q KFDPRIO_COMPLETIONS; and set file $KFDPRIO_COMPLETIONS/kfdprio
    set -l before (commandline -opc)
    test -r $file; or return
    bash -c '
        . "$1"
        compopt() { :; }
        COMP_CWORD=$2
        shift 2
        COMP_WORDS=("$@")
        _kfdprio
        printf "%s\n" "${COMPREPLY[@]}"
    ' bash $file (count $before) $before (string unescape -- (commandline -ct)) 2>/dev/null | string match -v ''
end

complete -c kfdprio -f -a '(__kfdprio_offered)'
