/** Set-up of each file: when it has ended, its servers end. */

import { afterAll } from 'vitest'
import { endMachine } from './opencode/guarded.ts'

afterAll(endMachine)
