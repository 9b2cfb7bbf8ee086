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


@schemathesis.hook
def filter_body(context, body):
    """Names of other than letters and digits are not tried beyond ASCII, where the document's pattern cannot be exact.

    A pattern that every tool understands cannot name the letters of all scripts; the description does.
    """
    if not isinstance(body, dict):
        return True
    devices = body.get("devices")
    names = [body.get("name"), *(devices if isinstance(devices, list) else [])]
    text = "".join(name for name in names if isinstance(name, str))
    return all(character.isascii() or character.isalnum() for character in text)
