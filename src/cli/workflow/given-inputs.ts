import { PostflightError } from '../../kernel/errors.ts'
import type { GivenInput } from '../../run/definition/snapshot.ts'
import { OPTION_EXPECTATIONS } from '../usage-messages.ts'

/** The inputs that `--set NAME=VALUE` gives. @throws {PostflightError} `value-invalid` without an equals sign. */
export function givenInputs(values: readonly string[] = []): GivenInput[] {
  return values.map((value) => {
    const at = value.indexOf('=')
    if (at < 1)
      throw new PostflightError('value-invalid', { option: '--set', value, expected: OPTION_EXPECTATIONS.input })
    return [value.slice(0, at), value.slice(at + 1)]
  })
}
