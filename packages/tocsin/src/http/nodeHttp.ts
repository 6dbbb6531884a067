/** The parts of Node's HTTP platform that the API needs. Importing this loads them. */
export { nodeServices } from "@tocsin/adapter-http/nodeServices"
export { makeHandler } from "@effect/platform-node/NodeHttpServer"
