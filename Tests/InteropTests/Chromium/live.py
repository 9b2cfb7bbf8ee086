"""Chromium and a camera see and hear each other: what Chromium's camera shows and its microphone hears (files) reaches
the camera's owner, from the gateway's own page."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

from playwright.sync_api import sync_playwright

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from daemon import ROOT, SAMPLES, Daemon, eventually  # noqa: E402
from runner import Runner  # noqa: E402
from talk import VOICE, ffmpeg, loudness, opened, token  # noqa: E402
from watch import CHROMIUM, Page  # noqa: E402

IOTCTL = os.environ.get("IOTCTL", str(ROOT / ".build/debug/iotctl"))


def monitor(daemon, *arguments):
    outcome = subprocess.run(
        [IOTCTL, "--socket", f"{daemon.folder}/s", "monitor", "door", "--source", "caller", *arguments],
        capture_output=True, text=True, timeout=60)
    assert outcome.returncode == 0, outcome.stderr
    return outcome.stdout


def state(daemon):
    return daemon.local("GET", "/v1/devices/door/properties?path=ProReadonly.liveCalls.stVal")["value"]


def likeness(picture, video):
    """The peak signal-to-noise ratio of the picture and the video's most similar frame, dB."""
    report = subprocess.run(
        ["ffmpeg", "-v", "error", "-i", str(video), "-i", str(picture), "-filter_complex",
         "[0:v]format=gbrp,setpts=N/TB[a];[1:v]format=gbrp,setpts=N/TB[b];"
         "[a][b]psnr=stats_file=-:eof_action=repeat", "-f", "null", "-"], check=True, capture_output=True, text=True)
    return max(float(value) for value in re.findall(r"psnr_avg:([\d.]+)", report.stdout))


def show(page, daemon):
    button = page.page.locator("#live")
    eventually("the button", lambda: button.is_visible() or page.pump())
    assert button.inner_text() == "Show my camera"
    button.click()
    eventually("the live call", lambda: state(daemon) == "busy" or page.pump())
    eventually("the camera's picture", lambda: page.picture()["width"] or page.pump())


def test_live(browser, daemon, own):
    """Both see each other; the owner hears what is said; the page's button ends it."""
    page = opened(browser, daemon, "view", "talk")
    show(page, daemon)
    pictures = daemon.folder / "caller.y4m"
    monitor(daemon, "--frames", "40", "--raw-video", str(pictures))
    last = daemon.folder / "caller.png"
    ffmpeg("-sseof", "-0.2", "-i", str(pictures), "-frames:v", "1", str(last))
    found = likeness(last, own)
    assert found > 25, found
    page.page.evaluate("hold()")
    talk = page.page.locator("#talk")
    eventually("the talk", lambda: talk.inner_text() == "Talking …" or page.pump())
    sound = daemon.folder / "caller.wav"
    monitor(daemon, "--duration", "3s", "--raw-audio", str(sound))
    peaks = loudness(sound)
    assert sum(peak > 0.1 for peak in peaks) >= 10, peaks
    if os.environ.get("ARTIFACTS"):
        page.page.screenshot(path=f"{os.environ['ARTIFACTS']}/showing.png")
    assert page.page.locator("#own").is_visible() and page.picture()["deviation"] > 10
    page.page.evaluate("letGo()")
    page.page.locator("#live").click()
    eventually("the end of the live call", lambda: state(daemon) == "free" or page.pump())
    eventually("the picture", lambda: page.page.inner_text("#pill") == "Live" or page.pump())
    assert not page.page.locator("#own").is_visible()
    print(f"  {found:.1f} dB, {sum(peak > 0.1 for peak in peaks) / 10} s of words in {len(peaks) / 10} s")
    page.close("live")


def test_late(browser, daemon, own):
    """Who begins to watch the caller fifteen seconds later gets a picture at once: the browser sends a key frame then."""
    page = opened(browser, daemon, "view", "talk")
    show(page, daemon)
    for _ in range(150):
        page.page.wait_for_timeout(100)
    report = monitor(daemon, "--frames", "5", "--raw-video", str(daemon.folder / "late.y4m"))
    first = float(re.search(r"first frame +(\d+) ms", report)[1])
    assert first < 3000, report
    print(f"  first frame after {first:.0f} ms")
    page.close("late")


