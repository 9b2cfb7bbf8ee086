#!/bin/bash
# Makes the virtual environment .build/interop from requirements.txt, if it is missing or outdated, and prints the
# path of its Python.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
environment=$(cd "$here/../.." && pwd)/.build/interop
if ! cmp -s "$here/requirements.txt" "$environment/requirements.txt"; then
    python3 -m venv "$environment"
    "$environment/bin/pip" --quiet install -r "$here/requirements.txt"
    cp "$here/requirements.txt" "$environment/requirements.txt"
fi
echo "$environment/bin/python3"
