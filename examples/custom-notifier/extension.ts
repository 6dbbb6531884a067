// The pager for a server: SERVICE_EXTENSIONS=tocsin-notifier-pager/extension, and PAGER_URL for its address.
import process from "node:process"
import { pager } from "./pager.ts"

const address = process.env["PAGER_URL"]
if (address === undefined) throw new Error("set PAGER_URL to the address of the pager")

export default { notifiers: [pager({ address })] }