WATCHED = """async () => {
    const viewer = new Viewer(gateway, "/v1/devices/door/whep?source=caller", () => {});
    await viewer.start();
    let pictures = 0;
    for (let count = 0; count < 40 && pictures < 10; count += 1) {
        await sleep(250);
        pictures = (await viewer.progress()).pictures;
    }
    const { viewers } = await viewer.control.request("statistics.get");
    const { definitions } = await viewer.control.request("definition.get");
    await viewer.stop();
    return [pictures, definitions, viewers];
}"""


def test_source(browser, daemon, own):
    """The owner watches the caller in a browser, too; a media key does not open that."""
    caller, owner = (opened(browser, daemon, "view", "talk") for _ in range(2))
    show(caller, daemon)
    pictures, definitions, viewers = owner.page.evaluate(WATCHED)
    # Two pages watch the camera, and one viewer its caller.
    assert pictures >= 10 and definitions == ["high"] and viewers == 3, (pictures, definitions, viewers)
    eventually("the statistics", lambda: "3 viewers" in caller.page.get_attribute("#pill", "title") or
               "2 viewers" in caller.page.get_attribute("#pill", "title") or caller.pump())
    key = daemon.local("POST", "/v1/keys", {"name": "tablet", "devices": ["door"], "ttlSeconds": 60})["key"]
    refused = owner.page.evaluate("""async (key) => {
        const answer = await fetch("/v1/devices/door/whep?source=caller", { method: "POST", body: "v=0",
            headers: { "Content-Type": "application/sdp", "Authorization": `Bearer ${key}` } });
        return (await answer.json()).error.code;
    }""", key)
    assert refused == 25005, refused
    caller.page.close()
    owner.page.close()
    eventually("the end of the call", lambda: state(daemon) == "free")


def test_busy(browser, daemon, own):
    """A second caller gets the reason, and its picture of the camera continues."""
    first, second = (opened(browser, daemon, "view", "talk") for _ in range(2))
    show(first, daemon)
    eventually("the button", lambda: second.page.locator("#live").is_visible() or second.pump())
    second.page.locator("#live").click()
    eventually("the reason", lambda: "25049" in second.page.inner_text("#note") or second.pump())
    eventually("the picture", lambda: second.page.inner_text("#pill") == "Live" or second.pump())
    assert second.page.locator("#live").inner_text() == "Show my camera"
    # A page that leaves ends its call.
    first.page.goto("about:blank")
    eventually("the end of the call", lambda: state(daemon) == "free" or second.pump())
    first.page.close()
    second.page.close()


def test_refused(browser, daemon, own):
    """Without the right to talk, the reason is shown; a camera that takes no live calls has no button."""
    page = opened(browser, daemon, "view")
    page.page.locator("#live").click()
    eventually("the reason", lambda: "8003" in page.page.inner_text("#note") or page.pump())
    eventually("the picture", lambda: page.page.inner_text("#pill") == "Live" or page.pump())
    page.page.close()
    other = Page(browser, daemon.url, daemon, "/watch/street")
    other.watch("street", token(daemon, "view", "talk"))
    eventually("the picture", lambda: other.picture()["width"])
    assert not other.page.locator("#live").is_visible()
    other.page.close()


