import { type Subscription, subscriptionColumns, SubscriptionPath } from "@tocsin/contract/push/Push"
import { Push } from "@tocsin/core/features/push/Push"
import { failure } from "../../CommandFailure.ts"
import { act, group, listCommand } from "../../commands/define.ts"
import * as flags from "../../commands/flags.ts"
import { ageText, type Column } from "../../output/texts.ts"

const timeText = (at: Subscription["shown_at"], now: Parameters<typeof ageText>[1]): string =>
  at === null ? "never" : ageText(at, now)

const list = listCommand({
  name: "list",
  description: "List the browsers that get notifications, the latest first",
  filters: { operator: flags.text("operator", "Only the browsers of this operator") },
  query: (filter, page) => Push.use((push) => push.list({ ...filter, ...page })),
  columns: (now): ReadonlyArray<Column<Subscription>> => [
    { title: "BROWSER", cell: ({ id }) => id },
    { title: "OPERATOR", cell: ({ operator }) => operator },
    { title: "NAME", cell: ({ name }) => name },
    { title: "SERVICE", cell: ({ service }) => service },
    { title: "TAKEN", cell: ({ taken_at }) => timeText(taken_at, now) },
    { title: "SHOWN", cell: ({ shown_at }) => timeText(shown_at, now) },
    { title: "ERROR", cell: ({ last_error }) => last_error ?? "" },
  ],
  of: "browsers",
  csv: subscriptionColumns,
})

const browser = {
  parameters: {
    id: flags.argument("BROWSER", "The ID of a browser, as tocsin browsers list shows it"),
  },
  reads: flags.reader(SubscriptionPath),
}

const test = act({
  name: "test",
  description: "Send a test to one browser, and say what its push service answered",
  ...browser,
})(function* ({ id }) {
  const answer = yield* Push.use(({ testOne }) => testOne(id))
  const { error, outcome } = answer
  return {
    answer,
    text: `${id}: ${outcome}${error === null ? "" : `, ${error}`}\n`,
    failure:
      outcome === "delivered" ? undefined : failure("the browser did not get the test: look at its error"),
  }
})

const remove = act({
  name: "remove",
  description: "Remove a browser: it gets no notification any more",
  ...browser,
})(function* ({ id }) {
  const answer = yield* Push.use((push) => push.remove(id))
  return { answer, text: `${id}: removed\n` }
})

export const browsers = group({
  name: "browsers",
  description: "List, test or remove the browsers that get notifications",
  examples: ["tocsin browsers list --operator ann"],
  commands: [list, test, remove],
})
