# The service in a small image: Bun, the production packages, the sources; not root.
FROM oven/bun:1.4.5-slim AS packages
WORKDIR /service
COPY package.json bun.lock ./
COPY src/platform/mongo/driver/*.patch ./src/platform/mongo/driver/
RUN bun install --frozen-lockfile --production --omit peer

# What partners download and the list of what is in the image, made by tools that stay out of it.
FROM packages AS downloads
RUN bun install --frozen-lockfile
COPY bin ./bin
COPY src ./src
COPY client ./client
COPY cli ./cli
COPY packages ./packages
COPY docs/guide ./docs/guide
COPY fixtures ./fixtures
COPY tsconfig.json ./
RUN bun bin/make-downloads.ts && bun bin/make-sbom.ts --system > sbom.json

FROM oven/bun:1.4.5-slim
# `::` serves IPv4 and IPv6, also in a container without IPv6.
ENV NODE_ENV=production HOST=:: PORT=3000
WORKDIR /service
COPY --from=packages /service/node_modules ./node_modules
COPY package.json ./
COPY bin ./bin
COPY src ./src
COPY cli ./cli
COPY client ./client
COPY fixtures ./fixtures
COPY CHANGELOG.md ./
COPY docs/guide ./docs/guide
COPY docs/workflows.arazzo.yaml ./docs/
COPY --from=downloads /service/downloads ./downloads
COPY --from=downloads /service/sbom.json ./
# docker build --build-arg BUILD_COMMIT=$(git rev-parse HEAD) .
ARG BUILD_COMMIT=unknown
ENV BUILD_COMMIT=$BUILD_COMMIT
USER bun
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s \
  CMD ["bun", "-e", "process.exit((await fetch(`${process.env.TLS_CERT_FILE ? 'https' : 'http'}://127.0.0.1:${process.env.PORT || 3000}/healthz`, { tls: { rejectUnauthorized: false } })).ok ? 0 : 1)"]
CMD ["bun", "src/main.ts"]
