"""Chromium watches cameras of a real daemon through docs/examples/watch.html.

The page is served from another origin, so that CORS is tested; the token only allows `view`. The page's own text
proves nothing: Chromium's statistics count frames and sound, and the daemon counts viewers.
"""

import array
import contextlib
import functools
import http.server
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time

from playwright.sync_api import sync_playwright

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from daemon import ROOT, SAMPLES, Daemon, eventually, free_port  # noqa: E402
from runner import Runner  # noqa: E402

ARTIFACTS = os.environ.get("ARTIFACTS")
CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")

ARGUMENTS = ["--no-sandbox", "--autoplay-policy=no-user-gesture-required"]

CAMERAS = {
    "street": "street-h264-aac.mp4",
    "bunny": "bunny-h264-aac51.mp4",
    "modern": "street-h265-aac.mp4",
    "reordered": "street-h264-bframes-pcma.mkv",
}


class Page:
    """docs/examples/watch.html in a browser."""

    def __init__(self, browser, origin, daemon, path="/watch.html"):
        self.daemon = daemon
        self.page = browser.new_page()
        self.page.set_viewport_size({"width": 900, "height": 860})
        self.requests = []
        self.page.on("response", lambda r: self.requests.append((r.request.method, r.url, r.status)))
        self.page.on("console", lambda message: print("    console:", message.text))
        self.page.goto(origin + path)

    def pump(self):
        """Lets playwright deliver events: it does so only during a call."""
        self.page.wait_for_timeout(50)

    def watch(self, camera, token=None):
        if self.page.is_visible("#other"):
            self.page.click("#other")
        if self.page.is_visible("#server"):
            self.page.fill("#server", self.daemon.url)
            self.page.fill("#device", camera)
        self.page.fill("#token", token or self.daemon.token)
        self.page.click("#watch")
        # Like the user with the sound button: muted sound has no level.
        self.page.evaluate("document.getElementById('video').muted = false")

    def state(self):
        """All text in the page's status areas."""
        return " ".join(self.page.inner_text(part) for part in ["#pill", "#alert", "#progress"])

    def statistics(self):
        """Chromium's inbound-rtp statistics by kind, with the candidate pair that carries them."""
        return self.page.evaluate(
            """async () => {
                const result = {};
                const report = await current?.viewer?.peer?.getStats() ?? new Map();
                for (const entry of report.values()) {
                    if (entry.type === "inbound-rtp") {
                        result[entry.kind] = {...entry, codec: report.get(entry.codecId)?.mimeType};
                    }
                    if (entry.type === "transport") {
                        result.transport = entry;
                        const pair = report.get(entry.selectedCandidatePairId);
                        if (pair) {
                            result.local = report.get(pair.localCandidateId);
                            result.remote = report.get(pair.remoteCandidateId);
                        }
                    }
                }
                result.now = Date.now();
                return result;
            }"""
        )

    def latency(self):
        """The latency of the picture and of the sound now, in ms, by the camera's clock."""
        now = self.statistics()
        # NTP counts from 1900 (webrtc-stats §estimatedPlayoutTimestamp).
        present = now["now"] + 2_208_988_800_000
        return [round(present - now[kind].get("estimatedPlayoutTimestamp", 0)) for kind in ("video", "audio")]

    def picture(self):
        """The video element's picture: its size, and the mean and the deviation of its brightness."""
        return self.page.evaluate(
            """() => {
                const video = document.getElementById("video");
                const canvas = new OffscreenCanvas(64, 48);
                const context = canvas.getContext("2d");
                context.drawImage(video, 0, 0, 64, 48);
                const bytes = context.getImageData(0, 0, 64, 48).data;
                let sum = 0, square = 0;
                for (let i = 0; i < bytes.length; i += 4) { sum += bytes[i]; square += bytes[i] ** 2; }
                const count = bytes.length / 4, mean = sum / count;
                return {
                    width: video.videoWidth, height: video.videoHeight,
                    mean, deviation: Math.sqrt(square / count - mean ** 2),
                };
            }"""
        )

    def close(self, name):
        if ARTIFACTS:
            pathlib.Path(ARTIFACTS).mkdir(parents=True, exist_ok=True)
            self.page.screenshot(path=f"{ARTIFACTS}/{name}.png")
        self.page.close()


