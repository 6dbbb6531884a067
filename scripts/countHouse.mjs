// Counts what a reader of one feature meets: `node scripts/countHouse.mjs`, with `--files NAME` the foreign files of
// one feature. `features` is the one table of names; the table in CONTRIBUTING.md has the same words.
//
// A feature's own files are those in a folder of its name, and those that `own` matches. A *foreign file* is another
// file of the product that imports an own file or has a name of the feature in its code, not only in a comment. It is
// a *list* if it belongs to no feature and knows three or more of them, otherwise a *user*: a feature that uses three
// others is no place that a new one enters. Migrations do not count, because nobody edits a released one.
import { readdirSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import process from "node:process"
import { fileURLToPath } from "node:url"

/**
 * `word` is the name of the feature on every floor. `own` matches paths of its files below `packages` that stand in
 * no folder of such a name. `names` matches the identifiers and texts by which code knows it. `former` are the words for
 * the same thing which leave with their last file; one is counted while a path or a name of the code contains it.
 * `besides` matches paths of files where the names, or the folder, mean another thing.
 *
 * @typedef {{ readonly word: string, readonly own?: RegExp, readonly names: RegExp,
 * readonly former: ReadonlyArray<string>, readonly besides?: RegExp }} Feature
 */

/** @type {ReadonlyArray<Feature>} */
export const features = [
  {
    word: "numbers",
    own: /(?<!number)Numbers\.tsx?$|\/NumberStorage\.|performanceData/,
    names:
      /\b(?:\w*Numbers\w*|numbers|numbers[A-Z]\w*|Number(?:Storage|Memory|Part|Bounds)|number(?:Series|Tables))\b/,
    former: [],
  },
  {
    word: "checkMetrics",
    own: /[cC]heckMetrics\w*\./,
    names: /[cC]heckMetrics?\w*|CHECK_METRICS\w*/,
    former: [],
  },
  {
    word: "export",
    own: /exportLines|settledRows/,
    names: /\bexport(?:Rows|edLines|Lines|ing)\w*\b|\bExport(?:Api|Kind|Parameters|Line|Cursor|Span)\b/,
    former: [],
  },
  {
    word: "onCall",
    own: /\/Rotas?(Api|Override\w*)?\.|onCall\w*\./,
    names: /(?<![a-z])[rR]otas?(?![a-z])|on_call|[oO]nCall|on-call|[rR]otaOverride|[a-z]Overrides?\b/,
    former: ["rota_override", "Rotas", "oncall"],
  },
  {
    word: "publicPages",
    names: /[pP]ublicPages?|[aA]nnouncement\w*/,
    former: ["announce"],
  },
  {
    word: "languages",
    own: /readerTexts/,
    names: /\bLanguage\b|\bPageTexts\b|\b[rR]eaderTexts\b/,
    former: [],
  },
  {
    word: "watches",
    own: /\/[wW]atchProbes\./,
    names:
      /\b[wW]atch(?:es|Runner|Probe|Record|Name|Target|Secret|Header|OfAddress|Agent)\w*|["']watch["']|\bWatch\b(?! (?:more|something))/,
    former: [],
  },
  {
    word: "integrations",
    own: /^adapter-mail\/|[iI]ntegrations?\w*\./,
    names:
      /(?<!telemetry)[iI]ntegrations?(?![a-z]| key)|[sS]enderLines|[pP]agedAlert|[rR]eportedAlert|reported_alert|job_run|[jJ]obRun/,
    former: ["PagedAlert", "reported_alert"],
  },
  {
    word: "signIn",
    names: /\b[sS]ession(?:Record|sApi|Id)\b|\bSessions\b|["']sessions?["']|[sS]ignIn|oidc|OIDC/,
    former: ["Sessions"],
  },
  {
    word: "receivers",
    own: /(receiver|mask|kept)Secrets?\.|SecretCipher/,
    names:
      /[sS]ecret(?:Cipher|sList|Marks?|Decisions|Problems|Keys?)\b|[rR]eceiverSecrets|(?:plain|open|examine)Secrets|changingReceivers|editReceiver|receiver(?:Forms|Actions)|ReceiverForm|["']secrets?["']|\bsecrets:(?! Secrets\b)/,
    former: ["SecretCipher"],
    // The secrets of watches are another thing.
    besides: /\/watches\//,
  },
  {
    word: "trial",
    own: /^simulation\/|[sS]imulate\w*\./,
    names: /[sS]imulat|[pP]olicyTrial|policyT(?:ry|est)\b/,
    former: ["simulat", "acktest", "policyTry", "policyTest"],
  },
  {
    word: "enrolment",
    own: /[eE]nrolments?(Record)?\.|AgentDownload/,
    names:
      /[eE]nrol|AgentDownload|agent_download|DownloadRoutes|[hH]andout|Download(?:Files|edFile)|AddHosts/,
    former: ["AgentDownload", "AddHosts"],
  },
  {
    word: "settings",
    names: /[sS]ettingOperations|settingsFollower|StoredSettings|ServerSettings|publicUrlIn/,
    former: [],
    // The settings of the environment are another thing.
    besides: /^server\/src\/settings\//,
  },
  {
    word: "push",
    own: /SubscriptionRecord|endSubscriptions|pushOption/,
    names:
      /\bPush(?:Api|Service|Key|State)?\b(?!-)|(?:test|remove|list|end|prolong)Subscription|SubscriptionRecord|push_(?:key|subscription)|lookForBrowsers|findUnknownOperators|NotifyBrowser|pushOption/,
    former: [],
  },
  {
    word: "report",
    own: /reportMail/,
    names:
      /\breportOperations\b|\bReport(?:Parameters|Fold)\b|\breadReport\b|[mM]onthlyReport|monthly_report|sendReport/,
    former: [],
    besides: /simulation\/src|tocsin\/src\/simulate\.|^reporting\/|^agent\//,
  },
  {
    word: "silences",
    own: /[sS]ilences?(Record)?\./,
    names: /(?<!pendingKey)[sS]ilences?(?![a-z])|Silenced/,
    former: [],
  },
  {
    word: "overdue",
    own: /(?<!simulation\/src\/)Expectations?(Record)?\.|decideTerms/,
    names:
      /[oO]verdue|(?<!["'.]\/|check)[eE]xpectations?(?![a-z])|[fF]reshness|\bTerms\b|decideTerms|dueTime/,
    former: ["expectation", "reshness", "Terms"],
    // An expectation of a test of a policy, and one of a probe, is another thing.
    besides:
      /^agent\/src\/probes\/|^contract\/src\/watches\/|simulation\/src\/(Expectation|SimulationReport|readLines|simulate)\.|tocsin\/src\/simulate\.|policyTest\./,
  },
  {
    word: "links",
    own: /messageLinks|LinkSigner/,
    names: /[lL]inkSigner|[mM]essageLinks|[fF]ollow(?:ed)?Link|linkKey|LINK_KEY|NamedLink|LinkRoutes/,
    former: [],
  },
]

const root = fileURLToPath(new URL("../packages", import.meta.url))

/** The sources of the product by their paths below `packages`, without comments. `testing` is for tests of storages. */
const readSources = () => {
  const paths = readdirSync(root, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name !== "testing")
    .flatMap(({ name }) =>
      readdirSync(join(root, name, "src"), { recursive: true, encoding: "utf8" }).map((path) =>
        join(name, "src", path).replaceAll("\\", "/"),
      ),
    )
    .filter((path) => /\.tsx?$/.test(path))
    .toSorted()
  return new Map(
    paths.map((path) => {
      const text = readFileSync(join(root, path), "utf8")
      const code = text.replaceAll(/\/\*[^]*?\*\/|(?<![:"'`\w/])\/\/.*$/gm, "")
      return [path, { lines: text.split("\n").length - 1, code }]
    }),
  )
}

const sources = readSources()

/** The path below `packages` that a specifier leads to. @param {string} from @param {string} specifier */
const targetOf = (from, specifier) => {
  if (specifier.startsWith(".")) return join(dirname(from), specifier)
  const [, name = "", path = ""] = /^@tocsin\/([^/]+)\/(.+)$/.exec(specifier) ?? []
  return name === "" ? undefined : `${name}/src/${path}.ts`
}

/** The files that each file imports. */
const imports = new Map(
  Array.from(sources, ([path, { code }]) => [
    path,
    Array.from(code.matchAll(/\b(?:from|import\() ?"([^"]+)"/g), ([, to = ""]) => targetOf(path, to)).filter(
      (to) => to !== undefined && sources.has(to),
    ),
  ]),
)

/** @param {Feature} feature @param {string} path */
const isOwn = ({ besides, own, word }, path) => {
  const folders = path.split("/")
  // Files of `tocsin/testing` serve tests of programs.
  if (folders.includes("testing")) return false
  if (besides?.test(path) === true) return false
  return features.some((other) => folders.includes(other.word))
    ? folders.includes(word)
    : own?.test(path) === true
}

const ownerOf = new Map(
  Array.from(sources.keys(), (path) => [path, features.find((feature) => isOwn(feature, path))?.word]),
)

const MIGRATIONS = /\/migrations\/\d{4}_|\/kernel\/schema\//

/** The features that a file knows, without its own. */
const known = new Map(
  Array.from(sources, ([path, { code }]) => [
    path,
    (MIGRATIONS.test(path) ? [] : features)
      .filter(({ besides, names, word }) => {
        if (ownerOf.get(path) === word) return false
        if (besides?.test(path) !== true && names.test(code)) return true
        return (imports.get(path) ?? []).some((to) => ownerOf.get(to ?? "") === word)
      })
      .map(({ word }) => word),
  ]),
)

/** A file of no feature that knows so many is a list of them. */
const LIST_KNOWS = 3

/** @param {string} path @param {ReadonlyArray<string>} words */
const isList = (path, words) => ownerOf.get(path) === undefined && words.length >= LIST_KNOWS

/** @param {Feature} feature */
const count = ({ former, word }) => {
  const own = Array.from(sources).filter(([path]) => ownerOf.get(path) === word)
  const foreign = Array.from(known).filter(([, words]) => words.includes(word))
  const users = foreign.filter(([path, words]) => !isList(path, words))
  const isUsed = (/** @type {string} */ name) =>
    Array.from(sources).some(([path, { code }]) => path.includes(name) || code.includes(name))
  return {
    word,
    files: own.length,
    lines: own.reduce((sum, [, { lines }]) => sum + lines, 0),
    foreign: foreign.length,
    lists: foreign.length - users.length,
    users: users.length,
    inCore: users.filter(([path]) => path.startsWith("core/")).length,
    names: 1 + former.filter(isUsed).length,
  }
}

/** Prints the counts. */
const print = () => {
  const rows = features.map(count)
  const columns = /** @type {const} */ (["files", "lines", "foreign", "lists", "users", "inCore", "names"])
  process.stdout.write(`${"feature".padEnd(14)}${columns.map((name) => name.padStart(9)).join("")}\n`)
  for (const row of rows)
    process.stdout.write(
      `${row.word.padEnd(14)}${columns.map((name) => String(row[name]).padStart(9)).join("")}\n`,
    )
  const sum = (/** @type {(typeof columns)[number]} */ name) => rows.reduce((all, row) => all + row[name], 0)
  process.stdout.write(
    `${"together".padEnd(14)}${columns.map((name) => String(sum(name)).padStart(9)).join("")}\n`,
  )
  const most = Array.from(known).filter(([, words]) => words.length > 5)
  process.stdout.write(`\nfiles that know six or more features: ${most.length}\n`)
  for (const [path, words] of most.toSorted(([, a], [, b]) => b.length - a.length))
    process.stdout.write(`${String(words.length).padStart(4)}  ${path}\n`)
}

/** Prints the own and the foreign files of one feature. @param {string} word */
const printFiles = (word) => {
  for (const [path, owner] of ownerOf) if (owner === word) process.stdout.write(`own   ${path}\n`)
  for (const [path, words] of known)
    if (words.includes(word)) process.stdout.write(`${isList(path, words) ? "list" : "user"}  ${path}\n`)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const at = process.argv.indexOf("--files")
  if (at === -1) print()
  else printFiles(process.argv[at + 1] ?? "")
}
