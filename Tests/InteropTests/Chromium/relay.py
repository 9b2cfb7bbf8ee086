"""Chromium reaches a camera only through coturn: the answer to WHEP names the camera's ICE servers."""

import pathlib
import subprocess
import tempfile

from playwright.sync_api import sync_playwright

import watch
from runner import Runner


def test_relay(browser, origin, daemon):
    """A browser that may use relays only gets the server and its credential from the answer's Link, and plays."""
    page = watch.Page(browser, origin, daemon)
    page.page.evaluate(
        """() => {
            const Original = RTCPeerConnection;
            window.RTCPeerConnection = function () { return new Original({ iceTransportPolicy: "relay" }); };
        }"""
    )
    links = []
    page.page.on("response", lambda r: links.extend(r.all_headers().get("link", "").split(", ")) if r.status == 201 else 0)
    page.watch("street")
    measured = watch.eventually(
        "30 frames",
        lambda: (now := page.statistics()).get("video", {}).get("framesDecoded", 0) >= 30 and "local" in now and now,
    )
    assert measured["local"]["candidateType"] == "relay", measured["local"]
    print(f"  {measured['local']['candidateType']} to {measured['remote']['candidateType']}, "
          f"{measured['video']['framesDecoded']} frames; Link: {[link.split(';')[0] for link in links]}")
    assert any(link.startswith("<turn:") and "username=" in link for link in links), links
    page.page.click("#stop")
    watch.eventually("the end of the viewer", lambda: daemon.camera("street")["viewers"] == 0, 5)


def main():
    watch.CAMERAS = {"street": watch.CAMERAS["street"]}
    with tempfile.TemporaryDirectory() as folder, watch.served(watch.ROOT / "docs" / "examples") as origin:
        port = watch.free_port()
        with open(f"{folder}/coturn", "w") as log:
            coturn = subprocess.Popen(
                ["turnserver", "-n", "-L", "127.0.0.1", "-p", str(port), "--allow-loopback-peers", "--no-tls",
                 "--no-dtls", "--no-cli", "--use-auth-secret", "--static-auth-secret", "between-us", "-r", "test",
                 "--pidfile", f"{folder}/pid"],
                stdout=log, stderr=log, cwd=folder,
            )
        secret = pathlib.Path(folder, "secret")
        secret.touch(0o600)
        secret.write_text("between-us\n")
        media = f"media: {{iceServers: ['turn:127.0.0.1:{port}?transport=udp'], turnSecretFile: {secret}}}\n"
        try:
            with sync_playwright() as api, Runner(watch.Daemon(folder, watch.CAMERAS, origin, media)) as runner:
                browser = api.chromium.launch(executable_path=watch.CHROMIUM, args=watch.ARGUMENTS)
                runner.run([test_relay], lambda test: test(browser, origin, runner.daemon))
                browser.close()
        finally:
            coturn.terminate()
            coturn.wait()


if __name__ == "__main__":
    main()