def test_ringing(browser, daemon, own):
    """A call with the page's camera rings; refused, the page watches without it; accepted, it gets the picture."""
    daemon.local("PATCH", "/v1/cameras/door", {"live": "ask"})
    eventually("the camera", lambda: state(daemon) == "free")
    page = opened(browser, daemon, "view", "talk")
    button = page.page.locator("#live")

    def ring():
        eventually("the button", lambda: button.is_visible() and button.inner_text() == "Show my camera" or page.pump())
        button.click()
        eventually("the ringing", lambda: state(daemon) == "ringing" or page.pump())
        eventually("the words", lambda: "when somebody accepts" in page.page.inner_text("#progress") or page.pump())

    ring()
    daemon.local("POST", "/v1/cameras/door/call", {"answer": "refuse"})
    eventually("the reason", lambda: "Nobody accepted" in page.page.inner_text("#note") or page.pump())
    eventually("the picture", lambda: page.page.inner_text("#pill") == "Live" or page.pump())
    assert state(daemon) == "free" and not page.page.locator("#own").is_visible()
    ring()
    daemon.local("POST", "/v1/cameras/door/call", {"answer": "accept"})
    eventually("the picture", lambda: page.page.inner_text("#pill") == "Live" or page.pump())
    assert state(daemon) == "busy" and page.page.locator("#own").is_visible()
    page.page.close()
    eventually("the end of the call", lambda: state(daemon) == "free")


def test_answering(browser, daemon, own):
    """Who may control the camera sees who calls it, and answers, in the page; others are not asked."""
    assert daemon.camera("door")["live"] == "ask"
    caller, guest = (opened(browser, daemon, "view", "talk") for _ in range(2))
    owner = opened(browser, daemon, "view", "talk", "control")
    door, button = owner.page.locator("#door"), caller.page.locator("#live")

    def ring():
        eventually("the button", lambda: button.is_visible() and button.inner_text() == "Show my camera" or caller.pump())
        button.click()
        eventually("the ringing", lambda: door.is_visible() or owner.pump())
        assert owner.page.inner_text("#calls") == "“owner” calls “door”."
        assert not caller.page.locator("#door").is_visible()

    ring()
    owner.page.locator("#refuse").click()
    eventually("the end", lambda: state(daemon) == "free" and not door.is_visible() or owner.pump())
    eventually("the reason", lambda: "Nobody accepted" in caller.page.inner_text("#note") or caller.pump())
    ring()
    width = "document.getElementById('caller').videoWidth"
    eventually("the caller's picture", lambda: owner.page.evaluate(width) == 640 or owner.pump())
    if os.environ.get("ARTIFACTS"):
        owner.page.screenshot(path=f"{os.environ['ARTIFACTS']}/doorbell.png")
    owner.page.locator("#accept").click()
    eventually("the picture", lambda: caller.page.inner_text("#pill") == "Live" or caller.pump())
    eventually("the call", lambda: state(daemon) == "busy" and "In a live call" in owner.page.inner_text("#calls"))
    assert not owner.page.evaluate("document.getElementById('caller').muted")
    assert not guest.page.locator("#door").is_visible()
    button.click()
    eventually("the end of the call", lambda: not door.is_visible() or owner.pump())
    for page in (caller, guest, owner):
        page.page.close()


def main():
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as api:
        voice, own = (pathlib.Path(folder) / name for name in ("voice.wav", "own.y4m"))
        ffmpeg("-f", "lavfi", "-i", f"aevalsrc={VOICE}:d=4:s=48000", str(voice))
        ffmpeg("-i", str(SAMPLES / "bunny-h264-aac51.mp4"), "-t", "3", "-vf", "scale=640:360,fps=15",
               "-pix_fmt", "yuv420p", str(own))
        browser = api.chromium.launch(executable_path=CHROMIUM, args=[
            "--no-sandbox", "--autoplay-policy=no-user-gesture-required", "--use-fake-device-for-media-stream",
            "--use-fake-ui-for-media-stream", f"--use-file-for-fake-audio-capture={voice}",
            f"--use-file-for-fake-video-capture={own}"])

        def call(test):
            with browser.new_context(permissions=["microphone", "camera"]) as context:
                test(context, runner.daemon, own)

        with Runner(Daemon(folder, {"street": "street-h264-aac.mp4"})) as runner:
            runner.daemon.local("POST", "/v1/cameras", {
                "name": "door", "url": str(SAMPLES / "street-h264-aac.mp4"), "talk": "none", "live": "accept"})
            eventually("the camera", lambda: runner.daemon.camera("door")["state"] == "ready")
            runner.run([test_live, test_late, test_source, test_busy, test_refused, test_ringing, test_answering], call)
            browser.close()


if __name__ == "__main__":
    main()
