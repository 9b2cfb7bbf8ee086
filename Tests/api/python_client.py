"""Calls every operation of docs/openapi.yaml with the client that openapi-python-client generated from it.

python-client.sh runs it, with the daemon's URL and an administrator's token as arguments, and the client in PYTHONPATH.
An operation passes if the daemon answers with a success status of the document, and the client reads the body as the
document's type.
"""
import base64
import contextlib
import hashlib
import http.server
import importlib
import io
import json
import re
import sys
import threading
import time
from pathlib import Path

import httpx
import yaml
from iotvideod_client import AuthenticatedClient
from iotvideod_client import models
from iotvideod_client.types import File

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = ROOT / "docs/openapi.yaml"
CLIP = ROOT / "Samples/street-h265-aac.mp4"
OPERATIONS = ROOT / "docs/operations.md"
SOUND = ROOT / "Samples/speech.flac"
OFFER = ROOT / "Tests/PeerTransportTests/Fixtures/chromium-offer-recvonly.sdp"

JPEG = b"\xff\xd8\xff"
PNG = b"\x89PNG\r\n\x1a\n"


class API:
    """The generated functions by operationId, and the operations that were called."""

    def __init__(self, url):
        self.url = url
        paths = yaml.safe_load(DOCUMENT.read_text())["paths"]
        operations = [operation for path in paths.values() for operation in path.values() if isinstance(operation, dict)]
        self.success = {
            operation["operationId"]: {int(status) for status in operation["responses"] if status.startswith("2")}
            for operation in operations
        }
        self.called = set()

    def client(self, token):
        return AuthenticatedClient(self.url, token, timeout=httpx.Timeout(30), raise_on_unexpected_status=True)

    def function(self, operation):
        self.called.add(operation)
        # The generator's rule: several capitals in a row are one word.
        module = re.sub("(?<=[a-z])(?=[A-Z])", "_", operation).lower()
        return importlib.import_module(f"iotvideod_client.api.default.{module}")

    def check(self, operation, status, said):
        assert status in self.success[operation], f"{operation}: {status}, not {self.success[operation]}: {said}"

    def call(self, client, operation, *arguments, **named):
        """The complete answer of an operation."""
        answer = self.function(operation).sync_detailed(*arguments, client=client, **named)
        self.check(operation, answer.status_code, answer.content)
        assert not isinstance(answer.parsed, models.ErrorResponse), f"{operation}: {answer.parsed}"
        print(f"  {operation}: {answer.status_code}, {type(answer.parsed).__name__}")
        return answer

    def stream(self, client, operation, *arguments, **named):
        """An operation with an endless body: the client makes the request, the caller reads the lines."""
        request = self.function(operation)._get_kwargs(*arguments, **named)
        return client.get_httpx_client().stream(**request)


def wait_for(lines, event):
    for line in lines:
        if line == f"event: {event}":
            return
    raise AssertionError(f"the stream ended without '{event}'")


def until(answer):
    """The first answer without an error."""
    end = time.monotonic() + 30
    while (given := answer()).status_code != 200:
        assert time.monotonic() < end, given.content
        time.sleep(0.2)
    return given


def data_of(stream):
    """The JSON data of a stream's events."""
    for line in stream.iter_lines():
        if line.startswith("data: "):
            yield json.loads(line.removeprefix("data: "))


def wait_for_listener(api, owner):
    """Sends a message to the camera's users, as soon as the camera knows that one listens."""
    for _ in range(200):
        message = models.CameraDataRequest(text="the gate is open")
        answer = api.function("sendCameraData").sync_detailed("front", client=owner, body=message)
        if answer.status_code == 200:
            return
        assert answer.parsed.error.code == 25057, answer.content
        time.sleep(0.05)
    raise AssertionError("the camera knows of no listener")


