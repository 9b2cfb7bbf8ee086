"""What schemathesis does beside the schema; schemathesis.sh names this file."""
import re
import uuid

import schemathesis

KEY = "Idempotency-Key"


@schemathesis.hook
def map_headers(context, headers):
    """A tester that tries the same case again means a new request, not the repeat of one: it gets its own key.

    Otherwise a device that was made, removed and "made" once more is answered from memory, and is rightly not there.
    """
    if headers and re.fullmatch(r"[A-Za-z0-9_.-]{1,64}", str(headers.get(KEY, ""))):
        headers[KEY] = uuid.uuid4().hex
    return headers
