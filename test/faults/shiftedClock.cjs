// Preloaded into a server: shifts its clock by the milliseconds that the file FAULTY_CLOCK names contains.
const { readFileSync } = require("node:fs")
const process = require("node:process")

const RealDate = Date
const file = process.env["FAULTY_CLOCK"] ?? ""
let shift = 0
const read = () => {
  try {
    shift = Number(readFileSync(file, "utf8"))
  } catch {
    // It is being written.
  }
}
read()
setInterval(read, 20).unref()

globalThis.Date = new Proxy(RealDate, {
  construct: (_, args) =>
    args.length === 0 ? new RealDate(RealDate.now() + shift) : Reflect.construct(RealDate, args),
  get: (target, name, receiver) =>
    name === "now" ? () => RealDate.now() + shift : Reflect.get(target, name, receiver),
})
