#!/bin/bash
# Players of our RTSP server come and go for a minute: readers.py.
exec "$PYTHON" "$(dirname "$0")/readers.py"
