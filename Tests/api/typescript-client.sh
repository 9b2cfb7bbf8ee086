#!/bin/bash
# Generates a TypeScript client from docs/openapi.yaml, and compiles it with a program that uses it
# (typescript_client.ts). `make test-long` runs it; it needs the packages of packaging/debian-packages-test-long.txt.
set -euo pipefail
. "$(dirname "$0")/common.sh"
programs=$(api_programs)

"$programs/pip" --quiet install -r "$root/Tests/api/requirements-typescript.txt"
"$programs/openapi-generator-cli" generate --input-spec "$root/docs/openapi.yaml" \
    --generator-name typescript-fetch --output "$directory/client" > "$directory/generator" || {
    tail -n 20 "$directory/generator"
    exit 1
}
cp "$root/Tests/api/typescript_client.ts" "$directory/"
# The generator's code narrows types in a way that TypeScript understands since 4.9; Debian 12 has 4.8.
tsc --noEmit --strict --noImplicitAny false --target es2020 --module commonjs --lib es2020,dom,dom.iterable \
    "$directory/typescript_client.ts"
echo "the TypeScript client compiles: $(find "$directory/client" -name '*.ts' | wc -l) files"
