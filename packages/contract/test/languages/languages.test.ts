import { assert, describe, it } from "@effect/vitest"
import { Language, localeOf } from "../../src/languages/Language.ts"
import { counted, loadWords, wordsOf } from "../../src/languages/Languages.ts"
import { en } from "../../src/languages/en.ts"
import { fill } from "../../src/languages/Words.ts"

await loadWords(Language.literals)

/** The texts of a table by their paths, one for each form of a plural. */
const textsOf = (words: object, path = ""): ReadonlyArray<readonly [path: string, text: string]> =>
  Object.entries(words).flatMap(([name, value]) =>
    typeof value === "string" ? [[`${path}${name}`, value] as const] : textsOf(value, `${path}${name}.`),
  )
const namesIn = (text: string) => Array.from(text.matchAll(/\{\w+\}/g), ([name]) => name).toSorted()
const english = new Map(textsOf(en))
const isPlural = (path: string) => english.has(`${path.slice(0, path.lastIndexOf("."))}.other`)

describe.each(Language.literals)("the words of %s", (lang) => {
  const texts = textsOf(wordsOf(lang))

  it("are all of the English ones, each with its names", () => {
    const pathOf = (path: string) => (isPlural(path) ? `${path.slice(0, path.lastIndexOf("."))}.other` : path)
    const paths = (of: Iterable<string>) => Array.from(new Set(Array.from(of, pathOf))).toSorted()
    assert.deepStrictEqual(paths(texts.map(([path]) => path)), paths(english.keys()))
    for (const [path, text] of texts) {
      assert.deepStrictEqual(namesIn(text), namesIn(english.get(pathOf(path)) ?? ""), path)
      // They stand in HTML and in attributes.
      assert.notMatch(text, /^\s|\s$|[<>&"'\p{Cc}]/u, path)
    }
  })

  it("have a form for each plural of the language, and no other", () => {
    const { pluralCategories } = new Intl.PluralRules(localeOf(lang)).resolvedOptions()
    const plurals = Map.groupBy(
      texts.filter(([path]) => isPlural(path)),
      ([path]) => path.slice(0, path.lastIndexOf(".")),
    )
    assert.isAtLeast(plurals.size, 2)
    for (const forms of plurals.values())
      assert.sameMembers(
        forms.map(([path]) => path.slice(path.lastIndexOf(".") + 1)),
        pluralCategories,
      )
  })

  it("say that the last result is of before, and that the check left the configuration, not the fault", () => {
    const { check, last_result, not_recovered } = wordsOf(lang).notification
    assert.match(last_result, /před|vor|antes|avant|prima|前|vóór|sprzed|före|before/u)
    const stem = check.toLowerCase().replace(/[a-z]{0,2}\s*[:：].*/u, "")
    if (lang !== "en") assert.include(not_recovered.withdrawn.toLowerCase(), stem)
  })

  it("are its own, but those that it shares with English", () => {
    // A text of names alone has no word.
    const isWord = (text: string) => /\p{L}/u.test(text.replaceAll(/\{\w+\}/g, ""))
    const shared = texts.filter(([path, text]) => lang !== "en" && isWord(text) && english.get(path) === text)
    assert.isAtMost(shared.length, 6, shared.map(([path]) => path).join(", "))
  })
})

it("a number has the form of its language", () => {
  const forms = wordsOf("pl").page.open_incidents
  assert.deepStrictEqual(
    [1, 2, 5, 22].map((n) => counted("pl", forms, n)),
    ["1 trwająca awaria", "2 trwające awarie", "5 trwających awarii", "22 trwające awarie"],
  )
  assert.strictEqual(counted("en", en.page.open_incidents, 1), "1 open incident")
})

it("a value that fills a text is not filled again", () => {
  assert.strictEqual(fill("{a} of {b}, {c}", { a: "{b}", b: "$&" }), "{b} of $&, {c}")
})
