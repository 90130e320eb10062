import { layOutPlugin } from './plugin.ts'

/** Builds the plugin for Claude Code into `dist-plugin/`, from the built package: `npm run build:plugin`. */

layOutPlugin('.', 'dist-plugin')
