/**
 * Keeps one active instance of the plugin for each project folder. A plugin may be listed twice under different names;
 * OpenCode then loads it twice (the same file once, 1.18.34). It also loads it again after a folder was disposed. Only the
 * newest instance acts, so that no stop is answered twice.
 */

// On the global object, because two copies of the plugin are two modules.
const KEY = Symbol.for('postflight-guard.opencode.acting')

type Holder = { [KEY]?: Map<string, object> }

/** The active instance of the folder. */
export function actingIn(folder: string): object | undefined {
  return acting().get(folder)
}

function acting(): Map<string, object> {
  const holder = globalThis as Holder
  holder[KEY] ??= new Map()
  return holder[KEY]
}

/** Makes `instance` the active one of the folder. */
export function takeOver(folder: string, instance: object): void {
  acting().set(folder, instance)
}

/** True while no newer instance has replaced this one in the folder. */
export function isActing(folder: string, instance: object): boolean {
  return acting().get(folder) === instance
}

/** Leaves the folder without an active instance, if this is still the active one. */
export function leave(folder: string, instance: object): void {
  if (isActing(folder, instance)) acting().delete(folder)
}