@contextlib.contextmanager
def onvif_camera():
    """The ONVIF device service of a camera with one stream and without a login."""
    profile = "<Profiles token='p'><Name>main</Name></Profiles>"
    answers = {
        "GetDeviceInformation": "<Model>T-1</Model>",
        "GetProfiles": profile,
        "GetStreamUri": "<MediaUri><Uri>rtsp://192.0.2.9/main</Uri></MediaUri>",
    }

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            name = re.search(r"<s:Body><(\w+)", body)[1]
            envelope = "<e:Envelope xmlns:e='http://www.w3.org/2003/05/soap-envelope'><e:Body><{0}Response>{1}</{0}Response></e:Body></e:Envelope>"
            data = envelope.format(name, answers.get(name, "")).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/onvif/device_service"
        server.shutdown()


def file(data):
    return File(io.BytesIO(data))


def main(url, token, socket):
    api = API(url)
    owner = api.client(token)

    def call(operation, *arguments, **named):
        return api.call(owner, operation, *arguments, **named).parsed

    # The daemon
    assert call("health").status == "ok"
    assert call("ready").ready
    assert call("document") == DOCUMENT.read_text()
    link = call("status").link
    assert link.name == models.LinkStateName.ONLINE
    account = link.access_id
    assert call("reloadConfiguration").restart_needed == []
    with api.stream(owner, "logs", level=models.LogLevel.NOTICE, follow=False) as log:
        lines = [line for line in data_of(log) if line]
        assert any("the configuration was reloaded" in line["message"] for line in lines), lines

    # Cameras
    request = models.FileCameraRequest(name="back", url=str(CLIP))
    camera = call("addCamera", body=request, idempotency_key="camera-1")
    assert camera.name == "back"
    assert call("addCamera", body=request, idempotency_key="camera-1").name == "back"
    page = call("listCameras", limit=1)
    assert [camera.name for camera in page.cameras] == ["back"] and page.next_ == "back"
    page = call("listCameras", limit=1, after=page.next_)
    assert [camera.name for camera in page.cameras] == ["front"] and not page.next_
    assert {"front", "back"} <= {camera.name for camera in call("listCameras").cameras}
    assert call("showCamera", "back").viewer_limit == 8
    changed = call("changeCamera", "back", body=models.CameraChange(viewers=3, check=True))
    assert changed.viewer_limit == 3 and changed.device == camera.device and changed.since > 0
    replaced = call("replaceCameraKey", "back", idempotency_key="key-1")
    assert replaced.fingerprint != replaced.previous
    assert call("replaceCameraKey", "back", idempotency_key="key-1").fingerprint == replaced.fingerprint
    tested = call("testCamera", body=models.FileCameraTest(url=str(CLIP), picture=True))
    assert [track.codec for track in tested.tracks] == ["h265", "aac"]
    assert tested.tracks[0].browsers.plays == "some" and tested.picture.width == 768

    # The network search finds nothing in a test; the ONVIF query goes to a fake camera.
    assert call("discover", body=models.DiscoveryRequest(timeout_milliseconds=1000)).devices is not None
    with onvif_camera() as address:
        asked = call("askONVIF", body=models.ONVIFQuery(url=address))
    assert asked.main.url == "rtsp://127.0.0.1/main" and asked.model == "T-1"

    # Accounts and tokens
    call("createUser", body=models.UserRequest(access_id="guest"), idempotency_key="guest-1")
    assert "guest" in [user.access_id for user in call("listUsers").users]
    temporary = call("createTemporaryUser", body=models.TemporaryUserRequest(device="front", ttl_seconds=60))
    request = models.APITokenRequest(kind="api", user="guest", ttl_seconds=600)
    made = call("createToken", body=request, idempotency_key="token-1")
    assert call("createToken", body=request, idempotency_key="token-1").id == made.id
    page = call("listUsers", limit=1)
    assert len(page.users) == 1 and page.next_ == page.users[0].access_id
    assert call("listUsers", limit=1, after=page.next_).users[0].access_id > page.next_
    assert made.id in [token.id for token in call("listTokens").tokens]
    guest = api.client(made.token)
    wanted = models.ProvisioningTokenRequest(device="front", ttl_seconds=60)
    provisioning = call("createProvisioningToken", body=wanted, idempotency_key="provisioning-1")
    assert len(provisioning.token) == 32 and provisioning.token not in provisioning.hub
    assert call("getProvisioning", provisioning.id).phase == models.ProvisioningStatusPhase.WAITING
    wanted = models.KeyRequest(name="tablet", devices=["front"], actions=[models.KeyAction.VIEW], ttl_seconds=600)
    key = call("createKey", body=wanted, idempotency_key="key-1")
    assert key.id in [known.id for known in call("listKeys").keys]

    # Notices
    assert call("setNotices", body=models.NoticeRequest(url="https://receiver.invalid/a")).sent == 0
    assert call("showNotices").url == "https://receiver.invalid/a"
    call("removeNotices")
    missing = api.function("showNotices").sync_detailed(client=owner)
    assert missing.status_code == 404 and missing.parsed.error.code == 25003, missing.content

    # Firmware: the hub does not check the signature
    content = b"firmware" * 50_000
    manifest = {
        "type": "iotvideod firmware 1", "model": "box", "version": "1.2.3", "size": len(content),
        "sha256": hashlib.sha256(content).hexdigest(), "descriptions": {"de": "neu"},
    }
    wanted = models.ReleaseRequest(manifest=json.dumps(manifest), signature=base64.b64encode(bytes(64)).decode())
    release = call("addRelease", body=wanted, idempotency_key="release-1")
    assert not release.complete and release.received == 0 and release.version == "1.2.3"
    middle = 262_144
    for start, end in [(0, middle), (middle, len(content))]:
        sent = call(
            "sendRelease", release.id, body=file(content[start:end]),
            content_range=f"bytes {start}-{end - 1}/{len(content)}")
        assert sent.received == end
    assert sent.complete and [known.id for known in call("listReleases").releases] == [release.id]
    assert call("showRelease", release.id).manifest == wanted.manifest
    assert call("downloadRelease", release.id).payload.read() == content
    part = api.function("downloadRelease").sync_detailed(release.id, client=owner, range_="bytes=400-")
    api.check("downloadRelease", part.status_code, part.content)
    assert (part.status_code, part.content) == (206, content[400:])
    offer = call("newestFirmware", "front", current_version="0.0.1", language="de")
    assert offer.model.startswith("iotvideod") and not offer.available
    call("removeRelease", release.id)

    # Devices and bindings
    request = models.DeviceRequest(name="box", owner=account)
    box = call("createDevice", body=request, idempotency_key="box-1").device
    assert call("createDevice", body=request, idempotency_key="box-1").device == box
    call("renameDevice", box, body=models.DeviceRename(name="case"))
    assert call("showDevice", box).name == "case"
    assert box in [device.id for device in call("listDevices").devices]
    assert call("exportDevice", "front").name == "front"
    said = call("showDevice", "front").key
    assert said.source == models.DeviceKeySource.HUB and said.since
    wanted = models.DeviceKeyRequest(fingerprint=said.fingerprint, source=models.DeviceKeyRequestSource.LAN)
    assert call("learnDeviceKey", "front", body=wanted).source == models.DeviceKeySource.LAN
    call("forgetDeviceKey", "front")
    first = models.LANPasswordRequest(new_password="correct horse")
    assert call("lanPassword", "front", body=first).outcome == models.LANPasswordOutcomeOutcome.CHANGED
    right = models.LANPasswordRequest(password="correct horse")
    assert call("lanPassword", "front", body=right).outcome == models.LANPasswordOutcomeOutcome.OK
    assert call("deviceSnapshot", "front", size="320x240").payload.read().startswith(JPEG)
    shared = call("shareDevice", "front", body=models.ShareRequest())
    bound = api.call(guest, "subscribe", body=models.SubscriptionRequest(token=shared.token)).parsed
    assert bound.user == "guest"
    wanted = models.BindingRequest(actions=[models.DeviceAction.CONTROL])
    own = call("bindDevice", "front", "guest", body=wanted).access_token
    assert api.call(guest, "subscribe", body=models.SubscriptionRequest(token=own)).parsed.actions == ["control"]
    assert "guest" in [binding.access_id for binding in call("listBindings", "front").bindings]
    call("unbindDevice", "front", "guest")

    # Properties and their events
    level = "ProWritable._logLevel.setVal"
    with api.stream(owner, "watchProperties", "front", path="ProWritable") as watched:
        api.check("watchProperties", watched.status_code, "")
        wait_for(watched.iter_lines(), "update")
    with api.stream(owner, "events", types=[models.EventsTypesItem.PROPERTY]) as events:
        api.check("events", events.status_code, "")
        lines = events.iter_lines()
        assert next(lines).startswith(":")
        written = call("writeProperty", "front", path=level, body=4)
        wait_for(lines, "property")
    assert call("readProperty", "front", path=level).value == 4
    readings = call("readManyProperties", path=level, device=["front", box]).readings
    assert written.version and len(readings) == 2
    call("addUserProperty", "front", "colour", body="red")
    call("setUserProperty", "front", "colour", body="green")
    call("deleteUserProperty", "front", "colour")

    # Actions, messages, stored events
    photo = call("takeAction", "front", body=models.ActionRequest(path="Action.takePhoto.ctlVal", value=1))
    name = photo.value["resource"].removeprefix("/v1/resources/")
    assert call("resource", name).payload.read().startswith(JPEG)
    answer = call("sendMessage", "front", body=models.TextMessageRequest(text="get_device_st"))
    assert answer.responses
    assert call("askServer", body=models.ServerMessageRequest(path="GET/time")).data
    assert call("listDeviceEvents", device="front").more in (True, False)
    deleted = call("deleteDeviceEvents", body=models.EventDeletionByTime(device="front", before=1))
    assert deleted.deleted == 0

    # A channel and its bodies
    opened = api.call(owner, "openChannel", body=models.ChannelRequest(device="front"))
    channel = opened.parsed.id
    assert opened.headers["Location"] == f"/v1/channels/{channel}"
    assert channel in [channel.id for channel in call("listChannels").channels]
    heard = {}
    listener = threading.Thread(target=lambda: heard.update(text=call("channelEvents", channel)), daemon=True)
    listener.start()
    call("play", channel)
    assert call("recording", channel, frames=20).payload.read()[4:8] == b"ftyp"
    assert call("rawVideo", channel, frames=2).payload.read().startswith(b"YUV4MPEG2 ")
    with api.stream(owner, "dump", channel, part=models.DumpPart.RECEIVEDVIDEO) as dump:
        assert next(dump.iter_bytes()).startswith(b"\0\0\0\1")
    assert call("rawAudio", channel, frames=5).payload.read().startswith(b"RIFF")
    assert call("snapshot", channel).payload.read().startswith(JPEG)
    assert call("snapshot", channel, format_=models.SnapshotFormat.PNG).payload.read().startswith(PNG)
    assert call("showChannel", channel).statistics.video.frames_decoded > 0
    # The camera "front" is a file and has no loudspeaker.
    assert not call("showChannel", channel).talk.offered
    assert not call("stopTalk", channel).talk.talking
    refused = api.function("talk").sync_detailed(channel, client=owner, body=file(SOUND.read_bytes()))
    assert refused.status_code == 409 and refused.parsed.error.code == 21040, refused.content
    assert call("changeChannel", channel, body=models.ChannelSettings(definition="audio")).definition == "audio"
    assert call("changeChannel", channel, body=models.ChannelSettings(definition="low,high")).definition == "high"
    assert call("closeChannel", channel).id == channel
    listener.join(timeout=20)
    assert "event: end" in heard.get("text", ""), heard

    noticed = call("reportDetection", "front", body=models.DetectionRequest(
        type_=models.DetectionType.DOORBELL, seconds=1.0))
    assert noticed.mask == 0x28000 and noticed.recorded, noticed

    refused = api.function("answerCall").sync_detailed(
        "front", client=owner, body=models.CallAnswer(answer=models.CallAnswerAnswer.REFUSE))
    assert refused.status_code == 404 and refused.parsed.error.code == 20009, refused.content

    # Recordings: "front" is recorded since the daemon's start.
    found = call("listRecordings", "front", order=models.ListRecordingsOrder.DESCENDING, limit=1).recordings[0]
    assert found.state == models.RecordingState.GROWING and found.bytes_ > 0, found
    assert call("showCamera", "front").recording.state == models.CameraRecordingStateState.RECORDING
    times = call("listRecordedTimes", "front").ranges
    assert times[0].start <= found.start < times[-1].end, times
    day = call("listRecordedDays", "front", zone="Europe/Berlin").days[0]
    assert day.start <= times[0].start < day.end
    pictures = call("recordingThumbnails", "front", from_=found.start, every=1000, size="64")
    assert len(pictures.thumbnails) <= 200, pictures
    for picture in pictures.thumbnails:
        assert base64.b64decode(picture.jpeg).startswith(b"\xff\xd8"), picture
    whole = call("downloadRecording", "front", found.id).payload.read()
    assert whole[4:8] == b"ftyp" and len(whole) >= found.bytes_
    part = api.function("downloadRecording").sync_detailed("front", found.id, client=owner, range_="bytes=8-11")
    api.check("downloadRecording", part.status_code, part.content)
    assert (part.status_code, part.content) == (206, whole[8:12]) and part.headers["ETag"].startswith('"')
    clip = call("exportRecordings", "front", from_=times[0].start, to=times[-1].end).payload.read()
    assert clip[4:8] == b"ftyp" and b"moov" in clip[:4096] and len(clip) > 10_000, clip[:64]
    picture = api.function("recordingThumbnail").sync_detailed("front", client=owner, at=found.end, size="160")
    api.check("recordingThumbnail", picture.status_code, picture.content)
    assert picture.content[:2] == b"\xff\xd8" and int(picture.headers["Iotvideo-Pts"]) // 1000 <= found.end
    assert call("recordingHeader", "front", found.id).payload.read()[4:8] == b"ftyp"
    storage = call("showStorage", "front")
    assert storage.status == 1 and storage.playback_start_time == times[0].start // 1000, storage
    begun = [day for day in call("listStorageDays", "front", timezone=3600).list_ if day <= times[0].start // 1000]
    assert begun and (begun[-1] + 3600) % 86400 == 0, begun
    times_of_day = call("listStorageTimes", "front", start_time=begun[-1]).list_
    assert times_of_day[0].start == times[0].start // 1000, times_of_day
    address = until(lambda: api.function("storageAddress").sync_detailed("front", client=owner, start_time=begun[-1]))
    api.check("storageAddress", address.status_code, address.content)
    assert address.parsed.endflag and "playlist.m3u8?from=" in address.parsed.url and "key=" in address.parsed.url
    events = call("listStorageEvents", "front", start_time=0, page_size=5, type_masks=[1, 2])
    assert events.list_ == [] and events.page_end and events.valid_start_time == storage.start_time, events
    playlist = until(lambda: api.function("recordingPlaylist").sync_detailed("front", client=owner))
    api.check("recordingPlaylist", playlist.status_code, playlist.content)
    number, first, count = re.search(r"(\d+)/media\.m4s\?first=(\d+)&count=(\d+)", playlist.parsed).groups()
    part = call("recordingPart", "front", number, first=int(first), count=int(count)).payload.read()
    assert part[4:8] == b"prft", part[:16]
    played = call("openChannel", body=models.ChannelRequest(device="front", kind=models.ChannelRequestKind.PLAYBACK))
    request = models.PlaybackRequest(time=found.start, speed=4.0, strategy=models.PlaybackRequestStrategy.SINGLE)
    assert call("changePlayback", played.id, body=request).playback.time == found.start
    assert call("stepPlayback", played.id).playback.paused is True
    call("closeChannel", played.id)
    kept = call("keepRecordings", "front", body=models.KeptTimeRequest(from_=0, to=found.end, note="all"))
    assert kept.id in [time.id for time in call("listKeptTimes", "front").kept]
    removal = models.RecordingRemoval(from_=0, to=found.end)
    assert call("removeRecordings", "front", body=removal).growing == 1
    call("releaseRecordings", "front", kept.id)
    checked = call("checkRecordings", thorough=True)
    assert checked.finding_count == 0 and checked.segments >= 1, checked

    # Data: this script is also the program beside the camera.
    channel = call("openChannel", body=models.ChannelRequest(device="front", kind=models.ChannelRequestKind.TRANSMISSION)).id
    refused = api.function("sendData").sync_detailed(channel, client=owner, body=models.TextDataRequest(text="x"))
    assert refused.status_code == 502 and refused.parsed.error.code == 25057, refused.content
    with api.stream(owner, "receiveCameraData", "front") as program:
        notices = data_of(program)
        assert next(notices)["event"] == "opened"
        heard = {}
        question = models.TextDataRequest(text="how warm?", responses=models.DataResponses.ONE)
        asking = threading.Thread(target=lambda: heard.update(answer=call("sendData", channel, body=question)))
        asking.start()
        asked = next(notices)
        assert asked["event"] == "request" and base64.b64decode(asked["data"]) == b"how warm?", asked
        answer = models.CameraDataRequest(call=asked["call"], request=asked["request"], text="21")
        assert call("sendCameraData", "front", body=answer).calls == 1
        asking.join(timeout=20)
        assert base64.b64decode(heard["answer"].responses[0].data) == b"21"
        sent = call("streamData", channel, body=file(b'{"text":"one"}\n{"data":"AQI="}\n'))
        assert (sent.messages, sent.bytes_) == (2, 5), sent
        assert [base64.b64decode(next(notices)["data"]) for _ in range(2)] == [b"one", b"\x01\x02"]
        with api.stream(owner, "channelData", channel) as incoming:
            messages = data_of(incoming)
            wait_for_listener(api, owner)
            assert base64.b64decode(next(messages)["data"]) == b"the gate is open"
    call("closeChannel", channel)

    # WHEP
    assert call("watchOptions", "front") is None
    watched = api.call(owner, "watch", "front", body=file(OFFER.read_bytes()))
    assert watched.parsed.payload.read().startswith(b"v=0\r\n")
    whep = watched.headers["Location"].removeprefix("/v1/whep/")
    assert call("callOptions", whep) is None
    ufrag = re.search(rb"a=ice-ufrag:\S+", OFFER.read_bytes())[0]
    fragment = ufrag + b"\r\nm=video 9 UDP/TLS/RTP/SAVPF 0\r\na=mid:0\r\na=end-of-candidates\r\n"
    call("trickle", whep, body=file(fragment), if_match=watched.headers["ETag"])
    call("endWatching", whep)
    # Without a header, with a key in the URL.
    with httpx.Client(base_url=url) as bare:
        watched = bare.post(
            "/v1/devices/front/whep", params={"key": key.key}, content=OFFER.read_bytes(),
            headers={"Content-Type": "application/sdp"})
        api.check("watch", watched.status_code, watched.content)
        api.check("endWatching", bare.delete(watched.headers["Location"]).status_code, "")
    assert "<title>" in call("watchPage", "front")
    assert "<title>" in call("camerasPage")

    # The metrics in the alerts and texts of docs/operations.md exist.
    numbers = call("metrics")
    for name in sorted(set(re.findall(r"\b(?:iotvideod|process)_[a-z_]*[a-z]\b", OPERATIONS.read_text()))):
        # Counted only where `rtsp.listen` is set.
        if name == "iotvideod_rtsp_requests_total":
            continue
        assert re.search(rf"^# TYPE {name} ", numbers, re.MULTILINE), f"no metric {name}"

    # Everything is removed again.
    call("revokeToken", made.id)
    call("revokeKey", key.id)
    call("removeCamera", "back")
    call("removeDevice", box)
    call("removeUser", temporary.access_id)
    call("removeUser", "guest")
    call("unregisterLink")
    # At the socket, because a gateway that left its hub cannot ask it about a token.
    local = AuthenticatedClient("http://localhost", token, httpx_args={"transport": httpx.HTTPTransport(uds=socket)})
    assert api.call(local, "registerLink").parsed.name in (models.LinkStateName.ONLINE, models.LinkStateName.REGISTERING)

    missed = set(api.success) - api.called
    assert not missed, f"not called: {', '.join(sorted(missed))}"
    print(f"all {len(api.called)} operations were called")


main(*sys.argv[1:])
