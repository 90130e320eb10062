/**
 * Which instance of the plugin acts in a project folder. A plugin may be listed twice under different names, and
 * OpenCode then loads it twice (the same file it loads once, 1.18.33); it also loads it anew after a folder was
 * disposed. The newest acts, the others stand aside: so neither a second listing nor a reload is ever answered twice.
 */

// On the global object: two copies of the plugin are two modules.
const KEY = Symbol.for('postflight-guard.opencode.acting')

type Holder = { [KEY]?: Map<string, object> }

/** The instance that acts in the folder. */
export function actingIn(folder: string): object | undefined {
  return acting().get(folder)
}

function acting(): Map<string, object> {
  const holder = globalThis as Holder
  holder[KEY] ??= new Map()
  return holder[KEY]
}

/** Makes `instance` the one that acts in the folder. */
export function takeOver(folder: string, instance: object): void {
  acting().set(folder, instance)
}

/** True while no newer instance has taken the folder over. */
export function isActing(folder: string, instance: object): boolean {
  return acting().get(folder) === instance
}

/** Leaves the folder to nobody, if it is still this instance's. */
export function leave(folder: string, instance: object): void {
  if (isActing(folder, instance)) acting().delete(folder)
}
