"""GStreamer's webrtcbin, which sends a moving picture and a tone, and decodes what it receives. JSON lines on standard
input control it; it prints events as JSON lines. It uses only the loopback interface.

It has the commands of aiortc_peer.py and aiortc_media_peer.py, and {"do": "candidate", "candidate": …} for a candidate
of the other side. With the argument --data it sends no media.
"""
import hashlib
import json
import os
import sys
import threading

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstSdp", "1.0")
gi.require_version("GstWebRTC", "1.0")
from gi.repository import GLib, Gst, GstSdp, GstWebRTC  # noqa: E402

Gst.init(None)
WIDTH, HEIGHT = 320, 240
H264 = "encoding-name=H264,clock-rate=90000,packetization-mode=(string)1,profile-level-id=(string)42e01f"
# The same numbers as in our offers.
EXTENSIONS = ",".join(f"extmap-{number}=(string){uri}" for number, uri in [
    (1, "urn:ietf:params:rtp-hdrext:sdes:mid"),
    (3, "http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01"),
])
MEDIA = f"""
webrtcbin name=webrtc bundle-policy=max-bundle
audiotestsrc is-live=true wave=sine ! audioconvert ! audioresample ! opusenc name=audio-encoder ! rtpopuspay
    ! application/x-rtp,media=audio,encoding-name=OPUS,clock-rate=48000,{EXTENSIONS},payload=111 ! queue ! webrtc.
videotestsrc is-live=true pattern=ball ! video/x-raw,width={WIDTH},height={HEIGHT},framerate=30/1
    ! openh264enc name=video-encoder bitrate=600000 gop-size=60 ! video/x-h264,profile=constrained-baseline
    ! rtph264pay config-interval=-1 aggregate-mode=zero-latency
    ! application/x-rtp,media=video,{H264},{EXTENSIONS},payload=102 ! queue ! webrtc.
"""
RECEIVING = {
    "audio": "rtpopusdepay ! opusdec ! audioconvert ! level ! fakesink name=sink signal-handoffs=true sync=false",
    "video": "rtph264depay ! h264parse ! avdec_h264 ! fakesink name=sink signal-handoffs=true sync=false",
}


def say(what, **more):
    # One write, because several threads print lines.
    sys.stdout.write(json.dumps({"event": what, **more}) + "\n")
    sys.stdout.flush()


class Channel:
    def __init__(self, channel):
        self.channel = channel
        self.label = channel.props.label
        self.sent, self.received = [0, hashlib.sha256()], [0, hashlib.sha256()]
        channel.connect("on-message-data", lambda _, data: self.take(data.get_data() if data else b"", self.send_data))
        channel.connect("on-message-string", lambda _, text: self.take((text or "").encode(), self.send_text))
        channel.connect("on-error", lambda _, error: say("channelError", label=self.label, text=str(error)))
        channel.connect("on-open", lambda _: say("open", label=self.label, id=channel.props.id))
        channel.connect("on-close", lambda _: say("closed", label=self.label))

    def take(self, content, answer):
        self.received[0] += 1
        self.received[1].update(content)
        # Sending an empty message would end the association, because webrtcbin gives usrsctp no byte for it.
        if content and not self.label.startswith("sink") and not self.sent[0]:
            answer(content)

    def send_data(self, content):
        self.channel.send_data(GLib.Bytes.new(content))

    def send_text(self, content):
        self.channel.send_string(content.decode())

    def send_random(self, size):
        content = os.urandom(size)
        self.sent[0] += 1
        self.sent[1].update(content)
        self.send_data(content)

    def report(self):
        say("report", label=self.label, sent=self.sent[0], sentHash=self.sent[1].hexdigest(),
            received=self.received[0], receivedHash=self.received[1].hexdigest())


