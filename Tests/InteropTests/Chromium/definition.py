"""Chromium changes the size of a camera's picture while it plays, from the gateway's own page."""

import os
import pathlib
import subprocess
import sys
import tempfile

from playwright.sync_api import sync_playwright

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from daemon import SAMPLES, Daemon, eventually  # noqa: E402
from runner import Runner  # noqa: E402
from watch import CHROMIUM, Page  # noqa: E402

# The camera has 10 pictures a second. Chromium needs some time for the first picture of another size.
LONGEST_GAP = 0.5

COUNT = """() => {
  window.shown = [];
  const note = (now) => { window.shown.push(now / 1000); video.requestVideoFrameCallback(note); };
  const video = document.querySelector("video");
  video.requestVideoFrameCallback(note);
}"""


def opened(browser, daemon):
    page = Page(browser, daemon.url, daemon, "/watch/door")
    token = daemon.local("POST", "/v1/tokens", {"kind": "api", "ttlSeconds": 3600, "actions": ["view"]})["token"]
    page.watch("door", token)
    eventually("the picture", lambda: page.picture()["width"] == 768)
    return page


def test_change(browser, daemon):
    """The list has both sizes; each change shows the other picture, and no picture comes late."""
    page = opened(browser, daemon)
    sizes = page.page.locator("#definition")
    eventually("the list of sizes", lambda: sizes.is_visible() or page.pump())
    assert sizes.locator("option").all_inner_texts() == ["Full size", "Small"]
    if os.environ.get("ARTIFACTS"):
        page.page.screenshot(path=f"{os.environ['ARTIFACTS']}/definition.png")
    page.page.evaluate(COUNT)
    for name, width in [("low", 384), ("high", 768)] * 3:
        sizes.select_option(name)
        eventually(f"the picture of {name}", lambda: page.picture()["width"] == width or page.pump())
    page.page.wait_for_timeout(1000)
    times = page.page.evaluate("window.shown")
    gap = max(later - earlier for earlier, later in zip(times, times[1:]))
    print(f"  {len(times)} pictures, at most {gap:.3f} s apart")
    assert len(times) > 30 and gap < LONGEST_GAP, gap
    page.close("definition")


def test_again(browser, daemon):
    """A new call of the page gets the size that the user has chosen."""
    page = opened(browser, daemon)
    sizes = page.page.locator("#definition")
    eventually("the list of sizes", lambda: sizes.is_visible() or page.pump())
    sizes.select_option("low")
    eventually("the small picture", lambda: page.picture()["width"] == 384 or page.pump())
    page.page.evaluate("current.viewer.close()")
    eventually("another call", lambda: page.picture()["width"] == 384 and not page.page.evaluate(
        "current.viewer.isClosed") or page.pump())
    eventually("the size in the list", lambda: sizes.input_value() == "low" or page.pump())
    page.page.close()


def main():
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as api:
        urls = []
        for name, size in [("front.mp4", "768x576"), ("low.mp4", "384x288")]:
            urls.append(str(pathlib.Path(folder) / name))
            subprocess.run([
                "ffmpeg", "-v", "error", "-y", "-i", str(SAMPLES / "street-h264-aac.mp4"), "-s", size, "-c:v",
                "libx264", "-preset", "ultrafast", "-bf", "0", "-g", "10", "-c:a", "copy", urls[-1]], check=True)
        browser = api.chromium.launch(executable_path=CHROMIUM, args=[
            "--no-sandbox", "--autoplay-policy=no-user-gesture-required"])
        with Runner(Daemon(folder, {"street": "street-h264-aac.mp4"})) as runner:
            runner.daemon.local("POST", "/v1/cameras", {"name": "door", "url": urls[0], "lowUrl": urls[1]})
            eventually("the camera", lambda: runner.daemon.camera("door")["state"] == "ready")
            runner.run([test_change, test_again], lambda test: test(browser, runner.daemon))
            browser.close()


if __name__ == "__main__":
    main()
