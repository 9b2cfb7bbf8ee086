import IoTCore
import PeerTransport
import RTP
import Testing

@testable import MediaChannel

@Suite struct BrowserOfferTests {
    private let h264 = RTPCodec(
        .video(VideoParameters(codec: .h264, parameterSets: [[0x67, 0x4D, 0x40, 0x1F, 0]])), payloadType: 96)
    private let h265 = RTPCodec(.video(VideoParameters(codec: .h265)), payloadType: 96)
    private let aac = RTPCodec(
        .audio(AudioParameters(codec: .aac, sampleRate: 48_000, channels: 2, audioSpecificConfig: [0x11, 0x90])),
        payloadType: 97)
    private let alaw = RTPCodec(.audio(AudioParameters(codec: .pcma, sampleRate: 8_000, channels: 1)), payloadType: 8)
    private let opus = RTPCodec(
        .audio(AudioParameters(codec: .opus, sampleRate: 48_000, channels: 2)), payloadType: 97)

    /// The parts of a browser's offer that matter here.
    private func offer(
        video: [String] = ["VP8/90000", "H264/90000"], audio: [String] = ["opus/48000/2", "PCMA/8000"],
        parameters: String = "packetization-mode=1;profile-level-id=42e01f", direction: String = "recvonly"
    ) throws -> SessionDescription {
        var lines = [
            "v=0", "o=- 1 1 IN IP4 127.0.0.1", "s=-", "t=0 0", "a=group:BUNDLE p s",
            "a=fingerprint:sha-256 " + Array(repeating: "AB", count: 32).joined(separator: ":"),
        ]
        for (medium, mid, codecs) in [("video", "p", video), ("audio", "s", audio)] where !codecs.isEmpty {
            let types = codecs.indices.map { String(100 + $0) }
            lines += [
                "m=\(medium) 9 UDP/TLS/RTP/SAVPF \(types.joined(separator: " "))", "c=IN IP4 0.0.0.0",
                "a=ice-ufrag:abcd", "a=ice-pwd:abcdefghijklmnopqrstuvwx", "a=setup:actpass", "a=mid:\(mid)",
                "a=\(direction)", "a=rtcp-mux",
            ]
            for (type, codec) in zip(types, codecs) {
                lines.append("a=rtpmap:\(type) \(codec)")
                if codec.hasPrefix("H26") { lines.append("a=fmtp:\(type) \(parameters)") }
            }
        }
        return try SessionDescription(parsing: lines.joined(separator: "\r\n") + "\r\n")
    }

    private func refusal(_ body: () throws -> BrowserOffer) -> IoTError? {
        do {
            _ = try body()
            return nil
        } catch {
            return error as? IoTError
        }
    }

    @Test("H.264 is sent unchanged, AAC as Opus, G.711 and Opus unchanged")
    func choice() throws {
        let cases: [(RTPCodec, BrowserOffer.Sound)] = [(aac, .opus), (alaw, .original), (opus, .original)]
        for (sound, expected) in cases {
            let choice = try BrowserOffer(offer(), video: h264, isReordered: false, audio: sound)
            #expect(choice.video == "p")
            #expect(choice.audio?.mid == "s" && choice.audio?.sound == expected, "\(sound.encodingName)")
        }
        let opusOnly = try BrowserOffer(
            offer(audio: ["opus/48000/2"]), video: h264, isReordered: false, audio: alaw)
        #expect(opusOnly.audio?.sound == .opus)
        let silent = try BrowserOffer(offer(), video: h264, isReordered: false, audio: nil)
        #expect(silent.video == "p" && silent.audio == nil)
        let both = try BrowserOffer(offer(direction: "sendrecv"), video: h264, isReordered: false, audio: aac)
        #expect(both.video == "p")
    }

    @Test("H.265 is refused with a reason and a remedy if the browser lacks it, never sent as sound only")
    func modernPicture() throws {
        let error = refusal { try BrowserOffer(offer(), video: h265, isReordered: false, audio: aac) }
        #expect(error?.code == .codecUnsupported)
        #expect(error?.message.contains("H.265") == true && error?.remedy.contains("set the camera to H.264") == true)
        let able = try BrowserOffer(
            offer(video: ["H265/90000"], parameters: "level-id=93"), video: h265, isReordered: false, audio: aac)
        #expect(able.video == "p")
    }

    @Test("B-frames, and H.264 without fragments, are refused with the reason")
    func pictures() throws {
        let reordered = refusal { try BrowserOffer(offer(), video: h264, isReordered: true, audio: aac) }
        #expect(reordered?.code == .codecUnsupported && reordered?.message.contains("B-frames") == true)
        for parameters in ["packetization-mode=0;profile-level-id=42e01f", "profile-level-id=42e01f"] {
            let whole = refusal {
                try BrowserOffer(offer(parameters: parameters), video: h264, isReordered: false, audio: aac)
            }
            #expect(whole?.code == .codecUnsupported, "\(parameters)")
        }
    }

    @Test("A browser that asks only for sound gets it, even if it could not show the camera's picture")
    func soundAlone() throws {
        let choice = try BrowserOffer(offer(video: []), video: h265, isReordered: false, audio: aac)
        #expect(choice.video == nil && choice.audio?.sound == .opus)
    }

    @Test("An offer that asks for none of the camera's media is refused")
    func nothing() throws {
        for direction in ["sendonly", "inactive"] {
            let error = refusal {
                try BrowserOffer(offer(direction: direction), video: h264, isReordered: false, audio: aac)
            }
            #expect(error?.code == .sessionDescriptionInvalid, "\(direction)")
        }
        let error = refusal { try BrowserOffer(offer(), video: nil, isReordered: false, audio: nil) }
        #expect(error?.code == .sessionDescriptionInvalid)
    }
}
