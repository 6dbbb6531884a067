import { it } from "@effect/vitest"
import { compareInMemory } from "./compareStories.ts"

it.live("random stories lead to the messages of the model, as simulations predict: part 3 of 4", () =>
  compareInMemory({ from: 10000, to: 15000, few: 1 }),
)
