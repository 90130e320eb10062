export { init } from './init.ts'
export { install, uninstall } from './install.ts'
