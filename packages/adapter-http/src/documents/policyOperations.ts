import { example, type Operations } from "./examples.ts"

const WINDOW = {
  name: "backup",
  cron: "0 2 * * 0",
  tz: "Europe/Berlin",
  for: "4h",
  match: ["check_id glob disk*"],
  comment: "weekly backup",
}
const NIGHT = { starts_at: "2026-02-01T01:00:00.000Z", ends_at: "2026-02-01T05:00:00.000Z" }

const HASH = "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae"

/** Of the policy without rules, which is in force before the first version. */
const NO_RULES = "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"

const VERSION = {
  version: 3,
  hash: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
  applied_at: "2026-01-30T14:20:05.000Z",
  applied_by: "ann",
  text: "receivers:\n  chat: { kind: messenger, url_file: chat }\nroutes:\n  - { to: [chat] }\n",
}

const APPLIED = { ...VERSION, firings: [{ receiver: "chat", count: 2 }], unavailable: [] }

const IN_FORCE = {
  policy: {
    receivers: { chat: { kind: "messenger", url_file: "/run/secrets/chat" } },
    routes: [{ match: ["label:team = db"], after: "1m", to: ["chat"] }],
    windows: [WINDOW],
  },
  hash: HASH,
  receivers: [
    {
      name: "chat",
      notifier: "messenger",
      hint: "chat.example.org",
      tested_at: "2026-01-31T08:12:00.000Z",
    },
  ],
  replicas: [
    {
      id: "019c0ddc-3a00-7cc2-8b5a-2f1e6d0c9a47",
      version: "1.2.0",
      hash: HASH,
      receivers: ["chat"],
      unavailable: [],
      started_at: "2026-01-28T09:00:00.000Z",
      seen_at: "2026-01-30T14:20:10.000Z",
    },
  ],
  replicas_differ: false,
}

const TRIAL = {
  since: "2025-12-31T14:20:00.000Z",
  until: "2026-01-30T14:20:00.000Z",
  history_from: "2026-01-02T07:11:09.000Z",
  results: 5_210,
  in_force: HASH,
  messages: { in_force: 106, tried: 30 },
  receivers: [{ receiver: "chat", in_force: 106, tried: 30 }],
  held: [{ receiver: "chat", held_by: ["after"], outcome: "resolved", firings: 38 }],
  unknown: ["freshness: unchanged results leave no trace, so no check counts as late"],
}

