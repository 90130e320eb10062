/**
 * The completion scripts. Each asks `postflight complete` for the words that may follow, one a line with a tab before
 * its description; `:files` stands for the files of the current folder. Inserted words are quoted, because a folder's
 * name may hold anything.
 */

const BASH = `# bash completion for postflight: eval "$(postflight completion bash)"
_postflight() {
  local line word current=\${COMP_WORDS[COMP_CWORD]}
  COMPREPLY=()
  while IFS= read -r line; do
    if [ "$line" = :files ]; then
      compopt -o filenames 2>/dev/null
      while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -f -- "$current")
    else
      printf -v word %q "\${line%%$'\\t'*}"
      COMPREPLY+=("$word")
    fi
  done < <("$1" complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _postflight postflight
`

const ZSH = `#compdef postflight
# zsh completion for postflight: source <(postflight completion zsh), after compinit
_postflight() {
  local line value
  local -a found
  local -i files=0
  while IFS= read -r line; do
    if [[ $line == :files ]]; then
      files=1
    else
      value=\${line%%$'\\t'*}
      found+=("\${\${value//\\\\/\\\\\\\\}//:/\\\\:}:\${line#*$'\\t'}")
    fi
  done < <("\${(Q)words[1]}" complete -- "\${(@Q)words[2,CURRENT]}" 2>/dev/null)
  (( \${#found} )) && _describe postflight found
  (( files )) && _files
}
if [[ \${funcstack[1]} == _postflight ]]; then
  _postflight "$@"
else
  compdef _postflight postflight
fi
`

const FISH = `# fish completion for postflight: postflight completion fish | source
function __postflight_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    for line in ($words[1] complete -- $words[2..-1] "$current" 2>/dev/null)
        if test "$line" = :files
            __fish_complete_path "$current"
        else
            printf '%s\\n' "$line"
        end
    end
end
complete -c postflight -f -a '(__postflight_complete)'
`

/** The script of each shell. */
export const COMPLETION_SCRIPTS = { bash: BASH, zsh: ZSH, fish: FISH } as const
