import { createHash } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import { AgentId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import { webhook } from "../../../src/features/integrations/webhook.ts"

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex")
// The map of docs/integrations.md.
const context = {
  name: AgentId.make("aws"),
  options: {
    map: {
      check: ["/AWSAccountId", "/AlarmName"],
      status: "/NewStateValue",
      output: "/NewStateReason",
      labels: { region: "/Region" },
    },
    values: { ok: ["OK"], critical: ["ALARM"], unknown: ["INSUFFICIENT_DATA"] },
  },
  now: Instant.fromMillis(1_795_907_900_000),
  sha256,
}

const read = (json: object) =>
  webhook.translate({ method: "POST", path: [], query: [], body: JSON.stringify(json) }, context)

// The fields of Amazon SNS and of a CloudWatch alarm, as their guides show them (November 2026).
const ENVELOPE = {
  MessageId: "22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324",
  TopicArn: "arn:aws:sns:us-west-2:123456789012:MyTopic",
  Timestamp: "2026-05-02T00:54:06.655Z",
  SignatureVersion: "1",
  Signature: "EXAMPLEw6JRN",
  SigningCertURL:
    "https://sns.us-west-2.amazonaws.com/SimpleNotificationService-f3ecfb7224c7233fe7bb5f59f96de52f.pem",
}
const ALARM = {
  AlarmName: "cpu-high",
  AlarmDescription: null,
  AWSAccountId: "123456789012",
  NewStateValue: "ALARM",
  NewStateReason: "Threshold Crossed: 1 datapoint [99.0] was greater than the threshold (80.0).",
  StateChangeTime: "2026-05-02T00:54:06.655+0000",
  Region: "US West (Oregon)",
  OldStateValue: "OK",
  Trigger: { MetricName: "CPUUtilization", Namespace: "AWS/EC2" },
}

const notification = (Message: string) => ({
  Type: "Notification",
  ...ENVELOPE,
  Subject: "My First Message",
  Message,
  UnsubscribeURL:
    "https://sns.us-west-2.amazonaws.com/?Action=Unsubscribe&SubscriptionArn=arn:aws:sns:us-west-2:123456789012:MyTopic:c9135db0",
})

const confirmation = (SubscribeURL: unknown) => ({
  Type: "SubscriptionConfirmation",
  ...ENVELOPE,
  Token: "2336412f37",
  Message: "You have chosen to subscribe to the topic arn:aws:sns:us-west-2:123456789012:MyTopic.",
  SubscribeURL,
})

describe("messages of Amazon SNS", () => {
  it.each([
    ["in an envelope", notification(JSON.stringify(ALARM))],
    ["raw", ALARM],
  ])("%s are the JSON that they bring, by the map", (_, json) => {
    const reading = read(json)
    if ("refused" in reading) return assert.fail(reading.message)
    const [report, ...others] = reading.reports
    if (report?.signal !== "result") return assert.fail("no result")
    assert.deepStrictEqual(
      [report.check_id, report.status, report.output, report.labels, others],
      ["123456789012:cpu-high", "critical", ALARM.NewStateReason, { region: "US West (Oregon)" }, []],
    )
  })

  it("that are plain text are read by the map as they are", () => {
    const options = {
      map: { check: "/TopicArn", status: "/Subject", output: "/Message" },
      values: { default: "warning" },
    } as const
    const body = JSON.stringify(notification("disk full"))
    const reading = webhook.translate({ method: "POST", path: [], query: [], body }, { ...context, options })
    if ("refused" in reading) return assert.fail(reading.message)
    const [report] = reading.reports
    assert.strictEqual(report?.signal === "result" ? report.output : undefined, "disk full")
  })

  it.each([
    "https://sns.us-west-2.amazonaws.com/?Action=ConfirmSubscription&TopicArn=arn:aws:sns:us-west-2:123456789012:MyTopic&Token=2336412f37",
    "https://sns.cn-north-1.amazonaws.com.cn/?Action=ConfirmSubscription&Token=a",
  ])("that ask to confirm a subscription name its address: %s", (address) => {
    const reading = read(confirmation(address))
    if ("refused" in reading) return assert.fail(reading.message)
    assert.deepStrictEqual([reading.reports, reading.refusals, reading.confirms], [[], [], address])
  })

  it.each([
    "http://sns.us-west-2.amazonaws.com/?Action=ConfirmSubscription",
    "https://sns.us-west-2.amazonaws.com.evil.test/",
    "https://evil.test/?x=sns.us-west-2.amazonaws.com",
    "https://sns.us-west-2.amazonaws.com:8443/",
    "https://sns.us-west-2.amazonaws.com@169.254.169.254/",
    "https://user@sns.us-west-2.amazonaws.com/",
    "https://s3.us-west-2.amazonaws.com/",
    "https://127.0.0.1/",
    "file:///etc/passwd",
    "",
    7,
    undefined,
  ])("open no other address: %s", (address) => {
    const reading = read(confirmation(address))
    assert.isTrue(
      "refused" in reading && reading.message.startsWith("the SubscribeURL must be an https address"),
    )
  })

  it("say that a subscription has ended, and no result", () => {
    const reading = read({ ...confirmation(undefined), Type: "UnsubscribeConfirmation" })
    if ("refused" in reading) return assert.fail(reading.message)
    assert.deepStrictEqual(reading.reports, [])
    assert.match(reading.refusals[0]?.message ?? "", /^Amazon SNS sends no more messages/)
  })
})
