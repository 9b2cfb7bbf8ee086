"""schemathesis hooks beyond the schema; schemathesis.sh names this file."""
import re
import uuid
from urllib.parse import quote

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


def plain(name):
    """The name with x in place of what only the document's description forbids: its pattern is exact for ASCII only.

    No pattern for all tools can describe the letters of all scripts, and none counts bytes.
    """
    if not isinstance(name, str):
        return name
    fits = len(name.encode(errors="replace")) <= 64 or len(name) > 64
    return "".join(c if c.isascii() or c.isalnum() and fits else "x" for c in name)


@schemathesis.hook
def before_call(context, case, kwargs):
    """Also for the phase `coverage`, which does not use the filters of the other phases."""
    devices = (case.query or {}).get("device")
    if isinstance(devices, list):
        # A request's first line has at most 16 KiB, which no schema of its parts can say.
        while len(quote("".join(map(str, devices)))) + 20 * len(devices) > 12_000:
            devices.pop()
    if not isinstance(case.body, dict):
        return
    if case.method == "POST" and case.path == "/v1/devices":
        # A device without an owner belongs to no account, so that its recordings are rightly not found afterwards.
        case.body.setdefault("owner", "owner")
    if "name" in case.body:
        case.body["name"] = plain(case.body["name"])
    if isinstance(case.body.get("devices"), list):
        case.body["devices"] = [plain(name) for name in case.body["devices"]]
