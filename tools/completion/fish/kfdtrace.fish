# SPDX-License-Identifier: GPL-2.0
# fish completion for kfdtrace(1): what bash's offers, which bash is asked for.

function __kfdtrace_offered
    set -l file @share@/bash-completion/completions/kfdtrace
    set -q KFDPRIO_COMPLETIONS; and set file $KFDPRIO_COMPLETIONS/kfdtrace
    set -l before (commandline -opc)
    test -r $file; or return
    bash -c '
        . "$1"
        compopt() { :; }
        COMP_CWORD=$2
        shift 2
        COMP_WORDS=("$@")
        _kfdtrace
        printf "%s\n" "${COMPREPLY[@]}"
    ' bash $file (count $before) $before (string unescape -- (commandline -ct)) 2>/dev/null | string match -v ''
end

complete -c kfdtrace -f -a '(__kfdtrace_offered)'
