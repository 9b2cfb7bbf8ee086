"""Chromium turns the pictures of a camera that hangs on its side (urn:3gpp:video-orientation), in the gateway's own page."""

import pathlib
import sys
import tempfile

from playwright.sync_api import sync_playwright

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from daemon import Daemon, eventually  # noqa: E402
from runner import Runner  # noqa: E402
from watch import CHROMIUM, Page  # noqa: E402

# The mean brightness of each quarter of the picture: above and below, left and right.
QUARTERS = """() => {
  const video = document.querySelector("video");
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [2, 2];
  const context = canvas.getContext("2d");
  context.imageSmoothingQuality = "high";
  context.drawImage(video, 0, 0, 2, 2);
  const data = context.getImageData(0, 0, 2, 2).data;
  return [video.videoWidth, video.videoHeight, [0, 1, 2, 3].map((at) => data[4 * at] + data[4 * at + 1] + data[4 * at + 2])];
}"""
# Where the brightest quarter of the clip is after a turn: it is at the top left.
PLACES = {0: 0, 90: 2, 180: 3, 270: 1}


def make(path):
    """A clip with one bright quarter."""
    import subprocess
    subprocess.run([
        "ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i",
        "color=0x202020:s=640x360:r=10:d=20,drawbox=0:0:320:180:white:fill", "-c:v", "libx264", "-preset", "ultrafast",
        "-bf", "0", "-g", "10", "-pix_fmt", "yuv420p", str(path)], check=True)


def test_rotation(browser, daemon):
    """Each rotation is seen within moments, and the sizes change with it."""
    page = Page(browser, daemon.url, daemon, "/watch/door")
    token = daemon.local("POST", "/v1/tokens", {"kind": "api", "ttlSeconds": 3600, "actions": ["view"]})["token"]
    page.watch("door", token)
    eventually("the picture", lambda: page.picture()["width"] == 640 or page.pump())
    for degrees in (90, 180, 270, 0, 270):
        daemon.local("PUT", "/v1/devices/door/properties?path=ProWritable.rotation.setVal", degrees)
        size = [360, 640] if degrees % 180 else [640, 360]

        def turned():
            width, height, light = page.page.evaluate(QUARTERS)
            return [width, height] == size and light.index(max(light)) == PLACES[degrees]

        eventually(f"the picture at {degrees} degrees", lambda: turned() or page.pump())
        print(f"  {degrees}: {size[0]}x{size[1]}, bright at {PLACES[degrees]}")
    page.close("rotation")


def main():
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as api:
        clip = pathlib.Path(folder) / "bright.mp4"
        make(clip)
        browser = api.chromium.launch(executable_path=CHROMIUM, args=[
            "--no-sandbox", "--autoplay-policy=no-user-gesture-required"])
        with Runner(Daemon(folder, {"street": "street-h264-aac.mp4"})) as runner:
            runner.daemon.local("POST", "/v1/cameras", {"name": "door", "url": str(clip)})
            eventually("the camera", lambda: runner.daemon.camera("door")["state"] == "ready")
            runner.run([test_rotation], lambda test: test(browser, runner.daemon))
            browser.close()


if __name__ == "__main__":
    main()
