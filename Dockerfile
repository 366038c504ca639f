# One image for all processes; docker-compose.yml says which one a container runs. It holds what they need at run time, and nothing else:
# no sources, no tests, no development dependencies, no embedded PostgreSQL. `--target gateway` builds an image of the gateway alone.
ARG NODE_IMAGE=node:20-bookworm-slim

# The manifests of all workspaces. The stages that install depend on these files alone, so that their layers are reused until one of them changes.
FROM ${NODE_IMAGE} AS manifests
WORKDIR /app
COPY . .
RUN mkdir /manifests && cp package*.json .npmrc /manifests \
  && cp --parents */package.json packages/*/package.json subgraphs/*/package.json /manifests

FROM ${NODE_IMAGE} AS dependencies
WORKDIR /app
COPY --from=manifests /manifests .
COPY image-prune.sh .
RUN npm ci --omit=dev --ignore-scripts --workspace=gateway --workspace=registry --workspace=rest-bridge --workspace=subgraphs \
  && sh image-prune.sh . && rm -rf image-prune.sh ~/.npm

FROM ${NODE_IMAGE} AS build
WORKDIR /app
COPY --from=manifests /manifests .
RUN npm ci --ignore-scripts
COPY . .
RUN npm run build && sh image-files.sh /image

FROM build AS gateway-package
RUN node gateway/pack.mjs && cd gateway/dist/package && npm pack --pack-destination / && mv /trestle-gateway-*.tgz /trestle-gateway.tgz

# For any supergraph (docs/gateway.md). The command sets the options of Node.js itself.
FROM ${NODE_IMAGE} AS gateway
ENV NODE_ENV=production HOST=0.0.0.0
COPY --from=gateway-package /trestle-gateway.tgz /tmp/
# Without source maps and type declarations, which are half of what npm installs.
RUN npm install --global --omit=dev --ignore-scripts /tmp/trestle-gateway.tgz && rm -rf /tmp/trestle-gateway.tgz ~/.npm \
  && find "$(npm root --global)/@trestle" -type f \( -name '*.map' -o -name '*.d.ts' -o -name '*.d.mts' -o -name '*.d.cts' \) -delete
WORKDIR /etc/trestle
USER node
EXPOSE 4000
ENTRYPOINT ["trestle-gateway"]

FROM ${NODE_IMAGE}
# packages/service/node.env describes MALLOC_TRIM_THRESHOLD_.
ENV NODE_ENV=production HOST=0.0.0.0 MALLOC_TRIM_THRESHOLD_=4194304
WORKDIR /app
COPY --from=dependencies /app .
COPY --from=build /image .
USER node
