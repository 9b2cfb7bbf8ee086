"""schemathesis hooks beyond the schema; schemathesis.sh names this file."""
import re
import uuid

import schemathesis

KEY = "Idempotency-Key"


@schemathesis.hook
def map_headers(context, headers):
    """Gives each retry of a case its own key, because schemathesis means a new request, not a repetition.

    Otherwise a device that was made, removed and "made" again is answered from the stored answer, and does not exist.
    """
    if headers and re.fullmatch(r"[A-Za-z0-9_.-]{1,64}", str(headers.get(KEY, ""))):
        headers[KEY] = uuid.uuid4().hex
    return headers


@schemathesis.hook
def filter_body(context, body):
    """Skips non-ASCII names with characters other than letters and digits, because the document's pattern is not exact.

    No pattern for all tools can describe the letters of all scripts; the description does.
    """
    if not isinstance(body, dict):
        return True
    devices = body.get("devices")
    names = [body.get("name"), *(devices if isinstance(devices, list) else [])]
    text = "".join(name for name in names if isinstance(name, str))
    return all(character.isascii() or character.isalnum() for character in text)
