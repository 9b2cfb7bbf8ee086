"""Chromium as a peer, controlled by the same JSON lines as aiortc_peer.py."""
import json
import os
import queue
import sys
import threading

from playwright.sync_api import sync_playwright

PAGE = """
const connection = new RTCPeerConnection({iceServers: []});
const channels = {}, sent = {}, received = {};
connection.ondatachannel = ({channel}) => {
    watch(channel);
    say("channel", {label: channel.label, id: channel.id, protocol: channel.protocol, ordered: channel.ordered,
                    maxRetransmits: channel.maxRetransmits, maxPacketLifeTime: channel.maxPacketLifeTime});
};
connection.onconnectionstatechange = () => say("state", {state: connection.connectionState});

function open({label, ...options}) {
    const channel = connection.createDataChannel(label, options);
    watch(channel);
    channel.onopen = () => say("open", {label, id: channel.id});
}

function watch(channel) {
    const label = channel.label;
    channel.binaryType = "arraybuffer";
    channels[label] = channel;
    sent[label] = [];
    received[label] = [];
    channel.onmessage = ({data}) => {
        received[label].push(data);
        if (!label.startsWith("sink") && !sent[label].length) channel.send(data);
    };
    channel.onclose = () => say("closed", {label});
}

async function hash(messages) {
    const bytes = new Uint8Array(await new Blob(messages).arrayBuffer());
    const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
    return Array.from(digest, byte => byte.toString(16).padStart(2, "0")).join("");
}

async function describe(description) {
    await connection.setLocalDescription(description);
    if (connection.iceGatheringState != "complete") await new Promise(resolve => {
        connection.onicegatheringstatechange = () => connection.iceGatheringState == "complete" && resolve();
    });
    return connection.localDescription.sdp;
}

async function run(command) {
    for (const options of command.channels || []) open(options);
    switch (command.do) {
    case "offer": return say("offer", {sdp: await describe(await connection.createOffer())});
    case "answer": return connection.setRemoteDescription({type: "answer", sdp: command.sdp});
    case "accept":
        await connection.setRemoteDescription({type: "offer", sdp: command.sdp});
        return say("answer", {sdp: await describe(await connection.createAnswer())});
    case "open": return open(command.channel);
    case "send":
        for (const size of command.sizes) {
            const bytes = new Uint8Array(size).map((_, index) => index * 31 + size);
            sent[command.label].push(bytes);
            channels[command.label].send(bytes);
        }
        return;
    case "close": return channels[command.label].close();
    case "report": {
        const label = command.label;
        return say("report", {label, sent: sent[label].length, sentHash: await hash(sent[label]),
                              received: received[label].length, receivedHash: await hash(received[label])});
    }
    case "end": return connection.close();
    }
}
"""


def main():
    commands = queue.Queue()

    def read():
        for line in sys.stdin:
            commands.put(json.loads(line))
        commands.put(None)

    threading.Thread(target=read, daemon=True).start()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=os.environ.get("CHROMIUM", "/usr/bin/chromium"),
            args=[
                "--no-sandbox", "--disable-features=WebRtcHideLocalIpsWithMdns", "--allow-loopback-in-peer-connection",
            ])
        page = browser.new_page()
        page.expose_function("report", lambda text: print(text, flush=True))
        page.route("https://peer.test/", lambda route: route.fulfill(body="<title>peer</title>"))
        page.goto("https://peer.test/")
        page.evaluate("""script => {
            window.say = (event, more) => report(JSON.stringify({event, ...more}));
            const element = document.createElement("script");
            element.textContent = script;
            document.head.append(element);
        }""", PAGE)
        print(json.dumps({"event": "ready"}), flush=True)
        while True:
            try:
                command = commands.get_nowait()
            except queue.Empty:
                # The page's messages arrive during this call.
                page.wait_for_timeout(10)
                continue
            if command is None:
                break
            page.evaluate("command => run(command)", command)
        browser.close()


main()