export const policy: Operations = {
  listWindows: {
    summary: "List maintenance windows",
    description:
      "Lists the maintenance windows of the policy in force, each with the one in force and the next times, five in all. The list has no pages.",
    success: { one: ["One window", { items: [{ ...WINDOW, occurrences: [NIGHT] }] }] },
  },
  getPolicy: {
    summary: "Show the policy in force",
    description:
      "Shows the policy in force in the process that answers, with its receivers, and the live servers with the hashes of their policies. It contains no secret.",
    success: { small: ["A policy with one receiver", IN_FORCE] },
  },
  getPolicySchema: {
    summary: "Get the JSON Schema of policies",
    description:
      "Describes a policy file, for editors. Some rules are beyond a JSON Schema: POST policy/check checks them all.",
    success: example("start", "Its beginning", {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      title: "Tocsin policy",
    }),
  },
  listPolicyVersions: {
    summary: "List the stored versions of the policy",
    description:
      "Lists the last 100 policies that were applied, each with its text, the newest first. The list has no pages.",
    success: { one: ["One version", { items: [VERSION] }] },
  },
  putReceiver: {
    summary: "Define or replace a receiver",
    description:
      "Changes the entry of one receiver in the text of the stored policy, stores its secrets if they are given, and applies that like PUT policy; all other text stays as it is. An entry that is there already changes nothing, so that the request is safe to repeat. Without confirm=true, it also answers 409 if notifiers of the settings other than debug would fall silent or notify again, or if no one would be notified. Where SERVICE_POLICY_FILE decides, its 409 has the lines to paste.",
    parameters: { name: "chat", "if-match": NO_RULES },
    request: {
      usual: [
        "An incoming webhook, whose address is in a file",
        { receiver: IN_FORCE.policy.receivers.chat },
      ],
      stored: [
        "With its secrets, which are stored",
        { receiver: { kind: "messenger", type: "ntfy" }, values: { url: "https://ntfy.example/alarms" } },
      ],
    },
    success: { usual: ["The stored version", APPLIED] },
  },
  tryReceiver: {
    summary: "Try a receiver",
    description:
      "Sends a test message to a receiver as its entry and its secrets would make it, and reports the answer. Stores nothing. Answers 409 where SERVICE_POLICY_FILE decides.",
    parameters: { name: "chat" },
    request: example("usual", "A topic of ntfy", {
      receiver: { kind: "messenger", type: "ntfy" },
      values: { url: "https://ntfy.example/alarms" },
    }),
    success: { delivered: ["It is there", { outcome: "delivered", status: 200, error: null }] },
  },
  removeReceiver: {
    summary: "Remove a receiver",
    description:
      "Removes one receiver from the text of the stored policy, as putReceiver changes one, and deletes its stored secrets. Without its last receiver the policy has none, and the notifiers of the settings are the receivers. Answers 400 if a route or a rota names it.",
    parameters: { name: "chat", "if-match": NO_RULES },
    success: { usual: ["The stored version", APPLIED] },
  },
  applyPolicy: {
    summary: "Apply a policy",
    description:
      "Checks a policy, stores it, and puts it in force: immediately in the server that answers, within 5 s in the others. It may name only files of the folder SERVICE_SECRETS_DIR, and variables that begin with TOCSIN_SECRET_. Answers 412 if If-Match names another policy than the one in force, and 409 if a receiver gets more than 100 firings immediately, if neither this server nor a running one can use a receiver, or where SERVICE_POLICY_FILE, or the program that contains Tocsin, decides.",
    parameters: { "if-match": HASH },
    request: { usual: ["One receiver", VERSION.text] },
    success: example("usual", "The stored version", APPLIED),
  },
  patchPolicy: {
    summary: "Change parts of the policy in its text",
    description:
      "Makes 1 to 50 changes (RFC 6902: add, remove, replace, test) in the text of the stored policy, together as one version, and applies that like PUT policy. Nothing but the text of the values changes: comments, blanks and ends of lines stay. With dry_run=true it answers with the text and its problems, and stores nothing. Answers 400 for a pointer that leads to nothing, and 409 if a test fails.",
    parameters: { "if-match": NO_RULES },
    request: example("usual", "The first receiver", [
      { op: "add", path: "/receivers", value: IN_FORCE.policy.receivers },
    ]),
    success: {
      usual: ["The stored version", APPLIED],
      tried: ["With dry_run=true", { text: VERSION.text, issues: [] }],
    },
  },
  tryPolicy: {
    summary: "Try a policy on the history",
    description:
      "Counts the messages that a policy would have sent of the newest 100,000 results, beside those of the policy in force. Runs on a thread for a minute at most, reads one snapshot and changes nothing. Opens no file and no variable that the text names. A server tries one policy at a time, others are 429. Answers 409 where no database has the history, and after the minute.",
    parameters: { since: "30d" },
    request: { usual: ["A route that waits", "routes:\n  - after: 5m\n"] },
    success: { usual: ["Fewer messages than under the policy in force", TRIAL] },
  },
  checkPolicy: {
    summary: "Check a policy",
    description:
      "Names every problem of a policy by path and line. Says which of its receivers this server could not use, as applying it would. Changes nothing.",
    request: { usual: ["A route that names no receiver", "routes:\n  - to: [pager]\n"] },
    success: {
      valid: [
        "The policy is valid",
        {
          issues: [],
          warnings: [],
          firings: [{ receiver: "pager", count: 3 }],
          lines: [{ page: "example", line: "web-shop", checks: [{ agent_id: "web-1", check_id: "http" }] }],
          unavailable: [],
        },
      ],
      problem: [
        "The policy names a receiver that it does not define",
        {
          issues: [
            { path: "routes[0].to[0]", line: 2, message: "names no receiver; the receivers are debug" },
          ],
        },
      ],
    },
  },
}
