#!/bin/sh
# Copies what the processes read at run time, from a built checkout to the folder $1: `sh image-files.sh /image`. The Dockerfile runs it.
set -eu
target=$1
mkdir -p "$target"

# Code, and what builds put beside it, such as the pages for browsers: without tests, type declarations, source maps, and the tools of development.
find schema packages subgraphs gateway registry rest-bridge -type f -path '*/dist/*' \
  ! -path '*/node_modules/*' ! -path 'packages/client/*' ! -path 'gateway/fuzz/*' ! -path 'gateway/dist/package/*' \
  ! -name '*.d.ts' ! -name '*.map' ! -name '.tsbuildinfo' ! -name '*.tsbuildinfo' \
  ! -name '*.test.js' ! -name 'test-*.js' ! -path 'schema/dist/generate.js' ! -path 'schema/dist/resolver-types.js' \
  -exec cp --parents {} "$target" \;

# What the code reads besides: schemas, REST operations, migrations, options of Node.js.
cp --parents schema/*.graphql schema/served/*.graphql registry/registry.graphql rest-bridge/src/operations/*.graphql prisma/*/migrations/*/migration.sql packages/service/node.env "$target"
cp --parents gateway/bin/*.mjs gateway/trestle.schema.json package.json LICENSE "$target"
