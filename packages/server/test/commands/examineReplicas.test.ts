import { assert, describe, it } from "@effect/vitest"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { ReplicaRecord } from "@tocsin/core/heart/model/ReplicaRecord"
import { replicaFindings } from "@tocsin/server/commands/doctor/replicaFindings"

const NOW = Instant.fromMillis(1_800_000_000_000)

const replica = (policy_hash: string, secondsAgo: number, ended_at?: Instant.Instant): ReplicaRecord => ({
  id: `${policy_hash} ${secondsAgo}`,
  version: "1.2.3",
  policy_hash,
  receivers: [{ name: "chat" }],
  probes: true,
  agent_sha256: undefined,
  known_names: undefined,
  started_at: Instant.fromMillis(0),
  seen_at: Instant.fromMillis(1_800_000_000_000 - secondsAgo * 1_000),
  ended_at,
})

describe("the doctor", () => {
  it("asks for attention while running servers follow different policies", () => {
    assert.deepStrictEqual(replicaFindings([replica("a", 5), replica("b", 10), replica("a", 15)], NOW), [
      {
        check: "replicas",
        level: "attention",
        message:
          "3 servers run with 2 different policies: reload or restart those that differ; GET /ops/v1/policy lists them",
      },
    ])
  })

  it("asks for attention while servers of several versions run", () => {
    const found = (...versions: ReadonlyArray<string>) =>
      replicaFindings(
        versions.map((version) => ({ ...replica("a", version === "0.2.0" ? 61 : 5), version })),
        NOW,
      ).map(({ level, message }) => [level, message])
    assert.deepStrictEqual(found("0.4.0", "0.3.0", "0.4.0", "0.2.0"), [
      [
        "attention",
        "servers of versions 0.3.0 and 0.4.0 run on one database: upgrade or stop the older ones; what they do not know cannot be added until then",
      ],
    ])
    assert.deepStrictEqual(found("0.4.0", "0.2.0"), [])
  })

  it("names receivers that running servers cannot use, and fails where none can", () => {
    const reason = "receivers.chat.url_file needs SERVICE_SECRETS_DIR"
    const blind = (secondsAgo: number, ended_at?: Instant.Instant): ReplicaRecord => ({
      ...replica("a", secondsAgo, ended_at),
      receivers: [{ name: "chat", unavailable: reason }, { name: "pager" }],
    })
    const found = (...replicas: ReadonlyArray<ReplicaRecord>) =>
      replicaFindings(replicas, NOW).map(({ level, message }) => [level, message])
    assert.deepStrictEqual(found(blind(5), blind(6), replica("a", 5)), [
      ["attention", `2 servers cannot use the receiver chat: ${reason}`],
    ])
    assert.deepStrictEqual(found(blind(5), blind(6), replica("a", 61)), [
      ["failed", `no running server can use the receiver chat: ${reason}`],
    ])
    assert.deepStrictEqual(found(blind(61), blind(5, NOW), replica("a", 5)), [])
  })

  it("asks for attention while running servers hand out different files", () => {
    const handing = (agent_sha256: string | undefined, secondsAgo: number): ReplicaRecord => ({
      ...replica("a", secondsAgo),
      agent_sha256,
    })
    const found = (...replicas: ReadonlyArray<ReplicaRecord>) =>
      replicaFindings(replicas, NOW).map(({ level, message }) => [level, message])
    assert.deepStrictEqual(found(handing("1", 5), handing("2", 6)), [
      [
        "attention",
        "running servers hand out different agents: give them one version of Tocsin and the same files in SERVICE_AGENT_DIR, and restart them",
      ],
    ])
    // One that is gone, and one that hands out nothing.
    assert.deepStrictEqual(found(handing("1", 5), handing("2", 61), handing(undefined, 7)), [])
  })

  it("finds nothing where only servers that are gone had another policy", () => {
    assert.deepStrictEqual(replicaFindings([], NOW), [])
    assert.deepStrictEqual(
      replicaFindings([replica("a", 5), replica("b", 61), replica("c", 5, NOW)], NOW),
      [],
    )
  })
})
