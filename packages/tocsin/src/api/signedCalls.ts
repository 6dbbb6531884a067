import { ActorName } from "@tocsin/contract/Audit"
import { describeIssue } from "@tocsin/contract/describeIssue"
import { ValidationError } from "@tocsin/contract/Errors"
import { Result, Schema, SchemaParser } from "effect"

/** The actor. */
export interface By {
  /** The name that the audit and timelines show, `library` unless given. */
  readonly by?: string | undefined
}

/** The arguments of a call that may change something: its object, or one of its own, can name who acts. */
export type SignedInput<Input extends ReadonlyArray<unknown>> = [Extract<Input[number], object>] extends [
  never,
]
  ? [...Input, by?: By]
  : { [At in keyof Input]: Input[At] extends string ? Input[At] : Input[At] & By }

const decodeActor = SchemaParser.decodeUnknownResult(Schema.Struct({ by: Schema.optionalKey(ActorName) }))

interface Signed {
  readonly by: string | undefined
  /** The arguments without it. */
  readonly input: ReadonlyArray<unknown>
}

/** Takes the name of who acts out of the arguments of a call. */
export const readSigned = (given: ReadonlyArray<unknown>): Result.Result<Signed, ValidationError> => {
  const at = given.findLastIndex((one) => typeof one === "object" && one !== null && "by" in one)
  if (at === -1) return Result.succeed({ by: undefined, input: given })
  const { by: name, ...others } = Object(given[at]) as By
  return Result.mapBoth(decodeActor(name === undefined ? {} : { by: name }), {
    onSuccess: ({ by }) => ({ by, input: given.with(at, others) }),
    onFailure: (issue) => new ValidationError({ message: describeIssue(issue, "the arguments") }),
  })
}
