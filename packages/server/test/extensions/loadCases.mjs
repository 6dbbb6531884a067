// Loads the extensions of each case as a server does, outside of the test runner, which imports modules its own way.
// Takes the cases as JSON: settings, and writes what each came to. A second argument bounds loops, in milliseconds.
import { Duration, Effect } from "effect"
import { loadExtensions } from "@tocsin/server/extensions/loadExtensions"
import { examinedSettings } from "@tocsin/server/settings/checkedSettings"

const [cases = "[]", endless = "60000"] = process.argv.slice(2)
const limits = {
  slow: Duration.seconds(2),
  within: Duration.millis(250),
  endless: Duration.millis(Number(endless)),
}
const results = []
for (const environment of JSON.parse(cases)) {
  await Effect.runPromise(loadExtensions(environment, limits))
  const { problems, values } = examinedSettings(environment)
  results.push({
    problems: problems.map(({ message }) => message),
    notifiers: values.extensions?.notifiers.map(([, { name }]) => name) ?? [],
    storage: values.extensions?.storage?.choice.name ?? null,
    database: values.DATABASE_URL?.kind ?? null,
  })
}
process.stdout.write(JSON.stringify(results))
process.exit()
