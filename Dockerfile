# The server's image: Node.js, its libraries and the program, without a shell or packages.
# To build and run it, see docs/install/container.md. test/deploy starts its contents.

FROM node:24.22.3-bookworm-slim AS build
WORKDIR /source
COPY . .
RUN npm ci --ignore-scripts
RUN npm run build -- /built
RUN sh deploy/container/layOut.sh /built/tocsin/bin /image

FROM scratch
LABEL org.opencontainers.image.title="Tocsin" \
  org.opencontainers.image.description="A self-hosted monitoring service: heartbeats and check results in, incidents and notifications out." \
  org.opencontainers.image.version="0.3.0" \
  org.opencontainers.image.licenses="MIT"
COPY --from=build /image/system/ /
COPY --from=build --chown=10001:10001 /image/data/ /data/
# A smaller young generation: docs/performance.md, "Memory and start".
ENV PATH=/usr/local/bin \
  NODE_OPTIONS=--max-semi-space-size=16 \
  SERVICE_HOST=0.0.0.0 \
  SERVICE_PORT=8080 \
  SERVICE_DATA_DIR=/data \
  SERVICE_LOG_FORMAT=json
USER 10001:10001
WORKDIR /data
VOLUME ["/data"]
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=15s --timeout=5s --start-period=20s --retries=3 CMD ["node", "/tocsin/health.mjs"]
ENTRYPOINT ["tocsin"]
