import { Effect } from "effect"
import { refusal } from "../CommandFailure.ts"
import { Output } from "./Output.ts"

/**
 * Asks before what cannot be undone is done: `question` says what that is. Elsewhere than on a terminal nobody can be
 * asked, so there it takes `--yes`.
 */
export const confirm = Effect.fnUntraced(function* (question: string, isConfirmed: boolean) {
  const output = yield* Output
  if (isConfirmed) return
  if (!output.canAsk) return yield* refusal(`${question}: there is no terminal to confirm on, so use --yes`)
  const answer = yield* output.ask(`${question}. Do it? [y/N] `)
  if (!/^y(es)?$/i.test(answer.trim())) return yield* refusal("nothing was changed")
})