def check_watching(browser, origin, daemon, camera, size, level):
    """100 frames of the right size, and sound of about the right level, as counted by Chromium."""
    page = Page(browser, origin, daemon)
    started = time.monotonic()
    page.watch(camera)
    try:
        first = eventually("the first picture", lambda: page.picture()["width"])
        first = time.monotonic() - started
        assert daemon.camera(camera)["viewers"] == 1

        def enough():
            now = page.statistics()
            isLong = now.get("audio", {}).get("totalSamplesDuration", 0) > 4
            return now if isLong and now.get("video", {}).get("framesDecoded", 0) >= 130 else None

        measured = eventually("130 decoded frames and 4 s of sound", enough, 60)
        if ARTIFACTS:
            pathlib.Path(ARTIFACTS).mkdir(parents=True, exist_ok=True)
            pathlib.Path(f"{ARTIFACTS}/{camera}.json").write_text(json.dumps(measured, indent=1))
        video, audio = measured["video"], measured["audio"]
        assert (video["frameWidth"], video["frameHeight"]) == size, video
        assert video["codec"] == "video/H264", video
        picture = page.picture()
        assert (picture["width"], picture["height"]) == size and picture["deviation"] > 10, f"black? {picture}"
        assert audio["codec"] == "audio/opus", audio
        seconds = audio["totalSamplesDuration"]
        assert audio["packetsReceived"] > 150, audio
        heard = (audio["totalAudioEnergy"] / seconds) ** 0.5
        least, most = level.range(seconds)
        assert least / 1.4 < heard < most * 1.4, f"sound of level {heard}, not {least} to {most}"
        concealed = audio["concealedSamples"] - audio.get("silentConcealedSamples", 0)
        assert concealed < 0.1 * audio["totalSamplesReceived"], audio
        assert measured["transport"]["dtlsState"] == "connected"
        print(
            f"  {camera}: first picture {first:.2f} s, {video['framesDecoded']} decoded, "
            f"{video.get('framesDropped', 0)} dropped, latency {page.latency()} ms, "
            f"sound {heard:.3f} of {least:.3f} to {most:.3f} ({seconds:.1f} s, {concealed} of {audio['totalSamplesReceived']} concealed), "
            f"{measured['transport'].get('srtpCipher')}, {measured.get('local', {}).get('candidateType')} to "
            f"{measured.get('remote', {}).get('candidateType')}"
        )
        return page, measured
    except BaseException:
        print("  statistics:", json.dumps(page.statistics(), indent=1)[:6000] if page else "")
        page.close(f"{camera}-failed")
        raise


def test_watch(browser, origin, daemon):
    """H.264 with AAC plays, with Opus instead of AAC; DELETE ends it, and the camera's viewer count falls."""
    page, _ = check_watching(browser, origin, daemon, "street", (768, 576), LEVELS["street"])
    call = next(url for method, url, status in page.requests if method == "PATCH" and status == 204)
    if ARTIFACTS:
        page.page.screenshot(path=f"{ARTIFACTS}/watching.png")
    with page.page.expect_response(lambda answer: answer.request.method == "DELETE") as ending:
        page.page.click("#stop")
    assert (ending.value.url, ending.value.status) == (call, 200), ending.value
    eventually("the end of the viewer", lambda: daemon.camera("street")["viewers"] == 0, 5)
    status, body, _ = daemon.request("DELETE", call[len(daemon.url):])
    assert status == 404 and json.loads(body)["error"]["code"] == 25003, (status, body)
    page.close("stopped")


def test_surround(browser, origin, daemon):
    """5.1 sound is mixed down, and a looped clip continues without a freeze at the gap."""
    page, measured = check_watching(browser, origin, daemon, "bunny", (1280, 720), LEVELS["bunny"])
    # Two more loops.
    eventually("12 s of sound", lambda: page.statistics()["audio"]["totalSamplesDuration"] > 12, 30)
    video = page.statistics()["video"]
    frozen = video["totalFreezesDuration"] - measured["video"]["totalFreezesDuration"]
    # If a gap in the source's clock were played, it would take 5 s in each loop.
    assert frozen < 2.0, video
    print(f"  bunny: {video['framesDecoded']} decoded in its loops, frozen for {frozen:.2f} s of the last 8")
    page.page.click("#stop")
    eventually("the end of the viewer", lambda: daemon.camera("bunny")["viewers"] == 0, 5)
    page.close("bunny")


def test_refused(browser, origin, daemon):
    """Media that a browser cannot show are refused with the reason, and take no viewer's place."""
    for camera, word in [("modern", "H.265"), ("reordered", "B-frames")]:
        page = Page(browser, origin, daemon)
        page.watch(camera)
        text = eventually("the reason", lambda: page.state() if word in page.state() else None)
        assert "25016" in text, text
        assert any(method == "POST" and status == 422 for method, _, status in page.requests), page.requests
        assert daemon.camera(camera)["viewers"] == 0
        print(f"  {camera}: {text}")
        page.close(camera)


