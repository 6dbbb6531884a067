import { readdirSync, readFileSync } from "node:fs"

const FOLDER = new URL("bounces/", import.meta.url)

/** Our Message-ID in each of {@link DELIVERY_REPORTS}. */
export const RETURNED = "01a22b74-d126-7614-b9f9-3d2b4b9fee3b@vm.example.org"

/** The reports of mail servers of Debian 12 on a mail of ours, each `[name, report]`. */
export const DELIVERY_REPORTS = readdirSync(FOLDER).map(
  (name) => [name.replace(/\.eml$/, ""), readFileSync(new URL(name, FOLDER), "utf8")] as const,
)
