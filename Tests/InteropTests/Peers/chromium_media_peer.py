"""A page in Chromium that sends its fake camera and a tone, and plays what it receives. JSON lines on standard input
control it; it prints events as JSON lines. It has the commands of aiortc_media_peer.py, and {"do": "restart"}, which
offers with an ICE restart. An offer may have channels, as in aiortc_peer.py; messages on any channel are echoed.
"""
import asyncio
import json
import os
import pathlib
import sys
import tempfile

from playwright.async_api import async_playwright

CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")
PAGE = """<!doctype html><video id=v autoplay playsinline></video><script>
const pc = new RTCPeerConnection();
const incoming = new MediaStream();
const sound = new AudioContext();
const closed = [];
let removedTracks = 0;
pc.ontrack = event => {
  incoming.addTrack(event.track);
  v.srcObject = incoming;
  for (const stream of event.streams) stream.onremovetrack = () => removedTracks++;
};
pc.ondatachannel = ({channel}) => echo(channel);
function echo(channel) {
  channel.onmessage = ({data}) => channel.send(data);
  channel.onclose = () => closed.push(channel.label);
}
async function addTracks() {
  // The tracks stay over a restart.
  if (pc.getSenders().some(sender => sender.track)) return;
  const stream = await navigator.mediaDevices.getUserMedia({video: {width: 640, height: 480}});
  // A tone instead of the fake microphone, which is silent without a sound card.
  const [tone, out] = [sound.createOscillator(), sound.createMediaStreamDestination()];
  tone.connect(out);
  tone.start();
  for (const track of [...out.stream.getTracks(), ...stream.getTracks()]) pc.addTrack(track, stream);
}
async function describe(description) {
  const gathered = new Promise(done => {
    pc.onicecandidate = ({candidate}) => { if (!candidate) done(); };
    setTimeout(done, 3000);
  });
  await pc.setLocalDescription(description);
  await gathered;
  return pc.localDescription.sdp;
}
async function offer(channels = []) {
  for (const {label, ...options} of channels) echo(pc.createDataChannel(label, options));
  await addTracks();
  return describe(await pc.createOffer());
}
async function restart() {
  pc.restartIce();
  return offer();
}
async function accept(sdp) {
  await pc.setRemoteDescription({type: 'offer', sdp});
  await addTracks();
  return describe(await pc.createAnswer());
}
async function answer(sdp) { await pc.setRemoteDescription({type: 'answer', sdp}); }
async function report() {
  const all = [...(await pc.getStats()).values()];
  const inbound = kind => all.find(one => one.type == 'inbound-rtp' && one.kind == kind) || {};
  const outbound = all.find(one => one.type == 'outbound-rtp' && one.kind == 'video') || {};
  const pair = all.find(one => one.type == 'candidate-pair' && one.nominated) || {};
  const transport = all.find(one => one.type == 'transport') || {};
  const codec = id => (all.find(one => one.id == id) || {}).mimeType;
  const [video, audio] = [inbound('video'), inbound('audio')];
  return {
    received: {video: video.framesDecoded || 0, audio: audio.packetsReceived || 0},
    format: {video: [video.frameWidth || 0, video.frameHeight || 0], audio: [audio.totalAudioEnergy || 0]},
    codecs: [codec(video.codecId), codec(audio.codecId)],
    keyFrames: video.keyFramesDecoded || 0, sentFrames: outbound.framesSent || 0,
    // The codecs that may be sent to the other side, repairs included.
    agreed: pc.getTransceivers().map(({sender}) =>
      sender.getParameters().codecs.map(codec => `${codec.payloadType} ${codec.mimeType}`).join(', ')),
    transport: {
      dtlsState: transport.dtlsState, iceRole: transport.iceRole, iceUfrag: transport.iceLocalUsernameFragment,
      pairChanges: transport.selectedCandidatePairChanges || 0, packetsReceived: transport.packetsReceived || 0,
    },
    connectionState: pc.connectionState, signalingState: pc.signalingState, closed, removedTracks,
    availableOutgoingBitrate: Math.round(pair.availableOutgoingBitrate || 0), dropped: video.framesDropped || 0,
  };
}
</script>"""


def say(what, **more):
    print(json.dumps({"event": what, **more}), flush=True)


async def run(page, command):
    action = command["do"]
    if action == "offer":
        say("offer", sdp=await page.evaluate("list => offer(list)", command.get("channels", [])))
    elif action == "restart":
        say("offer", sdp=await page.evaluate("restart()"))
    elif action == "accept":
        say("answer", sdp=await page.evaluate("sdp => accept(sdp)", command["sdp"]))
    elif action == "answer":
        await page.evaluate("sdp => answer(sdp)", command["sdp"])
    elif action == "report":
        say("report", **await page.evaluate("report()"))


async def main():
    reader = asyncio.StreamReader(limit=1 << 20)
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "page.html"
        file.write_text(PAGE)
        async with async_playwright() as playwright:
            browser = await playwright.chromium.launch(
                executable_path=CHROMIUM,
                args=[
                    "--no-sandbox", "--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream",
                    "--autoplay-policy=no-user-gesture-required",
                ])
            page = await browser.new_page()
            await page.goto(file.as_uri())
            say("ready")
            while line := await reader.readline():
                command = json.loads(line)
                if command["do"] == "end":
                    break
                await run(page, command)
            await browser.close()


asyncio.run(main())
