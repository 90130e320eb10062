import type { ProjectStatusDocument } from '../documents/status.ts'

/** Something unfinished, as `postflight status` shows it. */
export type StatusItem = ProjectStatusDocument['items'][number]
