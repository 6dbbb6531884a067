import { userInfo } from "node:os"
import process from "node:process"
import { type ActingOperator, CurrentOperator } from "@tocsin/core/ports/CurrentOperator"
import { Layer, Result } from "effect"

/** The user who runs this process. A container may run as a number that has no name. */
const userName = (): string =>
  Result.getOrElse(
    Result.try(() => userInfo().username),
    () => String(process.getuid?.() ?? "unknown"),
  )

/** The operator of a command: anyone who can open the storage may do anything. */
export const commandOperator = Layer.sync(CurrentOperator, (): ActingOperator => ({
  name: `cli:${userName()}`,
  role: "admin",
  expires_at: undefined,
  via: "cli",
  request_id: undefined,
}))