class Peer:
    def __init__(self, loop, hasMedia):
        self.loop = loop
        if hasMedia:
            self.pipeline = Gst.parse_launch(MEDIA)
        else:
            self.pipeline = Gst.Pipeline.new()
            self.pipeline.add(Gst.ElementFactory.make("webrtcbin", "webrtc"))
        self.webrtc = self.pipeline.get_by_name("webrtc")
        self.channels, self.sent, self.received, self.format = {}, {}, {"audio": 0, "video": 0}, {}
        self.corrupted = 0
        # By default libnice ignores the loopback interface. The agent is stored, because webrtcbin holds only a
        # floating reference, which Python's object sinks, and releases at its own end.
        self.agent = self.webrtc.props.ice_agent
        self.agent.emit("add-local-ip-address", "127.0.0.1")
        for kind in ("audio", "video") if hasMedia else ():
            self.sent[kind] = 0
            pad = self.pipeline.get_by_name(f"{kind}-encoder").get_static_pad("src")
            pad.add_probe(Gst.PadProbeType.BUFFER, self.count_sent, kind)
        index = 0
        while transceiver := self.webrtc.emit("get-transceiver", index):
            transceiver.props.do_nack = True
            index += 1
        # Not before the encoders have announced their format.
        self.isNegotiable, self.isOfferWanted = False, False
        self.webrtc.connect("on-negotiation-needed", lambda _: GLib.idle_add(self.negotiate))
        self.webrtc.connect("on-ice-candidate", lambda _, index, text: say("candidate", candidate=text, section=index))
        self.webrtc.connect("notify::ice-gathering-state", self.gathering)
        self.webrtc.connect("notify::connection-state", lambda *_: say(
            "state", state=self.webrtc.props.connection_state.value_nick))
        self.webrtc.connect("pad-added", self.track)
        self.webrtc.connect("on-data-channel", self.opened_by_peer)
        bus = self.pipeline.get_bus()
        bus.add_signal_watch()
        bus.connect("message::error", self.failed)
        bus.connect("message::element", self.heard)
        self.pipeline.set_state(Gst.State.PLAYING)

    def failed(self, _, message):
        error, detail = message.parse_error()
        say("error", text=str(error), detail=detail)
        self.loop.quit()

    def heard(self, _, message):
        structure = message.get_structure()
        if structure.get_name() == "level":
            self.format["audio"] = [round(structure.get_value("rms")[0], 1)]

    def gathering(self, *_):
        if self.webrtc.props.ice_gathering_state == GstWebRTC.WebRTCICEGatheringState.COMPLETE:
            say("candidate", candidate="")

    def count_sent(self, pad, info, kind):
        self.sent[kind] += 1
        return Gst.PadProbeReturn.OK

    def track(self, _, pad):
        if pad.direction != Gst.PadDirection.SRC:
            return
        kind = pad.get_current_caps().get_structure(0).get_string("media")
        decoder = Gst.parse_bin_from_description(RECEIVING[kind], True)
        decoder.get_by_name("sink").connect("handoff", self.count_received, kind)
        self.pipeline.add(decoder)
        decoder.sync_state_with_parent()
        pad.link(decoder.get_static_pad("sink"))

    def count_received(self, sink, buffer, pad, kind):
        if buffer.has_flags(Gst.BufferFlags.CORRUPTED):
            self.corrupted += 1
            return
        self.received[kind] += 1
        if kind == "video":
            frame = pad.get_current_caps().get_structure(0)
            self.format[kind] = [frame.get_int("width").value, frame.get_int("height").value]

    def opened_by_peer(self, _, channel):
        properties = channel.props
        self.channels[properties.label] = Channel(channel)
        say("channel", label=properties.label, id=properties.id, protocol=properties.protocol,
            ordered=properties.ordered)

    # webrtcbin works on its own thread.

    def describe(self, kind):
        def made(promise):
            # The reply owns the description.
            reply = promise.get_reply()
            description = reply.get_value(kind)
            self.webrtc.emit("set-local-description", description, Gst.Promise.new())
            say(kind, sdp=description.sdp.as_text())

        self.webrtc.emit(f"create-{kind}", None, Gst.Promise.new_with_change_func(made))

    def set_remote(self, type, sdp, then=lambda: None):
        _, message = GstSdp.SDPMessage.new_from_text(sdp)
        description = GstWebRTC.WebRTCSessionDescription.new(type, message)
        promise = Gst.Promise.new_with_change_func(lambda _: then())
        self.webrtc.emit("set-remote-description", description, promise)

    def negotiate(self):
        self.isNegotiable = True
        if self.isOfferWanted:
            self.isOfferWanted = False
            self.describe("offer")

    def open(self, label, **options):
        names = {"ordered": "ordered", "maxRetransmits": "max-retransmits", "protocol": "protocol"}
        structure = Gst.Structure.new_empty("options")
        for name, value in options.items():
            structure.set_value(names[name], value)
        self.channels[label] = Channel(self.webrtc.emit("create-data-channel", label, structure))

    def run(self, command):
        action, label = command["do"], command.get("label")
        for options in command.get("channels", []):
            self.open(**options)
        if action == "offer":
            self.isOfferWanted = True
            if self.isNegotiable:
                self.negotiate()
        elif action == "answer":
            self.set_remote(GstWebRTC.WebRTCSDPType.ANSWER, command["sdp"])
        elif action == "accept":
            self.set_remote(GstWebRTC.WebRTCSDPType.OFFER, command["sdp"], lambda: self.describe("answer"))
        elif action == "candidate":
            self.webrtc.emit("add-ice-candidate", 0, command["candidate"])
        elif action == "open":
            self.open(**command["channel"])
        elif action == "send":
            for size in command["sizes"]:
                self.channels[label].send_random(size)
        elif action == "close":
            self.channels[label].channel.close()
        elif action == "report" and label:
            self.channels[label].report()
        elif action == "report":
            say("report", sent=self.sent, received=self.received, format=self.format, corrupted=self.corrupted)
        elif action == "end":
            self.loop.quit()


def main():
    loop = GLib.MainLoop()
    peer = Peer(loop, hasMedia="--data" not in sys.argv)
    say("ready")

    def read():
        for line in sys.stdin:
            GLib.idle_add(peer.run, json.loads(line))
        GLib.idle_add(loop.quit)

    threading.Thread(target=read, daemon=True).start()
    loop.run()
    peer.pipeline.set_state(Gst.State.NULL)


main()
