import { describe } from "@effect/vitest"
import { skippedFor } from "@tocsin/testing/StorageUnderTest"
import { lacking } from "../../scripts/programs.mjs"

const withoutCurl = lacking("curl")

describe.skipIf(withoutCurl !== undefined)(
  `examples/agent.sh as an agent${skippedFor(withoutCurl)}`,
  async () => {
    await import("./shellAgent.ts")
  },
)
