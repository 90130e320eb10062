export const MAX_INPUT_LENGTH = 5000

export const MAX_CHECKS = 20

export const WAIT_LIMIT = 10
