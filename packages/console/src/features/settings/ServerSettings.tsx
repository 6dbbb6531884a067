import type { Setting, SettingList } from "@tocsin/client"
import { refresh } from "../../state/revisions.ts"
import { carryOut, mayAdminister } from "../../state/session.ts"
import { ActionButton, Form } from "../../view/forms.tsx"
import { ReadingNote } from "../../view/states.tsx"
import { useRead } from "../../view/usePages.ts"

const PATH = "ops/v1/settings"

/** Why a setting cannot be changed here, or where its value comes from. */
const SOURCES = {
  default: "",
  stored: "",
  environment: "Set where the server runs, which decides.",
} satisfies Readonly<Record<Setting["source"], string>>

const store = async (name: Setting["name"], value: string | boolean | undefined) => {
  const done =
    value === undefined || value === ""
      ? await carryOut("Removed the setting", "DELETE", `${PATH}/${name}`)
      : await carryOut("Saved: every server follows within 5 s", "PUT", `${PATH}/${name}`, {
          body: { value },
        })
  refresh()
  return done
}

const isOpen = ({ source }: Pick<Setting, "source">): boolean =>
  source !== "environment" && mayAdminister.value

const PublicUrl = ({ setting: { source, value } }: { readonly setting: Setting }) => {
  if (!isOpen({ source }))
    return (
      <p>
        Public address: <b>{value ?? "none"}</b> <small>{SOURCES[source]}</small>
      </p>
    )
  return (
    <Form
      fields={{
        public_url: {
          label: "Public address",
          initial: String(value ?? ""),
          example: "https://tocsin.example.org",
          hint: "Where people reach the server, for links in messages.",
        },
      }}
      acts={[["Save", ({ public_url: url }) => store("public_url", url)]]}
      changes
    />
  )
}

/** Settings of all servers, which hold without a restart. */
export const ServerSettings = () => {
  const reading = useRead<SettingList>(PATH, {}, ["policy"])
  const { items = [] } = reading.value ?? {}
  const [url, loopback] = (["public_url", "watch_loopback"] as const).map((name) =>
    items.find((one) => one.name === name),
  )
  return (
    <>
      <h3>All servers</h3>
      <ReadingNote reading={reading} />
      {url && <PublicUrl key={String(url.value)} setting={url} />}
      {loopback && (
        <p>
          Watches may read from the server itself: <b>{loopback.value === true ? "yes" : "no"}</b>{" "}
          <small>{SOURCES[loopback.source]}</small>
          {isOpen(loopback) && (
            <ActionButton does={() => store("watch_loopback", loopback.value === true ? undefined : true)}>
              {loopback.value === true ? "Forbid it" : "Allow it"}
            </ActionButton>
          )}
        </p>
      )}
    </>
  )
}
