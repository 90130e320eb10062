import * as field from '../../views/documents.ts'
import { type Declaration, notOneOf, type Run } from '../command.ts'

const WHERE = `
Put one line into the file that your shell reads at its start:
  bash  ~/.bashrc                    eval "$(postflight completion bash)"
  zsh   ~/.zshrc, after compinit     source <(postflight completion zsh)
  fish  ~/.config/fish/config.fish   postflight completion fish | source`

export const declaration = {
  description: 'print the completion script of a shell',
  examples: ['completion bash', 'completion zsh', 'completion fish'],
  notes: [WHERE],
  declare: (command) => command.argument('<shell>', 'bash, zsh or fish'),
} satisfies Declaration

export const document = () => field.object({ script: field.text('The script that the shell reads.') })

export const run: Run<typeof declaration, typeof document> = (_context, [shell]) => {
  if (!Object.hasOwn(COMPLETION_SCRIPTS, shell)) throw notOneOf(Object.keys(COMPLETION_SCRIPTS), '<shell>', shell)
  const script = COMPLETION_SCRIPTS[shell as keyof typeof COMPLETION_SCRIPTS]
  const lines = script.trimEnd().split('\n')
  return { data: { script }, lines, essential: lines }
}

const BASH = `# bash completion for postflight: eval "$(postflight completion bash)"
_postflight() {
  local line current=\${COMP_WORDS[COMP_CWORD]} filenames=
  local -a found=()
  COMPREPLY=()
  [[ $current == [\\"\\']* ]] && filenames=1
  while IFS= read -r line; do
    if [ "$line" = :files ]; then
      filenames=1
      while IFS= read -r line; do found+=("$line"); done < <(compgen -f -- "$current")
    else
      found+=("\${line%%$'\\t'*}")
    fi
  done < <("$1" complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  # bash quotes file names itself, also after an opening quote.
  if [ -n "$filenames" ] && compopt -o filenames 2>/dev/null; then
    COMPREPLY=("\${found[@]}")
  else
    for line in "\${found[@]}"; do printf -v line %q "$line"; COMPREPLY+=("$line"); done
  fi
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
  compset -P '--*='
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
            set -l option (string match -r -- '^--[^=]*=' $current)
            printf "$option%s\\n" (complete -C "'' "(string replace -r -- '^--[^=]*=' '' $current))
        else
            printf '%s\\n' "$line"
        end
    end
end
complete -c postflight -f -a '(__postflight_complete)'
`

const COMPLETION_SCRIPTS = { bash: BASH, zsh: ZSH, fish: FISH } as const
