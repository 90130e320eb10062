import type { ProjectStatusDocument } from '../documents/status.ts'

/** Something that is not done, as `postflight status` shows it. */
export type StatusItem = ProjectStatusDocument['items'][number]
