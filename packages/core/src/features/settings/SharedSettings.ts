import { Context, Effect, Layer, Result } from "effect"
import { ValidationError } from "@tocsin/contract/formats/Errors"
import { parsePublicUrl, PUBLIC_URL } from "@tocsin/contract/formats/publicUrl"
import {
  type Setting,
  type SettingName,
  settingNames,
  type SettingValue,
} from "@tocsin/contract/settings/Settings"
import { operationPorts } from "../../heart/usecases/operationPorts.ts"
import { NotFound, StateConflict } from "../../kernel/engine/OperationErrors.ts"
import type { RuleOptions, StoredSettings } from "../../kernel/ports/RuleSettings.ts"
import { recordAudit, type Signature } from "../../heart/audit/recordAudit.ts"
import { commandOf, type Decision, loadRow } from "../../kernel/unitOfWork/Decision.ts"

/** Stores a setting. An equal value changes nothing. */
const putSetting = commandOf(function* (
  unit,
  name: SettingName,
  given: SettingValue,
  by: Signature,
): Decision<void> {
  const value = JSON.stringify(given)
  if ((yield* loadRow(unit, "setting", name))?.value === value) return
  unit.of("setting").put({ name, value, changed_by: by.actor, changed_at: unit.now })
  recordAudit(unit, by, "setting.changed", [name], { value: String(given) })
})

/** Removes a setting, so that its default holds again. Returns how many rows there were. */
const removeSetting = commandOf(function* (unit, name: SettingName, by: Signature): Decision<number> {
  const row = yield* loadRow(unit, "setting", name)
  if (row === undefined) return 0
  unit.of("setting").delete(name)
  recordAudit(unit, by, "setting.removed", [name], { value: String(JSON.parse(row.value)) })
  return 1
})

const VARIABLES = { public_url: "SERVICE_PUBLIC_URL", watch_loopback: "SERVICE_WATCH_LOOPBACK" } as const

const givenValue = ({ publicUrl, watchLoopback }: RuleOptions, name: SettingName): SettingValue | undefined =>
  name === "public_url" ? publicUrl : watchLoopback

const storedValue = ({ publicUrl, watchLoopback }: StoredSettings, name: SettingName) =>
  name === "public_url" ? publicUrl : watchLoopback

const shown = (rules: RuleOptions, name: SettingName): Setting => {
  const given = givenValue(rules, name)
  if (given !== undefined) return { name, value: given, source: "environment" }
  const value = storedValue(rules.stored ?? {}, name)
  if (value !== undefined) return { name, value, source: "stored" }
  return { name, value: name === "public_url" ? null : false, source: "default" }
}

const parsed = (name: SettingName, value: unknown): Result.Result<SettingValue, ValidationError> => {
  if (name === "watch_loopback")
    return typeof value === "boolean"
      ? Result.succeed(value)
      : Result.fail(new ValidationError({ message: "value must be true or false" }))
  const url = typeof value === "string" ? parsePublicUrl(value) : undefined
  return url === undefined
    ? Result.fail(new ValidationError({ message: `value must be ${PUBLIC_URL}` }))
    : Result.succeed(url)
}

const settingOperations = Effect.gen(function* () {
  const { rules, signed, storage } = yield* operationPorts
  const { stored = {} } = rules
  /** Reads what is stored. A value that another version stored and this one refuses counts for nothing. */
  const followSettings = Effect.gen(function* () {
    const rows = yield* storage.rows("setting", settingNames)
    const found = new Map(
      rows.flatMap(({ name, value }) => {
        const read = Result.flatMap(
          Result.try(() => JSON.parse(value) as unknown),
          (one) => Result.mapError(parsed(name, one), () => undefined),
        )
        return Result.isSuccess(read) ? [[name, read.success] as const] : []
      }),
    )
    const [url, loopback] = [found.get("public_url"), found.get("watch_loopback")]
    stored.publicUrl = typeof url === "string" ? url : undefined
    stored.watchLoopback = typeof loopback === "boolean" ? loopback : undefined
  })
  const changeable = Effect.fnUntraced(function* (asked: string) {
    const name = settingNames.find((one) => one === asked)
    if (name === undefined)
      return yield* new NotFound({
        message: "no setting has this name; list settings with GET /ops/v1/settings",
      })
    if (givenValue(rules, name) !== undefined)
      return yield* new StateConflict({
        message: `${VARIABLES[name]} is set where the server runs, and wins: change it there, or unset it`,
      })
    return name
  })
  const list = Effect.sync(() => ({ items: settingNames.map((name) => shown({ ...rules, stored }, name)) }))
  // A server without them would show links to nowhere for seconds; the follower tries again.
  yield* Effect.ignore(followSettings)
  return {
    followSettings,
    listSettings: Effect.andThen(followSettings, list),
    putSetting: Effect.fn("Operations.putSetting")(function* (asked: string, value: SettingValue) {
      const name = yield* changeable(asked)
      const taken = yield* Effect.fromResult(parsed(name, value))
      yield* signed((by) => putSetting(name, taken, by))
      yield* Effect.ignore(followSettings)
      return { name, value: taken, source: "stored" } satisfies Setting
    }),
    removeSetting: Effect.fn("Operations.removeSetting")(function* (asked: string) {
      const name = yield* changeable(asked)
      const count = yield* signed((by) => removeSetting(name, by))
      yield* Effect.ignore(followSettings)
      return { count }
    }),
  }
})

/** Operators' settings, which every server follows (docs/rules.md#stored-settings). */
export class SharedSettings extends Context.Service<SharedSettings>()(
  "@tocsin/core/features/settings/SharedSettings",
  { make: settingOperations },
) {
  static readonly layer = Layer.effect(SharedSettings, SharedSettings.make)
}
