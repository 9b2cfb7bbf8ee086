#!/bin/bash
# Checks docs/openapi.yaml, makes a Python client of it, and calls every operation of a real daemon with that
# (python_client.py).
#
#   Tests/api/python-client.sh [DAEMON]        the variables are those of common.sh
set -euo pipefail
. "$(dirname "$0")/common.sh"

"$environment/bin/openapi-spec-validator" "$root/docs/openapi.yaml"
"$environment/bin/openapi-python-client" generate --path "$root/docs/openapi.yaml" --meta none --fail-on-warning \
    --config "$root/docs/examples/openapi-python-client.yaml" --output-path "$directory/iotvideod_client"
start_daemon
PYTHONPATH=$directory "$environment/bin/python3" "$root/Tests/api/python_client.py" "$url" "$token" "$directory/s"
check_daemon
