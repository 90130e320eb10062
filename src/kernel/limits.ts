/** Limits that errors name. */

/** The maximum length of an input's value, in characters. */
export const MAX_INPUT_LENGTH = 5000

/** The largest number of checks of one promise. */
export const MAX_CHECKS = 20

/** The largest number of prompts that one promise may wait at. */
export const WAIT_LIMIT = 10
