// Loads the extensions of each case as a server does, outside of the test runner, which imports modules its own way.
// Takes the cases as JSON: settings, and writes what each came to.
import { Duration, Effect } from "effect"
import { loadExtensions } from "@tocsin/server/extensions/loadExtensions"
import { examinedSettings } from "@tocsin/server/settings/checkedSettings"

const [cases = "[]"] = process.argv.slice(2)
const results = []
for (const environment of JSON.parse(cases)) {
  await Effect.runPromise(loadExtensions(environment, Duration.millis(250)))
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
