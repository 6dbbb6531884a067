// allowed
import { it } from "@effect/vitest"

export const test = it
