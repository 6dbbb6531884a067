import {
  PutSecretsRequest,
  type SecretName,
  secretNames,
  SecretsPath,
  type StoredSecrets,
} from "@tocsin/contract/receivers/ReceiverSecrets"
import { StoredSecrets as Stored } from "@tocsin/core/lists/StoredSecrets"
import { Effect, Redacted, Result, Schema } from "effect"
import { Argument } from "effect/cli"
import { notFound, usageFailure } from "../../CommandFailure.ts"
import { Output } from "../../output/Output.ts"
import { type Column, tableText, timeText } from "../../output/texts.ts"
import { actOn, group } from "../../commands/define.ts"
import * as flags from "../../commands/flags.ts"
import { standardInput } from "../../commands/standardInput.ts"

const name = flags.argument(
  "NAME",
  "The name by which a policy names the secrets, such as that of the receiver",
)

const COLUMNS: ReadonlyArray<Column<StoredSecrets>> = [
  { title: "NAME", cell: ({ name: shown }) => shown },
  { title: "SECRETS", cell: ({ keys }) => keys.join(", ") },
  { title: "RECEIVER", cell: ({ receiver }) => receiver ?? "unused" },
  { title: "STATE", cell: ({ unreadable }) => (unreadable ? "unreadable" : "readable"), isState: true },
  { title: "STORED", cell: ({ changed_at }) => timeText(changed_at) },
  { title: "BY", cell: ({ changed_by }) => changed_by },
]

const list = actOn(Stored.layer)({
  name: "list",
  description: "List the stored secrets of receivers, without their values",
  parameters: {},
})(function* () {
  const { items } = yield* Stored.use((stored) => stored.list)
  return {
    answer: { items },
    text: items.length === 0 ? "no stored secrets\n" : tableText(COLUMNS, items, yield* Output),
  }
})

const asked = Effect.fnUntraced(function* (names: ReadonlyArray<SecretName>) {
  const output = yield* Output
  if (!output.canAsk)
    return yield* usageFailure("there is no terminal to ask on: write JSON to standard input")
  const values: Partial<Record<SecretName, string>> = {}
  for (const each of names) values[each] = yield* output.ask(`${each}: `, { isHidden: true })
  return values
})

const NO_JSON = 'standard input must be JSON such as {"url":"https://…"}; or name the secrets to be asked for'

const read = Effect.mapError(
  Effect.flatMap(standardInput, (text) =>
    Effect.fromResult(
      Result.map(Schema.decodeUnknownResult(Schema.fromJsonString(Schema.Unknown))(text), Redacted.make),
    ),
  ),
  () => usageFailure(NO_JSON),
)

const put = actOn(Stored.layer)({
  name: "put",
  description:
    "Store the secrets of a receiver, in place of all former ones. It asks for those that you name, without echo;\n" +
    "  without names, it reads them as JSON from standard input",
  short: "Store the secrets of a receiver",
  examples: ["tocsin secrets put phone url token", "tocsin secrets put phone < secrets.json"],
  parameters: {
    name,
    names: Argument.Literals("SECRET", secretNames).pipe(
      Argument.withDescription("The secrets to ask for"),
      Argument.variadic(),
    ),
  },
  reads: Effect.fnUntraced(function* (given) {
    const path = yield* flags.readArguments(SecretsPath, { name: given.name })
    const values = given.names.length > 0 ? yield* asked(given.names) : Redacted.value(yield* read)
    return { ...path, request: yield* flags.readArguments(PutSecretsRequest, { values }) }
  }),
})(function* ({ name: of, request }) {
  const stored = yield* Stored.use((all) => all.put(of, request))
  return {
    answer: stored,
    text: `${of}: ${stored.keys.join(", ")} stored; every server uses them within 5 s\n`,
  }
})

const remove = actOn(Stored.layer)({
  name: "delete",
  description: "Delete stored secrets that no receiver of the policy names",
  parameters: { name, yes: flags.yes },
  reads: flags.confirmed(SecretsPath, (given) => `this deletes the stored secrets ${given.name}`),
})(function* ({ name: of }) {
  const { count } = yield* Stored.use((all) => all.remove(of))
  if (count === 0)
    return yield* notFound(`there are no stored secrets ${of}: list them with tocsin secrets list`)
  return { answer: { count }, text: `${of}: deleted\n` }
})

export const secrets = group({
  name: "secrets",
  description: "List, store or delete the secrets of receivers that the database keeps, encrypted",
  commands: [list, put, remove],
})