def test_served(browser, origin, daemon):
    """The daemon's own page also plays, under its content security policy, also after a failed attempt."""
    page = Page(browser, daemon.url, daemon, "/watch/street")
    assert page.page.input_value("#server") == daemon.url and page.page.input_value("#device") == "street"
    assert not page.page.is_visible("#server") and not page.page.is_visible("#device")
    page.page.fill("#token", "not.a.token")
    page.page.click("#watch")
    eventually("the refusal", lambda: "25004" in page.state(), 5)
    page.watch("street")
    eventually("10 frames", lambda: page.statistics().get("video", {}).get("framesDecoded", 0) >= 10)
    page.page.click("#stop")
    eventually("the end of the viewer", lambda: daemon.camera("street")["viewers"] == 0, 5)
    page.close("served")


def test_many(browser, origin, daemon):
    """Several browsers at once share one transcoder; each starts on its own; one's end does not disturb the others."""
    pages = []
    for _ in range(3):
        page = Page(browser, origin, daemon)
        page.watch("street")
        eventually("the picture", lambda: page.picture()["width"])
        pages.append(page)
    assert daemon.camera("street")["viewers"] == 3
    threads = pathlib.Path(f"/proc/{daemon.process.pid}/task")
    transcoders = [task for task in threads.iterdir() if (task / "comm").read_text().strip() == "opus"]
    assert len(transcoders) == 1, transcoders
    pages[0].page.click("#stop")
    eventually("the end of one", lambda: daemon.camera("street")["viewers"] == 2, 5)
    before = [page.statistics() for page in pages[1:]]
    pages[1].page.wait_for_timeout(2000)
    for page, earlier in zip(pages[1:], before):
        now = page.statistics()
        assert now["video"]["framesDecoded"] > earlier["video"]["framesDecoded"] + 10
        assert now["audio"]["packetsReceived"] > earlier["audio"]["packetsReceived"] + 60
    for page in pages[1:]:
        page.page.click("#stop")
    eventually("the end of all", lambda: daemon.camera("street")["viewers"] == 0, 5)
    eventually(
        "the end of the transcoder",
        lambda: not any((task / "comm").read_text().strip() == "opus" for task in threads.iterdir()), 5
    )
    for page in pages:
        page.page.close()


def test_revoked(browser, origin, daemon):
    """A call ends when its token is revoked or the right to the device is withdrawn."""
    token = daemon.local("POST", "/v1/tokens", {"kind": "api", "ttlSeconds": 3600, "actions": ["view"]})
    page = Page(browser, origin, daemon)
    page.watch("street", token["token"])
    eventually("the picture", lambda: page.picture()["width"])
    daemon.local("DELETE", f"/v1/tokens/{token['id']}")
    # The gateway checks rights several times a second. The hub's answer about the token is cached for a second, so a
    # page that was cut off may get one more call.
    eventually("the page's message", lambda: "ended" in page.state() or page.pump(), 25)
    eventually("the end of the viewer", lambda: daemon.camera("street")["viewers"] == 0, 5)
    page.page.close()

    # Another account, with which the owner shares the camera.
    daemon.local("POST", "/v1/users", {"accessId": "guest"})
    daemon.local("PUT", "/v1/devices/street/bindings/guest", {"role": "guest", "actions": ["view"]})
    token = daemon.local("POST", "/v1/tokens", {"kind": "api", "user": "guest", "ttlSeconds": 3600})
    page = Page(browser, origin, daemon)
    page.watch("street", token["token"])
    eventually("the guest's picture", lambda: page.picture()["width"])
    call = eventually(
        "the call", lambda: next((url for method, url, _ in page.requests if method == "PATCH"), None) or page.pump())
    # The owner's token cannot end the guest's call.
    status, body, _ = daemon.request("DELETE", call[len(daemon.url):])
    assert status == 404, (status, body)
    daemon.local("DELETE", "/v1/devices/street/bindings/guest")
    eventually("the end of the viewer", lambda: daemon.camera("street")["viewers"] == 0, 5)
    eventually("the page's message", lambda: "ended" in page.state() or page.pump(), 5)
    page.watch("street", token["token"])
    refused = eventually("the refusal", lambda: page.state() if "(8" in page.state() else None, 5)
    print("  without the right:", refused)
    page.page.close()


