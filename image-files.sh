#!/bin/sh
# Copies what the processes read at run time, from a built checkout to the folder $1: `sh image-files.sh /image`. The Dockerfile runs it.
set -eu
target=$1
mkdir -p "$target"

# Code: without tests, type declarations, source maps, and the tools of development.
find schema packages subgraphs gateway rest-bridge -path '*/dist/*' -name '*.js' \
  ! -path '*/node_modules/*' ! -path 'packages/client/*' ! -path 'gateway/dist/fuzz/*' \
  ! -name '*.test.js' ! -name 'test-*.js' ! -path 'schema/dist/generate.js' ! -path 'schema/dist/resolver-types.js' \
  -exec cp --parents {} "$target" \;

# What the code reads besides: schemas, REST operations, migrations, options of Node.js, files that a build put beside the code.
cp --parents schema/*.graphql rest-bridge/src/operations/*.graphql prisma/*/migrations/*/migration.sql packages/service/node.env "$target"
cp --parents gateway/bin/*.mjs package.json LICENSE "$target"
