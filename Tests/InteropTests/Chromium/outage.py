"""After an outage Chromium's picture returns immediately, long before the camera's next key frame.

Runs in its own network namespace (test.sh): it makes an interface for Chromium, which does not gather candidates on
loopback alone, and drops the camera's packets with nftables.
"""

import subprocess
import tempfile
import time

from playwright.sync_api import sync_playwright

import watch
from runner import Runner


def run(*command):
    subprocess.run(command, check=True)


def make_network():
    run("ip", "link", "set", "lo", "up")
    run("ip", "link", "add", "near", "type", "veth", "peer", "name", "far")
    run("ip", "link", "set", "far", "up")
    run("ip", "address", "add", "198.51.100.1/24", "dev", "near")
    run("ip", "link", "set", "near", "up")
    run("ip", "route", "add", "default", "dev", "near")
    run("nft", "add table ip cut; add chain ip cut out { type filter hook output priority 0; }")


def test_outage(browser, origin, daemon):
    """Four seconds without packets: they cannot be sent again, and the next key frame may be 10 s away."""
    # Shortly after a key frame; there is one every 10 s.
    page = watch.Page(browser, origin, daemon)
    page.watch("street")
    keys = watch.eventually("the first frame", lambda: page.statistics().get("video", {}).get("keyFramesDecoded"))
    watch.eventually("a key frame", lambda: page.statistics()["video"]["keyFramesDecoded"] > keys, 15)
    page.page.wait_for_timeout(1500)
    port = page.statistics()["remote"]["port"]
    run("nft", f"add rule ip cut out udp sport {port} drop")
    page.page.wait_for_timeout(4000)
    before = page.statistics()["video"]
    run("nft", "flush chain ip cut out")
    cut_ends = time.monotonic()

    def shown():
        now = page.statistics()["video"]
        return now if now["framesDecoded"] >= before["framesDecoded"] + 10 else None

    after = watch.eventually("ten more frames", shown, 20)
    took = time.monotonic() - cut_ends
    print(f"  ten frames after {took:.2f} s, {after['pliCount'] - before['pliCount']} requests for a key frame, "
          f"latency {page.latency()} ms")
    assert page.page.evaluate("current.viewer.peer.connectionState") == "connected"
    assert took < 3, took
    page.page.wait_for_timeout(2000)
    behind = page.latency()
    assert behind[0] < 1000, f"the picture's latency is {behind[0]} ms"
    page.close("outage")


def main():
    make_network()
    watch.CAMERAS = {"street": watch.CAMERAS["street"]}
    with tempfile.TemporaryDirectory() as folder, watch.served(watch.ROOT / "docs" / "examples") as origin:
        with sync_playwright() as api, Runner(watch.Daemon(folder, watch.CAMERAS, origin)) as runner:
            browser = api.chromium.launch(executable_path=watch.CHROMIUM, args=watch.ARGUMENTS)
            runner.run([test_outage], lambda test: test(browser, origin, runner.daemon))
            browser.close()


if __name__ == "__main__":
    main()