def test_key(browser, origin, daemon):
    """A media key in the page's address plays, also after a reload; in other addresses it replaces the header."""
    key = daemon.local("POST", "/v1/keys", {"name": "tablet", "devices": ["street"], "ttlSeconds": 3600})

    def frames():
        return page.statistics().get("video", {}).get("framesDecoded", 0)

    # The query is sent once; then the page moves the key to the fragment, which is not sent.
    page = Page(browser, daemon.url, daemon, f"/watch/street?key={key['key']}")
    eventually("10 frames", lambda: frames() >= 10)
    assert page.page.evaluate("location.search + location.hash") == f"#key={key['key']}"
    page.page.reload()
    eventually("10 frames after the reload", lambda: frames() >= 10)
    assert not page.page.is_visible("#form") and not page.page.is_visible("#home")
    sent = [url for _, url, _ in page.requests[1:] if key["key"] in url.split("#")[0]]
    assert not sent, sent

    # In the page's own origin, because its policy does not allow another.
    channel = daemon.local("POST", "/v1/channels", {"device": "street"})["id"]
    daemon.local("POST", f"/v1/channels/{channel}/play")
    page.page.evaluate(
        """([key, channel]) => {
            window.video = Object.assign(document.createElement("video"), { muted: true, autoplay: true });
            video.src = `/v1/channels/${channel}/recording.mp4?key=${key}`;
            window.heard = [];
            window.events = new EventSource(`/v1/events?types=property&device=${device}&key=${key}`);
            events.addEventListener("property", ({ data }) => heard.push(data));
        }""", [key["key"], channel])
    eventually("a recording in a video element", lambda: page.page.evaluate("video.currentTime") > 1)
    eventually("the event stream", lambda: page.page.evaluate("events.readyState") == 1, 5)
    # The camera's own reports change all the time.
    daemon.local("POST", "/v1/devices/street/actions", {"path": "Action.takePhoto.ctlVal", "value": 1})
    eventually("an event", lambda: page.page.evaluate("heard.length"))
    page.page.evaluate("events.close()")

    daemon.local("DELETE", f"/v1/keys/{key['id']}")
    eventually("the page's message", lambda: "access ended" in page.state(), 10)
    eventually("the end of the recording", lambda: page.page.evaluate("video.ended || video.error !== null"), 10)
    daemon.local("DELETE", f"/v1/channels/{channel}")
    eventually("the end of the viewers", lambda: daemon.camera("street")["viewers"] == 0, 5)
    assert page.page.evaluate("location.hash") == "" and page.page.is_visible("#form")
    page.page.fill("#token", key["key"])
    page.page.click("#watch")
    eventually("the refusal", lambda: "refuses this key" in page.state(), 5)
    files = [file for file in daemon.folder.rglob("*") if file.is_file()]
    assert not [file for file in files if key["key"][10:].encode() in file.read_bytes()]
    page.close("key")


def test_left(browser, origin, daemon):
    """The call of a closed page ends by itself."""
    page, _ = check_watching(browser, origin, daemon, "street", (768, 576), LEVELS["street"])
    page.page.goto("about:blank")
    eventually("the end of the viewer", lambda: daemon.camera("street")["viewers"] == 0, 5)
    page.page.close()


class Level:
    """A clip's loudness, computed like Chromium's totalAudioEnergy: from the peaks of each 100 ms."""

    def __init__(self, name):
        decoded = subprocess.run(
            ["ffmpeg", "-v", "error", "-i", str(SAMPLES / CAMERAS[name]), "-vn", "-ac", "2", "-ar", "48000", "-f",
             "s16le", "-"], check=True, capture_output=True,
        ).stdout
        samples = array.array("h", decoded)
        peaks = [max(map(abs, samples[at:at + 9600])) / 32768 for at in range(0, len(samples) - 9600, 9600)]
        self.squares = [peak**2 for peak in peaks]

    def range(self, seconds):
        """The lowest and the highest level of `seconds` seconds of the looped clip."""
        count = max(1, min(len(self.squares), round(seconds * 10)))
        rounds = self.squares * 2
        means = [sum(rounds[at:at + count]) / count for at in range(len(self.squares))]
        return min(means) ** 0.5, max(means) ** 0.5


LEVELS = {}


@contextlib.contextmanager
def served(folder):
    """Serves the page from its own origin."""
    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()


def main():
    LEVELS.update({name: Level(name) for name in ("street", "bunny")})
    with tempfile.TemporaryDirectory() as folder, served(ROOT / "docs" / "examples") as origin, sync_playwright() as api:
        # mDNS candidates stay unresolved: the camera learns the browser's address from its checks.
        browser = api.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)

        def call(test):
            with browser.new_context() as context:
                test(context, origin, runner.daemon)

        with Runner(Daemon(folder, CAMERAS, origin)) as runner:
            runner.run(
                [test_watch, test_surround, test_refused, test_served, test_many, test_revoked, test_key, test_left],
                call)
            browser.close()


if __name__ == "__main__":
    main()
