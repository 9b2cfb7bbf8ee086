#!/bin/bash
# Validates docs/openapi.yaml, generates a Python client from it, and calls every operation of a real daemon with the
# client (python_client.py).
#
#   Tests/api/python-client.sh [DAEMON]        for the variables see common.sh
set -euo pipefail
. "$(dirname "$0")/common.sh"
programs=$(api_programs)

"$programs/openapi-spec-validator" "$root/docs/openapi.yaml"
"$programs/openapi-python-client" generate --path "$root/docs/openapi.yaml" --meta none --fail-on-warning \
    --config "$root/docs/examples/openapi-python-client.yaml" --output-path "$directory/iotvideod_client"
start_daemon
PYTHONPATH=$directory "$programs/python3" "$root/Tests/api/python_client.py" "$url" "$token" "$directory/s"
check_daemon
