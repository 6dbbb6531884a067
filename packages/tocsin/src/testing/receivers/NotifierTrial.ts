import assert from "node:assert/strict"
import * as RandomIds from "@tocsin/adapter-crypto/RandomIds"
import type { NotificationOutboxItem } from "@tocsin/client/Resources"
import { maskOf } from "../../notifiers/maskSecrets.ts"
import type { Notification } from "../../notifiers/CustomNotifier.ts"
import type { NotifierOption } from "../../notifiers/notifiers.ts"
import type { LogEntry } from "../../options/log.ts"
import { nextDue } from "../advance.ts"
import { makeTestMonitor, type TestMonitor } from "../createTestMonitor.ts"
import { mentions } from "./mentions.ts"

/** The subject of a trial: how to make the notifier, and its secrets. */
export interface Subject {
  readonly name: string
  readonly make: () => NotifierOption
  readonly secrets?: ReadonlyArray<string> | undefined
  /** Texts of the receiver that `last_error` must not show. */
  readonly hidden?: ReadonlyArray<string>
}

/** The words by which a request shows its notification: its first line, or the key of its incident. */
const wordsOf = ({ text, incident }: Notification): ReadonlyArray<string> => [
  text.split("\n")[0] ?? "",
  incident.incident_key,
]

/** One test of a notifier, through the real outbox. */
export class NotifierTrial {
  readonly monitor: TestMonitor
  readonly name: string
  readonly #agent: Awaited<ReturnType<TestMonitor["agent"]>>
  readonly #answers: Array<unknown> = []
  /** Every `last_error` so far: an attempt that succeeds clears it. */
  readonly #errors = new Set<string>()
  readonly #logged: ReadonlyArray<LogEntry>
  readonly #mask: (text: string) => string

  private constructor(
    { name, secrets = [] }: Subject,
    monitor: TestMonitor,
    agent: Awaited<ReturnType<TestMonitor["agent"]>>,
    logged: ReadonlyArray<LogEntry>,
  ) {
    this.name = name
    this.monitor = monitor
    this.#agent = agent
    this.#logged = logged
    this.#mask = maskOf(secrets)
  }

  static async run(subject: Subject, body: (trial: NotifierTrial) => Promise<void>): Promise<void> {
    const notifier = subject.make()
    assert.notEqual(notifier?.name, "debug", `${subject.name}: debug is the name of the suite's own notifier`)
    const logged: Array<LogEntry> = []
    const options = { notifiers: [notifier], log: (entry: LogEntry) => logged.push(entry) }
    // A receiver that drops repeated ids sees those of all tests.
    const monitor = await makeTestMonitor(options, nextDue, {}, RandomIds.layer)
    try {
      const agent = await monitor.agent("web-1")
      const trial = new NotifierTrial({ ...subject, name: notifier.name }, monitor, agent, logged)
      await body(trial)
      await trial.#assertSecret(subject)
    } finally {
      await monitor.close()
    }
  }

  /** Reports a result of a check, and does what is due then. */
  async report(status: "ok" | "critical", ...checks: ReadonlyArray<string>): Promise<void> {
    for (const check of checks.length === 0 ? ["disk"] : checks) this.#agent.report(check, status)
    await this.monitor.settle()
  }

  /** The notifications of this notifier, oldest first. */
  async items(): Promise<ReadonlyArray<NotificationOutboxItem>> {
    const items: Array<NotificationOutboxItem> = []
    for await (const item of this.monitor.outbox.all({ sort: "created_at", direction: "asc" }))
      if (item.notifier === this.name) items.push(item)
    for (const { last_error } of items) if (last_error) this.#errors.add(last_error)
    return items
  }

  /** Fails unless these are its notifications, each as `firing sent 1`; says why an attempt failed. */
  async assertStates(expected: ReadonlyArray<string>): Promise<void> {
    const items = await this.items()
    const states = items.map(({ event_type, state, attempts }) => `${event_type} ${state} ${attempts}`)
    const why = this.#mask(Array.from(this.#errors, (error) => `\nlast_error: ${error}`).join(""))
    assert.deepEqual(
      states,
      expected,
      `the outbox has "${states.join(", ")}", and not "${expected.join(", ")}"${why}${this.warnings()}`,
    )
  }

  /** The log of failed attempts, with their causes. */
  warnings(): string {
    const warned = this.#logged.filter(({ level }) => level === "warn" || level === "error")
    const texts = new Set(warned.map(({ message, cause = "" }) => `\nthe log: ${message}\n${cause}`))
    return this.#mask(Array.from(texts).join(""))
  }

  /** Sends a test, as an operator does. */
  async test() {
    const answer = await this.monitor.notifiers.test(this.name)
    this.#answers.push(answer)
    return answer
  }

  /** The words of each notification, in the order in which they were made. */
  words(type: "firing" | "resolved", check = "disk"): ReadonlyArray<string> {
    const found = this.monitor.notifications.find(
      ({ event_type, incident }) => event_type === type && incident.incident_key === `web-1/${check}`,
    )
    return found === undefined ? assert.fail(`no ${type} of ${check} was made`) : wordsOf(found)
  }

  /** Fails if a secret, or a text of the receiver, is where people read. */
  async #assertSecret({ hidden = [] }: Subject): Promise<void> {
    await this.items()
    const errors = Array.from(this.#errors).join("\n")
    const shown = hidden.find((text) => mentions(errors, [text]))
    assert.ok(shown === undefined, `last_error shows the receiver's address or its text: ${errors}`)
    const all = JSON.stringify([errors, this.#answers, this.#logged])
    assert.equal(
      this.#mask(all),
      all,
      `a secret is in last_error, in the answer to a test, or in the log; state it in secrets`,
    )
  }
}
