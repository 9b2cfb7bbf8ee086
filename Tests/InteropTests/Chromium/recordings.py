"""Chromium plays what a real daemon has recorded: an MP4 by ranges, and an HLS playlist over a gap, without hls.js."""

import os
import pathlib
import subprocess
import sys
import tempfile

from playwright.sync_api import sync_playwright

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from daemon import SAMPLES, Daemon, eventually  # noqa: E402
from runner import Runner  # noqa: E402
from watch import CHROMIUM  # noqa: E402

RECORDINGS = "/v1/devices/door/recordings"

OPEN = """(source) => {
  document.body.innerHTML = "<video muted controls></video>";
  window.video = document.querySelector("video");
  window.shown = [];
  const note = (now, frame) => { shown.push(frame.mediaTime); video.requestVideoFrameCallback(note); };
  video.requestVideoFrameCallback(note);
  video.src = source;
}"""


class Player:
    """A video element on a page of the daemon."""

    def __init__(self, browser, daemon, source):
        self.page = browser.new_page()
        self.bodies = []
        self.page.on("response", lambda r: self.bodies.append((r.status, r.url)))
        # A page of the same origin, such as a proxy would serve. The daemon's own pages allow no other media.
        self.page.route(f"{daemon.url}/page", lambda route: route.fulfill(body="<body>", content_type="text/html"))
        self.page.goto(f"{daemon.url}/page")
        self.page.evaluate(OPEN, source)
        eventually("the duration", lambda: self.duration() or self.page.wait_for_timeout(50))

    def duration(self):
        assert not self.page.evaluate("video.error && video.error.message"), self.page.evaluate("video.error.message")
        return self.page.evaluate("Number.isFinite(video.duration) ? video.duration : 0")

    def seek(self, time):
        """Shows the picture at this time; returns that picture's own time."""
        near = f"!video.seeking && Math.abs(shown.at(-1) - {time}) < 0.15"
        turns = 0

        def is_shown():
            # A browser that the machine stops may not tell the page of the one picture of a seek: it is asked again.
            nonlocal turns
            if turns % 20 == 0:
                self.page.evaluate("(time) => { video.currentTime = time; }", time)
            turns += 1
            return self.page.evaluate(near) or self.page.wait_for_timeout(50)

        try:
            eventually(f"the picture of {time} s", is_shown)
        except AssertionError:
            print("  ", self.page.evaluate(
                "[video.currentTime, video.seeking, video.readyState, video.error && video.error.message, shown]"))
            raise
        return self.page.evaluate("shown.at(-1)")

    def play(self, start, end):
        """Plays from one time to another; returns the times of the pictures that were shown."""
        self.seek(start)
        self.page.evaluate("() => { shown.length = 0; video.playbackRate = 4; video.play(); }")
        eventually("the end", lambda: self.page.evaluate("video.currentTime") >= end or self.page.wait_for_timeout(50))
        self.page.evaluate("video.pause()")
        return self.page.evaluate("shown")

    def screenshot(self, name):
        if os.environ.get("ARTIFACTS"):
            self.page.screenshot(path=f"{os.environ['ARTIFACTS']}/{name}.png")


def test_file(browser, daemon, key):
    """A recording is an ordinary MP4: its duration is known, and a seek fetches a part of it."""
    player = Player(browser, daemon, f"{RECORDINGS}/1/video.mp4?key={key}")
    duration = player.duration()
    shown = player.seek(4.5)
    print(f"  {duration:.2f} s; at 4.5 s the picture of {shown:.2f} s")
    assert abs(duration - 6) < 0.5, duration
    assert any(status == 206 for status, url in player.bodies), player.bodies
    player.screenshot("recording-file")
    player.page.close()


def test_playlist(browser, daemon, key):
    """A playlist over two runs of the camera: it plays through from one to the other, and a seek goes to the second."""
    recordings = daemon.local("GET", RECORDINGS)["recordings"]
    end = recordings[1]["end"]
    start = recordings[0]["start"]
    player = Player(browser, daemon, f"{RECORDINGS}/playlist.m3u8?from={start}&to={end}&key={key}")
    duration = player.duration()
    times = player.play(4.0, 8.5)
    gap = max(later - earlier for earlier, later in zip(times, times[1:]))
    shown = player.seek(10.0)
    print(f"  {duration:.2f} s; {len(times)} pictures from {times[0]:.2f} to {times[-1]:.2f} s, at most {gap:.2f} s "
          f"apart; at 10 s the picture of {shown:.2f} s")
    assert abs(duration - 12) < 1, duration
    assert times[0] < 4.5 and times[-1] > 8 and gap < 1.0, times
    player.screenshot("recording-playlist")
    player.page.close()


def main():
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as api:
        browser = api.chromium.launch(executable_path=CHROMIUM, args=[
            "--no-sandbox", "--autoplay-policy=no-user-gesture-required"])
        recording = f"recording: {{directory: '{folder}/recordings', freeSpace: 0}}\n"
        with Runner(Daemon(folder, {}, media=recording)) as runner:
            daemon = runner.daemon
            # The clip of 6 s is repeated; each repetition is a run with a time line of its own.
            clip = f"{folder}/clip.mp4"
            subprocess.run([
                "ffmpeg", "-v", "error", "-i", str(SAMPLES / "street-h264-aac.mp4"), "-t", "6", "-c:v", "libx264",
                "-preset", "ultrafast", "-bf", "0", "-g", "10", "-c:a", "copy", clip], check=True)
            daemon.local("POST", "/v1/cameras", {"name": "door", "url": clip, "record": "continuous"})
            key = daemon.local("POST", "/v1/keys", {
                "name": "player", "devices": ["door"], "actions": ["view", "playback"], "ttlSeconds": 3600})["key"]
            eventually("two whole recordings", lambda: [
                one["state"] for one in daemon.local("GET", RECORDINGS)["recordings"]][:2] == ["complete"] * 2, 40)
            runner.run([test_file, test_playlist], lambda test: test(browser, daemon, key))
            browser.close()


if __name__ == "__main__":
    main()
