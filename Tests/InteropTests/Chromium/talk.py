"""Chromium talks through a camera of a real daemon, from the gateway's own page: what its microphone hears (a file)
comes out of the camera's loudspeaker (a file)."""

import array
import os
import pathlib
import subprocess
import sys
import tempfile
import time

from playwright.sync_api import sync_playwright

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from daemon import SAMPLES, Daemon, eventually  # noqa: E402
from runner import Runner  # noqa: E402
from watch import CHROMIUM, Page  # noqa: E402

# The microphone plays this voice again and again; its pauses show where words begin.
VOICE = "0.4*sin(2*PI*(250*t+20*sin(2*PI*3*t)))*lt(mod(t\\,1)\\,0.6)"


def ffmpeg(*arguments):
    return subprocess.run(["ffmpeg", "-v", "error", "-y", *arguments], check=True, capture_output=True).stdout


def loudness(path):
    """The peaks of each 100 ms, from 0 to 1; empty while there is no file."""
    if not path.exists():
        return []
    samples = array.array("h", ffmpeg("-i", str(path), "-ac", "1", "-ar", "8000", "-f", "s16le", "-"))
    return [max(map(abs, samples[at:at + 800]), default=0) / 32768 for at in range(0, len(samples), 800)]


def token(daemon, *actions):
    made = daemon.local("POST", "/v1/tokens", {"kind": "api", "ttlSeconds": 3600, "actions": list(actions)})
    return made["token"]


def talkers(daemon):
    return daemon.local("GET", "/v1/devices/door/properties?path=ProReadonly.talkers.stVal")["value"]


def opened(browser, daemon, *actions):
    page = Page(browser, daemon.url, daemon, "/watch/door")
    page.watch("door", token(daemon, *actions))
    eventually("the picture", lambda: page.picture()["width"])
    return page


def test_talk(browser, daemon, heard):
    """Held for three seconds, the button sends three seconds of words, and the camera's sound is off meanwhile."""
    page = opened(browser, daemon, "view", "talk")
    button = page.page.locator("#talk")
    # The page shows it at its next look at the pictures.
    eventually("the button", lambda: button.is_visible() or page.pump())
    assert button.inner_text() == "Hold to talk"
    button.hover()
    page.page.mouse.down()
    begin = time.monotonic()
    eventually("the talk", lambda: button.inner_text() == "Talking …" or page.pump())
    assert talkers(daemon) == 1
    assert not page.page.evaluate("current.viewer.stream.getAudioTracks()[0].enabled")
    page.page.wait_for_timeout(3000)
    if os.environ.get("ARTIFACTS"):
        page.page.screenshot(path=f"{os.environ['ARTIFACTS']}/talking.png")
    page.page.mouse.up()
    held = time.monotonic() - begin
    eventually("the end of the talk", lambda: talkers(daemon) == 0)
    eventually("the sound", lambda: page.page.evaluate("current.viewer.stream.getAudioTracks()[0].enabled"))
    peaks = loudness(heard)
    words = sum(peak > 0.1 for peak in peaks)
    # Six tenths of the voice are words. A screenshot makes the talk longer.
    assert abs(words - 6 * held) <= 8, (held, peaks)
    assert any(peak < 0.02 for peak in peaks), "the pauses between the words"
    print(f"  heard {len(peaks) / 10} s, {words / 10} s of them words")
    page.close("talk")


def test_busy(browser, daemon, heard):
    """While somebody talks, another page says so; the turn comes afterwards."""
    first, second = (opened(browser, daemon, "view", "talk") for _ in range(2))
    first.page.evaluate("hold()")
    eventually("the first talk", lambda: talkers(daemon) == 1)
    second.page.evaluate("hold()")
    eventually("the reason", lambda: "25047" in second.page.inner_text("#note") or second.pump())
    assert second.page.locator("#talk").inner_text() == "Hold to talk"
    first.page.evaluate("letGo()")
    eventually("the end", lambda: talkers(daemon) == 0)
    second.page.evaluate("hold()")
    eventually("the second talk", lambda: second.page.locator("#talk").inner_text() == "Talking …" or second.pump())
    # A page that leaves ends its talk.
    second.page.goto("about:blank")
    eventually("the end of the second talk", lambda: talkers(daemon) == 0)
    first.page.close()
    second.page.close()


def test_refused(browser, daemon, heard):
    """Without the right to talk there is no button."""
    page = opened(browser, daemon, "view")
    assert not page.page.locator("#talk").is_visible()
    page.page.close()


def main():
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as api:
        voice, heard = (pathlib.Path(folder) / name for name in ("voice.wav", "heard.wav"))
        ffmpeg("-f", "lavfi", "-i", f"aevalsrc={VOICE}:d=4:s=48000", str(voice))
        browser = api.chromium.launch(executable_path=CHROMIUM, args=[
            "--no-sandbox", "--autoplay-policy=no-user-gesture-required", "--use-fake-device-for-media-stream",
            "--use-fake-ui-for-media-stream", f"--use-file-for-fake-audio-capture={voice}"])

        def call(test):
            with browser.new_context(permissions=["microphone"]) as context:
                test(context, runner.daemon, heard)

        with Runner(Daemon(folder, {"street": "street-h264-aac.mp4"})) as runner:
            runner.daemon.local("POST", "/v1/cameras", {
                "name": "door", "url": str(SAMPLES / "street-h264-aac.mp4"), "talk": f"file:{heard}"})
            eventually("the camera", lambda: runner.daemon.camera("door")["state"] == "ready")
            runner.run([test_talk, test_busy, test_refused], call)
            browser.close()


if __name__ == "__main__":
    main()
