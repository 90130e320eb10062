/**
 * The pure files: data in, data out, without `node:*`, disk and clock. The linter refuses those there (biome.json), coverage has
 * a limit for these files, and mutation tests change them.
 */
export const PURE_FILES = [
  'src/kernel/**/*.ts',
  'src/hosts/*.ts',
  '!src/hosts/caller.ts',
  'src/project/{journal-entry,task-folder}.ts',
  'src/marker/{marker,marker-record,marker-schema,marker-text,check,check-messages,marker-wait,recorded-owner,loop-guard,stored-marker}.ts',
  'src/stop/{answer,answer-for,plan,reason,recovery,rules,stop-messages,stop-outcome}.ts',
  'src/run/run-messages.ts',
  'src/run/{definition,machine}/**/*.ts',
  'src/setup/{claude-hooks,hook-groups,ignored-files,json-document,list-editor,opencode-plugins,permission-rules,settings-messages}.ts',
  'src/setup/reactive/*.ts',
  'src/views/status-line.ts',
  'src/views/report/**/*.ts',
]
