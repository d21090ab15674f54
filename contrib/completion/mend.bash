# bash completion for mend. It asks mend itself for commands and options, so they are never out of date.
_mend() {
    local word=${COMP_WORDS[COMP_CWORD]} program=${COMP_WORDS[0]} choices
    COMPREPLY=()
    if [ "$COMP_CWORD" -eq 1 ]; then
        choices="$("$program" --help 2>/dev/null | sed -n 's/^  \([a-z][a-z-]*\) .*/\1/p') --help --version"
    elif [[ $word == -* ]]; then
        choices="$("$program" "${COMP_WORDS[1]}" --help 2>/dev/null | grep -oE -- '(^|[ ,|[])--?[a-zA-Z][a-z-]*' | tr -d ' ,|[') --help"
    else
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
        return
    fi
    mapfile -t COMPREPLY < <(compgen -W "$choices" -- "$word" | sort -u)
}
complete -o filenames -F _mend mend
