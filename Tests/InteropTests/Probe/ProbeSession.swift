import Foundation
import IoTCore
import NIOCore
import PeerTransport
import RTP

/// The probe's peer, confined to the socket's event loop.
final class ProbeSession {
    private let options: ProbeOptions
    private let eventLoop: any EventLoop
    private var peer: Peer?
    private var packetizer = Packetizer(codec: ProbeSession.codec)
    private var tick: Scheduled<Void>?
    private var framesReceived = 0
    private var framesSent: Int64 = 0

    private static let codec = RTPCodec(payloadType: 8, encodingName: "PCMA", clockRate: 8_000)

    init(_ options: ProbeOptions, socket: PeerSocket, certificate: PeerCertificate) throws {
        self.options = options
        eventLoop = socket.eventLoop
        var configuration = PeerConfiguration(
            hostAddresses: socket.hostAddresses, isControlling: options.offers,
            sections: [
                MediaSection(mid: "0", kind: .audio, direction: .sendReceive, codecs: [Self.codec])
            ], ice: options.ice)
        configuration.handshakeTimeout = .seconds(20)
        peer = try socket.makePeer(configuration: configuration, certificate: certificate) { [weak self] event in
            self?.take(event)
        }
    }

    func begin() throws {
        if options.offers, let peer { describe(try peer.createOffer()) }
    }

    /// Carries out a command; returns false for `close`.
    func take(_ line: String) throws -> Bool {
        guard let peer else { return false }
        let words = line.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let argument = words.count > 1 ? words[1] : ""
        switch words[0] {
        case "description":
            guard let data = Data(base64Encoded: argument) else {
                throw IoTError(.invalidParameter, "the description is not base64")
            }
            let description = try SessionDescription(parsing: String(decoding: data, as: UTF8.self))
            // An answer to the current offer, or an offer.
            if isOfferOut {
                isOfferOut = false
                try peer.setAnswer(description)
            } else {
                let answer = try peer.createAnswer(to: description)
                PeerProbe.say("description \(Data(answer.text.utf8).base64EncodedString())")
            }
        case "candidate": try peer.addRemoteCandidate(argument)
        case "restart": describe(try peer.createRestartOffer())
        case "close": return false
        default: throw IoTError(.invalidParameter, "unknown command \(words[0])")
        }
        return true
    }

    func end() {
        tick?.cancel()
        peer?.close()
        peer = nil
    }

    private var isOfferOut = false

    private func describe(_ offer: SessionDescription) {
        isOfferOut = true
        PeerProbe.say("description \(Data(offer.text.utf8).base64EncodedString())")
    }

    private func take(_ event: PeerEvent) {
        switch event {
        case .localCandidate(let text): PeerProbe.say("candidate \(text)")
        case .candidateError(let url, let code, let text): PeerProbe.say("error \(url) \(code) \(text)")
        case .frame: framesReceived += 1
        case .stateChanged(let state):
            PeerProbe.say("state \(state)")
            if case .connected = state { start() }
        default: break
        }
    }

    /// Sends 20 ms of silence every 20 ms, and prints the pair every tenth time.
    private func start() {
        if tick == nil { schedule() }
    }

    private func schedule() {
        tick = eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(20)) {
            self.send()
            self.schedule()
        }
    }

    private func send() {
        guard let peer else { return }
        let pts = framesSent * 20_000
        framesSent += 1
        let frame = MediaFrame(
            kind: .audio, isKeyFrame: true, pts: pts, dts: pts,
            bytes: ByteBuffer(repeating: 0xD5, count: 160))
        if let packets = try? packetizer.packetize(frame) { peer.send(packets, mid: "0") }
        guard framesSent % 10 == 0, let pair = peer.statistics.candidatePairs.first(where: \.isSelected) else { return }
        PeerProbe.say(
            "pair \(pair.local.candidateType) \(pair.remote.candidateType) \(pair.local.relayProtocol ?? "-") "
                + "\(pair.remote.address) \(framesReceived)")
    }
}
