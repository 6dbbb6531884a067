const WANTED = 24

/** Imported first: what an older Node.js lacks is used by everything after it. */
if (Number.parseInt(process.versions.node, 10) < WANTED) {
  process.stderr.write(
    `tocsin-agent needs Node.js ${WANTED} or newer, and this is ${process.version}: install it, then run this again.\n`,
  )
  process.exit(1)
}
