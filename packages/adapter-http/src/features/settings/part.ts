import { SharedSettings } from "@tocsin/core/features/settings/SharedSettings"
import { counted, type Operations } from "../../documents/examples.ts"
import type { HttpPart } from "../../HttpPart.ts"
import { useCasesOf } from "../../handlers/OpsUseCases.ts"

const PUBLIC_URL = { name: "public_url", value: "https://tocsin.example.org", source: "stored" }
const WATCH_LOOPBACK = { name: "watch_loopback", value: false, source: "default" }
const parameters = { name: PUBLIC_URL.name }

const operations: Operations = {
  listSettings: {
    summary: "List settings",
    description:
      "Lists the settings that an admin may change while servers run: the public address, and whether watches may reach the loopback. The list has no pages.",
    success: { all: ["One is stored", { items: [PUBLIC_URL, WATCH_LOOPBACK] }] },
  },
  putSetting: {
    summary: "Change a setting",
    description:
      "Stores a setting, which is in force on every server within 5 s, without a restart. `public_url` holds wherever SERVICE_PUBLIC_URL does, but for sign-in by OpenID Connect. `watch_loopback` lets watches that only read reach the loopback. Answers 409 where the environment sets it, which wins.",
    parameters,
    request: { usual: ["The public address", { value: PUBLIC_URL.value }] },
    success: { stored: ["It is stored", PUBLIC_URL] },
  },
  removeSetting: {
    summary: "Remove a setting",
    description:
      "Removes the stored value, so that the default holds again. Answers 409 where the environment sets it. Safe to repeat.",
    parameters,
    ...counted("It is removed", 1),
  },
}

export const settings = {
  tags: [["Settings", "What an admin may set while servers run.", operations]],
  useCases: useCasesOf("settings", SharedSettings, ({ listSettings, putSetting, removeSetting }) => ({
    listSettings: () => listSettings,
    putSetting: ({ params, payload }) => putSetting(params.name, payload.value),
    removeSetting: ({ params }) => removeSetting(params.name),
  })),
} satisfies HttpPart
