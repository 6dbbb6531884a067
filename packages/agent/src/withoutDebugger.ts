/** Without a listener, Node.js opens its debugger to every user of the host, also in a job of root. Imported early. */
process.on("SIGUSR1", () => {})
